/** What does a JSON value say, as one text that is the same for all its spellings? */

import { skipSpace } from "../json/scan.ts";
import { decodeString } from "../json/text.ts";
import {
  elementAt,
  elementsOf,
  isPauseDue,
  type JsonMembers,
  kindOf,
  membersOf,
  sameSpelling,
  tableGet,
  tableMaps,
  type ValueSpan,
  type YieldBudget,
} from "./json-values.ts";
import type { ComparedField } from "./shape.ts";

/** Texts and numbers longer than this are taken as they are spelled. */
const LONG = 1024 * 1024;
/** So many names are sorted, or texts put together, at once: some milliseconds. */
const AT_ONCE = 8192;

/** Members of objects that are left out wherever they stand. */
export type OmittedMembers = ReadonlySet<string>;
const NONE_OMITTED: OmittedMembers = new Set();

/** The value without white space, its members by name, numbers by value; without the members called `omitted`. */
export function* contentOf(
  span: ValueSpan,
  pace: YieldBudget,
  omitted: OmittedMembers = NONE_OMITTED,
): Generator<void, string> {
  if (isPauseDue(pace, 0)) yield;
  switch (kindOf(span)) {
    case "object":
      return yield* objectContent(span, pace, omitted);
    case "array":
      return yield* arrayContent(span, pace, omitted);
    default:
      return scalarContent(span);
  }
}

function* objectContent(span: ValueSpan, pace: YieldBudget, omitted: OmittedMembers): Generator<void, string> {
  const members = yield* membersOf(span, pace);
  const said = newTextBuilder();
  for (const name of yield* sortedNames(members, pace)) {
    if (omitted.has(name)) continue;
    const value = tableGet(members, name) as ValueSpan;
    appendText(
      said,
      `${JSON.stringify(name)}:${isSimple(value) ? scalarContent(value) : yield* contentOf(value, pace, omitted)}`,
    );
    if (isPauseDue(pace, 0)) yield;
  }
  return `{${joined(said)}}`;
}

function* arrayContent(span: ValueSpan, pace: YieldBudget, omitted: OmittedMembers): Generator<void, string> {
  const elements = yield* elementsOf(span, pace);
  const said = newTextBuilder();
  for (let i = 0; i < elements.length; i++) {
    const element = elementAt(elements, i);
    appendText(said, isSimple(element) ? scalarContent(element) : yield* contentOf(element, pace, omitted));
    if (isPauseDue(pace, 0)) yield;
  }
  return `[${joined(said)}]`;
}

function isSimple(span: ValueSpan): boolean {
  const kind = kindOf(span);
  return kind !== "object" && kind !== "array";
}

function scalarContent(span: ValueSpan): string {
  switch (kindOf(span)) {
    case "string": {
      const raw = rawText(span);
      // Without escapes it is spelled as it would be here.
      return span.end - span.start > LONG || !raw.includes("\\") ? raw : JSON.stringify(decodedText(span));
    }
    case "number":
      return decimalOf(span);
    default:
      return rawText(span);
  }
}

/** The names in the order of their UTF-16 code units. */
function* sortedNames(members: JsonMembers, pace: YieldBudget): Generator<void, readonly string[]> {
  if (members.first.size <= AT_ONCE) return [...members.first.keys()].sort();
  let runs: (readonly string[])[] = [];
  let run: string[] = [];
  for (const map of tableMaps(members)) {
    for (const name of map.keys()) {
      run.push(name);
      if (run.length === AT_ONCE) {
        runs.push(run.sort());
        run = [];
        yield;
      }
    }
  }
  runs.push(run.sort());
  while (runs.length > 1) {
    const longer: (readonly string[])[] = [];
    for (let i = 0; i < runs.length; i += 2) longer.push(yield* merged(runs[i] ?? [], runs[i + 1] ?? [], pace));
    runs = longer;
  }
  return runs[0] ?? [];
}

/** The names of two sorted lists, sorted. */
function* merged(a: readonly string[], b: readonly string[], pace: YieldBudget): Generator<void, readonly string[]> {
  if (b.length === 0) return a;
  const all: string[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const [one, other] = [a[i], b[j]];
    if (other === undefined || (one !== undefined && one < other)) {
      all.push(one as string);
      i++;
    } else {
      all.push(other);
      j++;
    }
    if (isPauseDue(pace, 0)) yield;
  }
  return all;
}

/** Many texts that become one, a part of them at a time. */
interface TextBuilder {
  readonly parts: string[];
  readonly last: string[];
}

function newTextBuilder(): TextBuilder {
  return { parts: [], last: [] };
}

function appendText({ parts, last }: TextBuilder, text: string): void {
  last.push(text);
  if (last.length < AT_ONCE) return;
  parts.push(last.join(","));
  last.length = 0;
}

function joined({ parts, last }: TextBuilder): string {
  return parts.length === 0 ? last.join(",") : [...parts, ...(last.length === 0 ? [] : [last.join(",")])].join(",");
}

