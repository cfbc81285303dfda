/** What must be remembered while one object, or all objects of one plan, are rewritten? */
import { type CompiledObject, type Compiler, type Rule, ruleFor } from "./compile.ts";
import { findKey } from "./keys.ts";
import { createNames, forget, isFull, type Known, knownName, MOST_NAME_BYTES, type Names, remember } from "./names.ts";
import { beginOutput, createOutput, endOutput, type Output } from "./output.ts";
import { type Reports, reportOf } from "./reports.ts";
import { skipColon, skipKey } from "./scan.ts";
import { decodeString } from "./text.ts";

/** One object being rewritten. Reused for the next one of its plan. */
export interface Frame {
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
  readonly head: Known;
  /** Every name met so far, by its token. */
  readonly names: Map<string, Known>;
  /** One for each level at which the plan contains itself; `level` are in use. */
  readonly frames: Frame[];
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
export interface Work {
  /** The text that is read, and what comes behind it in the same memory. */
  source: Buffer;
  text: DataView;
  readonly output: Output;
  readonly names: Names;
  reports: Reports;
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
const NOTHING = ruleFor("", "", {});

/** Working state for the plans of one rewriter. */
export function createWork({ objects, enums }: Pick<Compiler, "objects" | "enums">): Work {
  const output = createOutput();
  const states = Array.from({ length: objects }, (): PlanState => {
    return { head: knownName(0, 0, 0, 0, NOTHING), names: new Map(), frames: [], level: 0, objects: 0 };
  });
  return {
    source: output.bytes,
    text: output.view,
    output,
    names: createNames(),
    reports: new Map(),
    call: 0,
    states,
    enums: Array.from({ length: enums }, () => ({ start: 0, length: 0, token: undefined })),
    keyStart: 0,
    keyEnd: 0,
  };
}

/** Loads `text` for a call. Throws `JsonError` when it is not UTF-8 or begins with a byte order mark. */
export function beginCall(work: Work, text: Uint8Array): void {
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
export function endCall(work: Work): Reports {
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

function forgetNames({ names, states }: Work): void {
  forget(names);
  for (const state of states) {
    state.names.clear();
    state.head.next = undefined;
  }
}

export function stateOf(work: Work, plan: CompiledObject): PlanState {
  return work.states[plan.index] as PlanState;
}

/** A frame for the next object of a plan with so many slots. Give it back by lowering `state.level`. */
export function openFrame(state: PlanState, slots: number): Frame {
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
  // By words, the last of which may overlap the one before it.
  const last = length - 4;
  for (let i = 0; i < last; i += 4) if (text.getInt32(a + i, true) !== text.getInt32(b + i, true)) return false;
  return text.getInt32(a + last, true) === text.getInt32(b + last, true);
}

/** Reads the name at `at`, behind `gap`, and remembers it as what comes behind `before`. */
export function readName(work: Work, plan: CompiledObject, before: Known, gap: number, at: number): Known {
  const end = skipKey(work.text, at);
  const colon = skipColon(work.text, end);
  const { names } = stateOf(work, plan);
  const token = work.source.toString("latin1", gap, colon);
  const met = names.get(token);
  if (met !== undefined) {
    before.next = met;
    return met;
  }
  const rule = findKey(plan.rules, work.source, at, end) ?? stranger(work, plan, at, end);
  const start = remember(work.names, work.source, gap, colon);
  const known = knownName(start, at - gap, end - gap, colon - gap, rule);
  if (start !== 0) {
    names.set(token, known);
    before.next = known;
  }
  return known;
}

/** Counts a name whose rule asks for it. */
export function countName(work: Work, known: Known): void {
  const { report, label, name } = known.rule;
  if (report === undefined) return;
  if (known.report === undefined || known.call !== work.call) {
    known.report = reportOf(work.reports, report, label, name);
    known.call = work.call;
  }
  known.report.count++;
}

function stranger(work: Work, plan: CompiledObject, start: number, end: number): Rule {
  const { drop, report } = plan.unknown;
  return ruleFor(plan.label, decodeString(work.source, start, end), {
    action: drop ? "drop" : "keep",
    report: report ? "unknown" : undefined,
  });
}
