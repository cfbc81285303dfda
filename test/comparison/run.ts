/** How does a scenario become tests? */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJsonObject, type Json, member } from "../../src/model/json.ts";
import type { ApiResponse } from "../../src/model/message.ts";
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import type { Call, Expectation, Known, Scenario } from "./call.ts";
import { differences, namedFields } from "./compare.ts";
import { knownOf, type Pair, parsed, type StartFront, startPair } from "./harness.ts";

/** How many differences of one call are told. */
const SHOWN = 20;

/** How the second platform differs from the first: in ways that a v1 client must not notice. */
export interface Variant {
  readonly name: string;
  readonly second: SandboxOptions;
}

/**
 * One test a call: native v1 answers what the call expects, the other side answers the same, and after a write both stores hold
 * the same. The calls of a scenario build on each other, so the first that fails explains the rest.
 */
export function compareScenario(start: StartFront, variant: Variant, scenario: Scenario): void {
  const names = scenario.calls
    .flatMap((step) => ("each" in step ? step.each : [step]))
    .map(({ method, name }) => `${method} ${name}`);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`${scenario.name}: two calls are named ${twice}`);
  describe(`${scenario.name} (${variant.name})`, () => {
    let pair: Pair;
    let known: Known;
    beforeAll(async () => {
      const { size = 0, organisation = true } = scenario;
      pair = await startPair(start, { size, organisation }, variant.second);
      known = knownOf(pair.native.sandbox);
    });
    afterAll(() => pair.close());
    for (const step of scenario.calls) {
      const calls = "each" in step ? step.each : [step];
      test(calls.length === 1
        ? `${calls[0]?.method} ${step.name}`
        : `${calls.length} calls: ${step.name}`, async () => {
        for (const call of calls) await compareCall(pair, known, call);
      }, 60_000);
    }
    test("reading wrote nothing: the stores at the end", () =>
      expect(pair.storeDifferences().slice(0, SHOWN)).toEqual([]));
  });
}

async function compareCall(pair: Pair, known: Known, call: Call): Promise<void> {
  const native = await pair.native.ask(call);
  const carried = await pair.carried.ask(call);
  expect(disappointments(call, native, known), `${call.name}: native v1 against the references`).toEqual([]);
  const found = differences(native, carried, { ordered: call.ordered ?? false });
  expect(found.slice(0, SHOWN), `${call.name}: native, carried`).toEqual([]);
  if (call.method === "GET") return;
  expect(pair.storeDifferences().slice(0, SHOWN), `${call.name}: the stores afterwards`).toEqual([]);
}

/** Where native v1 does not do what the call was written to show. */
export function disappointments(call: Call, answer: ApiResponse, known: Known): string[] {
  const body = parsed(answer);
  const found: string[] = [];
  if (answer.status !== call.status)
    found.push(`status ${answer.status}, expected ${call.status}: ${JSON.stringify(body)}`);
  if (call.code !== undefined && member(body, "code") !== call.code)
    found.push(`code ${member(body, "code")}, not ${call.code}`);
  if (call.field !== undefined && !namedFields(body).includes(call.field)) {
    found.push(`names ${namedFields(body).join(", ")}, not ${call.field}`);
  }
  return [...found, ...contentDisappointments(call, body, known)];
}

function contentDisappointments(call: Expectation, body: Json, known: Known): string[] {
  const found: string[] = [];
  const list = member(body, "items");
  const items = Array.isArray(list) ? list : [];
  if (call.items !== undefined && !(Array.isArray(list) && holds(items.length, call.items))) {
    found.push(`${Array.isArray(list) ? items.length : "no"} items, expected ${call.items}`);
  }
  const seed = { known };
  const every = typeof call.every === "function" ? call.every(seed) : call.every;
  const shows = typeof call.shows === "function" ? call.shows(seed) : call.shows;
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
