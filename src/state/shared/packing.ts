/** JSON values as rows of text for the shared store: deflated, and in parts where one row would be too long. */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { checkOf } from "../section.ts";

/** Text of one row at most; what precedes it is short. */
const MOST_TEXT = 47 * 1024;
/** A value of more parts than this is not written. */
const MOST_PARTS = 64;
/** JSON of one value, for a row that somebody else may have written. */
const MOST_JSON = 16 * 1024 * 1024;
const LEVEL = 6;

/** The rows of one value: its own, and further ones if it is long. Undefined if it is longer than any row may be. */
export function packedRows(name: string, json: string): readonly (readonly [name: string, text: string])[] | undefined {
  const text = deflateRawSync(json, { level: LEVEL }).toString("base64");
  const check = checkOf(text);
  const count = Math.max(1, Math.ceil(text.length / MOST_TEXT));
  if (count > MOST_PARTS) return undefined;
  return Array.from({ length: count }, (_, at) => {
    const part = text.slice(at * MOST_TEXT, (at + 1) * MOST_TEXT);
    return [at === 0 ? name : `${name}+${at}`, `1 ${count} ${check} ${part}`] as const;
  });
}

/** True for a row that only continues another one. */
export function isContinuation(name: string): boolean {
  return /\+\d+$/.test(name);
}

/** The value of the row `name`. Throws `Error` for anything that `packedRows` did not make, and for parts of two values. */
export function unpackedRow(name: string, rows: ReadonlyMap<string, string>): unknown {
  const [head, count, check] = partOf(rows.get(name), name);
  if (count > MOST_PARTS) throw new Error(`${name}: it has too many parts`);
  let text = head;
  for (let at = 1; at < count; at++) {
    const [part, , ofPart] = partOf(rows.get(`${name}+${at}`), name);
    if (ofPart !== check) throw new Error(`${name}: its parts do not belong together`);
    text += part;
  }
  if (checkOf(text) !== check) throw new Error(`${name}: it is not as it was written`);
  return JSON.parse(inflateRawSync(Buffer.from(text, "base64"), { maxOutputLength: MOST_JSON }).toString("utf8"));
}

function partOf(text: string | undefined, name: string): readonly [part: string, count: number, check: string] {
  const [head, count, check] = /^1 (\d{1,3}) ([0-9a-f]{16}) /.exec(text ?? "") ?? [];
  if (text === undefined || head === undefined || check === undefined) throw new Error(`${name}: it cannot be read`);
  return [text.slice(head.length), Number(count), check];
}
