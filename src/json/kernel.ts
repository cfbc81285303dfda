/** The host of the kernel, which is WebAssembly (`kernel/*.ts`): what it asks for while it rewrites, and the kernels that are free. */
import type { CompiledEnum, CompiledObject, CompiledPlan, MemberRule } from "./compile.ts";
import { fail } from "./error.ts";
import { kernelBytes } from "./kernel-bytes.ts";
import {
  CALL,
  COMMA,
  KEPT,
  REASON_AFTER,
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
import { KernelMemory, type WasmMemory } from "./memory.ts";
import { listReports, type ReportsById, type RewriteReport, reportOf } from "./plan.ts";
import { type Arena, clearArena, createArena, isNearlyFull, learnName, pointerOf } from "./program.ts";
import { checkText } from "./scan.ts";
import { decodeString, encodeString, findKey } from "./text.ts";

/** What is used of WebAssembly: the types of Node leave it out. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: { readonly host: HostCalls }) => { readonly exports: unknown };
}

/** The functions that an instance imports. */
export type HostCalls = Readonly<Record<string, (...words: number[]) => unknown>>;

/** The exports of one instance. Its memory is for `KernelMemory` only. */
export interface KernelExports extends KernelCalls {
  readonly memory: WasmMemory;
}

/** What the kernel can do. Every position is an address: `TEXT` and the offset into the text. */
export interface KernelCalls {
  begin(length: number): void;
  walkValue(plan: number, start: number, depth: number, rule: number): number;
  walkRecords(plan: number, start: number, until: number, depth: number, total: number): number;
  gatherKeys(count: number, size: number): number;
  startRun(at: number): void;
  untouchedFrom(): number;
  finished(until: number): number;
  newLength(): number;
  place(start: number, end: number, size: number): number;
  // The grammar: each takes the address of a token, and returns the one after it.
  skipSpace(start: number): number;
  skipName(start: number): number;
  skipColon(start: number): number;
  skipComma(start: number, close: number): number;
  skipValue(start: number, depth: number): number;
  /** `until`: the end of the text. */
  skipEnd(start: number, until: number): void;
}

/** One kernel, which works on one text at a time. Between two texts it holds nothing but memory, and names met before. */
export interface Kernel {
  readonly calls: KernelCalls;
  readonly memory: KernelMemory;
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
  [REASON_AFTER]: "data after the value",
};

/** A kernel that has needed more memory is not kept. */
const KEPT_BYTES = 4 * 1024 * 1024;

let compiled: object | undefined;
/** The kernels that are free. Rewriting is synchronous, so one is enough, and a second one for long pages and for conversions that rewrite. */
const free: Kernel[] = [];
const MOST_FREE = 2;

/** Where kernels come from, one for each text, and go back to, after a text that was refused, too. */
export interface Kernels {
  take(): Kernel;
  giveBack(kernel: Kernel): void;
}

/** Those of this process. */
export const sharedKernels: Kernels = {
  take: () => free.pop() ?? createKernel(),
  giveBack(kernel) {
    if (free.length < MOST_FREE && kernel.memory.size <= KEPT_BYTES) free.push(kernel);
  },
};

/** A new instance, which calls `host`. */
export function instantiate(host: HostCalls): KernelExports {
  const { Module, Instance } = Reflect.get(globalThis, "WebAssembly") as WebAssemblyApi;
  compiled ??= new Module(kernelBytes());
  return new Instance(compiled, { host }).exports as KernelExports;
}

/** A kernel that has met no text. */
export function createKernel(instance: typeof instantiate = instantiate): Kernel {
  const calls = instance(hostOf(() => kernel));
  const kernel: Kernel = {
    calls,
    memory: new KernelMemory(calls.memory),
    arena: createArena(),
    reports: new Map(),
    counted: [],
    call: 0,
    captured: new Map(),
  };
  kernel.memory.setByte(COMMA, 0x2c);
  return kernel;
}

/** Loads `text`, and returns the address of `plan` in memory. Throws `JsonError` when it is not UTF-8 or begins with a byte order mark. */
export function loadText(kernel: Kernel, plan: CompiledPlan | undefined, text: Uint8Array): number {
  checkText(text);
  if (kernel.reports.size > 0) kernel.reports = new Map();
  kernel.counted.length = 0;
  kernel.call = (kernel.call + 1) | 0 || 1;
  if (kernel.captured.size > 0) kernel.captured.clear();
  if (isNearlyFull(kernel.arena)) clearArena(kernel.arena);
  kernel.calls.begin(text.length);
  kernel.memory.set(TEXT, text);
  kernel.memory.setWord(CALL, kernel.call);
  return plan === undefined ? 0 : pointerOf(kernel.arena, kernel.memory, plan);
}

/** What was met on the way. To be called once, at the end. */
export function reportsOf({ memory, counted, reports }: Kernel): readonly RewriteReport[] {
  for (const { rule, report } of counted) report.count += memory.word(rule + RULE_COUNT);
  return listReports(reports);
}

/** The functions that the kernel calls. */
function hostOf(self: () => Kernel): HostCalls {
  const ruleOf = (id: number): MemberRule | undefined => self().arena.rules[id];
  return {
    fail: (at: number, reason: number) => fail(at - TEXT, REASONS[reason] ?? ""),
    learn: (plan: number, first: number, gap: number, start: number, end: number, next: number) => {
      const { arena, memory } = self();
      return learnName(arena, memory, plan, { first: first === 1, gap, start, end, next });
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
      const { captured, memory } = self();
      const members = captured.get(object) ?? new Map<string, Uint8Array>();
      members.set(ruleOf(id)?.capture ?? "", memory.copy(start, end));
      captured.set(object, members);
    },
    exchangeEnum: (plan: number, id: number, start: number, end: number) =>
      exchangeEnum(self(), self().arena.plans[plan] as CompiledEnum, ruleOf(id), start, end),
    convert: (id: number, start: number, end: number) => {
      const kernel = self();
      const plan = kernel.arena.plans[id];
      if (plan?.kind === "convert") put(kernel, start, end, plan.convert(kernel.memory.copy(start, end)));
    },
    finish: (plan: number, object: number, gap: number) =>
      finish(self(), self().arena.plans[plan] as CompiledObject, object, gap),
  };
}

/** Puts `text` where `start..end` of the source was. */
function put({ calls, memory }: Kernel, start: number, end: number, text: Uint8Array | string): void {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  memory.set(calls.place(start, end, bytes.length), bytes);
}

function exchangeEnum(
  kernel: Kernel,
  plan: CompiledEnum,
  rule: MemberRule | undefined,
  start: number,
  end: number,
): void {
  const value = kernel.memory.copy(start, end);
  const quoted = value[0] === 0x22;
  const digits = quoted ? "" : value.toString("latin1");
  const token = quoted ? findKey(plan.names, value, 0, value.length) : plan.numbers.get(Number(digits));
  if (token === undefined) {
    const met = quoted ? decodeString(value, 0, value.length) : digits;
    reportOf(kernel.reports, "enum", rule?.label ?? "", rule?.name ?? "", met).count++;
  } else if (!value.equals(token)) {
    put(kernel, start, end, token);
  }
}

const NOTHING: ReadonlyMap<string, Uint8Array> = new Map();

function finish(kernel: Kernel, plan: CompiledObject, object: number, gap: number): void {
  const { memory } = kernel;
  const captured = kernel.captured.get(object) ?? NOTHING;
  kernel.captured.delete(object);
  plan.finish?.(captured, (key, value) => {
    const slot = plan.slotOf.get(key);
    if (slot !== undefined) claim(memory, slot, gap);
    const name = `${memory.byte(KEPT) === 1 ? "," : ""}${encodeString(key)}:`;
    memory.setByte(KEPT, 1);
    put(kernel, gap, gap, typeof value === "string" ? name + value : Buffer.concat([Buffer.from(name), value]));
  });
}

/** Notes that the name of `slot` comes out in this object; twice is an error. */
function claim(memory: KernelMemory, slot: number, gap: number): void {
  const at = SEEN + (slot >> 3);
  const bit = 1 << (slot & 7);
  const seen = memory.byte(at);
  if ((seen & bit) !== 0) fail(gap - TEXT, "repeated member");
  memory.setByte(at, seen | bit);
}
