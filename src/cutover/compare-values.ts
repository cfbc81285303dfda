/** Where do two JSON values differ, member by member, at every depth? */
import type { DifferenceClass } from "../model/comparison.ts";
import { align } from "./align.ts";
import { contentOf } from "./compare-content.ts";
import { decimalOf, instantOf, sameScalar, textOf } from "./compare-scalar.ts";
import { isDue, type Pace } from "./compare-skip.ts";
import { elementsOf, kindOf, membersOf, type Span, sameSpelling } from "./compare-text.ts";
import { fieldOf, isScalar, isZero } from "./compare-zero.ts";
import { addDifference, addNoise, type Shown, type Tally } from "./differences.ts";
import type { Field } from "./shape.ts";

/** What goes along through one comparison. */
export interface Work {
  readonly pace: Pace;
  readonly tally: Tally;
  readonly volatile: ReadonlySet<string>;
}

/** Where in the answer two values stand. */
export interface Where {
  /** As in `Difference.path`. */
  readonly path: string;
  /** The record's id. */
  readonly id: string | undefined;
  readonly field: Field | undefined;
}

type Step = Generator<void, void>;

function add({ tally }: Work, of: DifferenceClass, at: Where, native: Shown, translated: Shown): void {
  addDifference(tally, { class: of, path: at.path, id: at.id }, native, translated);
}

/** Compares two values that are there. */
export function* compareValues(work: Work, native: Span, translated: Span, at: Where): Step {
  if (isDue(work.pace, 0)) yield;
  if (sameSpelling(native, translated)) return;
  const kind = kindOf(native);
  const alike = kind === kindOf(translated);
  if (alike && kind === "object") return yield* compareObjects(work, native, translated, at);
  if (alike && kind === "array") return yield* compareArrays(work, native, translated, at);
  if (isScalar(native) && sameScalar(native, translated, at.field)) return;
  // Two spellings of "unset", as far as the kind of the field tells.
  const unset =
    alike && (yield* isZero(work.pace, native, at.field)) && (yield* isZero(work.pace, translated, at.field));
  add(work, unset ? "presence" : "value", at, native, translated);
}

/** Compares the members of two objects. */
function* compareObjects(work: Work, native: Span, translated: Span, at: Where): Step {
  const one = yield* membersOf(native, work.pace);
  const other = yield* membersOf(translated, work.pace);
  yield* compareMembers(work, one, other, at);
}

/** Compares members by name; `at` is the object's place, its path empty for the body itself. */
export function* compareMembers(
  work: Work,
  native: ReadonlyMap<string, Span>,
  translated: ReadonlyMap<string, Span>,
  at: Where,
): Step {
  for (const [name, value] of native) {
    const other = translated.get(name);
    if (other !== undefined && sameSpelling(value, other)) continue;
    yield* compareMember(work, value, other, memberOf(at, name));
    if (isDue(work.pace, 0)) yield;
  }
  for (const [name, value] of translated) {
    if (!native.has(name)) yield* compareMember(work, undefined, value, memberOf(at, name));
    if (isDue(work.pace, 0)) yield;
  }
}

function memberOf({ path, id, field }: Where, name: string): Where {
  const shown = field?.keyed === true ? "*" : name;
  return { path: path === "" ? shown : `${path}.${shown}`, id, field: fieldOf(field, name) };
}

/** Compares one member; undefined: it is not there. */
function* compareMember(work: Work, native: Span | undefined, translated: Span | undefined, at: Where): Step {
  const [one, other] = [given(native), given(translated)];
  if (one !== undefined && other !== undefined) {
    if (work.volatile.has(at.path)) return yield* compareVolatile(work, one, other, at);
    return yield* compareValues(work, one, other, at);
  }
  const there = one ?? other;
  // Null on one side and nothing on the other is a spelling as well; nothing on both is the same.
  if (there === undefined && (native === undefined) === (translated === undefined)) return;
  const unset = there === undefined || work.volatile.has(at.path) || (yield* isZero(work.pace, there, at.field));
  const alone = one === undefined ? "extra" : "missing";
  add(work, unset ? "presence" : alone, at, native, translated);
}

/** The value unless it is null, which stands for an unset member. */
function given(span: Span | undefined): Span | undefined {
  return span === undefined || kindOf(span) === "null" ? undefined : span;
}

