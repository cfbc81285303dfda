/** The state of rewriting one object, and of all objects of one plan. */
import { type CompiledObject, type Compiler, type MemberRule, ruleFor } from "./compile.ts";
import { beginOutput, createOutput, endOutput, type OutputBuffer } from "./output.ts";
import { type ReportsById, reportOf } from "./plan.ts";
import { allocate, skipColon, skipKey } from "./scan.ts";
import { decodeString, findKey } from "./text.ts";

/** One object being rewritten. Reused for the next one of its plan. */
export interface ObjectFrame {
  /** By slot: the number of the object in which its name came out last. */
  readonly seen: Int32Array;
  /** Number of the current object. */
  object: number;
  /** Whether a member was kept, and whether one was left out, so far. */
  kept: boolean;
  left: boolean;
  captured: Map<string, Uint8Array> | undefined;
}

/** What all objects of one plan share. */
interface PlanState {
  /** Stands before the first name. */
  readonly head: KnownName;
  /** Every name met so far, by its token. */
  readonly names: Map<string, KnownName>;
  /** One for each level at which the plan contains itself; `level` are in use. */
  readonly frames: ObjectFrame[];
  level: number;
  objects: number;
}

/** The value of an enum that was met last, where it stands: records of a list mostly agree on it. */
export interface LastEnum {
  start: number;
  /** 0 while there is none. */
  length: number;
  /** What is written for it; undefined when it stays as it is. */
  token: Uint8Array | undefined;
}

/** Everything that calls change. What it holds between two of them is memory, and names met before. */
export interface RewriteState {
  /** The text that is read, and what follows it in the same memory. */
  source: Buffer;
  text: DataView;
  readonly output: OutputBuffer;
  readonly names: NameMemory;
  reports: ReportsById;
  /** Number of this call. */
  call: number;
  /** By `CompiledObject.index`. */
  readonly states: readonly PlanState[];
  /** By `CompiledEnum.index`. */
  readonly enums: readonly LastEnum[];
  /** The string token of the key member of the record that is being read; `keyEnd` is 0 before it is met. */
  keyStart: number;
  keyEnd: number;
}

/** Objects are numbered by 32-bit integers. */
const MOST_OBJECTS = 2 ** 30;
const NO_RULE = ruleFor("", "", {});

/** Working state for the plans of one rewriter. */
export function createRewriteState({ objects, enums }: Pick<Compiler, "objects" | "enums">): RewriteState {
  const output = createOutput();
  const states = Array.from({ length: objects }, (): PlanState => {
    return { head: knownName(0, 0, 0, 0, NO_RULE), names: new Map(), frames: [], level: 0, objects: 0 };
  });
  return {
    source: output.bytes,
    text: output.view,
    output,
    names: createNameMemory(),
    reports: new Map(),
    call: 0,
    states,
    enums: Array.from({ length: enums }, () => ({ start: 0, length: 0, token: undefined })),
    keyStart: 0,
    keyEnd: 0,
  };
}

/** Loads `text` for a call. Throws `JsonError` when it is not UTF-8 or begins with a byte order mark. */
export function beginCall(work: RewriteState, text: Uint8Array): void {
  const { output, states, enums } = work;
  beginOutput(output, text, MOST_NAME_BYTES);
  work.source = output.bytes;
  work.text = output.view;
  work.call++;
  for (let i = 0; i < enums.length; i++) (enums[i] as LastEnum).length = 0;
  if (isFull(work.names)) forgetNames(work);
  for (let i = 0; i < states.length; i++) {
    const state = states[i] as PlanState;
    if (state.objects > MOST_OBJECTS) startAgain(state);
  }
}

/** Gives memory back after a call, and what it reported. A call that threw leaves a `work` that must not be used again. */
export function endCall(work: RewriteState): ReportsById {
  const { reports } = work;
  if (reports.size > 0) work.reports = new Map();
  endOutput(work.output);
  work.source = work.output.bytes;
  work.text = work.output.view;
  return reports;
}

function startAgain(state: PlanState): void {
  state.objects = 0;
  state.frames.length = 0;
}

function forgetNames({ names, states }: RewriteState): void {
  forgetAll(names);
  for (const state of states) {
    state.names.clear();
    state.head.next = undefined;
  }
}

export function stateOf(work: RewriteState, plan: CompiledObject): PlanState {
  return work.states[plan.index] as PlanState;
}

/** A frame for the next object of a plan with so many slots. Give it back by lowering `state.level`. */
export function openFrame(state: PlanState, slots: number): ObjectFrame {
  let frame = state.frames[state.level];
  if (frame === undefined) {
    frame = { seen: new Int32Array(slots), object: 0, kept: false, left: false, captured: undefined };
    state.frames.push(frame);
  }
  state.level++;
  frame.object = ++state.objects;
  frame.kept = false;
  frame.left = false;
  frame.captured = undefined;
  return frame;
}

