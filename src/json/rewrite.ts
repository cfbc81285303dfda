/** Edits a JSON body, or a page of a list, without building objects. */

import { isAscii } from "node:buffer";
import { type CompiledObject, type CompiledPlan, type CompiledPlans, compileObject, compileValue } from "./compile.ts";
import { fail, relocated } from "./error.ts";
import { type Kernel, type KernelCalls, type Kernels, loadText, reportsOf, sharedKernels } from "./kernel.ts";
import { ASCENDING, COUNT, LAST_END, RECORD_SIZE, RECORDS, TEXT } from "./layout.ts";
import type { KernelMemory } from "./memory.ts";
import { type ObjectPlan, type PagePlan, type RewriteReport, reportOf, type ValuePlan } from "./plan.ts";
import { enter, MAX_DEPTH } from "./scan.ts";

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
 * too deeply, repeats a member that is edited, or is no object although `plan` is an object plan. Nothing comes out then.
 */
export function createValueRewriter(
  plan: ValuePlan,
  kernels: Kernels = sharedKernels,
): (text: Uint8Array) => ValueResult {
  const compiled = compileValue(new Map(), plan);
  return (text) =>
    withKernel(kernels, text, (kernel) => {
      const bytes = rewriteWhole(kernel, compiled, text);
      return { bytes, reports: reportsOf(kernel) };
    });
}

/** `createValueRewriter` for one use. */
export function rewriteValue(text: Uint8Array, plan: ValuePlan): ValueResult {
  return createValueRewriter(plan)(text);
}

/**
 * A function that takes the records out of list pages and rewrites them by `plan`. Throws as `createValueRewriter` says, and when
 * the page is no object, the items are missing (unless the plan allows it) or no array, a record is no object, or its key is
 * missing or no string.
 */
export function createPageRewriter(plan: PagePlan, kernels: Kernels = sharedKernels): PageRewriter {
  const compiled: CompiledPlans = new Map();
  const record = compileObject(compiled, plan.record === "copy" ? UNTOUCHED : plan.record, plan.key);
  const finish = (kernel: Kernel, page: RewrittenPage): PageResult => ({ ...page, reports: reportsOf(kernel) });
  const atOnce = (text: Uint8Array): PageResult =>
    withKernel(kernels, text, (kernel) => {
      const steps = rewriteRecords(kernel, plan, record, text);
      let step = steps.next();
      while (step.done !== true) step = steps.next();
      return finish(kernel, step.value);
    });
  const inSlices: PageRewriter["inSlices"] = async (text, turn) => {
    const kernel = kernels.take();
    try {
      const steps = rewriteRecords(kernel, plan, record, text);
      let step = steps.next();
      while (step.done !== true) {
        await turn();
        step = steps.next();
      }
      return finish(kernel, step.value);
    } catch (error) {
      throw relocated(text, error);
    } finally {
      kernels.giveBack(kernel);
    }
  };
  return Object.assign(atOnce, { inSlices });
}

/** Runs `rewrite` with a kernel. A conversion may rewrite as well: it then has one of its own. */
function withKernel<T>(kernels: Kernels, text: Uint8Array, rewrite: (kernel: Kernel) => T): T {
  const kernel = kernels.take();
  try {
    return rewrite(kernel);
  } catch (error) {
    throw relocated(text, error);
  } finally {
    kernels.giveBack(kernel);
  }
}

const UNTOUCHED: ObjectPlan = { kind: "object", members: new Map(), reportUnknown: false };

function rewriteWhole(kernel: Kernel, plan: CompiledPlan | undefined, text: Uint8Array): Uint8Array {
  const { calls, memory } = kernel;
  const root = loadText(kernel, plan, text);
  const start = calls.skipSpace(TEXT);
  if (plan?.kind === "object" && memory.byte(start) !== 0x7b) fail(start - TEXT, "expected an object");
  const end = TEXT + text.length;
  calls.skipEnd(calls.walkValue(root, start, MAX_DEPTH, 0), end);
  return newText(kernel, text, end, undefined);
}

/** What became of `text` up to address `end`, with what is to be put around it; without that a view of `text` when nothing was edited. */
function newText({ calls, memory }: Kernel, text: Uint8Array, end: number, around: PagePlan["around"]): Uint8Array {
  const from = calls.untouchedFrom();
  if (around === undefined) {
    if (from === TEXT && end === TEXT + text.length) return text;
    if (from !== 0) return text.subarray(from - TEXT, end - TEXT);
  }
  const { open = "", close = "" } = around ?? {};
  const start = calls.finished(end);
  const size = calls.newLength();
  const bytes = Buffer.allocUnsafe(open.length + size + close.length);
  bytes.write(open, "latin1");
  memory.copyInto(bytes, open.length, start, start + size);
  bytes.write(close, open.length + size, "latin1");
  return bytes;
}

/** A page, taken apart. */
export interface RewrittenPage {
  /** The records in order, separated by single commas, between the texts of `around`. Maybe a view of the array that was given. */
  readonly bytes: Uint8Array;
  /** Where in `bytes` each record begins and ends. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** The key of each record, decoded, as it was in the source. */
  readonly keys: readonly string[];
  /** Each key comes after the one before it; undefined: not looked at. */
  readonly ascending: boolean | undefined;
  /** Those of the plan's `scalars` that the page has; one that is neither string, number nor `null` is reported as `shape`. */
  readonly scalars: ReadonlyMap<string, PageScalar>;
}

/** A number has its digits as they came: a double does not hold all of them. */
export type PageScalar = string | { readonly number: string } | null;

