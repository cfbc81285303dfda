/** Which text of a stranger may be shown, kept and compared as a name? */

/** Controls, marks of direction, halves of characters, what no standard names; and breaks of lines and paragraphs. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;
const UNPRINTABLES = /[\p{C}\p{Zl}\p{Zp}]/gu;
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

/** Longest name of a client, in UTF-16 units. */
export const MAX_NAME = 128;

/**
 * A header's value as the text that its bytes are in UTF-8 (Node gives one character for each byte); undefined when they
 * are none.
 */
export function headerText(value: string): string | undefined {
  if (PRINTABLE_ASCII.test(value)) return value;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(value, "latin1"));
  } catch {
    return undefined;
  }
}

/** `text` without blanks around it; undefined when that is empty, longer than `MAX_NAME`, or more than letters of any script. */
export function plainName(text: string): string | undefined {
  const name = text.trim();
  return name === "" || name.length > MAX_NAME || UNPRINTABLE.test(name) ? undefined : name;
}

/** True when `text` holds letters of any script, marks and blanks only. */
export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text);
}

/** True when nobody can take it for another text that looks the same. */
export function isPrintableAscii(name: string): boolean {
  return PRINTABLE_ASCII.test(name);
}

const MAX_FIELD = 80;
/** So much of a name is looked at that no secret in the part that is shown is cut until nobody knows it for one. */
const MAX_READ = 200;
/** What is no name of a field but somebody's credential: a JWT, or a long run without a dot or a blank. */
const SECRET = /\beyJ[\w-]*(?:\.[\w-]*)*|[\w+=-]{48,}/g;

/** The name of a field that a client sent, for people: printable, at most 80 characters, no place in lists, no credential. */
export function plainField(name: string): string {
  const cut = name
    .slice(0, MAX_READ)
    .replace(/\[\d+\]/g, "")
    .replace(/^\./, "")
    .replace(SECRET, "[redacted]");
  const plain = cut.replace(UNPRINTABLES, "�");
  // Half a character at the end would be none.
  return plain.length > MAX_FIELD ? `${plain.slice(0, MAX_FIELD - 1).replace(/[\ud800-\udbff]$/, "")}…` : plain;
}

/** What of the text of a request would stay in memory behind it, and how is that prevented? */

/** So short a part of a text has characters of its own in V8. */
const COPIED = 13;
const NOTHING = /^/;

/**
 * `text` in memory of its own, for what is kept beyond a request: the engine keeps a part of a longer text by keeping all of
 * that, such as the whole field that a name was cut out of, or the query behind a path.
 */
export function detachedText(text: string): string {
  return text.length < COPIED ? text : (JSON.parse(JSON.stringify(text)) as string);
}

/** The engine keeps the text that a pattern matched last, such as the Authorization of the last caller: here an empty one. */
export function clearLastMatch(): void {
  NOTHING.test("");
}