/** True when the `length` bytes at `a` and at `b` are equal; both have at least four bytes of the text up to their end. */
export function sameText(text: DataView, a: number, b: number, length: number): boolean {
  // By words; the last one may overlap the one before it.
  const last = length - 4;
  for (let i = 0; i < last; i += 4) if (text.getInt32(a + i, true) !== text.getInt32(b + i, true)) return false;
  return text.getInt32(a + last, true) === text.getInt32(b + last, true);
}

/** Reads the name at `at`, after `gap`, and remembers it as what comes after `before`. */
export function readName(
  work: RewriteState,
  plan: CompiledObject,
  before: KnownName,
  gap: number,
  at: number,
): KnownName {
  const end = skipKey(work.text, at);
  const colon = skipColon(work.text, end);
  const { names } = stateOf(work, plan);
  const token = work.source.toString("latin1", gap, colon);
  const met = names.get(token);
  if (met !== undefined) {
    before.next = met;
    return met;
  }
  const rule = findKey(plan.rules, work.source, at, end) ?? ruleOfUnlisted(work, plan, at, end);
  const start = remember(work.names, work.source, gap, colon);
  const known = knownName(start, at - gap, end - gap, colon - gap, rule);
  if (start !== 0) {
    names.set(token, known);
    before.next = known;
  }
  return known;
}

/** Counts a name whose rule asks for it. */
export function countName(work: RewriteState, known: KnownName): void {
  const { report, label, name } = known.rule;
  if (report === undefined) return;
  if (known.report === undefined || known.call !== work.call) {
    known.report = reportOf(work.reports, report, label, name);
    known.call = work.call;
  }
  known.report.count++;
}

function ruleOfUnlisted(work: RewriteState, plan: CompiledObject, start: number, end: number): MemberRule {
  const { drop, report } = plan.unknown;
  return ruleFor(plan.label, decodeString(work.source, start, end), {
    action: drop ? "drop" : "keep",
    report: report ? "unknown" : undefined,
  });
}

/** A member name as it stands in texts, and what it means. Its bytes begin after the member before it. */
export interface KnownName {
  /** Where the memory has its bytes: comma and white space come first. */
  readonly start: number;
  /** From there: to the name's opening quote, after its closing one, and after the colon. */
  readonly name: number;
  readonly nameEnd: number;
  readonly length: number;
  readonly rule: MemberRule;
  /** The name that followed it the last time: objects mostly repeat the order of the one before. */
  next: KnownName | undefined;
  /** What counts it, and the call that made that. */
  report: { count: number } | undefined;
  call: number;
}

/** The bytes of all names that are remembered: what one text has taught is known when the next one comes. */
export interface NameMemory {
  bytes: Buffer;
  view: DataView;
  end: number;
}

/** More than the names of an honest platform take. */
const MOST_BYTES = 32 * 1024;
const FIRST_BYTES = 1024;
/** Longer names are read again each time. Texts must have this many bytes after them. */
export const MOST_NAME_BYTES = 256;
/** A comparison may begin a byte early. */
const FIRST_OFFSET = 4;

export function createNameMemory(): NameMemory {
  const { bytes, view } = allocate(FIRST_BYTES);
  return { bytes, view, end: FIRST_OFFSET };
}

/** True when the table is so full that starting over is better. */
export function isFull({ end }: NameMemory): boolean {
  return end > MOST_BYTES;
}

/** Forgets all names; none may be used afterwards. */
export function forgetAll(names: NameMemory): void {
  names.end = FIRST_OFFSET;
}

/** Remembers the name at `start..end` of `text`: where its bytes are now, or 0 when there is no room for them. */
export function remember(names: NameMemory, text: Buffer, start: number, end: number): number {
  const length = end - start;
  if (length > MOST_NAME_BYTES || isFull(names)) return 0;
  if (names.end + length > names.bytes.length) grow(names, length);
  const at = names.end;
  text.copy(names.bytes, at, start, end);
  names.end += length;
  return at;
}

function grow(names: NameMemory, more: number): void {
  const { bytes, view } = allocate((names.end + more) * 2);
  names.bytes.copy(bytes, 0, 0, names.end);
  names.bytes = bytes;
  names.view = view;
}

/** The only place where they are made, so that all have one shape inside the engine. */
export function knownName(start: number, name: number, nameEnd: number, length: number, rule: MemberRule): KnownName {
  return { start, name, nameEnd, length, rule, next: undefined, report: undefined, call: 0 };
}

/** True when what stands at `gap` of `text` is `known`, byte for byte up to its colon. */
export function repeats(text: DataView, gap: number, { view }: NameMemory, { start, length }: KnownName): boolean {
  // By words, the last of which may overlap the one before it, or begin a byte early: then more is compared than needed.
  // After the text there are zeros, which no name has.
  const last = length - 4;
  for (let i = 0; i < last; i += 4) if (text.getInt32(gap + i, true) !== view.getInt32(start + i, true)) return false;
  return text.getInt32(gap + last, true) === view.getInt32(start + last, true);
}
