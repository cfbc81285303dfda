/** Records native v1's responses to a scenario, and finds where a translation responds differently. */
import { expect } from "vitest";
import type { SandboxOptions } from "../../../sandbox/src/options.ts";
import type { Contents } from "../../../sandbox/src/store/store.ts";
import type { ApiResponse } from "../../../src/model/http.ts";
import { type Call, callsOf, type Scenario } from "./call.ts";
import { differences } from "./compare.ts";
import { disappointments } from "./expect.ts";
import { createStoreComparison, given, inMemory, type StartFront, startSide, unchanged } from "./harness.ts";

/** How many differences are shown. */
const SHOWN = 20;

/** A call, what native v1 answered, and what its store held afterwards. */
export interface Recorded {
  readonly call: Call;
  /** As it was asked, without its query. */
  readonly path: string;
  readonly answer: ApiResponse;
  readonly contents: Contents;
  /** Where native v1 does not do what the call was written to show. */
  readonly disappointments: readonly string[];
}

export interface Recording {
  readonly scenario: Scenario;
  readonly calls: readonly Recorded[];
}

/** The first thing that a v1 client could notice. */
export interface Noticed {
  readonly scenario: string;
  readonly call: string;
  /** As `differences` tells them, those of the stores behind them. */
  readonly lines: readonly string[];
}

/** Runs a scenario against native v1, of the kind that `first` says, once, so that any number of fronts can be held against it. */
export async function record(scenario: Scenario, first: SandboxOptions = {}): Promise<Recording> {
  const names = callsOf(scenario).map(({ method, name }) => `${method} ${name}`);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`${scenario.name}: two calls are named ${twice}`);
  const side = await startSide(scenario, inMemory(unchanged), first);
  const calls: Recorded[] = [];
  for (const call of callsOf(scenario)) {
    const path = given(call.path, side.seen).replace(/\?.*/, "");
    const answer = await side.ask(call);
    const contents = side.sandbox.contents();
    calls.push({ call, path, answer, contents, disappointments: disappointments(call, answer, side.seen) });
  }
  return { scenario, calls };
}

/** Runs a recorded scenario with a front over a second platform, up to the first difference; undefined when there is none. */
export async function replay(
  { scenario, calls }: Recording,
  start: StartFront,
  second: SandboxOptions = {},
): Promise<Noticed | undefined> {
  const side = await startSide(scenario, start, second);
  const storeDifferences = createStoreComparison();
  for (const { call, answer: native, contents } of calls) {
    const carried = await side.ask(call).catch((error: unknown) => [`no answer: ${error}`]);
    const lines = Array.isArray(carried)
      ? carried
      : [
          ...differences(native, carried, { ordered: call.ordered ?? false }),
          ...storeDifferences(contents, side.sandbox.contents()),
        ];
    if (lines.length > 0) return { scenario: scenario.name, call: `${call.method} ${call.name}`, lines };
  }
  return undefined;
}

/** Fails with the lines themselves, which a comparison of arrays would cut short. */
export function expectNone(what: string, found: readonly string[] | Noticed | undefined): void {
  const lines = found === undefined ? [] : "lines" in found ? [found.call, ...found.lines] : found;
  expect(lines.length, [what, ...lines.slice(0, SHOWN)].join("\n  ")).toBe(0);
}
