/** Compares two responses whose bodies are given as values or as text. */
import { compareAnswers } from "../../src/shadow/compare.ts";
import type { DetailedComparison } from "../../src/shadow/differences.ts";
import type { ComparedField, CompareShape } from "../../src/shadow/shape.ts";

const PLAIN: ComparedField = { time: false, set: false, keyed: false, zero: undefined, members: undefined };

/** Members of a record of the tests: one of each sort. */
export const RECORD = new Map<string, ComparedField>([
  ["at", { ...PLAIN, time: true }],
  ["seen", { ...PLAIN, time: true }],
  ["tags", { ...PLAIN, set: true }],
  ["kind", { ...PLAIN, zero: "NONE" }],
  ["big", { ...PLAIN, zero: "0" }],
  ["labels", { ...PLAIN, keyed: true }],
  ["apps", { ...PLAIN, keyed: true, members: new Map([["at", { ...PLAIN, time: true }]]) }],
  ["box", { ...PLAIN, members: new Map([["at", { ...PLAIN, time: true }]]) }],
]);

export const LIST: CompareShape = {
  list: true,
  key: "id",
  volatile: ["items[].seen", "token"],
  fields: new Map([["items", { ...PLAIN, members: RECORD }]]),
};
export const ONE: CompareShape = { list: false, key: "id", volatile: ["seen"], fields: RECORD };

export type Body = string | Uint8Array;

/** Two bodies of one status (200 by default). */
export function compareTexts(native: Body, translated: Body, shape: CompareShape, status = 200): DetailedComparison {
  const answer = (body: Body) => ({ status, body: typeof body === "string" ? new TextEncoder().encode(body) : body });
  return driven(compareAnswers(answer(native), answer(translated), shape));
}

/** Two values, written as JSON. */
export function compare(native: unknown, translated: unknown, shape: CompareShape, status = 200): DetailedComparison {
  return compareTexts(JSON.stringify(native), JSON.stringify(translated), shape, status);
}

/** Two lists of records. */
export function compareLists(native: readonly unknown[], translated: readonly unknown[]): DetailedComparison {
  return compare({ items: native }, { items: translated }, LIST);
}

export function driven<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** `class path` of each difference, worst first. */
export function placesOf({ differences }: Pick<DetailedComparison, "differences">): readonly string[] {
  return differences.map((difference) => `${difference.class} ${difference.path}`);
}

/** How many there are of each `class path`. */
export function countsOf({ detail }: DetailedComparison): ReadonlyMap<string, number> {
  return new Map(
    (detail?.groups ?? []).map((place) => [
      `${place.class} ${place.path}`,
      [...place.ids.values()].reduce((sum, count) => sum + count, place.beyond),
    ]),
  );
}
