import { type KeyTable, keyTable } from "../json/text.ts";
import type { DifferenceClass } from "../model/comparison.ts";
import { instantOf } from "../model/instant.ts";
import { align, NONE } from "./align.ts";
import {
  addDifference,
  addNoise,
  comparisonOfDifferences,
  type DetailedComparison,
  type DifferenceValue,
  newFoundDifferences,
} from "./differences.ts";
import { contentOf, decimalOf, decodedText, fieldOf, isScalar, isUnset, sameScalar } from "./json-content.ts";
import {
  chosenElements,
  elementAt,
  elementsOf,
  type JsonElements,
  type JsonMembers,
  kindOf,
  memberOf,
  membersOf,
  NameTable,
  readValue,
  sameBytes,
  sameSpelling,
  type ValueSpan,
  YieldBudget,
} from "./json-values.ts";
import type { ComparedField, CompareShape } from "./shape.ts";

/** A response with its whole body. */
export interface ComparableResponse {
  readonly status: number;
  readonly body: Uint8Array;
}

/**
 * Compares two responses to one request: status, then body; records by id, then field by field at every depth. The caller may
 * let other work run at each `yield`: steps are short whatever the size of the bodies. Never throws. Holds a copy of each body
 * meanwhile, unless they are the same bytes.
 *
 * - `status`: nothing else is compared. `error`: errors of one status that a program can tell apart (`compareErrors`), or a
 *   body that is no JSON.
 * - `missing`, `extra`: a record, or a member that is not zero, on one side; null counts as absent.
 * - `value`: both have it, with different content. A number never equals a string; numbers are compared by exact value, times by
 *   instant (`sameScalar`).
 * - `presence`: one is absent, null or the zero of the kind, and the other is another of these.
 * - `order`: the same records, or elements of a set, in another order.
 *
 * Of a repeated member name the last one counts; records with a repeated id are paired by their content.
 */
export function* compareAnswers(
  native: ComparableResponse,
  translated: ComparableResponse,
  shape: CompareShape,
): Generator<void, DetailedComparison> {
  return yield* new ResponseComparison(shape).run(native, translated);
}

/** Where in the response two values are. */
interface ValueLocation {
  /** As in `Difference.path`. */
  readonly path: string;
  /** The record's id. */
  readonly id: string | undefined;
  readonly field: ComparedField | undefined;
}

/** An array, its elements, and their ids where some have one. */
interface ComparedList {
  readonly list: ValueSpan;
  readonly elements: JsonElements;
  readonly ids?: readonly (string | undefined)[];
}

type Steps = Generator<void, void>;

const ITEMS = "items";
const ID = keyNamed("id");
const TYPE_KEY = keyNamed("@type");

/** Members for people: no program decides by them, and the versions word them differently. */
const HUMAN_TEXT: ReadonlySet<string> = new Set(["description", "message"]);
/** Details for people, or about one request only. */
const IGNORED_DETAILS = /(?:^|[./])(?:DebugInfo|Help|LocalizedMessage|RequestInfo)$/;

class ResponseComparison {
  readonly #shape: CompareShape;
  readonly #volatile: ReadonlySet<string>;
  readonly #pace = new YieldBudget();
  readonly #found = newFoundDifferences();

  constructor(shape: CompareShape) {
    this.#shape = shape;
    this.#volatile = new Set(shape.volatile);
  }

