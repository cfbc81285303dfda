/** Checks JSON values of a request body against v1's types (the JSON mapping of Protocol Buffers). */

import { readInteger } from "../json/exact.ts";
import type { JsonNode } from "../json/tree.ts";
import { Problem, type ProblemOption } from "../model/problem.ts";
import type { ScalarKind } from "../model/resource.ts";

const DURATION = /^([+-]?)(0|[1-9]\d{0,11})?(?:\.(\d{1,9}))?s$/;
/** About 10,000 years, the limit of a protobuf Duration. */
const MAX_SECONDS = 315_576_000_000;
/** Standard or URL-safe alphabet, not a mix of both. */
const BASE64 = /^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)(={0,2})$/;
const INT64_MAX = 2n ** 63n;

/** Throws `Problem` INVALID_BODY naming `at` when `node` is not of type `kind`. `bytes`: the document of `node`. */
export function checkScalar(kind: ScalarKind, node: JsonNode, at: string, bytes: Uint8Array): void {
  const [isValid, expected] = checkType(kind, node, bytes);
  if (!isValid) throw invalidBody(at, `expected ${expected}, found ${describe(node)}`);
}

function checkType(kind: ScalarKind, node: JsonNode, bytes: Uint8Array): [isValid: boolean, expected: string] {
  const text = node.kind === "string" ? node.value : undefined;
  switch (kind) {
    case "bool":
      return [node.kind === "true" || node.kind === "false", "true or false"];
    case "string":
      return [text !== undefined, "a string"];
    case "timestamp":
      return [text !== undefined && isTimestamp(text), "an RFC 3339 time"];
    case "duration":
      return [text !== undefined && isDuration(text), "a duration such as 3600s"];
    case "bytes":
      return [text !== undefined && isBase64(text), "base64 text"];
    case "int32":
      return checkInteger(node, -(2n ** 31n), 2n ** 31n, bytes);
    case "uint32":
      // v1's unsigned numbers are signed in v2, which holds half of them.
      return checkInteger(node, 0n, 2n ** 31n, bytes);
    case "int64":
      return checkInteger(node, -INT64_MAX, INT64_MAX, bytes);
    default:
      return kind satisfies never;
  }
}

function isDuration(text: string): boolean {
  return durationOf(text) !== undefined;
}

/** Nanoseconds of a duration such as `1.5s`; undefined for any other text, and for too long a time. */
export function durationOf(text: string): bigint | undefined {
  const [whole, sign, seconds = "0", fraction = ""] = DURATION.exec(text) ?? [];
  if (whole === undefined || !/\d/.test(text) || Number(seconds) > MAX_SECONDS) return undefined;
  const length = BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, "0"));
  return sign === "-" ? -length : length;
}

/** Padded to a multiple of four, or not padded at all. */
function isBase64(text: string): boolean {
  const parts = BASE64.exec(text);
  if (parts === null) return false;
  return parts[1] === "" ? text.length % 4 !== 1 : text.length % 4 === 0;
}

/** Integers come as numbers (also 1.0 or 1e2) or as decimal strings, within [low, high). */
function checkInteger(node: JsonNode, low: bigint, high: bigint, bytes: Uint8Array): [boolean, string] {
  const text = node.kind === "number" ? textOf(bytes, node) : node.kind === "string" ? node.value : "";
  const integer = readInteger(text);
  const isValid = integer !== undefined && integer >= low && integer < high;
  return [isValid, `a whole number from ${low} to ${high - 1n}`];
}

/** A 64-bit integer in decimal, as in the keys of some maps, perhaps with zeros before it; undefined for any other text. */
export function readInt64(text: string): bigint | undefined {
  const integer = /^[+-]?\d{1,100}$/.test(text) ? BigInt(text) : INT64_MAX;
  return integer >= -INT64_MAX && integer < INT64_MAX ? integer : undefined;
}

/** A number of JSON that is a 64-bit integer, in decimal; undefined for any other. */
export function int64Text(number: string): string | undefined {
  const integer = readInteger(number);
  return integer !== undefined && integer >= -INT64_MAX && integer < INT64_MAX ? String(integer) : undefined;
}

/** What a node is, for messages; never its content, which may be a secret. */
export function describe({ kind }: JsonNode): string {
  if (kind === "true" || kind === "false") return `the boolean ${kind}`;
  if (kind === "null") return kind;
  return kind === "object" || kind === "array" ? `an ${kind}` : `a ${kind}`;
}

/** The text of a node exactly as it was sent. */
export function textOf(bytes: Uint8Array, node: JsonNode): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8", node.start, node.end);
}

/** Longest path in an error: clients choose the keys of maps. */
const LONGEST_PATH = 200;

/** A 400 that names the place in the client's body. `at`: dotted v1 path, empty for the body itself. */
export function invalidBody(at: string, what: string, options: readonly ProblemOption[] = []): Problem {
  const field = at.length > LONGEST_PATH ? `${at.slice(0, LONGEST_PATH)}…` : at;
  return new Problem("INVALID_BODY", `invalid body: ${field === "" ? "the body" : field}: ${what}`, {
    fieldViolations: field === "" ? [] : [{ field, description: what }],
    options,
  });
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
/** Years 1 to 9999, the limits of a protobuf Timestamp. */
const FIRST_TIME = Date.parse("0001-01-01T00:00:00Z");
const LAST_TIME = Date.parse("9999-12-31T23:59:59.999Z");

/** True for an RFC 3339 time that exists, with at most nine decimals; `T` and `Z` are capitals, as Go requires. */
export function isTimestamp(text: string): boolean {
  if (!TIMESTAMP.test(text)) return false;
  const instant = Date.parse(text);
  return instant >= FIRST_TIME && instant <= LAST_TIME && isOnCalendar(text.slice(0, "yyyy-mm-ddThh:mm:ss".length));
}

/** `Date` takes 30 February for 2 March and 24:00 for the next day; the platform refuses both. */
function isOnCalendar(local: string): boolean {
  return new Date(`${local}Z`).toISOString().startsWith(local);
}
