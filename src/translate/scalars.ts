/** Is a JSON value of a request body of the type that v1 declares? (Proto JSON types; specification section 4.) */
import type { JsonNode } from "../json/tree.ts";
import { Problem } from "../model/problem.ts";
import type { ScalarKind } from "../model/resource.ts";

const DURATION = /^[+-]?(0|[1-9]\d{0,11})?(?:\.\d{1,9})?s$/;
/** About 10,000 years: what a duration of the platform can hold. */
const MAX_SECONDS = 315_576_000_000;
/** Standard or URL-safe, not a mix of both. */
const BASE64 = /^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)(={0,2})$/;
const INT64_MAX = 2n ** 63n;

/** Throws `Problem` INVALID_BODY naming `at` when `node` is no `kind`. `bytes` is the document of `node`. */
export function checkScalar(kind: ScalarKind, node: JsonNode, at: string, bytes: Uint8Array): void {
  switch (kind) {
    case "bool":
      if (node.kind !== "true" && node.kind !== "false") throw wrongType(at, "true or false", node);
      return;
    case "string":
      if (node.kind !== "string") throw wrongType(at, "a string", node);
      return;
    case "timestamp":
      if (node.kind !== "string" || !isTimestamp(node.value)) throw wrongType(at, "an RFC 3339 time", node);
      return;
    case "duration":
      checkText(node, isDuration, at, "a duration such as 3600s");
      return;
    case "bytes":
      checkText(node, isBase64, at, "base64 text");
      return;
    case "int32":
      checkInteger(node, -(2n ** 31n), 2n ** 31n, at, bytes);
      return;
    case "uint32":
      // v1's unsigned numbers are signed in v2, which can hold half of them (trap T09).
      checkInteger(node, 0n, 2n ** 31n, at, bytes);
      return;
    case "int64":
      checkInteger(node, -INT64_MAX, INT64_MAX, at, bytes);
      return;
    default:
      kind satisfies never;
  }
}

function checkText(node: JsonNode, isOne: (text: string) => boolean, at: string, expected: string): void {
  if (node.kind !== "string" || !isOne(node.value)) throw wrongType(at, expected, node);
}

function isDuration(text: string): boolean {
  const parts = DURATION.exec(text);
  return parts !== null && /\d/.test(text) && Number(parts[1] ?? 0) <= MAX_SECONDS;
}

/** Padded to four, or not at all. */
function isBase64(text: string): boolean {
  const parts = BASE64.exec(text);
  if (parts === null) return false;
  return parts[1] === "" ? text.length % 4 !== 1 : text.length % 4 === 0;
}

/** Integers may come as numbers (also 1.0 or 1e2) or as decimal strings, within [low, high). */
function checkInteger(node: JsonNode, low: bigint, high: bigint, at: string, bytes: Uint8Array): void {
  const text = node.kind === "number" ? textOf(bytes, node) : node.kind === "string" ? node.value : "";
  const integer = readInteger(text);
  if (integer === undefined || integer < low || integer >= high) {
    throw wrongType(at, `a whole number from ${low} to ${high - 1n}`, node);
  }
}

const NUMBER = /^(-?)(0|[1-9]\d{0,30})(?:\.(\d{1,30}))?(?:[eE]([+-]?\d{1,2}))?$/;

/** Exact also for fraction and exponent forms. */
function readInteger(text: string): bigint | undefined {
  const [whole, sign = "", before = "", behind = "", exponent = "0"] = NUMBER.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const shift = Number(exponent) - behind.length;
  const digits = `${before}${behind}`;
  if (shift >= 0) return BigInt(`${sign}${digits}${"0".repeat(shift)}`);
  const cut = Math.max(digits.length + shift, 0);
  return /^0*$/.test(digits.slice(cut)) ? BigInt(`${sign}${digits.slice(0, cut) || "0"}`) : undefined;
}

/** True for a 64-bit whole number in decimal: a key of a map that has such keys. */
export function isInt64(text: string): boolean {
  const integer = /^-?\d{1,19}$/.test(text) ? BigInt(text) : INT64_MAX;
  return integer >= -INT64_MAX && integer < INT64_MAX;
}

function wrongType(at: string, expected: string, node: JsonNode): Problem {
  return invalidBody(at, `expected ${expected}, found ${describe(node)}`);
}

/** What a node is, for messages; never its content, which may be a secret. */
export function describe(node: JsonNode): string {
  switch (node.kind) {
    case "object":
      return "an object";
    case "array":
      return "an array";
    case "string":
      return "a string";
    case "number":
      return "a number";
    case "null":
      return "null";
    default:
      return `the boolean ${node.kind}`;
  }
}

/** The text of a node exactly as it came. */
export function textOf(bytes: Uint8Array, node: JsonNode): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8", node.start, node.end);
}

/** Longest part of a path that goes into an error: keys of maps are as long as clients make them. */
const LONGEST_PATH = 200;

/** A 400 that says where in the client's own body, in v1's words. `at`: dotted path, empty for the body itself. */
export function invalidBody(at: string, what: string): Problem {
  const field = at.length > LONGEST_PATH ? `${at.slice(0, LONGEST_PATH)}…` : at;
  return new Problem("INVALID_BODY", `invalid body: ${field === "" ? "the body" : field}: ${what}`, {
    fieldViolations: field === "" ? [] : [{ field, description: what }],
  });
}

/** Is a text a time as the platform's decoder takes it? (RFC 3339; specification section 2.) */

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
/** Years 1 to 9999, in milliseconds: what a timestamp of the platform can hold. */
const FIRST_TIME = Date.parse("0001-01-01T00:00:00Z");
const LAST_TIME = Date.parse("9999-12-31T23:59:59.999Z");

/** True for an RFC 3339 time that exists, with at most nine digits behind the second; `T` and `Z` are capital, as Go reads them. */
export function isTimestamp(text: string): boolean {
  if (!TIMESTAMP.test(text)) return false;
  const instant = Date.parse(text);
  return instant >= FIRST_TIME && instant <= LAST_TIME && isOnCalendar(text.slice(0, "yyyy-mm-ddThh:mm:ss".length));
}

/** `Date` takes 30 February for 2 March and 24:00 for the next day; the platform takes neither. */
function isOnCalendar(local: string): boolean {
  return new Date(`${local}Z`).toISOString().startsWith(local);
}