  *run(native: ComparableResponse, translated: ComparableResponse): Generator<void, DetailedComparison> {
    if (native.status !== translated.status) {
      this.#report("status", { path: "status", id: undefined }, `${native.status}`, `${translated.status}`);
    } else if (!(yield* sameBytes(native.body, translated.body))) yield* this.#compareBodies(native, translated);
    return comparisonOfDifferences(this.#found);
  }

  #report(
    of: DifferenceClass,
    { path, id }: Omit<ValueLocation, "field">,
    native: DifferenceValue,
    translated: DifferenceValue,
  ): void {
    addDifference(this.#found, { class: of, path, id }, native, translated);
  }

  *#compareBodies(native: ComparableResponse, translated: ComparableResponse): Steps {
    const failed = native.status >= 400;
    const one = yield* readValue(native.body, this.#pace);
    const other = yield* readValue(translated.body, this.#pace);
    if (one === undefined || other === undefined) {
      // Error pages without JSON are equal when their statuses are.
      if (failed && one === other) return;
      this.#report("error", { path: "", id: undefined }, beginning(native.body), beginning(translated.body));
    } else if (failed) yield* this.#compareErrors(one, other);
    else if (!sameSpelling(one, other)) yield* this.#compareResults(one, other);
  }

  *#compareResults(native: ValueSpan, translated: ValueSpan): Steps {
    const { fields, list, key } = this.#shape;
    const field = fields && { time: false, set: false, keyed: false, zero: undefined, members: fields };
    const root: ValueLocation = { path: "", id: undefined, field };
    if (!list || kindOf(native) !== "object" || kindOf(translated) !== "object") {
      return yield* this.#compareValues(native, translated, root);
    }
    const one = yield* membersOf(native, this.#pace);
    const other = yield* membersOf(translated, this.#pace);
    const [records, others] = [one.get(ITEMS), other.get(ITEMS)];
    const both = isArray(records) && isArray(others);
    if (both) {
      one.delete(ITEMS);
      other.delete(ITEMS);
    }
    yield* this.#compareMembers(one, other, root);
    if (!both) return;
    const at: ValueLocation = { path: `${ITEMS}[]`, id: undefined, field: fields?.get(ITEMS) };
    const left = yield* this.#recordsOf(records, key);
    const right = yield* this.#recordsOf(others, key);
    yield* this.#compareAligned(left, right, at, "order", true);
  }

  *#recordsOf(list: ValueSpan, key: string): Generator<void, ComparedList> {
    const elements = yield* elementsOf(list, this.#pace);
    const named = keyNamed(key);
    const ids: (string | undefined)[] = [];
    for (let i = 0; i < elements.length; i++) {
      ids.push(yield* this.#idOf(elementAt(elements, i), named));
      if (this.#pace.isDue()) yield;
    }
    return { list, elements, ids };
  }

  /** Compares two values that are both present, and are not spelled the same. */
  *#compareValues(native: ValueSpan, translated: ValueSpan, at: ValueLocation): Steps {
    if (this.#pace.isDue()) yield;
    const kind = kindOf(native);
    const alike = kind === kindOf(translated);
    if (alike && kind === "object") {
      const one = yield* membersOf(native, this.#pace);
      return yield* this.#compareMembers(one, yield* membersOf(translated, this.#pace), at);
    }
    if (alike && kind === "array") return yield* this.#compareArrays(native, translated, at);
    if (isScalar(native) && sameScalar(native, translated, at.field)) return;
    const unset = alike && (yield* this.#isUnset(native, at)) && (yield* this.#isUnset(translated, at));
    this.#report(unset ? "presence" : "value", at, native, translated);
  }

  #isUnset(span: ValueSpan, { field }: ValueLocation): Generator<void, boolean> {
    return isUnset(this.#pace, span, field);
  }

  /** Compares members by name; `at` is the object's location, its path empty for the body itself. */
  *#compareMembers(native: JsonMembers, translated: JsonMembers, at: ValueLocation): Steps {
    for (const [name, value] of native.entries()) {
      const other = translated.get(name);
      const same = other !== undefined && sameSpelling(value, other);
      if (!same) yield* this.#compareMember(value, other, memberLocation(at, name));
      if (this.#pace.isDue()) yield;
    }
    for (const [name, value] of translated.entries()) {
      if (native.get(name) === undefined) yield* this.#compareMember(undefined, value, memberLocation(at, name));
      if (this.#pace.isDue()) yield;
    }
  }

  /** Compares one member; undefined: absent. */
  *#compareMember(native: ValueSpan | undefined, translated: ValueSpan | undefined, at: ValueLocation): Steps {
    if (this.#shape.ignored?.has(at.path) === true) return;
    const [one, other] = [unlessNull(native), unlessNull(translated)];
    const isVolatile = this.#volatile.has(at.path);
    if (one !== undefined && other !== undefined) {
      return yield* isVolatile ? this.#compareVolatile(one, other, at) : this.#compareValues(one, other, at);
    }
    const present = one ?? other;
    // Null on one side and nothing on the other are two spellings of absent.
    if (present === undefined && (native === undefined) === (translated === undefined)) return;
    const unset = present === undefined || isVolatile || (yield* this.#isUnset(present, at));
    this.#report(unset ? "presence" : one === undefined ? "extra" : "missing", at, native, translated);
  }

  /** Compares a member that changes by itself: another value of the same kind is noise. */
  *#compareVolatile(native: ValueSpan, translated: ValueSpan, at: ValueLocation): Steps {
    const scalar = isScalar(native) && isScalar(translated);
    if (scalar && sameScalar(native, translated, at.field)) return;
    if (!scalar && (yield* contentOf(native, this.#pace)) === (yield* contentOf(translated, this.#pace))) return;
    const unset = yield* this.#isUnset(native, at);
    if (unset !== (yield* this.#isUnset(translated, at))) this.#report("presence", at, native, translated);
    else if (kindOf(native) !== kindOf(translated) || !isTime(native, at) || !isTime(translated, at)) {
      this.#report("value", at, native, translated);
    } else addNoise(this.#found, at.path);
  }

  /** Compares two arrays: objects with ids by id, sets without order, anything else by position. */
  *#compareArrays(native: ValueSpan, translated: ValueSpan, at: ValueLocation): Steps {
    const distinct = at.field?.distinct === true;
    const left = { list: native, elements: yield* this.#elementsOf(native, distinct) };
    const right = { list: translated, elements: yield* this.#elementsOf(translated, distinct) };
    const place = { ...at, path: `${at.path}[]` };
    if (at.field?.set === true) return yield* this.#compareAligned(left, right, place, "order");
    const ids = yield* this.#distinctIds(left.elements);
    const otherIds = ids && (yield* this.#distinctIds(right.elements));
    if (ids === undefined || otherIds === undefined) {
      return yield* this.#compareByPosition(left.elements, right.elements, place);
    }
    // Unlike that of a list of records, the order of these is part of the record: the last event is the present state.
    yield* this.#compareAligned({ ...left, ids }, { ...right, ids: otherIds }, place, "value");
  }

  /** `distinct`: without those that repeat an earlier one. */
  *#elementsOf(list: ValueSpan, distinct: boolean): Generator<void, JsonElements> {
    const elements = yield* elementsOf(list, this.#pace);
    if (!distinct) return elements;
    const seen = new NameTable<true>();
    const pace = this.#pace;
    return yield* chosenElements(elements, function* (element) {
      const content = yield* contentOf(element, pace);
      if (pace.isDue(content.length)) yield;
      if (seen.get(content) === true) return false;
      seen.set(content, true);
      return true;
    });
  }

  /** The ids of all elements; undefined unless each has one of its own. */
  *#distinctIds(elements: JsonElements): Generator<void, string[] | undefined> {
    const names = new NameTable<true>();
    const ids: string[] = [];
    for (let i = 0; i < elements.length; i++) {
      const id = yield* this.#idOf(elementAt(elements, i), ID);
      if (id === undefined || names.get(id) === true) return undefined;
      names.set(id, true);
      ids.push(id);
      if (this.#pace.isDue()) yield;
    }
    return ids;
  }

  *#compareByPosition(native: JsonElements, translated: JsonElements, at: ValueLocation): Steps {
    for (let i = 0; i < Math.max(native.length, translated.length); i++) {
      const one = i < native.length ? elementAt(native, i) : undefined;
      const other = i < translated.length ? elementAt(translated, i) : undefined;
      if (one === undefined) this.#report("extra", at, one, other);
      else if (other === undefined) this.#report("missing", at, one, other);
      else if (!sameSpelling(one, other)) yield* this.#compareValues(one, other, at);
      if (this.#pace.isDue()) yield;
    }
  }

  /** Compares elements that are matched by id or by content. `order`: the class of another order. */
  *#compareAligned(
    native: ComparedList,
    translated: ComparedList,
    at: ValueLocation,
    order: "order" | "value",
    ofRecords = false,
  ): Steps {
    const sideOf = ({ elements, ids }: ComparedList) => ({
      size: elements.length,
      contentOf: (index: number) => contentOf(elementAt(elements, index), this.#pace),
      ...(ids && { ids }),
    });
    const { partners, taken, ordered } = yield* align(sideOf(native), sideOf(translated), this.#pace);
    const where = ({ ids }: ComparedList, i: number): ValueLocation => (ofRecords ? { ...at, id: ids?.[i] } : at);
    if (!ordered) this.#report(order, at, native.list, translated.list);
    for (let i = 0; i < partners.length; i++) {
      if (partners[i] === NONE) this.#report("missing", where(native, i), elementAt(native.elements, i), undefined);
      if (this.#pace.isDue()) yield;
    }
    for (let i = 0; i < taken.length; i++) {
      if (taken[i] === 0) this.#report("extra", where(translated, i), undefined, elementAt(translated.elements, i));
      if (this.#pace.isDue()) yield;
    }
    for (const [i, partner] of partners.entries()) {
      if (partner !== NONE) {
        const [one, other] = [elementAt(native.elements, i), elementAt(translated.elements, partner)];
        if (!sameSpelling(one, other)) yield* this.#compareValues(one, other, where(native, i));
      }
      if (this.#pace.isDue()) yield;
    }
  }

  /** The id of `element`, a string or a number under the name of `key`; undefined where there is none. */
  *#idOf(element: ValueSpan, key: KeyTable<true>): Generator<void, string | undefined> {
    const id = kindOf(element) === "object" ? yield* memberOf(element, key, this.#pace) : undefined;
    const kind = id === undefined ? undefined : kindOf(id);
    if (id === undefined || (kind !== "string" && kind !== "number")) return undefined;
    return (kind === "string" ? decodedText(id) : decimalOf(id)) || undefined;
  }

  /**
   * Compares the bodies of two errors of one status. v1 clients decide by `code`, then by details (the reason of an ErrorInfo,
   * the fields of a BadRequest); another message alone is no difference, and after another code nothing else is compared.
   * Details are compared without texts for people and in any order. One that only the translated response has is `extra`: a
   * client ignores details that it does not look for.
   */
  *#compareErrors(native: ValueSpan, translated: ValueSpan): Steps {
    if (kindOf(native) !== "object" || kindOf(translated) !== "object") {
      return yield* this.#compareErrorMember("", native, translated);
    }
    const one = yield* membersOf(native, this.#pace);
    const other = yield* membersOf(translated, this.#pace);
    const [code, otherCode] = [one.get("code"), other.get("code")];
    if (!(yield* this.#sameContent(code, otherCode))) {
      this.#report("error", { path: "code", id: undefined }, code, otherCode);
      return;
    }
    for (const [name, value] of one.entries()) {
      if (this.#pace.isDue()) yield;
      yield* this.#compareErrorMember(name, value, other.get(name));
    }
    for (const [name, value] of other.entries()) {
      if (this.#pace.isDue()) yield;
      if (one.get(name) === undefined) yield* this.#compareErrorMember(name, undefined, value);
    }
  }

  *#compareErrorMember(name: string, native: ValueSpan | undefined, translated: ValueSpan | undefined): Steps {
    if (name === "code" || name === "message") return;
    if (name === "details" && isList(native) && isList(translated)) yield* this.#compareDetails(native, translated);
    else if (!(yield* this.#sameContent(native, translated))) {
      this.#report("error", { path: name, id: undefined }, native, translated);
    }
  }

  /** Null counts as absent. */
  *#sameContent(a: ValueSpan | undefined, b: ValueSpan | undefined): Generator<void, boolean> {
    const one = a === undefined ? "null" : yield* contentOf(a, this.#pace);
    return one === (b === undefined ? "null" : yield* contentOf(b, this.#pace));
  }

  *#compareDetails(native: ValueSpan | undefined, translated: ValueSpan | undefined): Steps {
    const one = yield* this.#relevantDetails(native);
    const other = yield* this.#relevantDetails(translated);
    const contentAt = (elements: readonly ValueSpan[]) => (index: number) =>
      contentOf(elements[index] as ValueSpan, this.#pace, HUMAN_TEXT);
    const [left, right] = [contentAt(one), contentAt(other)];
    const { partners, taken } = yield* align(
      { size: one.length, contentOf: left },
      { size: other.length, contentOf: right },
      this.#pace,
    );
    const at = { path: "details[]", id: undefined };
    for (const [index, detail] of one.entries()) {
      const partner = partners[index] as number;
      const same = partner !== NONE && (yield* left(index)) === (yield* right(partner));
      if (!same) this.#report("error", at, detail, other[partner]);
      if (this.#pace.isDue()) yield;
    }
    for (const [index, detail] of other.entries()) {
      if (taken[index] === 0) this.#report("extra", at, undefined, detail);
      if (this.#pace.isDue()) yield;
    }
  }

  *#relevantDetails(details: ValueSpan | undefined): Generator<void, ValueSpan[]> {
    if (details === undefined || kindOf(details) === "null") return [];
    const found: ValueSpan[] = [];
    const elements = yield* elementsOf(details, this.#pace);
    for (let i = 0; i < elements.length; i++) {
      const detail = elementAt(elements, i);
      const type = kindOf(detail) === "object" ? yield* memberOf(detail, TYPE_KEY, this.#pace) : undefined;
      const ignored = type !== undefined && kindOf(type) === "string" && IGNORED_DETAILS.test(decodedText(type));
      if (!ignored) found.push(detail);
      if (this.#pace.isDue()) yield;
    }
    return found;
  }
}

/** The beginning of a body that may be neither JSON nor text. */
function beginning(body: Uint8Array): string {
  return new TextDecoder().decode(body.subarray(0, 1000));
}

function keyNamed(name: string): KeyTable<true> {
  return keyTable(new Map([[name, true]]));
}

function isArray(span: ValueSpan | undefined): span is ValueSpan {
  return span !== undefined && kindOf(span) === "array";
}

function isList(span: ValueSpan | undefined): boolean {
  return span === undefined || kindOf(span) === "array" || kindOf(span) === "null";
}

function memberLocation({ path, id, field }: ValueLocation, name: string): ValueLocation {
  const shown = field?.keyed === true ? "*" : name;
  return { path: path === "" ? shown : `${path}.${shown}`, id, field: fieldOf(field, name) };
}

/** The value unless it is null, which counts as absent. */
function unlessNull(span: ValueSpan | undefined): ValueSpan | undefined {
  return span === undefined || kindOf(span) === "null" ? undefined : span;
}

/** False when the field is a time and the value is none. */
function isTime(span: ValueSpan, { field }: ValueLocation): boolean {
  return field?.time !== true || (kindOf(span) === "string" && instantOf(decodedText(span)) !== undefined);
}
