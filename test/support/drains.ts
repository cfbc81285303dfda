/** Gives the real drains to a test that has a Send. */

import { createDrains } from "../../src/drain/drain.ts";
import type { ListHints } from "../../src/drain/hints.ts";
import { type DrainLimits, FIXED_LIMITS } from "../../src/drain/limits.ts";
import type { DrainParts } from "../../src/drain/list-reader.ts";
import type { Send } from "../../src/model/http.ts";
import { createSignalController, type Signal } from "../../src/model/signal.ts";
import type { Tools } from "../../src/translate/operation.ts";

/** The defaults of the configuration. */
export const DRAIN_LIMITS: DrainLimits = {
  ...FIXED_LIMITS,
  maxPages: 600,
  maxRecords: 120_000,
  maxBytes: 2 ** 28,
  maxSeconds: 45,
  pageSize: 200,
  bufferBytes: 2 ** 21,
  readers: 4,
};

/** Remembers nothing from one list to the next. */
export const NO_MEMORY: ListHints = {
  heedsSkip: () => undefined,
  sawSkip: () => {},
  countOf: () => undefined,
  learnCount: () => {},
};

/** Parts of a drain that never waits and reports nothing. */
export function drainParts(send: Send, signal: Signal = createSignalController().signal): DrainParts {
  return {
    send,
    reads: send,
    signal,
    limits: DRAIN_LIMITS,
    tokens: "unknown",
    memory: NO_MEMORY,
    require: () => "none",
    now: () => 0,
    claim: async () => () => {},
    turn: async () => {},
    report: () => {},
  };
}

/** What an operation is handed to read with, around `send`. */
export function readingTools(
  send: Send,
  parts: Partial<DrainParts> = {},
): Omit<Tools, "mask" | "bodyMask" | "exchange"> {
  const signal = parts.signal ?? createSignalController().signal;
  const drains = createDrains({ ...drainParts(send, signal), ...parts });
  const call: Tools["send"] = (request) => send(request, { signal });
  return { send: call, reads: call, drain: drains.drain, longDrain: drains.longDrain };
}