interface PageRecords {
  /** The address of the records' plan. */
  readonly root: number;
  /** Strings can be read off as they stand: all ASCII, no escapes. */
  readonly literal: boolean;
  readonly starts: number[];
  readonly ends: number[];
  readonly keys: string[];
  readonly around: PagePlan["around"];
  ascending: boolean;
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
  const { calls, memory } = kernel;
  const root = loadText(kernel, record, text);
  const records: PageRecords = {
    root,
    literal: isLiteral(text),
    starts: [],
    ends: [],
    keys: [],
    around: plan.around,
    ascending: true,
    bytes: text.subarray(0, 0),
  };
  const scalars = new Map<string, PageScalar>();
  const seen = new Set<string>();
  const start = calls.skipSpace(TEXT);
  if (memory.byte(start) !== 0x7b) fail(start - TEXT, "expected an object");
  let found = plan.missingItems === "empty";
  let at = calls.skipSpace(start + 1);
  while (memory.byte(at) !== 0x7d) {
    const nameEnd = calls.skipName(at);
    const name = memory.string(at, nameEnd);
    const value = calls.skipSpace(calls.skipColon(nameEnd));
    const items = name === plan.items;
    if (items || plan.scalars?.includes(name)) claimName(seen, name, at - TEXT);
    if (items && !(memory.byte(value) === 0x6e && plan.missingItems === "empty")) {
      found = true;
      at = yield* rewriteArray(kernel, value, MAX_DEPTH - 1, records, text);
    } else {
      at = calls.skipValue(value, MAX_DEPTH - 1);
      if (!items) readOther(kernel, plan, name, value, at, scalars);
    }
    at = calls.skipComma(at, 0x7d);
  }
  if (!found) fail(start - TEXT, "no member with the records");
  calls.skipEnd(at + 1, TEXT + text.length);
  const { bytes, starts, ends, keys } = records;
  const ascending = records.literal ? records.ascending : undefined;
  return { bytes, starts, ends, keys, ascending, scalars };
}

function claimName(seen: Set<string>, name: string, at: number): void {
  if (seen.has(name)) fail(at, "repeated member");
  seen.add(name);
}

/** Takes note of a member that is not the records. */
function readOther(
  { memory, reports }: Kernel,
  plan: PagePlan,
  name: string,
  start: number,
  end: number,
  into: Map<string, PageScalar>,
): void {
  const byte = memory.byte(start);
  if (!plan.scalars?.includes(name)) reportOf(reports, "unknown", plan.label ?? "", name).count++;
  else if (byte === 0x22) into.set(name, memory.string(start, end));
  else if (byte === 0x6e) into.set(name, null);
  else if (byte < 0x3a) into.set(name, { number: memory.latin1(start, end) });
  else reportOf(reports, "shape", plan.label ?? "", name).count++;
}

/** Rewrites the array at `start`, and returns the address after it. */
function* rewriteArray(
  kernel: Kernel,
  start: number,
  depth: number,
  records: PageRecords,
  text: Uint8Array,
): Generator<undefined, number> {
  const { calls, memory } = kernel;
  if (memory.byte(start) !== 0x5b) fail(start - TEXT, "expected an array of records");
  enter(start - TEXT, depth);
  let at = calls.skipSpace(start + 1);
  calls.startRun(at);
  for (;;) {
    at = rewriteSlice(kernel, at, depth, records);
    if (memory.byte(at) === 0x5d) break;
    yield;
  }
  const end = records.keys.length === 0 ? at : memory.word(LAST_END);
  records.bytes = newText(kernel, text, end, records.around);
  return at + 1;
}

/** Rewrites records up to the end of a slice, and returns where the next one begins. */
function rewriteSlice({ calls, memory }: Kernel, from: number, depth: number, records: PageRecords): number {
  const { root, literal, starts, ends, keys } = records;
  const shift = records.around?.open.length ?? 0;
  const at = calls.walkRecords(root, from, from + SLICE_BYTES, depth, keys.length);
  // As `layout.ts` says.
  const words = memory.words(RECORDS, memory.word(COUNT) * RECORD_WORDS);
  for (let i = 0; i < words.length; i += RECORD_WORDS) {
    starts.push(shift + (words[i] as number));
    ends.push(shift + (words[i + 1] as number));
  }
  if (literal) addLiteralKeys(calls, memory, words, records);
  else addKeys(memory, words, keys);
  return at;
}

const RECORD_WORDS = RECORD_SIZE / 4;

/** True when strings can be read off as they stand: all ASCII, no escapes. */
function isLiteral(text: Uint8Array): boolean {
  return isAscii(text) && Buffer.from(text.buffer, text.byteOffset, text.length).indexOf(0x5c) === -1;
}

/** All keys of a slice become one string that they are parts of: each by itself would cost four times as much. */
function addLiteralKeys(calls: KernelCalls, memory: KernelMemory, words: Int32Array, records: PageRecords): void {
  const { keys } = records;
  const before = keys.length;
  let size = 0;
  for (let i = 2; i < words.length; i += RECORD_WORDS) size += (words[i + 1] as number) - (words[i] as number) - 2;
  const start = calls.gatherKeys(words.length / RECORD_WORDS, size);
  const all = memory.latin1(start, start + size);
  let at = 0;
  for (let i = 2; i < words.length; i += RECORD_WORDS) {
    const end = at + (words[i + 1] as number) - (words[i] as number) - 2;
    keys.push(all.slice(at, end));
    at = end;
  }
  const follows = before === 0 || before === keys.length || (keys[before] as string) > (keys[before - 1] as string);
  records.ascending &&= follows && memory.word(ASCENDING) === 1;
}

function addKeys(memory: KernelMemory, words: Int32Array, keys: string[]): void {
  for (let i = 2; i < words.length; i += RECORD_WORDS) {
    keys.push(memory.string(words[i] as number, words[i + 1] as number));
  }
}
