/** Do two errors of the same status say the same to a program? */
import { keyTable } from "../json/keys.ts";
import { align } from "./align.ts";
import { contentOf } from "./compare-content.ts";
import { textOf } from "./compare-scalar.ts";
import { isDue, type Pace } from "./compare-skip.ts";
import { elementAt, elementsOf, kindOf, memberOf, membersOf, type Span } from "./compare-text.ts";
import { addDifference, type Tally } from "./differences.ts";
import { find, mapsOf } from "./table.ts";

/** What is for people to read: no program goes by it, and the versions word it differently. */
const PROSE: ReadonlySet<string> = new Set(["description", "message"]);
/** Details that are for people, or about one request only. */
const APART = /(?:^|[./])(?:DebugInfo|Help|LocalizedMessage|RequestInfo)$/;

/**
 * Compares the bodies of two errors of one status. v1 clients go by `code`, then by details (the reason of an ErrorInfo, the
 * fields of a BadRequest); the message alone is no difference. Another code says all: nothing is compared behind it. Details
 * are compared without their prose and in any order; one that only the translated answer has is `extra`, as a client
 * passes over what it does not look for.
 */
export function* compareErrors(tally: Tally, native: Span, translated: Span, pace: Pace): Generator<void, void> {
  const differ = (path: string, one: Span | undefined, other: Span | undefined) =>
    addDifference(tally, { class: "error", path, id: undefined }, one, other);
  if (kindOf(native) !== "object" || kindOf(translated) !== "object") {
    if (!(yield* saySame(native, translated, pace))) differ("", native, translated);
    return;
  }
  const one = yield* membersOf(native, pace);
  const other = yield* membersOf(translated, pace);
  const [code, otherCode] = [find(one, "code"), find(other, "code")];
  if (!(yield* saySame(code, otherCode, pace))) return differ("code", code, otherCode);
  for (const members of [...mapsOf(one), ...mapsOf(other)]) {
    for (const name of members.keys()) {
      if (isDue(pace, 0)) yield;
      const [a, b] = [find(one, name), find(other, name)];
      // Names of native's come first: what is in both was compared with them.
      if (name === "code" || name === "message" || (a !== undefined && members.get(name) !== a)) continue;
      if (name === "details" && isList(a) && isList(b)) yield* compareDetails(tally, a, b, pace);
      else if (!(yield* saySame(a, b, pace))) differ(name, a, b);
    }
  }
}

/** Null and an empty list of details say as much as nothing. */
function* saySame(a: Span | undefined, b: Span | undefined, pace: Pace): Generator<void, boolean> {
  const [one, other] = [a === undefined ? "null" : yield* contentOf(a, pace), b && (yield* contentOf(b, pace))];
  return one === (other ?? "null");
}

function isList(span: Span | undefined): boolean {
  return span === undefined || kindOf(span) === "array" || kindOf(span) === "null";
}

function* compareDetails(
  tally: Tally,
  native: Span | undefined,
  translated: Span | undefined,
  pace: Pace,
): Generator<void, void> {
  const one = yield* actedOn(native, pace);
  const other = yield* actedOn(translated, pace);
  const listed = (elements: readonly Span[]) => ({
    size: elements.length,
    contentOf: (index: number) => contentOf(elements[index] as Span, pace, PROSE),
  });
  const { partners, taken } = yield* align(listed(one), listed(other), pace);
  const at = { path: "details[]", id: undefined };
  for (const [index, detail] of one.entries()) {
    const partner = other[partners[index] as number];
    const same =
      partner !== undefined && (yield* contentOf(detail, pace, PROSE)) === (yield* contentOf(partner, pace, PROSE));
    if (!same) addDifference(tally, { class: "error", ...at }, detail, partner);
    if (isDue(pace, 0)) yield;
  }
  for (const [index, detail] of other.entries()) {
    if (taken[index] === 0) addDifference(tally, { class: "extra", ...at }, undefined, detail);
    if (isDue(pace, 0)) yield;
  }
}

const TYPE = keyTable<true>(new Map([["@type", true]]));

/** The details that a program may go by. */
function* actedOn(details: Span | undefined, pace: Pace): Generator<void, Span[]> {
  if (details === undefined || kindOf(details) === "null") return [];
  const found: Span[] = [];
  const elements = yield* elementsOf(details, pace);
  for (let i = 0; i < elements.length; i++) {
    const detail = elementAt(elements, i);
    const type = kindOf(detail) === "object" ? yield* memberOf(detail, TYPE, pace) : undefined;
    if (type === undefined || kindOf(type) !== "string" || !APART.test(textOf(type))) found.push(detail);
    if (isDue(pace, 0)) yield;
  }
  return found;
}
