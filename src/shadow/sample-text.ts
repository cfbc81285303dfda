/** How does a sample say what differs, and how to see it again, without giving anything away? */
import type { Difference } from "../model/comparison.ts";
import type { RequestHead } from "../model/plan.ts";
import { unpublishedPaths } from "../model/published.ts";
import type { Operation } from "../model/resource.ts";

const MAX_TARGET = 2_048;

/** A JSON text at a difference, as it is or its type and length. What looks like a token is never shown. */
export function shownValue(
  json: string,
  difference: Pick<Difference, "class" | "path">,
  values: "redact" | "show",
): string {
  if (isNobodys(json, difference)) return json;
  return values === "redact" || TOKEN.test(json) ? typeOf(json) : json;
}
/** What answers are told apart by: a status, and the number of an error. Records may have a `code` that lets people in. */
function isNobodys(json: string, difference: Pick<Difference, "class" | "path">): boolean {
  if (difference.class === "status") return difference.path === "status" && NUMBER.test(json);
  return difference.class === "error" && difference.path === "code" && NUMBER.test(json);
}
const NUMBER = /^\d{1,3}$/;

/** Three parts in base64url, or anything behind the word. */
const TOKEN = /[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|\bbearer\s+\S/i;

/** `string(12)`, `number(3)`, `array(2)`; a text that was cut off has at least what is left of it. */
function typeOf(json: string): string {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    const [first = ""] = json;
    return `${{ '"': "string", "[": "array", "{": "object" }[first] ?? "text"}(long)`;
  }
  if (typeof value === "string") return `string(${[...value].length})`;
  if (typeof value === "number") return `number(${json.length})`;
  if (Array.isArray(value)) return `array(${value.length})`;
  if (typeof value === "object" && value !== null) return `object(${Object.keys(value).length})`;
  return value === null ? "null" : "boolean";
}

/** The setting that makes such a difference go away: of a time that the specification gives a record, and native v1 does not. */
export function settingFor(difference: Pick<Difference, "class" | "path">, operation: Operation): string | undefined {
  if (difference.class !== "extra" || !unpublishedPaths(operation).includes(difference.path)) return undefined;
  return "v1.recordTimes: published";
}

/**
 * The same request to native, and through carryover (which translates it where a rule says so). A write is shown without its
 * body, and writes once more: it is for people to decide.
 */
export function curlLines({ method, target }: RequestHead): { readonly native: string; readonly carryover: string } {
  const verb = method === "GET" ? "" : `-X ${method} `;
  const body = method === "GET" || method === "DELETE" ? "" : " -H 'Content-Type: application/json' -d @body.json";
  const line = (base: string): string =>
    `curl ${verb}-H "Authorization: Bearer $TOKEN"${body} "${base}"${quoted(withoutSecrets(target))}`;
  return { native: line("$NATIVE"), carryover: line("$CARRYOVER") };
}

/** Query parameters that let somebody in, or mean nothing to anybody else. Looks at each character once. */
function withoutSecrets(target: string): string {
  const shown = target.length > MAX_TARGET ? `${target.slice(0, MAX_TARGET)}…` : target;
  return shown.split("&").map(withoutSecret).join("&");
}
const SECRET = /token|secret|password|code/i;

/** `part`: from one `&` to the next; a name begins there, or behind any `?`. */
function withoutSecret(part: string, index: number): string {
  const pieces = part.split("=");
  const name = (piece: string, at: number): string =>
    at === 0 && index > 0 ? piece : piece.slice(piece.includes("?") ? piece.indexOf("?") : piece.length);
  const secret = pieces.findIndex((piece, at) => at < pieces.length - 1 && SECRET.test(name(piece, at)));
  return secret < 0 ? part : `${pieces.slice(0, secret + 1).join("=")}=…`;
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
