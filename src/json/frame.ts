/** What must be remembered while one object, or all objects of one plan, are rewritten? */
import { isAscii } from "node:buffer";
import { type CompiledObject, type Compiler, type Rule, ruleFor } from "./compile.ts";
import { findKey } from "./keys.ts";
import { createOutput, type Output } from "./output.ts";
import { type Reports, reportOf } from "./reports.ts";
import { type Loaded, skipColon, skipKey } from "./scan.ts";
import { decodeString } from "./text.ts";

/** A member name as it stands in the text, and what it means. */
export interface Known {
  /** Behind the opening brace or the member before: comma and white space come first. */
  readonly start: number;
  /** From `start`: to the name's opening quote, behind its closing one, and behind the colon. */
  readonly name: number;
  readonly nameEnd: number;
  readonly length: number;
  readonly rule: Rule;
  /** Counted each time it is met. */
  readonly report: { count: number } | undefined;
  /** The name that followed it the last time: objects of a list mostly repeat the order of the one before. */
  next: Known | undefined;
}

/** The only place where they are made, so that all have one shape inside the engine. */
function knownName(
  start: number,
  name: number,
  nameEnd: number,
  length: number,
  rule: Rule,
  report: Known["report"],
): Known {
  return { start, name, nameEnd, length, rule, report, next: undefined };
}

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

/** Everything that one call changes. */
export interface Work {
  readonly source: Buffer;
  readonly text: DataView;
  /** True when strings can be read off as they stand: all ASCII, no escapes. */
  readonly literal: boolean;
  readonly output: Output;
  readonly reports: Reports;
  /** By `CompiledObject.index`. */
  readonly states: PlanState[];
  /** By `CompiledEnum.index`. */
  readonly enums: LastEnum[];
  /** The string token of the key member of the record that is being read; `keyEnd` is 0 before it is met. */
  keyStart: number;
  keyEnd: number;
}

/** Names remembered for each plan; more than any honest list has. */
const MOST_NAMES = 5000;
const NOTHING = ruleFor("", "", {});

/** Fresh working state for a text of `size` bytes and the plans of one rewriter. */
export function createWork(
  loaded: Loaded,
  size: number,
  { objects, enums }: Pick<Compiler, "objects" | "enums">,
): Work {
  const states = Array.from({ length: objects }, (): PlanState => {
    const head = knownName(0, 0, 0, 0, NOTHING, undefined);
    return { head, names: new Map(), frames: [], level: 0, objects: 0 };
  });
  const { bytes, view } = loaded;
  const firstEscape = bytes.indexOf(0x5c);
  return {
    source: bytes,
    text: view,
    literal: isAscii(bytes.subarray(0, size)) && (firstEscape === -1 || firstEscape >= size),
    output: createOutput(loaded, size),
    reports: new Map(),
    states,
    enums: Array.from({ length: enums }, () => ({ start: 0, length: 0, token: undefined })),
    keyStart: 0,
    keyEnd: 0,
  };
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

/** True when what stands at `gap` is the name that came next the last time, byte for byte up to its colon. */
export function repeats(text: DataView, { start, length }: Known, gap: number): boolean {
  return sameText(text, start, gap, length);
}

/** True when the `length` bytes at `a` and at `b` are equal; both have at least four bytes of the text up to their end. */
export function sameText(text: DataView, a: number, b: number, length: number): boolean {
  // By words, the last of which may overlap the one before it, or begin a byte early: then more is compared than needed.
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
  let known = names.get(token);
  if (known === undefined) {
    const rule = findKey(plan.rules, work.source, at, end) ?? stranger(work, plan, at, end);
    const { report } = rule;
    const counted = report && reportOf(work.reports, report, rule.label, rule.name);
    known = knownName(gap, at - gap, end - gap, colon - gap, rule, counted);
    if (names.size < MOST_NAMES) names.set(token, known);
  }
  before.next = known;
  return known;
}

function stranger(work: Work, plan: CompiledObject, start: number, end: number): Rule {
  const { drop, report } = plan.unknown;
  return ruleFor(plan.label, decodeString(work.source, start, end), {
    action: drop ? "drop" : "keep",
    report: report ? "unknown" : undefined,
    plain: !drop,
  });
}
