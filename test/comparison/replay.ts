/**
 * Does a front still answer as native v1 did? Found out in memory, without a port, and no further than the first difference:
 * for a check that tries many fronts, each with one thing wrong.
 */
import type { ApiResponse, Send } from "../../src/model/message.ts";
import { createStopper } from "../../src/model/signal.ts";
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import { createSandbox, type Sandbox } from "../../src/sandbox/sandbox.ts";
import { type Call, callsOf, type Scenario } from "./call.ts";
import { differences } from "./compare.ts";
import { type Carry, createSide, type Side, sandboxOptions } from "./harness.ts";
import { jsonDifferences } from "./json-diff.ts";

/** What stands between v1 requests and the second platform: given that one's `send`, it answers v1 requests. */
export type MemoryFront = (v2: Send) => Carry;

/** Nothing between: the second platform's own v1. */
export const unchanged: MemoryFront = (v2) => (request) => v2(request, { signal: createStopper().signal });

type Store = ReturnType<Sandbox["snapshot"]>;

/** What native v1 answered to each call of a scenario, and what its store held after those that are looked at. */
export interface Recording {
  readonly scenario: Scenario;
  readonly answers: readonly ApiResponse[];
  readonly stores: ReadonlyMap<number, Store>;
}

/** The first thing that a v1 client could notice. */
export interface Noticed {
  readonly scenario: string;
  readonly call: string;
  /** As `differences` tells them, those of the stores behind them. */
  readonly lines: readonly string[];
}

/** Runs each scenario against native v1 once, so that any number of fronts can be held against it. */
export async function record(scenarios: readonly Scenario[]): Promise<readonly Recording[]> {
  const recordings: Recording[] = [];
  for (const scenario of scenarios) {
    const side = sideOf(scenario, unchanged, {});
    const calls = callsOf(scenario);
    const answers: ApiResponse[] = [];
    const stores = new Map<number, Store>();
    for (const [index, call] of calls.entries()) {
      answers.push(await side.ask(call));
      if (isLookedAt(scenario, call, index === calls.length - 1)) stores.set(index, side.sandbox.snapshot());
    }
    recordings.push({ scenario, answers, stores });
  }
  return recordings;
}

/** Runs recorded scenarios with `front` over a second platform; undefined when there was nothing to notice. */
export async function replay(
  recordings: readonly Recording[],
  front: MemoryFront,
  second: SandboxOptions = {},
): Promise<Noticed | undefined> {
  for (const recording of recordings) {
    const noticed = await replayOne(recording, front, second);
    if (noticed !== undefined) return noticed;
  }
  return undefined;
}

async function replayOne(
  { scenario, answers, stores }: Recording,
  front: MemoryFront,
  second: SandboxOptions,
): Promise<Noticed | undefined> {
  const side = sideOf(scenario, front, second);
  for (const [index, call] of callsOf(scenario).entries()) {
    const native = answers[index];
    if (native === undefined) throw new Error(`${scenario.name}: ${call.name} was not recorded`);
    const lines = await linesOf(side, call, native, stores.get(index));
    if (lines.length > 0) return { scenario: scenario.name, call: `${call.method} ${call.name}`, lines };
  }
  return undefined;
}

async function linesOf(side: Side, call: Call, native: ApiResponse, store: Store | undefined): Promise<string[]> {
  let carried: ApiResponse;
  try {
    carried = await side.ask(call);
  } catch (error) {
    return [`no answer: ${error}`];
  }
  const found = differences(native, carried, { ordered: call.ordered ?? false });
  return store === undefined ? found : [...found, ...storeDifferences(store, side.sandbox.snapshot())];
}

// Reading the store of a whole organisation takes longer than a hundred calls: it is read once, at the end.
function isLookedAt(scenario: Scenario, call: Call, last: boolean): boolean {
  return last || (scenario.organisation === false && call.method !== "GET");
}

function storeDifferences(left: Store, right: Store): string[] {
  return JSON.stringify(left) === JSON.stringify(right) ? [] : jsonDifferences(left, right);
}

function sideOf(scenario: Scenario, front: MemoryFront, second: SandboxOptions): Side {
  const { size = 0, organisation = true } = scenario;
  let asked = 0;
  const sandbox = createSandbox({ ...sandboxOptions(() => Math.max(0, asked - 1)), size, organisation, ...second });
  return createSide(
    sandbox,
    front((request, options) => sandbox.send(request, options)),
    () => {
      asked += 1;
    },
  );
}
