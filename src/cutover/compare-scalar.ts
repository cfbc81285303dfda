/** Do two JSON scalars say the same, however they are spelled? */
import { decodeString } from "../json/text.ts";
import { kindOf, type Span, sameSpelling } from "./compare-text.ts";
import type { Field } from "./shape.ts";

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
export function sameScalar(a: Span, b: Span, field: Field | undefined): boolean {
  if (sameSpelling(a, b)) return true;
  const kind = kindOf(a);
  if (kind !== kindOf(b)) return false;
  if (kind === "number") return decimalOf(a) === decimalOf(b);
  if (kind !== "string") return false;
  if (isLong(a) || isLong(b)) return false;
  const [one, other] = [textOf(a), textOf(b)];
  if (one === other) return true;
  const at = field?.time === true ? instantOf(one) : undefined;
  return at !== undefined && at === instantOf(other);
}

/** The decoded text of a string. */
export function textOf({ text, start, end }: Span): string {
  return decodeString(text.bytes, start, end);
}

/** The bytes of a value as text. */
export function rawText({ text, start, end }: Span): string {
  return text.bytes.toString("utf8", start, end);
}

function isLong({ start, end }: Span): boolean {
  return end - start > LONG_TEXT;
}

/** A number's value as digits and exponent: the same text for the same value. Beyond 1000 characters as it is spelled. */
export function decimalOf(number: Span): string {
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
