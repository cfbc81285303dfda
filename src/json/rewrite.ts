/** Edits a JSON body, or a page of a list, without building objects. */

import { isAscii } from "node:buffer";
import { type CompiledObject, type CompiledPlan, type CompiledPlans, compileObject, compileValue } from "./compile.ts";
import { fail, relocated } from "./error.ts";
import { giveBack, type Kernel, loadText, refresh, reportsOf, takeKernel } from "./kernel.ts";
import { COUNT, LAST_END, RECORD_SIZE, RECORDS, TEXT } from "./layout.ts";
import { type ObjectPlan, type PagePlan, type RewriteReport, reportOf, type ValuePlan } from "./plan.ts";
import {
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
import { decodeString, loneSurrogate } from "./text.ts";

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
  const compiled = compileValue(new Map(), plan);
  const depth = depthOf(options);
  return (text) =>
    withKernel(text, (kernel) => {
      const bytes = rewriteWhole(kernel, compiled, text, depth);
      refuseSurrogates(text, options);
      return { bytes, reports: reportsOf(kernel) };
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
  const compiled: CompiledPlans = new Map();
  const record = compileObject(compiled, plan.record === "copy" ? UNTOUCHED : plan.record, plan.key);
  const finish = (kernel: Kernel, page: RewrittenPage, text: Uint8Array): PageResult => {
    refuseSurrogates(text, plan);
    return { ...page, reports: reportsOf(kernel) };
  };
  const atOnce = (text: Uint8Array): PageResult =>
    withKernel(text, (kernel) => {
      const steps = rewriteRecords(kernel, plan, record, text);
      let step = steps.next();
      while (step.done !== true) step = steps.next();
      return finish(kernel, step.value, text);
    });
  const inSlices: PageRewriter["inSlices"] = async (text, turn) => {
    const kernel = takeKernel();
    try {
      const steps = rewriteRecords(kernel, plan, record, text);
      let step = steps.next();
      while (step.done !== true) {
        await turn();
        step = steps.next();
      }
      return finish(kernel, step.value, text);
    } catch (error) {
      throw relocated(text, error);
    } finally {
      giveBack(kernel);
    }
  };
  return Object.assign(atOnce, { inSlices });
}

/** Runs `rewrite` with a kernel. A conversion may rewrite as well: it then has one of its own. */
function withKernel<T>(text: Uint8Array, rewrite: (kernel: Kernel) => T): T {
  const kernel = takeKernel();
  try {
    return rewrite(kernel);
  } catch (error) {
    throw relocated(text, error);
  } finally {
    giveBack(kernel);
  }
}

const UNTOUCHED: ObjectPlan = { kind: "object", members: new Map(), reportUnknown: false };

/** `createPageRewriter` for one use. */
export function rewritePage(text: Uint8Array, plan: PagePlan): PageResult {
  return createPageRewriter(plan)(text);
}

function rewriteWhole(kernel: Kernel, plan: CompiledPlan | undefined, text: Uint8Array, depth: number): Uint8Array {
  const root = loadText(kernel, plan, text);
  const start = skipSpace(kernel.text, 0);
  if (plan?.kind === "object" && kernel.source[start] !== 0x7b) fail(start, "expected an object");
  const end = kernel.calls.walkValue(root, TEXT + start, depth, 0) - TEXT;
  refresh(kernel);
  skipEnd(kernel.text, end, text.length);
  return newText(kernel, text, text.length);
}

/** What became of `text` up to `end`; a view of it when nothing was edited. */
function newText({ calls }: Kernel, text: Uint8Array, end: number): Uint8Array {
  const from = calls.untouchedFrom();
  if (from === TEXT && end === text.length) return text;
  if (from !== 0) return text.subarray(from - TEXT, end);
  const start = calls.finished(TEXT + end);
  const size = calls.newLength();
  const bytes = Buffer.allocUnsafe(size);
  // Copying may have made the memory grow.
  bytes.set(new Uint8Array(calls.memory.buffer, start, size));
  return bytes;
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
  /** The address of the records' plan. */
  readonly root: number;
  /** Strings can be read off as they stand: all ASCII, no escapes. */
  readonly literal: boolean;
  /** Of each slice: four words for each record, as `layout.ts` says. */
  readonly slices: Int32Array[];
  readonly keys: string[];
  bytes: Uint8Array;
}

/** So much of a page is rewritten at a time by those that give others a turn in between. */
const SLICE_BYTES = 128 * 1024;

/** Reads the page of `text`, rewriting its records. Throws `JsonError` without a pointer. Yields between records, after each slice. */
function* rewriteRecords(
  kernel: Kernel,
  plan: PagePlan,
  record: CompiledObject,
  text: Uint8Array,
): Generator<undefined, RewrittenPage> {
  const root = loadText(kernel, record, text);
  const depth = depthOf(plan);
  const records: PageRecords = { root, literal: isLiteral(text), slices: [], keys: [], bytes: text.subarray(0, 0) };
  const scalars = new Map<string, PageScalar>();
  const seen = new Set<string>();
  const start = skipSpace(kernel.text, 0);
  if (kernel.source[start] !== 0x7b) fail(start, "expected an object");
  enter(start, depth);
  let found = plan.missingItems === "empty";
  let at = skipSpace(kernel.text, start + 1);
  while (kernel.source[at] !== 0x7d) {
    const nameEnd = skipKey(kernel.text, at);
    const name = decodeString(kernel.source, at, nameEnd);
    const value = skipSpace(kernel.text, skipColon(kernel.text, nameEnd));
    const items = name === plan.items;
    if (items || plan.scalars?.includes(name)) claimName(seen, name, at);
    if (items && !(kernel.source[value] === 0x6e && plan.missingItems === "empty")) {
      found = true;
      at = yield* rewriteArray(kernel, value, depth - 1, records, text);
    } else {
      at = skipValue(kernel.text, value, depth - 1);
      if (!items) readOther(kernel, plan, name, value, at, scalars);
    }
    at = skipComma(kernel.text, at, 0x7d);
  }
  if (!found) fail(start, "no member with the records");
  skipEnd(kernel.text, at + 1, text.length);
  const { bytes, keys } = records;
  return { bytes, ...bounds(records), keys, scalars };
}

/** Where each record begins and ends. */
function bounds({ slices, keys }: PageRecords): Pick<RewrittenPage, "starts" | "ends"> {
  const starts = new Int32Array(keys.length);
  const ends = new Int32Array(keys.length);
  let i = 0;
  for (const slice of slices) {
    for (let at = 0; at < slice.length; at += RECORD_WORDS) {
      starts[i] = slice[at] as number;
      ends[i++] = slice[at + 1] as number;
    }
  }
  return { starts, ends };
}

function claimName(seen: Set<string>, name: string, at: number): void {
  if (seen.has(name)) fail(at, "repeated member");
  seen.add(name);
}

/** Takes note of a member that is not the records. */
function readOther(
  { source, reports }: Kernel,
  plan: PagePlan,
  name: string,
  start: number,
  end: number,
  into: Map<string, PageScalar>,
): void {
  const byte = source[start] as number;
  if (!plan.scalars?.includes(name)) reportOf(reports, "unknown", plan.label ?? "", name).count++;
  else if (byte === 0x22) into.set(name, decodeString(source, start, end));
  else if (byte === 0x6e) into.set(name, null);
  else if (byte < 0x3a) into.set(name, Number(source.toString("latin1", start, end)));
  else reportOf(reports, "shape", plan.label ?? "", name).count++;
}

/** Rewrites the array at `start`. */
function* rewriteArray(
  kernel: Kernel,
  start: number,
  depth: number,
  records: PageRecords,
  text: Uint8Array,
): Generator<undefined, number> {
  if (kernel.source[start] !== 0x5b) fail(start, "expected an array of records");
  enter(start, depth);
  let at = skipSpace(kernel.text, start + 1);
  kernel.calls.startRun(TEXT + at);
  for (;;) {
    at = rewriteSlice(kernel, at, depth, records);
    if (kernel.source[at] === 0x5d) break;
    yield;
  }
  const end = records.keys.length === 0 ? at : kernel.bytes.readInt32LE(LAST_END) - TEXT;
  records.bytes = newText(kernel, text, end);
  return at + 1;
}

/** Rewrites records up to the end of a slice, and gives where the next one begins. */
function rewriteSlice(
  kernel: Kernel,
  start: number,
  depth: number,
  { root, literal, slices, keys }: PageRecords,
): number {
  const from = TEXT + start;
  const at = kernel.calls.walkRecords(root, from, from + SLICE_BYTES, depth, keys.length) - TEXT;
  refresh(kernel);
  const count = kernel.bytes.readInt32LE(COUNT);
  const slice = new Int32Array(kernel.bytes.buffer, RECORDS, count * RECORD_WORDS).slice();
  slices.push(slice);
  if (literal) addLiteralKeys(kernel, slice, keys);
  else addKeys(kernel, slice, keys);
  return at;
}

const RECORD_WORDS = RECORD_SIZE / 4;

/** True when strings can be read off as they stand: all ASCII, no escapes. */
function isLiteral(text: Uint8Array): boolean {
  return isAscii(text) && Buffer.from(text.buffer, text.byteOffset, text.length).indexOf(0x5c) === -1;
}

/** All keys of a slice become one string that they are parts of: each by itself would cost four times as much. */
function addLiteralKeys(kernel: Kernel, slice: Int32Array, keys: string[]): void {
  let size = 0;
  for (let i = 2; i < slice.length; i += RECORD_WORDS) size += (slice[i + 1] as number) - (slice[i] as number) - 2;
  const start = kernel.calls.gatherKeys(slice.length / RECORD_WORDS, size);
  refresh(kernel);
  const all = kernel.bytes.toString("latin1", start, start + size);
  let at = 0;
  for (let i = 2; i < slice.length; i += RECORD_WORDS) {
    const end = at + (slice[i + 1] as number) - (slice[i] as number) - 2;
    keys.push(all.slice(at, end));
    at = end;
  }
}

function addKeys({ bytes }: Kernel, slice: Int32Array, keys: string[]): void {
  for (let i = 2; i < slice.length; i += RECORD_WORDS) {
    keys.push(decodeString(bytes, slice[i] as number, slice[i + 1] as number));
  }
}
