/** How does a scenario become tests? */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJsonObject, type Json, member } from "../../src/model/json.ts";
import type { ApiResponse } from "../../src/model/message.ts";
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import { type Call, callsOf, type Expectation, type Scenario, type Seen } from "./call.ts";
import { differences, namedFields } from "./compare.ts";
import { given, type Pair, parsed, type StartFront, startPair } from "./harness.ts";

/** How many differences of one call are told. */
const SHOWN = 20;

/** How the second platform differs from the first: in ways that a v1 client must not notice. */
export interface Variant {
  readonly name: string;
  readonly second: SandboxOptions;
}

/** How many answers were compared, and what was found. */
export interface Tally {
  compared: number;
  differences: number;
  /** Method and path, without its query, of what native v1 did as asked. */
  readonly done: Set<string>;
}

/** Prints, when all of a file's tests have run, how much they compared under the name of `what`. */
export function startTally(what: string): Tally {
  const tally: Tally = { compared: 0, differences: 0, done: new Set() };
  afterAll(() => console.log(`${what}: ${tally.compared} answers compared, ${tally.differences} differences`));
  return tally;
}

/**
 * One test a call: native v1 answers what the call expects, the other side answers the same, and after a write both stores hold
 * the same. The calls of a scenario build on each other, so the first that fails explains the rest.
 */
export function compareScenario(start: StartFront, variant: Variant, scenario: Scenario, tally?: Tally): void {
  const names = callsOf(scenario).map(({ method, name }) => `${method} ${name}`);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`${scenario.name}: two calls are named ${twice}`);
  describe(`${scenario.name} (${variant.name})`, () => {
    let pair: Pair;
    beforeAll(async () => {
      const { size = 0, organisation = true } = scenario;
      pair = await startPair(start, { size, organisation }, variant.second);
    });
    afterAll(() => pair.close());
    for (const step of scenario.calls) {
      const calls = "each" in step ? step.each : [step];
      test(calls.length === 1
        ? `${calls[0]?.method} ${step.name}`
        : `${calls.length} calls: ${step.name}`, async () => {
        for (const call of calls) await compareCall(pair, call, tally);
      }, 60_000);
    }
    test("reading wrote nothing: the stores at the end", () => expectNone("the stores", pair.storeDifferences()));
  });
}

async function compareCall(pair: Pair, call: Call, tally: Tally | undefined): Promise<void> {
  const native = await pair.native.ask(call);
  const carried = await pair.carried.ask(call);
  const found = differences(native, carried, { ordered: call.ordered ?? false });
  const stored = call.method === "GET" ? [] : pair.storeDifferences();
  if (tally !== undefined) {
    tally.compared += 1;
    tally.differences += found.length + stored.length;
    const path = given(call.path, pair.native.seen).replace(/\?.*/, "");
    if (native.status === 200) tally.done.add(`${call.method} ${path.replaceAll(/%2f/gi, "/")}`);
  }
  expectNone(`${call.name}: native v1 against the references`, disappointments(call, native, pair.native.seen));
  expectNone(`${call.name}: native, carried`, found);
  expectNone(`${call.name}: the stores afterwards`, stored);
}

/** Fails with the lines themselves, which a comparison of arrays would cut short. */
function expectNone(what: string, lines: readonly string[]): void {
  expect(lines.length, [what, ...lines.slice(0, SHOWN)].join("\n  ")).toBe(0);
}

/** Where native v1 does not do what the call was written to show. */
export function disappointments(call: Call, answer: ApiResponse, seen: Seen): string[] {
  const body = parsed(answer);
  const found: string[] = [];
  if (answer.status !== call.status)
    found.push(`status ${answer.status}, expected ${call.status}: ${JSON.stringify(body)}`);
  if (call.code !== undefined && member(body, "code") !== call.code)
    found.push(`code ${member(body, "code")}, not ${call.code}`);
  if (call.field !== undefined && !namedFields(body).includes(call.field)) {
    found.push(`names ${namedFields(body).join(", ")}, not ${call.field}`);
  }
  return [...found, ...contentDisappointments(call, body, seen)];
}

function contentDisappointments(call: Expectation, body: Json, seen: Seen): string[] {
  const found: string[] = [];
  const list = member(body, "items");
  const items = Array.isArray(list) ? list : [];
  if (call.items !== undefined && !(Array.isArray(list) && holds(items.length, call.items))) {
    found.push(`${Array.isArray(list) ? items.length : "no"} items, expected ${call.items}`);
  }
  const every = call.every === undefined ? undefined : given(call.every, seen);
  const shows = call.shows === undefined ? undefined : given(call.shows, seen);
  if (every !== undefined) for (const item of items) found.push(...missing("", every, item));
  if (shows !== undefined) found.push(...missing("", shows, body));
  return found;
}

function holds(count: number, wanted: number | "some" | "over 200"): boolean {
  if (wanted === "some") return count > 0;
  return wanted === "over 200" ? count > 200 : count === wanted;
}

/** The places of `wanted` that `actual` does not have. Arrays count as a whole. */
function missing(place: string, wanted: Json, actual: Json | undefined): string[] {
  if (isJsonObject(wanted) && Object.keys(wanted).length > 0 && isJsonObject(actual)) {
    return Object.entries(wanted).flatMap(([key, value]) => missing(`${place}/${key}`, value, member(actual, key)));
  }
  if (JSON.stringify(wanted) === JSON.stringify(actual)) return [];
  return [`${place}: ${JSON.stringify(actual)}, expected ${JSON.stringify(wanted)}`];
}
