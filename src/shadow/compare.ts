/** What comes out when native's answer and the translated one are laid beside each other? (Design section 7: shadow.) */

import { type KeyTable, keyTable } from "../json/keys.ts";
import type { DifferenceClass } from "../model/comparison.ts";
import { align, type ListSide, NONE } from "./align.ts";
import {
  addDifference,
  addNoise,
  comparisonOfDifferences,
  type DetailedComparison,
  type DifferenceValue,
  type FoundDifferences,
  newFoundDifferences,
} from "./differences.ts";
import {
  contentOf,
  decimalOf,
  decodedText,
  fieldOf,
  instantOf,
  isScalar,
  isUnset,
  sameScalar,
} from "./json-content.ts";
import {
  elementAt,
  elementsOf,
  isPauseDue,
  type JsonElements,
  type JsonMembers,
  kindOf,
  memberOf,
  membersOf,
  newNameTable,
  readValue,
  sameBytes,
  sameSpelling,
  tableDelete,
  tableGet,
  tableMaps,
  tableSet,
  type ValueSpan,
  type YieldBudget,
} from "./json-values.ts";
import type { ComparedField, CompareShape } from "./shape.ts";

/** One answer, whole. */
export interface ComparableResponse {
  readonly status: number;
  readonly body: Uint8Array;
}

/**
 * Compares two answers to one request: status, then body; records by id, then field by field at every depth. Whoever drives
 * it may let others run at each `yield`: steps are short whatever the size of the answers. Never throws. Holds a copy of
 * each body meanwhile, unless they are the same bytes.
 *
 * - `status`: nothing else is compared. `error`: errors of one status that a program can tell apart (`compareErrors`), or a
 *   body that is no JSON.
 * - `missing`, `extra`: a record, or a member that is not zero, on one side; null is as good as absent.
 * - `value`: both have it and it says something else. A number is never a text; numbers count by exact value, times by
 *   instant (`sameScalar`).
 * - `presence`: absent, null and the zero of the kind stand for each other.
 * - `order`: the same records, or elements of a set, in another order.
 *
 * Of a member name that is there twice the last counts; a record whose id is there twice is paired by what it says.
 */
export function* compareAnswers(
  native: ComparableResponse,
  translated: ComparableResponse,
  shape: CompareShape,
): Generator<void, DetailedComparison> {
  const tally = newFoundDifferences();
  if (native.status !== translated.status) {
    const at = { class: "status", path: "status", id: undefined } as const;
    addDifference(tally, at, `${native.status}`, `${translated.status}`);
  } else if (!(yield* sameBytes(native.body, translated.body))) {
    yield* compareBodies(tally, native, translated, shape);
  }
  return comparisonOfDifferences(tally);
}

function* compareBodies(
  tally: FoundDifferences,
  native: ComparableResponse,
  translated: ComparableResponse,
  shape: CompareShape,
): Generator<void, void> {
  const pace: YieldBudget = { work: 0 };
  const failed = native.status >= 400;
  const one = yield* readValue(native.body, pace);
  const other = yield* readValue(translated.body, pace);
  if (one === undefined || other === undefined) {
    // An error page without JSON says no more than its status, which is the same.
    if (failed && one === other) return;
    addDifference(tally, { class: "error", path: "", id: undefined }, begin(native.body), begin(translated.body));
  } else if (failed) yield* compareErrors(tally, one, other, pace);
  else yield* compareResults({ pace, tally, volatile: new Set(shape.volatile) }, one, other, shape);
}

/** The beginning of what may be no JSON, and no text either. */
function begin(body: Uint8Array): string {
  return new TextDecoder().decode(body.subarray(0, 1000));
}

const ITEMS = "items";

