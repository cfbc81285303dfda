/** The environment of one drain: its platform, its writers and its client. */

import type { PageSelector, StreamedList } from "../../../src/model/list.ts";
import { createSignalController, type SignalController } from "../../../src/model/signal.ts";
import { NO_MEMORY } from "../../support/drains.ts";
import { type Options, planOf, type Stage, stage } from "../simulator.ts";
import { type Held, holding, uidsIn } from "../stage.ts";
import type { Choices } from "./choices.ts";
import { answerTo, type Fault } from "./platform.ts";
import { emptyTrace, type Scenario, type Trace } from "./scenario.ts";

/** Everything that can happen to one drain, and how far it is. */
export interface World {
  readonly trace: Trace;
  readonly choices: Choices;
  readonly stopper: SignalController;
  /** Page requests without a response yet. */
  readonly waiting: readonly Held[];
  keys: string;
  answered: number;
  writesLeft: number;
  faultsLeft: number;
  /** Pulls the next chunk; undefined while one is under way, and when there is nothing to pull. */
  pull: (() => void) | undefined;
  giveUp: (() => void) | undefined;
}

/** The world of `scenario`, with its drain begun. */
export function worldOf(scenario: Scenario, choices: Choices): World {
  const { served, open, most } = holding(() => {
    throw new Error("the world answers");
  });
  const stopper = createSignalController();
  const on: Stage = stage(
    (selector, call, signal) => {
      world.trace.steps.push(`ask ${wordsOf(selector)}`);
      return served(selector, call, signal);
    },
    optionsOf(scenario, stopper, () => world.answered),
  );
  const world: World = {
    trace: emptyTrace(scenario, on, most),
    choices,
    stopper,
    waiting: open,
    keys: scenario.start,
    answered: 0,
    writesLeft: scenario.writes,
    faultsLeft: scenario.style.faultBudget ?? 0,
    pull: undefined,
    giveUp: undefined,
  };
  begin(world, on);
  return world;
}

function begin(world: World, { drain, longDrain }: Stage): void {
  const { trace } = world;
  const { as, hidden = "" } = trace.scenario;
  (as === "whole" ? drain : longDrain)(planOf(true, (uid) => hidden.includes(uid))).then(
    (result) => {
      trace.result = result;
      if (result.kind === "long") pullFrom(world, result);
      else trace.ended = true;
      if (result.kind === "list") trace.out.push(...result.chunks.flatMap(keysIn));
    },
    (error: unknown) => end(trace, error),
  );
}

/** Limits that no small list reaches. */
const LIMITS = { maxPages: 60, maxRecords: 10_000, maxBytes: 1e6, maxSeconds: 60 };

/** Counts that exceed what the pages hold: an operator has to say so. */
const LYING: ReadonlySet<string> = new Set(["stale", "high", "wild"]);

function optionsOf(scenario: Scenario, { signal }: SignalController, answered: () => number): Options {
  const { measures, declared, style, require = "none", remembered = {} } = scenario;
  const memory = { ...NO_MEMORY, heedsSkip: () => remembered.heedsSkip, countOf: () => remembered.count };
  const totals = LYING.has(style.total ?? "right") ? "ignore" : "verify";
  const parts = { signal, tokens: declared, totals, memory, now: () => answered() * 1000 } as const;
  return { limits: { ...measures, ...LIMITS }, require, parts };
}

/** The keys in a chunk of a list; throws when there are none. */
function keysIn(chunk: Uint8Array): string[] {
  if (chunk.length === 0) throw new Error("an empty chunk");
  return uidsIn(chunk);
}

function end(trace: Trace, error?: unknown): void {
  trace.error = error;
  trace.ended = true;
}

function wordsOf({ size, token, skip }: PageSelector): string {
  const parts = [token === undefined ? "" : ` token ${token}`, skip === undefined ? "" : ` skip ${skip}`];
  return `${size}${parts.join("")}`;
}

function pullFrom(world: World, list: StreamedList): void {
  const { trace } = world;
  const chunks = list.chunks[Symbol.asyncIterator]();
  const fail = (error: unknown): void => end(trace, error);
  const pull = (): void => {
    world.pull = undefined;
    chunks
      .next()
      .then((next) => {
        if (next.done === true) return end(trace);
        trace.out.push(...keysIn(next.value));
        world.pull = pull;
      })
      .catch(fail);
  };
  world.pull = pull;
  world.giveUp = () => {
    world.pull = undefined;
    chunks.return?.().then(() => end(trace), fail);
  };
}

/** Answers request number `at` of those that wait, as the list is at this moment. */
export function answer(world: World, at: number, fault?: Fault): void {
  const { trace, keys, answered } = world;
  const held = world.waiting[at];
  if (held === undefined) throw new Error("nobody waits for this answer");
  if (fault !== undefined) {
    world.faultsLeft -= 1;
    trace.faulted = true;
  }
  world.answered += 1;
  trace.steps.push(`answer ${wordsOf(held.selector)}${fault === undefined ? "" : ` ${fault}`} of ${keys}`);
  const moment = { keys: [...keys], firstTotal: trace.scenario.start.length, answered };
  try {
    void held.answer(answerTo(held.selector, moment, trace.scenario.style, fault));
  } catch (error) {
    void held.fail(error);
  }
}

/** Inserts `key`, or deletes it when it is there. */
export function toggle(world: World, key: string): void {
  const { trace, keys } = world;
  const there = keys.includes(key);
  world.writesLeft -= 1;
  trace.written = true;
  trace.persistent.delete(key);
  world.keys = there ? keys.replace(key, "") : [...keys, key].toSorted().join("");
  trace.steps.push(`${there ? "delete" : "insert"} ${key}`);
}
