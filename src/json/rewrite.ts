/** Edits a JSON body, or a page of a list, without building objects. */

import { isAscii } from "node:buffer";
import {
  type CompiledObject,
  type CompiledPlan,
  type Compiler,
  compileObject,
  compileValue,
  createCompiler,
} from "./compile.ts";
import { fail, relocated } from "./error.ts";
import { copyWords, outputOffset, replace, untouched, written } from "./output.ts";
import { listReports, type ObjectPlan, type PagePlan, type RewriteReport, reportOf, type ValuePlan } from "./plan.ts";
import {
  allocate,
  depthOf,
  enter,
  type ScanOptions,
  skipColon,
  skipComma,
  skipEnd,
  skipKey,
  skipSpace,
  skipValue,
} from "./scan.ts";
import { beginCall, createRewriteState, endCall, type RewriteState } from "./state.ts";
import { decodeString, loneSurrogate } from "./text.ts";
import { walkObject, walkValue } from "./walk.ts";

/** A rewritten body. */
export interface ValueResult {
  /** Everything, white space around the value included. The very array that was given when nothing was edited. */
  readonly bytes: Uint8Array;
  readonly reports: readonly RewriteReport[];
}

/** A rewritten page, without its envelope. */
export interface PageResult extends RewrittenPage {
  readonly reports: readonly RewriteReport[];
}

/** Rewrites pages. */
export interface PageRewriter {
  (text: Uint8Array): PageResult;
  /** The same, with a `turn` for others between the records, so that no page takes the processor for long. */
  inSlices(text: Uint8Array, turn: () => Promise<void>): Promise<PageResult>;
}

/**
 * A function that rewrites bodies by `plan`. Compile once, use often: calls share nothing but memory.
 * The function throws `JsonError` when the text is not one valid JSON value (RFC 8259, UTF-8, no byte order mark), is nested
 * too deeply, repeats a member that is edited, is no object although `plan` is an object plan, or, with `surrogates: "refuse"`
 * (default: `pass`), has a lone surrogate escape. Nothing comes out then.
 */
export function createValueRewriter(plan: ValuePlan, options: ScanOptions = {}): (text: Uint8Array) => ValueResult {
  const compiler = createCompiler();
  const compiled = compileValue(compiler, plan);
  const depth = depthOf(options);
  return createCall(compiler, (work, text) => {
    const bytes = rewriteWhole(work, compiled, text, depth);
    refuseSurrogates(text, options);
    return { bytes, reports: listReports(work.reports) };
  });
}

/** `createValueRewriter` for one use. */
export function rewriteValue(text: Uint8Array, plan: ValuePlan, options: ScanOptions = {}): ValueResult {
  return createValueRewriter(plan, options)(text);
}

/**
 * A function that takes the records out of list pages and rewrites them by `plan`. Throws as `createValueRewriter` says, and when
 * the page is no object, the items are missing (unless the plan allows it) or no array, a record is no object, or its key is
 * missing or no string.
 */
export function createPageRewriter(plan: PagePlan): PageRewriter {
  const compiler = createCompiler();
  const compiled = compileObject(compiler, plan.record === "copy" ? UNTOUCHED : plan.record, plan.key);
  const finish = (work: RewriteState, page: RewrittenPage, text: Uint8Array): PageResult => {
    refuseSurrogates(text, plan);
    return { ...page, reports: listReports(work.reports) };
  };
  const atOnce = createCall(compiler, (work, text) => {
    const steps = rewriteRecords(work, plan, compiled, text);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return finish(work, step.value, text);
  });
  const inSlices: PageRewriter["inSlices"] = async (text, turn) => {
    const work = createRewriteState(compiler);
    try {
      beginCall(work, text);
      const steps = rewriteRecords(work, plan, compiled, text);
      let step = steps.next();
      while (step.done !== true) {
        await turn();
        step = steps.next();
      }
      return finish(work, step.value, text);
    } catch (error) {
      throw relocated(text, error);
    }
  };
  return Object.assign(atOnce, { inSlices });
}

/** Runs `rewrite` for each text that comes, with working state that is used again: making it costs more than a small text. */
function createCall<T>(
  compiler: Compiler,
  rewrite: (work: RewriteState, text: Uint8Array) => T,
): (text: Uint8Array) => T {
  let spare: RewriteState | undefined;
  return (text) => {
    // A conversion may call this very function: its call then has a state of its own.
    const work = spare ?? createRewriteState(compiler);
    spare = undefined;
    try {
      beginCall(work, text);
      const result = rewrite(work, text);
      endCall(work);
      spare = work;
      return result;
    } catch (error) {
      throw relocated(text, error);
    }
  };
}

const UNTOUCHED: ObjectPlan = { kind: "object", members: new Map(), reportUnknown: false };

/** `createPageRewriter` for one use. */
export function rewritePage(text: Uint8Array, plan: PagePlan): PageResult {
  return createPageRewriter(plan)(text);
}

