/** What may a text that somebody else wrote show in a log? (Trust: no token, no page token, no query value.) */

const GONE = "[redacted]";

/** Each takes away one kind of secret; the order matters: whole header lines before single values. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/\b((?:proxy-)?authorization|(?:set-)?cookie)(["']?\s*[:=,]\s*)[^\r\n]+/gi, `$1$2${GONE}`],
  [/\b(bearer|basic|digest|dpop)(?:\s|%20)+[^\s"',;]+/gi, `$1 ${GONE}`],
  [/\beyJ[\w-]*(?:\.[\w-]*)*/g, GONE],
  // Everything behind a question mark that touches it: a query, whatever it holds.
  [/\?[^\s"'`<>?]+/g, `?${GONE}`],
  [
    /\b(\w*(?:token|secret|password|assertion|signature|credential|api_?key)\w*|identity|aud)(["']?\s*[:=]\s*)("[^"]*"?|'[^']*'?|[^\s,;&}\]]+)/gi,
    `$1$2${GONE}`,
  ],
  [/\/\/[^\s/@]+@/g, `//${GONE}@`],
  // Page tokens and keys without a name beside them; a uid's segments are shorter than this.
  [/[\w+=-]{48,}/g, GONE],
];

/** Longest text that is looked at; the rest is cut off before anything else costs time. */
const MAX_LENGTH = 2_000;

/** Paths and ids as they usually are: no rule but the one for JWTs could find anything in them. */
const PLAIN = /^(?:[\w.-]{0,47}\/)*[\w.-]{0,47}$/;

/** `text` without what may be secret, at most 2,000 characters long. */
export function scrub(text: string): string {
  if (text.length < 500 && PLAIN.test(text) && !text.includes("eyJ")) return text;
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text;
  return RULES.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), cut);
}

/** A path for the log: without a query should it have one, and scrubbed. */
export function scrubPath(path: string): string {
  return scrub(path.split("?", 1)[0] ?? "");
}

/** Why something failed, in one scrubbed line: the messages of the error and of its causes, outermost first. */
export function causeText(cause: unknown): string {
  const parts: string[] = [];
  let next = cause;
  // Causes can form a ring; five are more than any real chain has.
  while (next !== undefined && next !== null && parts.length < 5) {
    parts.push(oneText(next));
    next = next instanceof Error ? (next.cause ?? firstOf(next)) : undefined;
  }
  return scrub(parts.join(" <- "));
}

function firstOf(error: Error): unknown {
  return error instanceof AggregateError ? error.errors[0] : undefined;
}

function oneText(value: unknown): string {
  if (!(value instanceof Error)) return typeof value === "string" ? value : typeof value;
  const code = "code" in value && typeof value.code === "string" ? ` ${value.code}` : "";
  return `${value.name}${code}: ${value.message}`;
}

/** The frames of an error's stack, scrubbed: for errors that are carryover's own mistakes. */
export function stackText(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || cause.stack === undefined) return undefined;
  const frames = cause.stack.split("\n").filter((line) => line.startsWith("    at "));
  return frames.length === 0
    ? undefined
    : frames
        .slice(0, 10)
        .map((line) => line.trim().slice(0, 200))
        .join(" | ");
}
