/** Where do two JSON values differ, member by member, at every depth? */

import { type KeyTable, keyTable } from "../json/keys.ts";
import type { DifferenceClass } from "../model/comparison.ts";
import { align, type Listed, NONE } from "./align.ts";
import { contentOf } from "./compare-content.ts";
import { decimalOf, instantOf, sameScalar, textOf } from "./compare-scalar.ts";
import { isDue, type Pace } from "./compare-skip.ts";
import {
  type Elements,
  elementAt,
  elementsOf,
  kindOf,
  type Members,
  memberOf,
  membersOf,
  type Span,
  sameSpelling,
} from "./compare-text.ts";
import { fieldOf, isScalar, isZero } from "./compare-zero.ts";
import { addDifference, addNoise, type Shown, type Tally } from "./differences.ts";
import type { Field } from "./shape.ts";
import { find, mapsOf, newTable, put } from "./table.ts";

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

/** Compares two values that are there, and are not spelled the same. */
export function* compareValues(work: Work, native: Span, translated: Span, at: Where): Step {
  if (isDue(work.pace, 0)) yield;
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
export function* compareMembers(work: Work, native: Members, translated: Members, at: Where): Step {
  for (const members of mapsOf(native)) {
    for (const [name, value] of members) {
      const other = find(translated, name);
      const same = other !== undefined && sameSpelling(value, other);
      if (!same) yield* compareMember(work, value, other, placeOf(at, name));
      if (isDue(work.pace, 0)) yield;
    }
  }
  for (const members of mapsOf(translated)) {
    for (const [name, value] of members) {
      if (find(native, name) === undefined) yield* compareMember(work, undefined, value, placeOf(at, name));
      if (isDue(work.pace, 0)) yield;
    }
  }
}

function placeOf({ path, id, field }: Where, name: string): Where {
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
    const [left, right] = [
      { list: native, elements: one },
      { list: translated, elements: other },
    ];
    yield* compareAligned(work, left, right, place, "order");
  } else yield* compareByPosition(work, one, other, place);
}

const ID = keyNamed("id");

/** The ids of all elements; undefined unless each has one of its own. */
function* namesOf(work: Work, elements: Elements): Generator<void, string[] | undefined> {
  const names = newTable<true>();
  const ids: string[] = [];
  for (let i = 0; i < elements.length; i++) {
    const id = yield* idOf(work, elementAt(elements, i), ID);
    if (id === undefined || find(names, id) === true) return undefined;
    put(names, id, true);
    ids.push(id);
    if (isDue(work.pace, 0)) yield;
  }
  return ids;
}

function* compareByPosition(work: Work, native: Elements, translated: Elements, at: Where): Step {
  for (let i = 0; i < Math.max(native.length, translated.length); i++) {
    const one = i < native.length ? elementAt(native, i) : undefined;
    const other = i < translated.length ? elementAt(translated, i) : undefined;
    if (one === undefined || other === undefined) add(work, one === undefined ? "extra" : "missing", at, one, other);
    else if (!sameSpelling(one, other)) yield* compareValues(work, one, other, at);
    if (isDue(work.pace, 0)) yield;
  }
}

/** An array, its elements, and their ids where some have one. */
export interface Named {
  readonly list: Span;
  readonly elements: Elements;
  readonly ids?: readonly (string | undefined)[];
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
  const { partners, taken, ordered } = yield* align(listed(work, native), listed(work, translated), work.pace);
  const where = ({ ids }: Named, index: number): Where => (ofRecords ? { ...at, id: ids?.[index] } : at);
  if (!ordered) add(work, order, at, native.list, translated.list);
  for (let i = 0; i < partners.length; i++) {
    if (partners[i] === NONE) add(work, "missing", where(native, i), elementAt(native.elements, i), undefined);
    if (isDue(work.pace, 0)) yield;
  }
  for (let i = 0; i < taken.length; i++) {
    if (taken[i] === 0) add(work, "extra", where(translated, i), undefined, elementAt(translated.elements, i));
    if (isDue(work.pace, 0)) yield;
  }
  for (const [i, partner] of partners.entries()) {
    if (partner !== NONE) {
      const [one, other] = [elementAt(native.elements, i), elementAt(translated.elements, partner)];
      if (!sameSpelling(one, other)) yield* compareValues(work, one, other, where(native, i));
    }
    if (isDue(work.pace, 0)) yield;
  }
}

function listed({ pace }: Work, { elements, ids }: Named): Listed {
  const contentAt = (index: number) => contentOf(elementAt(elements, index), pace);
  return { size: elements.length, contentOf: contentAt, ...(ids === undefined ? {} : { ids }) };
}

/** What `idOf` finds an element's id by. */
export function keyNamed(name: string): KeyTable<true> {
  return keyTable(new Map([[name, true]]));
}

/** The id of `element`, a text or a number under the name of `key`; undefined where there is none. */
export function* idOf(work: Work, element: Span, key: KeyTable<true>): Generator<void, string | undefined> {
  const id = kindOf(element) === "object" ? yield* memberOf(element, key, work.pace) : undefined;
  const kind = id === undefined ? undefined : kindOf(id);
  if (id === undefined || (kind !== "string" && kind !== "number")) return undefined;
  return (kind === "string" ? textOf(id) : decimalOf(id)) || undefined;
}