function rewriteWhole(work: RewriteState, plan: CompiledPlan | undefined, text: Uint8Array, depth: number): Uint8Array {
  const { text: view, output } = work;
  const start = skipSpace(view, 0);
  if (plan?.kind === "object" && view.getUint8(start) !== 0x7b) fail(start, "expected an object");
  const end = walkValue(work, plan, start, depth, undefined);
  skipEnd(view, end, text.length);
  return output.from === 0 ? text : written(output, text.length);
}

function refuseSurrogates(text: Uint8Array, options: ScanOptions): void {
  if (options.surrogates !== "refuse") return;
  const lone = loneSurrogate(text);
  if (lone !== -1) fail(lone, "lone surrogate");
}

/** A page, taken apart. */
export interface RewrittenPage {
  /** The records in order, separated by single commas. Maybe a view of the array that was given. */
  readonly bytes: Uint8Array;
  /** Where in `bytes` each record begins and ends. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** The key of each record, decoded, as it was in the source. */
  readonly keys: readonly string[];
  /** Those of the plan's `scalars` that the page has; one that is neither string, number nor `null` is reported as `shape`. */
  readonly scalars: ReadonlyMap<string, PageScalar>;
}

type PageScalar = string | number | null;

interface PageRecords {
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
export function* rewriteRecords(
  work: RewriteState,
  plan: PagePlan,
  record: CompiledObject,
  text: Uint8Array,
): Generator<undefined, RewrittenPage> {
  const { source, text: view } = work;
  const depth = depthOf(plan);
  const records: PageRecords = { keyStarts: [], keyEnds: [], starts: [], ends: [], bytes: text.subarray(0, 0) };
  const scalars = new Map<string, PageScalar>();
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
      at = yield* rewriteArray(work, record, value, depth - 1, records, text);
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
  work: RewriteState,
  plan: PagePlan,
  name: string,
  start: number,
  end: number,
  into: Map<string, PageScalar>,
): void {
  const { source, text: view, reports } = work;
  const byte = view.getUint8(start);
  if (!plan.scalars?.includes(name)) reportOf(reports, "unknown", plan.label ?? "", name).count++;
  else if (byte === 0x22) into.set(name, decodeString(source, start, end));
  else if (byte === 0x6e) into.set(name, null);
  else if (byte < 0x3a) into.set(name, Number(source.toString("latin1", start, end)));
  else reportOf(reports, "shape", plan.label ?? "", name).count++;
}

/** Where the reading of an array stands: at the next record, after the last one. */
interface ArrayPosition {
  at: number;
  end: number;
}

/** Rewrites the array at `start`. */
function* rewriteArray(
  work: RewriteState,
  record: CompiledObject,
  start: number,
  depth: number,
  records: PageRecords,
  text: Uint8Array,
): Generator<undefined, number> {
  const { text: view, output } = work;
  if (view.getUint8(start) !== 0x5b) fail(start, "expected an array of records");
  enter(start, depth);
  const first = skipSpace(view, start + 1);
  const reading: ArrayPosition = { at: first, end: first };
  output.from = first;
  while (!rewriteSlice(work, record, reading, depth, records)) yield;
  const { at, end } = reading;
  records.bytes = untouched(output) ? text.subarray(output.from, end) : written(output, end);
  return at + 1;
}

/** Rewrites records up to the end of a slice; true when there are no more. No generator: the engine is quicker at plain loops. */
function rewriteSlice(
  work: RewriteState,
  record: CompiledObject,
  reading: ArrayPosition,
  depth: number,
  records: PageRecords,
): boolean {
  const { text: view, output } = work;
  let { at, end } = reading;
  const slice = at + SLICE_BYTES;
  while (view.getUint8(at) !== 0x5d && at < slice) {
    if (view.getUint8(at) !== 0x7b) fail(at, "expected an object as record");
    if (records.ends.length > 0 && at !== end + 1) replace(output, end, at, ",");
    records.starts.push(outputOffset(output, at));
    work.keyEnd = 0;
    end = walkObject(work, record, at, depth - 1);
    if (work.keyEnd === 0) fail(at, "record without its key");
    records.keyStarts.push(work.keyStart);
    records.keyEnds.push(work.keyEnd);
    records.ends.push(outputOffset(output, end));
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
function literalKeys({ text }: RewriteState, { keyStarts, keyEnds }: PageRecords): string[] {
  const count = keyStarts.length;
  let size = 0;
  for (let i = 0; i < count; i++) size += (keyEnds[i] as number) - (keyStarts[i] as number) - 2;
  // Words are written to their end.
  const { bytes, view } = allocate(size + 8);
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

function decodedKeys({ source }: RewriteState, { keyStarts, keyEnds }: PageRecords): string[] {
  return keyStarts.map((start, i) => decodeString(source, start, keyEnds[i] as number));
}