function* compareResults(
  work: ComparisonContext,
  native: ValueSpan,
  translated: ValueSpan,
  shape: CompareShape,
): Generator<void, void> {
  if (sameSpelling(native, translated)) return;
  const { fields } = shape;
  const field = fields && { time: false, set: false, keyed: false, zero: undefined, members: fields };
  const root: ValueLocation = { path: "", id: undefined, field };
  if (!shape.list || kindOf(native) !== "object" || kindOf(translated) !== "object") {
    return yield* compareValues(work, native, translated, root);
  }
  const one = yield* membersOf(native, work.pace);
  const other = yield* membersOf(translated, work.pace);
  const [records, others] = [tableGet(one, ITEMS), tableGet(other, ITEMS)];
  const both = isArray(records) && isArray(others);
  if (both) {
    tableDelete(one, ITEMS);
    tableDelete(other, ITEMS);
  }
  yield* compareMembers(work, one, other, root);
  if (!both) return;
  const place: ValueLocation = { path: `${ITEMS}[]`, id: undefined, field: fields?.get(ITEMS) };
  const left = yield* recordsOf(work, records, shape.key);
  const right = yield* recordsOf(work, others, shape.key);
  yield* compareAligned(work, left, right, place, "order", true);
}

function isArray(span: ValueSpan | undefined): span is ValueSpan {
  return span !== undefined && kindOf(span) === "array";
}

function* recordsOf(work: ComparisonContext, list: ValueSpan, key: string) {
  const elements = yield* elementsOf(list, work.pace);
  const named = keyNamed(key);
  const ids: (string | undefined)[] = [];
  for (let i = 0; i < elements.length; i++) {
    ids.push(yield* idOf(work, elementAt(elements, i), named));
    if (isPauseDue(work.pace, 0)) yield;
  }
  return { list, elements, ids };
}

/** Where do two JSON values differ, member by member, at every depth? */

/** What goes along through one comparison. */
export interface ComparisonContext {
  readonly pace: YieldBudget;
  readonly tally: FoundDifferences;
  readonly volatile: ReadonlySet<string>;
}

/** Where in the answer two values stand. */
export interface ValueLocation {
  /** As in `Difference.path`. */
  readonly path: string;
  /** The record's id. */
  readonly id: string | undefined;
  readonly field: ComparedField | undefined;
}

type ComparisonStep = Generator<void, void>;

function report(
  { tally }: ComparisonContext,
  of: DifferenceClass,
  at: ValueLocation,
  native: DifferenceValue,
  translated: DifferenceValue,
): void {
  addDifference(tally, { class: of, path: at.path, id: at.id }, native, translated);
}

/** Compares two values that are there, and are not spelled the same. */
export function* compareValues(
  work: ComparisonContext,
  native: ValueSpan,
  translated: ValueSpan,
  at: ValueLocation,
): ComparisonStep {
  if (isPauseDue(work.pace, 0)) yield;
  const kind = kindOf(native);
  const alike = kind === kindOf(translated);
  if (alike && kind === "object") return yield* compareObjects(work, native, translated, at);
  if (alike && kind === "array") return yield* compareArrays(work, native, translated, at);
  if (isScalar(native) && sameScalar(native, translated, at.field)) return;
  // Two spellings of "unset", as far as the kind of the field tells.
  const unset =
    alike && (yield* isUnset(work.pace, native, at.field)) && (yield* isUnset(work.pace, translated, at.field));
  report(work, unset ? "presence" : "value", at, native, translated);
}

/** Compares the members of two objects. */
function* compareObjects(
  work: ComparisonContext,
  native: ValueSpan,
  translated: ValueSpan,
  at: ValueLocation,
): ComparisonStep {
  const one = yield* membersOf(native, work.pace);
  const other = yield* membersOf(translated, work.pace);
  yield* compareMembers(work, one, other, at);
}

