/** The host of the kernel, which is WebAssembly (`kernel/*.ts`): its memory, what it asks for while it rewrites, and the kernels that are free. */
import type { CompiledEnum, CompiledObject, CompiledPlan, MemberRule } from "./compile.ts";
import { fail } from "./error.ts";
import { kernelBytes } from "./kernel-bytes.ts";
import {
  CALL,
  COMMA,
  KEPT,
  REASON_COLON,
  REASON_COMMA_ARRAY,
  REASON_COMMA_OBJECT,
  REASON_CONTROL,
  REASON_DEPTH,
  REASON_DIGIT,
  REASON_ESCAPE,
  REASON_KEY_STRING,
  REASON_LAST_COMMA,
  REASON_NAME,
  REASON_NO_KEY,
  REASON_RECORD,
  REASON_REPEATED,
  REASON_VALUE,
  RULE_COUNT,
  SEEN,
  TEXT,
} from "./layout.ts";
import { listReports, type ReportsById, type RewriteReport, reportOf } from "./plan.ts";
import { type Arena, clearArena, createArena, isNearlyFull, learnName, pointerOf } from "./program.ts";
import { checkText } from "./scan.ts";
import { decodeString, encodeString, findKey, sameBytes } from "./text.ts";

/** What is used of WebAssembly: the types of Node leave it out. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: { readonly host: HostCalls }) => { readonly exports: unknown };
}

type HostCalls = Readonly<Record<string, (...words: never[]) => unknown>>;

/** What the kernel can do. Every position is an address: `TEXT` and the offset into the text. */
export interface KernelCalls {
  readonly memory: { readonly buffer: ArrayBuffer };
  begin(length: number): void;
  walkValue(plan: number, start: number, depth: number, rule: number): number;
  walkRecords(plan: number, start: number, until: number, depth: number, total: number): number;
  gatherKeys(count: number, size: number): number;
  startRun(at: number): void;
  untouchedFrom(): number;
  finished(until: number): number;
  newLength(): number;
  place(start: number, end: number, size: number): number;
}

/** One kernel, which works on one text at a time. Between two texts it holds nothing but memory, and names met before. */
export interface Kernel {
  readonly calls: KernelCalls;
  /** The whole memory; and the text, by bytes and for scanning. New ones after the memory has grown (`refresh`). */
  bytes: Buffer;
  source: Buffer;
  text: DataView;
  readonly arena: Arena;
  reports: ReportsById;
  /** The rules that were counted in this call, by address, and the report of each. */
  readonly counted: { readonly rule: number; readonly report: { count: number } }[];
  call: number;
  /** Members that were cut out, by where their object begins. */
  readonly captured: Map<number, Map<string, Uint8Array>>;
}

const REASONS: Readonly<Record<number, string>> = {
  [REASON_CONTROL]: "control character in a string",
  [REASON_ESCAPE]: "invalid escape",
  [REASON_DIGIT]: "expected a digit",
  [REASON_VALUE]: "expected a value",
  [REASON_COLON]: 'expected ":"',
  [REASON_COMMA_OBJECT]: 'expected "," or "}"',
  [REASON_COMMA_ARRAY]: 'expected "," or "]"',
  [REASON_LAST_COMMA]: "comma after the last one",
  [REASON_DEPTH]: "nested too deeply",
  [REASON_NAME]: "expected a member name",
  [REASON_REPEATED]: "repeated member",
  [REASON_RECORD]: "expected an object as record",
  [REASON_NO_KEY]: "record without its key",
  [REASON_KEY_STRING]: "expected a string as the record's key",
};

/** A kernel that has needed more memory is not kept. */
const KEPT_BYTES = 4 * 1024 * 1024;

let compiled: object | undefined;
/** The kernel that is free. Rewriting is synchronous but for long pages, so there is hardly ever need of a second one. */
let free: Kernel | undefined;

/** A kernel for one text. Give it back. */
export function takeKernel(): Kernel {
  const kernel = free ?? createKernel();
  free = undefined;
  return kernel;
}

/** After a text that was refused, too. */
export function giveBack(kernel: Kernel): void {
  if (kernel.bytes.length <= KEPT_BYTES) free = kernel;
}

function createKernel(): Kernel {
  const { Module, Instance } = Reflect.get(globalThis, "WebAssembly") as WebAssemblyApi;
  compiled ??= new Module(kernelBytes());
  const calls = new Instance(compiled, { host: hostOf(() => kernel) }).exports as KernelCalls;
  const kernel: Kernel = {
    calls,
    bytes: EMPTY,
    source: EMPTY,
    text: new DataView(EMPTY.buffer, EMPTY.byteOffset, 0),
    arena: createArena(),
    reports: new Map(),
    counted: [],
    call: 0,
    captured: new Map(),
  };
  refresh(kernel);
  kernel.bytes[COMMA] = 0x2c;
  return kernel;
}

const EMPTY = Buffer.alloc(0);

/** To be called after what may have made the memory grow. */
export function refresh(kernel: Kernel): void {
  const { buffer } = kernel.calls.memory;
  if (kernel.bytes.buffer === buffer) return;
  kernel.bytes = Buffer.from(buffer);
  kernel.source = Buffer.from(buffer, TEXT);
  kernel.text = new DataView(buffer, TEXT);
}

