/** Foreign text as a name to show, keep and compare, and the two spellings of JSON names. */
import { scrub } from "./secrets.ts";

/** Controls, direction marks, lone surrogates, unassigned characters, and line and paragraph separators. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;
export const UNPRINTABLES = /[\p{C}\p{Zl}\p{Zp}]/gu;
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

/** Longest name of a client, in UTF-16 units. */
export const MAX_NAME = 128;
/** The name of all clients that cannot be told apart. */
export const UNKNOWN_CLIENT = "unknown";
/** Names that mean something else than one client. */
export const RESERVED_NAMES: readonly string[] = [UNKNOWN_CLIENT, "other"];

/**
 * A header's value decoded as UTF-8 (Node returns one character for each byte); undefined if it is not UTF-8.
 */
export function headerText(value: string): string | undefined {
  if (PRINTABLE_ASCII.test(value)) return value;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(value, "latin1"));
  } catch {
    return undefined;
  }
}

/** `text` without blanks around it; undefined if that is empty, longer than `MAX_NAME`, or not printable. */
export function plainName(text: string): string | undefined {
  const name = text.trim();
  return name === "" || name.length > MAX_NAME || UNPRINTABLE.test(name) ? undefined : name;
}

/** True if `text` has no control or formatting characters. */
export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text);
}

/** True if the text cannot be mistaken for another one that looks the same. */
export function isPrintableAscii(name: string): boolean {
  return PRINTABLE_ASCII.test(name);
}

/** Every unprintable character as U+FFFD. */
export function replaceUnprintable(text: string): string {
  return text.replace(UNPRINTABLES, "�");
}

const MAX_FIELD = 80;
/** More than is shown is searched for secrets, so that one is recognised before it is cut. */
const MAX_READ = 200;

/** The name of a field that a client sent, for people: printable, at most 80 characters, without list positions and credentials. */
export function plainField(name: string): string {
  const path = name
    .slice(0, MAX_READ)
    .replace(/\[\d+\]/g, "")
    .replace(/^\./, "");
  const plain = replaceUnprintable(scrub(path));
  // Never ends with half of a surrogate pair.
  return plain.length > MAX_FIELD ? `${plain.slice(0, MAX_FIELD - 1).replace(/[\ud800-\udbff]$/, "")}…` : plain;
}

/** V8 copies shorter parts of a text. */
const COPIED = 13;
const NOTHING = /^/;

/**
 * A copy of `text` for what outlives a request. V8 keeps the whole text that a part was cut out of in memory: the whole header
 * of a name, or the query of a path.
 */
export function detachedText(text: string): string {
  return text.length < COPIED ? text : (JSON.parse(JSON.stringify(text)) as string);
}

/** V8 keeps the text that a pattern matched last, such as the Authorization of the last caller: this replaces it by an empty one. */
export function clearLastMatch(): void {
  NOTHING.test("");
}

/** `claimMatch` → `claim_match`; dots stay. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `claim_match` → `claimMatch`; dots stay. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The remedy for a name that does not exist, given the nearest one that does. */
export function didYouMean(candidate: string | undefined): string {
  return candidate === undefined ? "remove it" : `did you mean ${candidate}?`;
}

/**
 * The candidate most like `name`, upper and lower case, `-` and `_` not distinguished; undefined when none is near. `most`:
 * how many letters may differ.
 */
export function nearest(name: string, candidates: Iterable<string>, most?: number): string | undefined {
  const plain = (text: string) => text.toLowerCase().replace(/[-_]/g, "");
  const wanted = plain(name);
  const limit = most ?? Math.max(2, wanted.length / 3);
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, plain(candidate));
    if (distance <= limit && (best === undefined || distance < best.distance)) {
      best = { candidate, distance };
    }
  }
  return best?.candidate;
}

function editDistance(from: string, to: string): number {
  // Longer names are not keys, and would cost quadratic time.
  if (Math.max(from.length, to.length) > 100) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const changed = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
