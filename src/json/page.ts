/** Where are the records of a list page, and what else does it say? */
import { isAscii } from "node:buffer";
import type { CompiledObject } from "./compile.ts";
import { fail } from "./error.ts";
import type { Work } from "./frame.ts";
import { copyWords, placeOf, replace, untouched, written } from "./output.ts";
import type { PagePlan } from "./plan.ts";
import { reportOf } from "./reports.ts";
import { depthOf, enter, skipColon, skipComma, skipEnd, skipKey, skipSpace, skipValue, space } from "./scan.ts";
import { decodeString } from "./text.ts";
import { walkObject } from "./walk.ts";

/** A page, taken apart. */
export interface Page {
  /** The records in order, separated by single commas. Maybe a view of the array that was given. */
  readonly bytes: Uint8Array;
  /** Where in `bytes` each record begins and ends. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** The key of each record, decoded, as it was in the source. */
  readonly keys: readonly string[];
  /** Those of the plan's `scalars` that the page has; one that is neither string, number nor `null` is reported as `shape`. */
  readonly scalars: ReadonlyMap<string, Scalar>;
}

type Scalar = string | number | null;

interface Records {
  /** Where the string token of each record's key is in the source. */
  readonly keyStarts: number[];
  readonly keyEnds: number[];
  readonly starts: number[];
  readonly ends: number[];
  bytes: Uint8Array;
}

/** So much of a page is rewritten at a time by those that give others a turn in between. */
const SLICE_BYTES = 128 * 1024;

/**
 * Reads the page of `text`, which `work` has loaded, rewriting its records. Throws `JsonError` without a pointer. Yields between
 * records, after each slice.
 */
export function* readPage(
  work: Work,
  plan: PagePlan,
  record: CompiledObject,
  text: Uint8Array,
): Generator<undefined, Page> {
  const { source, text: view } = work;
  const depth = depthOf(plan);
  const records: Records = { keyStarts: [], keyEnds: [], starts: [], ends: [], bytes: text.subarray(0, 0) };
  const scalars = new Map<string, Scalar>();
  const seen = new Set<string>();
  const start = skipSpace(view, 0);
  if (view.getUint8(start) !== 0x7b) fail(start, "expected an object");
  enter(start, depth);
  let found = plan.missingItems === "empty";
  let at = skipSpace(view, start + 1);
  while (view.getUint8(at) !== 0x7d) {
    const nameEnd = skipKey(view, at);
    const name = decodeString(source, at, nameEnd);
    const value = skipSpace(view, skipColon(view, nameEnd));
    const items = name === plan.items;
    if (items || plan.scalars?.includes(name)) claimName(seen, name, at);
    if (items && !(view.getUint8(value) === 0x6e && plan.missingItems === "empty")) {
      found = true;
      at = yield* readRecords(work, record, value, depth - 1, records, text);
    } else {
      at = skipValue(view, value, depth - 1);
      if (!items) readOther(work, plan, name, value, at, scalars);
    }
    at = skipComma(view, at, 0x7d);
  }
  if (!found) fail(start, "no member with the records");
  skipEnd(view, at + 1, text.length);
  const { bytes } = records;
  const keys = isLiteral(text) ? literalKeys(work, records) : decodedKeys(work, records);
  return { bytes, starts: new Int32Array(records.starts), ends: new Int32Array(records.ends), keys, scalars };
}

function claimName(seen: Set<string>, name: string, at: number): void {
  if (seen.has(name)) fail(at, "repeated member");
  seen.add(name);
}

/** Takes note of a member that is not the records. */
function readOther(
  work: Work,
  plan: PagePlan,
  name: string,
  start: number,
  end: number,
  into: Map<string, Scalar>,
): void {
  const { source, text: view, reports } = work;
  const byte = view.getUint8(start);
  if (!plan.scalars?.includes(name)) reportOf(reports, "unknown", plan.label ?? "", name).count++;
  else if (byte === 0x22) into.set(name, decodeString(source, start, end));
  else if (byte === 0x6e) into.set(name, null);
  else if (byte < 0x3a) into.set(name, Number(source.toString("latin1", start, end)));
  else reportOf(reports, "shape", plan.label ?? "", name).count++;
}

/** Where the reading of an array stands: at the next record, behind the last one. */
interface Reading {
  at: number;
  end: number;
}

/** Rewrites the array at `start`. */
function* readRecords(
  work: Work,
  record: CompiledObject,
  start: number,
  depth: number,
  records: Records,
  text: Uint8Array,
): Generator<undefined, number> {
  const { text: view, output } = work;
  if (view.getUint8(start) !== 0x5b) fail(start, "expected an array of records");
  enter(start, depth);
  const first = skipSpace(view, start + 1);
  const reading: Reading = { at: first, end: first };
  output.from = first;
  while (!readSlice(work, record, reading, depth, records)) yield;
  const { at, end } = reading;
  records.bytes = untouched(output) ? text.subarray(output.from, end) : written(output, end);
  return at + 1;
}

/** Rewrites records up to the end of a slice; true when there are no more. No generator: the engine is quicker at plain loops. */
function readSlice(work: Work, record: CompiledObject, reading: Reading, depth: number, records: Records): boolean {
  const { text: view, output } = work;
  let { at, end } = reading;
  const slice = at + SLICE_BYTES;
  while (view.getUint8(at) !== 0x5d && at < slice) {
    if (view.getUint8(at) !== 0x7b) fail(at, "expected an object as record");
    if (records.ends.length > 0 && at !== end + 1) replace(output, end, at, ",");
    records.starts.push(placeOf(output, at));
    work.keyEnd = 0;
    end = walkObject(work, record, at, depth - 1);
    if (work.keyEnd === 0) fail(at, "record without its key");
    records.keyStarts.push(work.keyStart);
    records.keyEnds.push(work.keyEnd);
    records.ends.push(placeOf(output, end));
    at = skipComma(view, end, 0x5d);
  }
  reading.at = at;
  reading.end = end;
  return view.getUint8(at) === 0x5d;
}

/** True when strings can be read off as they stand: all ASCII, no escapes. */
function isLiteral(text: Uint8Array): boolean {
  return isAscii(text) && Buffer.from(text.buffer, text.byteOffset, text.length).indexOf(0x5c) === -1;
}

/** All keys become one string that they are parts of: each by itself would cost four times as much. */
function literalKeys({ text }: Work, { keyStarts, keyEnds }: Records): string[] {
  const count = keyStarts.length;
  let size = 0;
  for (let i = 0; i < count; i++) size += (keyEnds[i] as number) - (keyStarts[i] as number) - 2;
  // Words are written to their end.
  const { bytes, view } = space(size + 8);
  for (let i = 0, at = 0; i < count; i++) {
    const start = (keyStarts[i] as number) + 1;
    const length = (keyEnds[i] as number) - 1 - start;
    copyWords(text, start, view, at, length);
    at += length;
  }
  const all = bytes.toString("latin1", 0, size);
  const keys: string[] = [];
  for (let i = 0, at = 0; i < count; i++) {
    const end = at + (keyEnds[i] as number) - (keyStarts[i] as number) - 2;
    keys.push(all.slice(at, end));
    at = end;
  }
  return keys;
}

function decodedKeys({ source }: Work, { keyStarts, keyEnds }: Records): string[] {
  return keyStarts.map((start, i) => decodeString(source, start, keyEnds[i] as number));
}