/** Loads `text`, and gives the address of `plan` in memory. Throws `JsonError` when it is not UTF-8 or begins with a byte order mark. */
export function loadText(kernel: Kernel, plan: CompiledPlan | undefined, text: Uint8Array): number {
  checkText(text);
  if (kernel.reports.size > 0) kernel.reports = new Map();
  kernel.counted.length = 0;
  kernel.call = (kernel.call + 1) | 0 || 1;
  if (kernel.captured.size > 0) kernel.captured.clear();
  if (isNearlyFull(kernel.arena)) clearArena(kernel.arena);
  kernel.calls.begin(text.length);
  refresh(kernel);
  kernel.source.set(text);
  kernel.bytes.writeInt32LE(kernel.call, CALL);
  return plan === undefined ? 0 : pointerOf(kernel.arena, kernel.bytes, plan);
}

/** What was met on the way. To be called once, at the end. */
export function reportsOf({ bytes, counted, reports }: Kernel): readonly RewriteReport[] {
  for (const { rule, report } of counted) report.count += bytes.readInt32LE(rule + RULE_COUNT);
  return listReports(reports);
}

/** The functions that the kernel calls. */
function hostOf(self: () => Kernel): HostCalls {
  const ruleOf = (id: number): MemberRule | undefined => self().arena.rules[id];
  return {
    fail: (at: number, reason: number) => fail(at - TEXT, REASONS[reason] ?? ""),
    learn: (plan: number, first: number, gap: number, at: number) => {
      const kernel = self();
      refresh(kernel);
      return learnName(kernel, plan, first === 1, gap, at);
    },
    report: (id: number, address: number) => {
      const rule = ruleOf(id);
      if (rule?.report === undefined) return;
      const { reports, counted } = self();
      const report = reportOf(reports, rule.report, rule.label, rule.name);
      // What is not remembered comes here each time.
      if (id === 0) report.count++;
      else counted.push({ rule: address, report });
    },
    shape: (id: number) => {
      const rule = ruleOf(id);
      reportOf(self().reports, "shape", rule?.label ?? "", rule?.name ?? "").count++;
    },
    capture: (object: number, id: number, start: number, end: number) => {
      const kernel = self();
      refresh(kernel);
      const captured = kernel.captured.get(object) ?? new Map<string, Uint8Array>();
      // A copy: the memory may grow before it is used.
      captured.set(ruleOf(id)?.capture ?? "", Buffer.from(kernel.bytes.subarray(start, end)));
      kernel.captured.set(object, captured);
    },
    exchangeEnum: (plan: number, id: number, start: number, end: number) =>
      exchangeEnum(self(), self().arena.plans[plan] as CompiledEnum, ruleOf(id), start, end),
    convert: (id: number, start: number, end: number) => {
      const kernel = self();
      refresh(kernel);
      const plan = kernel.arena.plans[id];
      if (plan?.kind === "convert") put(kernel, start, end, plan.convert(kernel.bytes.subarray(start, end)));
    },
    finish: (plan: number, object: number, gap: number) =>
      finish(self(), self().arena.plans[plan] as CompiledObject, object, gap),
  };
}

/** Puts `text` where `start..end` of the source was. */
function put(kernel: Kernel, start: number, end: number, text: Uint8Array | string): void {
  // What lies in the memory is gone when that grows.
  const bytes = typeof text === "string" || text.buffer === kernel.bytes.buffer ? Buffer.from(text) : text;
  const at = kernel.calls.place(start, end, bytes.length);
  refresh(kernel);
  kernel.bytes.set(bytes, at);
}

function exchangeEnum(
  kernel: Kernel,
  plan: CompiledEnum,
  rule: MemberRule | undefined,
  start: number,
  end: number,
): void {
  refresh(kernel);
  const { bytes } = kernel;
  const quoted = bytes[start] === 0x22;
  const digits = quoted ? "" : bytes.toString("latin1", start, end);
  const token = quoted ? findKey(plan.names, bytes, start, end) : plan.numbers.get(Number(digits));
  if (token === undefined) {
    const value = quoted ? decodeString(bytes, start, end) : digits;
    reportOf(kernel.reports, "enum", rule?.label ?? "", rule?.name ?? "", value).count++;
  } else if (token.length !== end - start || !sameBytes(bytes, start, token, 0, token.length)) {
    put(kernel, start, end, token);
  }
}

const NOTHING: ReadonlyMap<string, Uint8Array> = new Map();

function finish(kernel: Kernel, plan: CompiledObject, object: number, gap: number): void {
  const captured = kernel.captured.get(object) ?? NOTHING;
  kernel.captured.delete(object);
  plan.finish?.(captured, (key, value) => {
    const slot = plan.slotOf.get(key);
    if (slot !== undefined) claim(kernel, slot, gap);
    const { bytes } = kernel;
    const name = `${bytes[KEPT] === 1 ? "," : ""}${encodeString(key)}:`;
    bytes[KEPT] = 1;
    put(kernel, gap, gap, typeof value === "string" ? name + value : Buffer.concat([Buffer.from(name), value]));
  });
}

/** Notes that the name of `slot` comes out in this object; twice is an error. */
function claim({ bytes }: Kernel, slot: number, gap: number): void {
  const at = SEEN + (slot >> 3);
  const bit = 1 << (slot & 7);
  const seen = bytes[at] as number;
  if ((seen & bit) !== 0) fail(gap - TEXT, "repeated member");
  bytes[at] = seen | bit;
}
