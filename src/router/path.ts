/** v1 paths: the one way of writing them that carryover accepts, and what they say once decoded. */
import { Problem } from "../model/problem.ts";

/** Anything but the characters that a path may hold as themselves (RFC 3986 pchar and `/`), less `;` and `%`. */
const NOT_PLAIN = /[^A-Za-z0-9\-._~!$&'()*+,=:@/]/;
const HEX_PAIR = /^[0-9A-Fa-f]{2}$/;
const UNRESERVED = /[A-Za-z0-9\-._~]/;
/** Decoded, these would change the meaning of the path for the next reader. */
const STRUCTURAL = new Set(["%", ";", "#", "?", "\\"]);
const DOTS_ONLY = /^\.+$/;

/** An `INVALID_PATH` that says what is wrong, where, and what is expected. */
export function invalidPath(what: string, where: string, expected: string): Problem {
  return new Problem("INVALID_PATH", `invalid path: ${what} ${where}; expected ${expected}`);
}

/** A UTF-16 unit for an error message: itself when it is printable ASCII, else its number. */
export function printable(char: string): string {
  const code = char.charCodeAt(0);
  return code > 0x20 && code < 0x7f ? `"${char}"` : `character U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/**
 * The character that the escape at `offset` of `text` stands for.
 *
 * An escaped letter, digit, `-`, `.`, `_` or `~` is refused, though it means the same as the plain one: no client needs
 * it, and so the bytes that were judged here are the bytes that every other reader of the path judges (this also
 * covers `%2e%2e` and `/%69am`). Only one round is decoded, so `%25` is refused.
 */
function readEscape(text: string, offset: number): string {
  const digits = text.slice(offset + 1, offset + 3);
  const where = `at offset ${offset}`;
  if (!HEX_PAIR.test(digits)) throw invalidPath("broken percent escape", where, 'two hex digits after "%"');
  const code = Number.parseInt(digits, 16);
  const char = String.fromCharCode(code);
  const what = `"%${digits}"`;
  if (code < 0x20 || code === 0x7f) throw invalidPath(what, where, "no control characters");
  if (code > 0x7f) throw invalidPath(what, where, "ASCII characters only");
  if (STRUCTURAL.has(char)) throw invalidPath(what, where, `no escaped ${printable(char)}`);
  if (UNRESERVED.test(char)) throw invalidPath(what, where, `${printable(char)} written as itself`);
  return char;
}

/**
 * `text` (a path or a part of one) with its percent escapes decoded once: `%2F` becomes `/`.
 * Throws `Problem` INVALID_PATH for broken escapes, control bytes, non-ASCII, `%25`, `;`, `#`, `\`, raw or escaped,
 * and for needless escapes. Offsets in messages count from the start of `text`.
 */
export function decodePath(text: string): string {
  if (!NOT_PLAIN.test(text)) return text;
  let decoded = "";
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === "%") {
      decoded += readEscape(text, at);
      at += 2;
    } else if (NOT_PLAIN.test(char)) {
      throw invalidPath(printable(char), `at offset ${at}`, "letters, digits and the punctuation that paths may hold");
    } else {
      decoded += char;
    }
  }
  return decoded;
}

/**
 * Refuses empty segments (`//`) and segments of nothing but dots in a decoded path; one slash at the end is left to
 * the caller. `path` begins with `/`. Throws `Problem` INVALID_PATH.
 */
export function checkSegments(path: string): void {
  const empty = path.indexOf("//");
  if (empty !== -1) throw invalidPath("empty segment", `"//" at offset ${empty}`, 'single "/" between segments');
  // Only a segment that begins with a dot can be all dots.
  if (!path.includes("/.")) return;
  const dots = path.split("/").findIndex((segment) => DOTS_ONLY.test(segment));
  if (dots !== -1) throw invalidPath("dot segment", `as segment ${dots}`, "segments that are not only dots");
}

/** What a uid may not hold: anything but letters, digits, `-`, `_`, `.` and the `/` between its segments. */
const NOT_IN_UID = /[^A-Za-z0-9\-_./]/;
const UID_FORM = 'segments of letters, digits, "-", "_" and "." with single "/" between them';

/**
 * `uid` itself when it has the shape of a uid: one or more segments of letters, digits, `-`, `_`, `.`,
 * none of them empty or of nothing but dots. Lengths are not checked, hex is not required.
 * Throws `Problem` INVALID_PATH.
 */
export function uidForPath(uid: string): string {
  const foreign = NOT_IN_UID.exec(uid);
  if (foreign !== null) throw invalidPath(printable(foreign[0]), `at offset ${foreign.index} of the uid`, UID_FORM);
  if (uid === "" || uid.startsWith("/") || uid.endsWith("/"))
    throw invalidPath("empty segment", "in the uid", UID_FORM);
  checkSegments(`/${uid}`);
  return uid;
}

/** A digest or another name of one segment. */
const SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._:+-]*$/;

/** `segment` itself when it can stand for one thing in a path, such as a digest. Throws `Problem` INVALID_PATH. */
export function segmentForPath(segment: string): string {
  if (SEGMENT.test(segment)) return segment;
  throw invalidPath("a segment", "where one name stands", 'letters, digits, "-", "_", ".", "+" and ":"');
}
