/** What JSON values mean, whatever their spelling: one text for the same content, equal scalars, unset values. */
import { skipSpace } from "../json/scan.ts";
import { decodeString } from "../json/text.ts";
import { type Instant, instantOf, instantText } from "../model/instant.ts";
import {
  elementAt,
  elementsOf,
  type JsonMembers,
  kindOf,
  membersOf,
  sameSpelling,
  type ValueSpan,
  type YieldBudget,
} from "./json-values.ts";
import type { ComparedField } from "./shape.ts";

/** Longer strings are not decoded: two are the same when their bytes are. */
const LONG_TEXT = 1024 * 1024;
/** The same for numbers. */
const LONG_NUMBER = 1000;
/** Names that are sorted, or texts that are joined, in one step. */
const AT_ONCE = 8192;

/** Members of objects that are left out at every depth. */
type OmittedMembers = ReadonlySet<string>;
const NONE_OMITTED: OmittedMembers = new Set();

/** The value without white space, its members sorted, numbers by value; without the members called `omitted`. */
export function* contentOf(
  span: ValueSpan,
  pace: YieldBudget,
  omitted: OmittedMembers = NONE_OMITTED,
): Generator<void, string> {
  if (pace.isDue()) yield;
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
  const said = new TextBuilder();
  for (const name of yield* sortedNames(members, pace)) {
    if (omitted.has(name)) continue;
    const value = members.get(name) as ValueSpan;
    const content = isScalar(value) ? scalarContent(value) : yield* contentOf(value, pace, omitted);
    said.append(`${JSON.stringify(name)}:${content}`);
    if (pace.isDue()) yield;
  }
  return `{${said.toString()}}`;
}

function* arrayContent(span: ValueSpan, pace: YieldBudget, omitted: OmittedMembers): Generator<void, string> {
  const elements = yield* elementsOf(span, pace);
  const said = new TextBuilder();
  for (let i = 0; i < elements.length; i++) {
    const element = elementAt(elements, i);
    said.append(isScalar(element) ? scalarContent(element) : yield* contentOf(element, pace, omitted));
    if (pace.isDue()) yield;
  }
  return `[${said.toString()}]`;
}

function scalarContent(span: ValueSpan): string {
  switch (kindOf(span)) {
    case "string": {
      const raw = rawText(span);
      return isLong(span) || !raw.includes("\\") ? raw : JSON.stringify(decodedText(span));
    }
    case "number":
      return decimalOf(span);
    default:
      return rawText(span);
  }
}

/** The names in the order of their UTF-16 code units: sorted runs, which are merged. */
function* sortedNames(members: JsonMembers, pace: YieldBudget): Generator<void, readonly string[]> {
  let runs: (readonly string[])[] = [];
  let run: string[] = [];
  for (const [name] of members.entries()) {
    run.push(name);
    if (run.length === AT_ONCE) {
      runs.push(run.sort());
      run = [];
      yield;
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
    if (pace.isDue()) yield;
  }
  return all;
}

/** Joins many texts with commas, some of them at a time. */
class TextBuilder {
  readonly #parts: string[] = [];
  #last: string[] = [];

  append(text: string): void {
    this.#last.push(text);
    if (this.#last.length < AT_ONCE) return;
    this.#parts.push(this.#last.join(","));
    this.#last = [];
  }

  toString(): string {
    return [...this.#parts, ...(this.#last.length === 0 ? [] : [this.#last.join(",")])].join(",");
  }
}

/**
 * True when two scalars mean the same: strings by their characters, numbers by their exact value (`1.0` and `1e0`, any number
 * of digits), times of timestamp fields by their instant, as JSON of protobuf leaves the digits of the fraction to the writer.
 * A string is never a number.
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
  const [at, also] = field?.time === true ? [instantOf(one), instantOf(other)] : [];
  if (at === undefined || also === undefined) return false;
  if (instantText(at) === instantText(also)) return true;
  return field?.withinMs !== undefined && Math.abs(millisecondsOf(at) - millisecondsOf(also)) <= field.withinMs;
}

function millisecondsOf({ seconds, fraction }: Instant): number {
  return seconds * 1000 + Number(`0.${fraction}`) * 1000;
}

export function decodedText({ text, start, end }: ValueSpan): string {
  return decodeString(text.bytes, start, end);
}

function rawText({ text, start, end }: ValueSpan): string {
  return text.bytes.toString("utf8", start, end);
}

function isLong({ start, end }: ValueSpan): boolean {
  return end - start > LONG_TEXT;
}

/** A number as digits and exponent: the same text for the same value. Beyond 1000 characters it is left as it is. */
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

/**
 * True for null, "", 0, false, [], {}, and for a further zero of the field's kind. A message with nothing but unset members is
 * unset; a map with a key never is.
 */
export function* isUnset(
  pace: YieldBudget,
  span: ValueSpan,
  field: ComparedField | undefined,
): Generator<void, boolean> {
  switch (kindOf(span)) {
    case "object": {
      if (field?.keyed === true) return isEmpty(span);
      for (const [name, value] of (yield* membersOf(span, pace)).entries()) {
        if (!(yield* isUnset(pace, value, fieldOf(field, name)))) return false;
        if (pace.isDue()) yield;
      }
      return true;
    }
    case "array":
      return isEmpty(span);
    case "string":
      if (span.end === span.start + 2) return true;
      // A longer string is no name of an enum value.
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
  // The values of a map are messages, whose members are known by name.
  return field.members === undefined ? undefined : { ...field, keyed: false };
}

/** True for a value without members or elements. */
export function isScalar(span: ValueSpan): boolean {
  const kind = kindOf(span);
  return kind !== "object" && kind !== "array";
}
