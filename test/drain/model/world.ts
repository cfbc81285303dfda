/** The environment of one drain: its platform, its writers and its client. */

import { createDrains } from "../../../src/drain/drain.ts";
import type { DrainParts } from "../../../src/drain/list-reader.ts";
import type { ApiResponse, Send } from "../../../src/model/http.ts";
import type { PageSelector, StreamedList } from "../../../src/model/list.ts";
import { createSignalController, type SignalController } from "../../../src/model/signal.ts";
import { drainParts, NO_MEMORY } from "../../support/drains.ts";
import type { Choices } from "./choices.ts";
import { answerTo, type Fault, keysIn, planFor, selectorOf } from "./platform.ts";
import { emptyTrace, type Scenario, type Trace } from "./scenario.ts";

/** A page request without a response yet. */
interface Waiting {
  readonly selector: PageSelector;
  readonly resolve: (response: ApiResponse) => void;
  readonly reject: (reason: unknown) => void;
}

/** Everything that can happen to one drain, and how far it is. */
export interface World {
  readonly trace: Trace;
  readonly choices: Choices;
  readonly stopper: SignalController;
  readonly waiting: Waiting[];
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
  const world: World = {
    trace: emptyTrace(scenario),
    choices,
    stopper: createSignalController(),
    waiting: [],
    keys: scenario.start,
    answered: 0,
    writesLeft: scenario.writes,
    faultsLeft: scenario.style.faultBudget ?? 0,
    pull: undefined,
    giveUp: undefined,
  };
  begin(world);
  return world;
}

function begin(world: World): void {
  const { trace } = world;
  const { scenario } = trace;
  const { drain, longDrain } = createDrains(partsOf(world));
  const start = scenario.as === "whole" ? drain : longDrain;
  start(planFor(scenario.hidden)).then(
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

function partsOf(world: World): DrainParts {
  const { trace, stopper } = world;
  const { measures, declared, style, require = "none", remembered = {} } = trace.scenario;
  return {
    ...drainParts(sendOf(world), stopper.signal),
    limits: { ...measures, ...LIMITS },
    tokens: declared,
    totals: LYING.has(style.total ?? "right") ? "ignore" : "verify",
    memory: { ...NO_MEMORY, heedsSkip: () => remembered.heedsSkip, countOf: () => remembered.count },
    require: () => require,
    now: () => world.answered * 1000,
    claim: async () => {
      trace.claimed += 1;
      return () => {
        trace.released += 1;
      };
    },
    report: (facts) => trace.reports.push(facts),
  };
}

function end(trace: Trace, error?: unknown): void {
  trace.error = error;
  trace.ended = true;
}

function sendOf(world: World): Send {
  return (request, { signal }) =>
    new Promise((resolve, reject) => {
      const selector = selectorOf(request);
      const one: Waiting = { selector, resolve, reject };
      const stop = (): void => {
        const at = world.waiting.indexOf(one);
        if (at >= 0) world.waiting.splice(at, 1);
        reject(signal.reason);
      };
      world.trace.requests.push(selector);
      world.trace.steps.push(`ask ${wordsOf(selector)}`);
      world.waiting.push(one);
      world.trace.atOnce = Math.max(world.trace.atOnce, world.waiting.length);
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
    });
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
  const [one] = world.waiting.splice(at, 1);
  if (one === undefined) throw new Error("nobody waits for this answer");
  if (fault !== undefined) {
    world.faultsLeft -= 1;
    trace.faulted = true;
  }
  world.answered += 1;
  trace.steps.push(`answer ${wordsOf(one.selector)}${fault === undefined ? "" : ` ${fault}`} of ${keys}`);
  const moment = { keys: [...keys], firstTotal: trace.scenario.start.length, answered };
  try {
    one.resolve(answerTo(one.selector, moment, trace.scenario.style, fault));
  } catch (error) {
    one.reject(error);
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