/** Compares members by name; `at` is the object's place, its path empty for the body itself. */
export function* compareMembers(
  work: ComparisonContext,
  native: JsonMembers,
  translated: JsonMembers,
  at: ValueLocation,
): ComparisonStep {
  for (const members of tableMaps(native)) {
    for (const [name, value] of members) {
      const other = tableGet(translated, name);
      const same = other !== undefined && sameSpelling(value, other);
      if (!same) yield* compareMember(work, value, other, memberLocation(at, name));
      if (isPauseDue(work.pace, 0)) yield;
    }
  }
  for (const members of tableMaps(translated)) {
    for (const [name, value] of members) {
      if (tableGet(native, name) === undefined) yield* compareMember(work, undefined, value, memberLocation(at, name));
      if (isPauseDue(work.pace, 0)) yield;
    }
  }
}

function memberLocation({ path, id, field }: ValueLocation, name: string): ValueLocation {
  const shown = field?.keyed === true ? "*" : name;
  return { path: path === "" ? shown : `${path}.${shown}`, id, field: fieldOf(field, name) };
}

/** Compares one member; undefined: it is not there. */
function* compareMember(
  work: ComparisonContext,
  native: ValueSpan | undefined,
  translated: ValueSpan | undefined,
  at: ValueLocation,
): ComparisonStep {
  const [one, other] = [unlessNull(native), unlessNull(translated)];
  if (one !== undefined && other !== undefined) {
    if (work.volatile.has(at.path)) return yield* compareVolatile(work, one, other, at);
    return yield* compareValues(work, one, other, at);
  }
  const there = one ?? other;
  // Null on one side and nothing on the other is a spelling as well; nothing on both is the same.
  if (there === undefined && (native === undefined) === (translated === undefined)) return;
  const unset = there === undefined || work.volatile.has(at.path) || (yield* isUnset(work.pace, there, at.field));
  const alone = one === undefined ? "extra" : "missing";
  report(work, unset ? "presence" : alone, at, native, translated);
}

/** The value unless it is null, which stands for an unset member. */
function unlessNull(span: ValueSpan | undefined): ValueSpan | undefined {
  return span === undefined || kindOf(span) === "null" ? undefined : span;
}

/** Compares a member that changes by itself: another value of the same kind is noise. */
function* compareVolatile(
  work: ComparisonContext,
  native: ValueSpan,
  translated: ValueSpan,
  at: ValueLocation,
): ComparisonStep {
  const { pace } = work;
  const scalar = isScalar(native) && isScalar(translated);
  if (scalar && sameScalar(native, translated, at.field)) return;
  if (!scalar && (yield* contentOf(native, pace)) === (yield* contentOf(translated, pace))) return;
  const unset = yield* isUnset(work.pace, native, at.field);
  if (unset !== (yield* isUnset(work.pace, translated, at.field))) report(work, "presence", at, native, translated);
  else if (kindOf(native) !== kindOf(translated) || !isTime(native, at) || !isTime(translated, at)) {
    report(work, "value", at, native, translated);
  } else addNoise(work.tally);
}

/** False when the field is a time and the value is none. */
function isTime(span: ValueSpan, { field }: ValueLocation): boolean {
  return field?.time !== true || (kindOf(span) === "string" && instantOf(decodedText(span)) !== undefined);
}

