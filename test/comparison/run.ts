/** How does a scenario become tests? */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJsonObject, type Json, member } from "../../src/model/json.ts";
import type { ApiResponse } from "../../src/model/message.ts";
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import type { Call, Expectation, Known, Scenario } from "./call.ts";
import { differences, namedFields } from "./compare.ts";
import { knownOf, type Pair, parsed, type StartFront, startPair } from "./harness.ts";

/** How the second platform differs from the first: in ways that a v1 client must not notice. */
export interface Variant {
  readonly name: string;
  readonly second: SandboxOptions;
}

/**
 * One test a call: native v1 answers what the call expects, the other side answers the same, and afterwards both stores hold
 * the same. The calls of a scenario build on each other, so the first that fails explains the rest.
 */
export function compareScenario(start: StartFront, variant: Variant, scenario: Scenario): void {
  describe(`${scenario.name} (${variant.name})`, () => {
    let pair: Pair;
    let known: Known;
    beforeAll(async () => {
      pair = await startPair(start, { size: scenario.size ?? 0 }, variant.second);
      known = knownOf(pair.native.sandbox);
    });
    afterAll(() => pair.close());
    for (const call of scenario.calls) {
      test(`${call.method} ${call.name}`, async () => {
        const native = await pair.native.ask(call);
        const carried = await pair.carried.ask(call);
        expect(disappointments(call, native, known), "native v1 against the references").toEqual([]);
        expect(
          differences(native, carried, { ordered: call.ordered ?? false }).slice(0, 20),
          "native, carried",
        ).toEqual([]);
        expect(pair.storeDifferences().slice(0, 20), "the stores afterwards").toEqual([]);
      });
    }
  });
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
  const each = typeof call.each === "function" ? call.each(seed) : call.each;
  const shows = typeof call.shows === "function" ? call.shows(seed) : call.shows;
  if (each !== undefined) for (const item of items) found.push(...missing("", each, item));
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
