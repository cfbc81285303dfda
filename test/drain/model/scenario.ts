/** A scenario (a drain over a platform), and the trace of one run. */

import type { DrainParts } from "../../../src/drain/list-reader.ts";
import type { Witness } from "../../../src/model/exchange.ts";
import type { DrainedList, DrainRefused, StreamedList } from "../../../src/model/list.ts";
import type { Stage } from "../simulator.ts";
import type { Style } from "./platform.ts";

/** The measures of a drain under exploration; as in `DrainLimits`. */
export interface Measures {
  readonly pageSize: number;
  readonly readers: number;
  readonly overlap: number;
  readonly windowRecords: number;
  readonly segmentPages: number;
  readonly bufferBytes: number;
}

/** What a process remembers of this list when the drain begins. */
export interface Remembered {
  readonly count?: number;
  /** Undefined: not seen yet. */
  readonly heedsSkip?: boolean;
}

export interface Scenario {
  readonly style: Style;
  readonly measures: Measures;
  /** How the tokens are declared to the drain. */
  readonly declared: DrainParts["tokens"];
  /** The keys of the list at its first answer; each character is one. */
  readonly start: string;
  /** Keys that may be inserted and deleted. */
  readonly universe: string;
  readonly writes: number;
  /** `long`: pulled only when the scheduler says so; `pulled`: as soon as there is something to pull. */
  readonly as: "whole" | "long" | "pulled";
  readonly require?: Witness;
  readonly remembered?: Remembered;
  /** Keys that carryover filters out. */
  readonly hidden?: string;
  /** The client may leave at any step: by its signal, or by giving up the chunks. */
  readonly leaves?: boolean;
}

/** Everything that one run did. */
export interface Trace extends Pick<Stage, "requests" | "facts" | "claims"> {
  readonly scenario: Scenario;
  /** Requests, answers and writes, in order and in words. */
  readonly steps: string[];
  /** Keys that were there from the first answer to the end. */
  readonly persistent: Set<string>;
  written: boolean;
  faulted: boolean;
  /** How many requests there were when the client left; undefined while it is there. */
  left: number | undefined;
  result: DrainedList | StreamedList | DrainRefused | undefined;
  /** What the drain, or the chunks of its list, were rejected with. */
  error: unknown;
  /** The keys that came out, in order. */
  readonly out: string[];
  /** The drain has settled, and its chunks have ended. */
  ended: boolean;
  /** The most requests under way at a time. */
  readonly most: { readonly atOnce: number };
  /** Requests still under way at the end. */
  leftOver: number;
}

/** A run on `stage` that has not begun. */
export function emptyTrace(scenario: Scenario, { requests, facts, claims }: Stage, most: Trace["most"]): Trace {
  return {
    requests,
    facts,
    claims,
    most,
    scenario,
    steps: [],
    persistent: new Set(scenario.start),
    written: false,
    faulted: false,
    left: undefined,
    result: undefined,
    error: undefined,
    out: [],
    ended: false,
    leftOver: 0,
  };
}