/** Compares two arrays: of objects with ids by id, sets without order, anything else by position. */
function* compareArrays(
  work: ComparisonContext,
  native: ValueSpan,
  translated: ValueSpan,
  at: ValueLocation,
): ComparisonStep {
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
function* namesOf(work: ComparisonContext, elements: JsonElements): Generator<void, string[] | undefined> {
  const names = newNameTable<true>();
  const ids: string[] = [];
  for (let i = 0; i < elements.length; i++) {
    const id = yield* idOf(work, elementAt(elements, i), ID);
    if (id === undefined || tableGet(names, id) === true) return undefined;
    tableSet(names, id, true);
    ids.push(id);
    if (isPauseDue(work.pace, 0)) yield;
  }
  return ids;
}

function* compareByPosition(
  work: ComparisonContext,
  native: JsonElements,
  translated: JsonElements,
  at: ValueLocation,
): ComparisonStep {
  for (let i = 0; i < Math.max(native.length, translated.length); i++) {
    const one = i < native.length ? elementAt(native, i) : undefined;
    const other = i < translated.length ? elementAt(translated, i) : undefined;
    if (one === undefined || other === undefined) report(work, one === undefined ? "extra" : "missing", at, one, other);
    else if (!sameSpelling(one, other)) yield* compareValues(work, one, other, at);
    if (isPauseDue(work.pace, 0)) yield;
  }
}

/** An array, its elements, and their ids where some have one. */
export interface ComparedList {
  readonly list: ValueSpan;
  readonly elements: JsonElements;
  readonly ids?: readonly (string | undefined)[];
}

/** Compares elements that are told apart by id or by what they say. `order`: what another order counts as. */
export function* compareAligned(
  work: ComparisonContext,
  native: ComparedList,
  translated: ComparedList,
  at: ValueLocation,
  order: "order" | "value",
  ofRecords = false,
): ComparisonStep {
  const { partners, taken, ordered } = yield* align(listed(work, native), listed(work, translated), work.pace);
  const where = ({ ids }: ComparedList, index: number): ValueLocation => (ofRecords ? { ...at, id: ids?.[index] } : at);
  if (!ordered) report(work, order, at, native.list, translated.list);
  for (let i = 0; i < partners.length; i++) {
    if (partners[i] === NONE) report(work, "missing", where(native, i), elementAt(native.elements, i), undefined);
    if (isPauseDue(work.pace, 0)) yield;
  }
  for (let i = 0; i < taken.length; i++) {
    if (taken[i] === 0) report(work, "extra", where(translated, i), undefined, elementAt(translated.elements, i));
    if (isPauseDue(work.pace, 0)) yield;
  }
  for (const [i, partner] of partners.entries()) {
    if (partner !== NONE) {
      const [one, other] = [elementAt(native.elements, i), elementAt(translated.elements, partner)];
      if (!sameSpelling(one, other)) yield* compareValues(work, one, other, where(native, i));
    }
    if (isPauseDue(work.pace, 0)) yield;
  }
}

function listed({ pace }: ComparisonContext, { elements, ids }: ComparedList): ListSide {
  const contentAt = (index: number) => contentOf(elementAt(elements, index), pace);
  return { size: elements.length, contentOf: contentAt, ...(ids === undefined ? {} : { ids }) };
}

/** What `idOf` finds an element's id by. */
export function keyNamed(name: string): KeyTable<true> {
  return keyTable(new Map([[name, true]]));
}

/** The id of `element`, a text or a number under the name of `key`; undefined where there is none. */
export function* idOf(
  work: ComparisonContext,
  element: ValueSpan,
  key: KeyTable<true>,
): Generator<void, string | undefined> {
  const id = kindOf(element) === "object" ? yield* memberOf(element, key, work.pace) : undefined;
  const kind = id === undefined ? undefined : kindOf(id);
  if (id === undefined || (kind !== "string" && kind !== "number")) return undefined;
  return (kind === "string" ? decodedText(id) : decimalOf(id)) || undefined;
}

/** Do two errors of the same status say the same to a program? */

/** What is for people to read: no program goes by it, and the versions word it differently. */
const HUMAN_TEXT: ReadonlySet<string> = new Set(["description", "message"]);
/** Details that are for people, or about one request only. */
const IGNORED_DETAILS = /(?:^|[./])(?:DebugInfo|Help|LocalizedMessage|RequestInfo)$/;

/**
 * Compares the bodies of two errors of one status. v1 clients go by `code`, then by details (the reason of an ErrorInfo, the
 * fields of a BadRequest); the message alone is no difference. Another code says all: nothing is compared behind it. Details
 * are compared without their prose and in any order; one that only the translated answer has is `extra`, as a client
 * passes over what it does not look for.
 */
export function* compareErrors(
  tally: FoundDifferences,
  native: ValueSpan,
  translated: ValueSpan,
  pace: YieldBudget,
): Generator<void, void> {
  const differ = (path: string, one: ValueSpan | undefined, other: ValueSpan | undefined) =>
    addDifference(tally, { class: "error", path, id: undefined }, one, other);
  if (kindOf(native) !== "object" || kindOf(translated) !== "object") {
    if (!(yield* saySame(native, translated, pace))) differ("", native, translated);
    return;
  }
  const one = yield* membersOf(native, pace);
  const other = yield* membersOf(translated, pace);
  const [code, otherCode] = [tableGet(one, "code"), tableGet(other, "code")];
  if (!(yield* saySame(code, otherCode, pace))) return differ("code", code, otherCode);
  for (const members of [...tableMaps(one), ...tableMaps(other)]) {
    for (const name of members.keys()) {
      if (isPauseDue(pace, 0)) yield;
      const [a, b] = [tableGet(one, name), tableGet(other, name)];
      // Names of native's come first: what is in both was compared with them.
      if (name === "code" || name === "message" || (a !== undefined && members.get(name) !== a)) continue;
      if (name === "details" && isList(a) && isList(b)) yield* compareDetails(tally, a, b, pace);
      else if (!(yield* saySame(a, b, pace))) differ(name, a, b);
    }
  }
}

/** Null and an empty list of details say as much as nothing. */
function* saySame(a: ValueSpan | undefined, b: ValueSpan | undefined, pace: YieldBudget): Generator<void, boolean> {
  const [one, other] = [a === undefined ? "null" : yield* contentOf(a, pace), b && (yield* contentOf(b, pace))];
  return one === (other ?? "null");
}

function isList(span: ValueSpan | undefined): boolean {
  return span === undefined || kindOf(span) === "array" || kindOf(span) === "null";
}

function* compareDetails(
  tally: FoundDifferences,
  native: ValueSpan | undefined,
  translated: ValueSpan | undefined,
  pace: YieldBudget,
): Generator<void, void> {
  const one = yield* actedOn(native, pace);
  const other = yield* actedOn(translated, pace);
  const listed = (elements: readonly ValueSpan[]) => ({
    size: elements.length,
    contentOf: (index: number) => contentOf(elements[index] as ValueSpan, pace, HUMAN_TEXT),
  });
  const { partners, taken } = yield* align(listed(one), listed(other), pace);
  const at = { path: "details[]", id: undefined };
  for (const [index, detail] of one.entries()) {
    const partner = other[partners[index] as number];
    const same =
      partner !== undefined &&
      (yield* contentOf(detail, pace, HUMAN_TEXT)) === (yield* contentOf(partner, pace, HUMAN_TEXT));
    if (!same) addDifference(tally, { class: "error", ...at }, detail, partner);
    if (isPauseDue(pace, 0)) yield;
  }
  for (const [index, detail] of other.entries()) {
    if (taken[index] === 0) addDifference(tally, { class: "extra", ...at }, undefined, detail);
    if (isPauseDue(pace, 0)) yield;
  }
}

const TYPE_KEY = keyTable<true>(new Map([["@type", true]]));

/** The details that a program may go by. */
function* actedOn(details: ValueSpan | undefined, pace: YieldBudget): Generator<void, ValueSpan[]> {
  if (details === undefined || kindOf(details) === "null") return [];
  const found: ValueSpan[] = [];
  const elements = yield* elementsOf(details, pace);
  for (let i = 0; i < elements.length; i++) {
    const detail = elementAt(elements, i);
    const type = kindOf(detail) === "object" ? yield* memberOf(detail, TYPE_KEY, pace) : undefined;
    if (type === undefined || kindOf(type) !== "string" || !IGNORED_DETAILS.test(decodedText(type))) found.push(detail);
    if (isPauseDue(pace, 0)) yield;
  }
  return found;
}