/** Compares a member that changes by itself: another value of the same kind is noise. */
function* compareVolatile(work: Work, native: Span, translated: Span, at: Where): Step {
  const { pace } = work;
  const scalar = isScalar(native) && isScalar(translated);
  if (scalar && sameScalar(native, translated, at.field)) return;
  if (!scalar && (yield* contentOf(native, pace)) === (yield* contentOf(translated, pace))) return;
  const unset = yield* isZero(work.pace, native, at.field);
  if (unset !== (yield* isZero(work.pace, translated, at.field))) add(work, "presence", at, native, translated);
  else if (kindOf(native) !== kindOf(translated) || !isTime(native, at) || !isTime(translated, at)) {
    add(work, "value", at, native, translated);
  } else addNoise(work.tally);
}

/** False when the field is a time and the value is none. */
function isTime(span: Span, { field }: Where): boolean {
  return field?.time !== true || (kindOf(span) === "string" && instantOf(textOf(span)) !== undefined);
}

/** Compares two arrays: of objects with ids by id, sets without order, anything else by position. */
function* compareArrays(work: Work, native: Span, translated: Span, at: Where): Step {
  const one = yield* elementsOf(native, work.pace);
  const other = yield* elementsOf(translated, work.pace);
  const place = { ...at, path: `${at.path}[]` };
  const ids = at.field?.set === true ? undefined : yield* namesOf(work, one);
  const otherIds = ids === undefined ? undefined : yield* namesOf(work, other);
  if (ids !== undefined && otherIds !== undefined) {
    // Unlike that of a list of records, the order of these is part of the record: the last event is the present state.
    const left = { list: native, elements: one, ids };
    yield* compareAligned(work, left, { list: translated, elements: other, ids: otherIds }, place, "value");
  } else if (at.field?.set === true) {
    const unnamed = (list: Span, elements: readonly Span[]) => ({ list, elements, ids: elements.map(() => undefined) });
    yield* compareAligned(work, unnamed(native, one), unnamed(translated, other), place, "order");
  } else yield* compareByPosition(work, one, other, place);
}

/** The ids of all elements; undefined unless each has one of its own. */
function* namesOf(work: Work, elements: readonly Span[]): Generator<void, string[] | undefined> {
  const names = new Set<string>();
  for (const element of elements) {
    const id = yield* idOf(work, element, "id");
    if (id === undefined || names.has(id)) return undefined;
    names.add(id);
    if (isDue(work.pace, 0)) yield;
  }
  return [...names];
}

function* compareByPosition(work: Work, native: readonly Span[], translated: readonly Span[], at: Where): Step {
  for (let i = 0; i < Math.max(native.length, translated.length); i++) {
    const [one, other] = [native[i], translated[i]];
    if (one !== undefined && other !== undefined) yield* compareValues(work, one, other, at);
    else add(work, one === undefined ? "extra" : "missing", at, one, other);
    if (isDue(work.pace, 0)) yield;
  }
}

/** An array, its elements and their ids. */
export interface Named {
  readonly list: Span;
  readonly elements: readonly Span[];
  readonly ids: readonly (string | undefined)[];
}

/** Compares elements that are told apart by id or by what they say. `order`: what another order counts as. */
export function* compareAligned(
  work: Work,
  native: Named,
  translated: Named,
  at: Where,
  order: "order" | "value",
  ofRecords = false,
): Step {
  const listed = ({ elements, ids }: Named) => ({
    ids,
    contentOf: (index: number) => contentOf(elements[index] as Span, work.pace),
  });
  const { pairs, missing, extra, ordered } = yield* align(listed(native), listed(translated), work.pace);
  const where = (id: string | undefined): Where => (ofRecords ? { ...at, id } : at);
  if (!ordered) add(work, order, at, native.list, translated.list);
  for (const index of missing) {
    add(work, "missing", where(native.ids[index]), native.elements[index], undefined);
    if (isDue(work.pace, 0)) yield;
  }
  for (const index of extra) {
    add(work, "extra", where(translated.ids[index]), undefined, translated.elements[index]);
    if (isDue(work.pace, 0)) yield;
  }
  for (const [one, other] of pairs) {
    const place = where(native.ids[one]);
    yield* compareValues(work, native.elements[one] as Span, translated.elements[other] as Span, place);
  }
}

/** The id of `element`, a text or a number under the name `key`; undefined where there is none. */
export function* idOf(work: Work, element: Span, key: string): Generator<void, string | undefined> {
  const id = kindOf(element) === "object" ? (yield* membersOf(element, work.pace)).get(key) : undefined;
  const kind = id === undefined ? undefined : kindOf(id);
  if (id === undefined || (kind !== "string" && kind !== "number")) return undefined;
  return (kind === "string" ? textOf(id) : decimalOf(id)) || undefined;
}
