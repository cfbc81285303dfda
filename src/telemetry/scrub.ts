/** Removes tokens, page tokens and query values from foreign text before it is logged or shown. */
import { pathOf } from "../model/http.ts";

const GONE = "[redacted]";

/** Each removes one kind of secret; the order matters: whole header lines before single values. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/\b((?:proxy-)?authorization|(?:set-)?cookie)(["']?\s*[:=,]\s*)[^\r\n]+/gi, `$1$2${GONE}`],
  [/\b(bearer|basic|digest|dpop)(?:\s|%20)+[^\s"',;]+/gi, `$1 ${GONE}`],
  [/\beyJ[\w-]*(?:\.[\w-]*)*/g, GONE],
  // A query: everything after a question mark up to a blank or a quote.
  [/\?[^\s"'`<>?]+/g, `?${GONE}`],
  [
    /\b(\w*(?:token|secret|password|assertion|signature|credential|api_?key)\w*|identity|aud)(["']?\s*[:=]\s*)("[^"]*"?|'[^']*'?|[^\s,;&}\]]+)/gi,
    `$1$2${GONE}`,
  ],
  [/\/\/[^\s/@]+@/g, `//${GONE}@`],
  // Page tokens and keys without a name; segments of uids are shorter.
  [/[\w+=-]{48,}/g, GONE],
];

/** Longer text is cut before any pattern runs, to bound the time. */
const MAX_LENGTH = 2_000;

/** What segments of ordinary paths and ids are made of, by character code. */
const PLAIN: readonly boolean[] = Array.from({ length: 128 }, (_, code) => /[\w.-]/.test(String.fromCharCode(code)));
const SLASH = 0x2f;
const MOST_PLAIN = 47;

/** True for ordinary paths and ids: of all rules, only the one for JWTs could match them. (A pattern takes several times as long.) */
function isPlain(text: string): boolean {
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    length = code === SLASH ? 0 : length + 1;
    if (length > MOST_PLAIN || (length > 0 && PLAIN[code] !== true)) return false;
  }
  return true;
}

/** `text` without secrets, cut after 2,000 characters. */
export function scrub(text: string): string {
  if (text.length < 500 && isPlain(text) && !text.includes("eyJ")) return text;
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text;
  return RULES.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), cut);
}

/** A path for the log, without its query, and scrubbed. */
export function scrubPath(path: string): string {
  return scrub(pathOf(path));
}

/** One scrubbed line: the messages of the error and of its causes, outermost first. */
export function causeText(cause: unknown): string {
  const parts: string[] = [];
  let next = cause;
  // Causes can form a cycle; no real chain has more than five.
  while (next !== undefined && next !== null && parts.length < 5) {
    parts.push(oneText(next));
    const first: unknown = next instanceof AggregateError ? next.errors[0] : undefined;
    next = next instanceof Error ? (next.cause ?? first) : undefined;
  }
  return scrub(parts.join(" <- "));
}

function oneText(value: unknown): string {
  if (!(value instanceof Error)) return typeof value === "string" ? value : typeof value;
  const code = "code" in value && typeof value.code === "string" ? ` ${value.code}` : "";
  return `${value.name}${code}: ${value.message}`;
}

/** The frames of the error's stack, in one line: for errors that are bugs of carryover. */
export function stackText(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || cause.stack === undefined) return undefined;
  const frames = cause.stack.split("\n").filter((line) => line.startsWith("    at "));
  if (frames.length === 0) return undefined;
  const shown = frames.slice(0, 10).map((line) => line.trim().slice(0, 200));
  return shown.join(" | ");
}