/** Do two JSON scalars say the same, however they are spelled? */

/** Longer texts are not decoded at once: they are the same when their bytes are. */
const LONG_TEXT = 1024 * 1024;
/** The same for numbers. */
const LONG_NUMBER = 1000;

/**
 * True when two scalars say the same: texts by their characters, numbers by their exact value (`1.0` and `1e0`; any number
 * of digits), times of timestamp fields by their instant. A text is never a number.
 *
 * Times: RFC 3339 lets one instant be written with and without a fraction, and JSON of protobuf leaves the digits to the
 * writer; every v1 client generated from it parses them. A difference that they cannot see and that nobody could remove
 * would keep every comparison from being equal.
 */
export function sameScalar(a: ValueSpan, b: ValueSpan, field: ComparedField | undefined): boolean {
  if (sameSpelling(a, b)) return true;
  const kind = kindOf(a);
  if (kind !== kindOf(b)) return false;
  if (kind === "number") return decimalOf(a) === decimalOf(b);
  if (kind !== "string") return false;
  if (isLong(a) || isLong(b)) return false;
  const [one, other] = [decodedText(a), decodedText(b)];
  if (one === other) return true;
  const at = field?.time === true ? instantOf(one) : undefined;
  return at !== undefined && at === instantOf(other);
}

/** The decoded text of a string. */
export function decodedText({ text, start, end }: ValueSpan): string {
  return decodeString(text.bytes, start, end);
}

/** The bytes of a value as text. */
export function rawText({ text, start, end }: ValueSpan): string {
  return text.bytes.toString("utf8", start, end);
}

function isLong({ start, end }: ValueSpan): boolean {
  return end - start > LONG_TEXT;
}

/** A number's value as digits and exponent: the same text for the same value. Beyond 1000 characters as it is spelled. */
export function decimalOf(number: ValueSpan): string {
  const raw = number.text.bytes.toString("latin1", number.start, number.end);
  if (raw.length > LONG_NUMBER) return raw;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(raw) ?? [];
  const digits = whole + fraction;
  let first = 0;
  while (digits[first] === "0") first++;
  // Zero has no sign.
  if (first === digits.length) return "0";
  let last = digits.length;
  while (digits[last - 1] === "0") last--;
  return `${sign}${digits.slice(first, last)}e${BigInt(exponent) + BigInt(digits.length - last - fraction.length)}`;
}

const TIME = /^(\d{4}-\d\d-(\d\d)T\d\d:\d\d:\d\d)(?:\.(\d{1,100}))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/** The same text for the same instant, to the last digit of its fraction; undefined when `text` is no RFC 3339 time. */
export function instantOf(text: string): string | undefined {
  const [, local = "", day, fraction = "", zone] = TIME.exec(text) ?? [];
  const at = Date.parse(`${local}${zone}`.toUpperCase());
  // The engine takes 30 February for 2 March, and 24:00 for the next day.
  if (Number.isNaN(at) || new Date(`${local}Z`.toUpperCase()).getUTCDate() !== Number(day)) return undefined;
  return `${at}.${fraction.replace(/0+$/, "")}`;
}

/** Is this JSON value what an unset member looks like? */

/**
 * True for null, "", 0, false, [], {}, and for the zero that the field's kind has beside them. A message of nothing but zeros
 * is zero; a map with a key in it never is.
 */
export function* isUnset(
  pace: YieldBudget,
  span: ValueSpan,
  field: ComparedField | undefined,
): Generator<void, boolean> {
  switch (kindOf(span)) {
    case "object": {
      if (field?.keyed === true) return isEmpty(span);
      for (const members of tableMaps(yield* membersOf(span, pace))) {
        for (const [name, value] of members) {
          if (!(yield* isUnset(pace, value, fieldOf(field, name)))) return false;
          if (isPauseDue(pace, 0)) yield;
        }
      }
      return true;
    }
    case "array":
      return isEmpty(span);
    case "string":
      if (span.end === span.start + 2) return true;
      // A longer text is no name of an enum.
      return field?.zero !== undefined && span.end - span.start < 1000 && decodedText(span) === field.zero;
    case "number":
      return decimalOf(span) === "0";
    default:
      return span.text.bytes[span.start] !== 0x74;
  }
}

/** True for `{}` and `[]`. */
function isEmpty({ text: { view }, start, end }: ValueSpan): boolean {
  return skipSpace(view, start + 1) === end - 1;
}

/** The field of the member `name` of an object of `field`. */
export function fieldOf(field: ComparedField | undefined, name: string): ComparedField | undefined {
  if (field?.keyed !== true) return field?.members?.get(name);
  // Each value of a map is one of the messages, whose members are known by name.
  return field.members === undefined ? undefined : { ...field, keyed: false };
}

/** True for a value without members or elements. */
export function isScalar(span: ValueSpan): boolean {
  const kind = kindOf(span);
  return kind !== "object" && kind !== "array";
}
