/** Do two errors of the same status say the same to a program? */
import { align } from "./align.ts";
import { contentOf } from "./compare-content.ts";
import { textOf } from "./compare-scalar.ts";
import type { Pace } from "./compare-skip.ts";
import { elementsOf, kindOf, membersOf, type Span } from "./compare-text.ts";
import { addDifference, type Tally } from "./differences.ts";

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
  const names = new Set(["code", ...one.keys(), ...other.keys()]);
  for (const name of names) {
    const [a, b] = [one.get(name), other.get(name)];
    if (name === "message") continue;
    if (name === "details" && isList(a) && isList(b)) yield* compareDetails(tally, a, b, pace);
    else if (!(yield* saySame(a, b, pace))) {
      differ(name, a, b);
      if (name === "code") return;
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
    ids: elements.map(() => undefined),
    contentOf: (index: number) => contentOf(elements[index] as Span, pace, PROSE),
  });
  const { pairs, missing, extra } = yield* align(listed(one), listed(other), pace);
  const at = { path: "details[]", id: undefined };
  for (const index of missing) addDifference(tally, { class: "error", ...at }, one[index], undefined);
  for (const index of extra) addDifference(tally, { class: "extra", ...at }, undefined, other[index]);
  for (const [a, b] of pairs) {
    const [left, right] = [one[a] as Span, other[b] as Span];
    const same = (yield* contentOf(left, pace, PROSE)) === (yield* contentOf(right, pace, PROSE));
    if (!same) addDifference(tally, { class: "error", ...at }, left, right);
  }
}

/** The details that a program may go by. */
function* actedOn(details: Span | undefined, pace: Pace): Generator<void, Span[]> {
  if (details === undefined || kindOf(details) === "null") return [];
  const found: Span[] = [];
  for (const detail of yield* elementsOf(details, pace)) {
    const type = kindOf(detail) === "object" ? (yield* membersOf(detail, pace)).get("@type") : undefined;
    if (type === undefined || kindOf(type) !== "string" || !APART.test(textOf(type))) found.push(detail);
  }
  return found;
}
