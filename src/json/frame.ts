/** What must be remembered while one object, or all objects of one plan, are rewritten? */
import { type CompiledObject, type Rule, ruleFor } from "./compile.ts";
import { findKey, sameBytes } from "./keys.ts";
import { createOutput, type Output } from "./output.ts";
import { type Reports, reportOf } from "./reports.ts";
import { skipKey } from "./scan.ts";
import { decodeString } from "./text.ts";

/** A member name as it stands in the text (quotes included), and what it means. */
export interface Known {
  readonly start: number;
  readonly length: number;
  readonly rule: Rule;
  /** Counted each time it is met. */
  readonly report: { count: number } | undefined;
  /** The name that followed it the last time: objects of a list mostly repeat the order of the one before. */
  next: Known | undefined;
}

/** One object being rewritten. Reused for the next one of its plan. */
export interface Frame {
  /** By slot: the number of the object in which its name came out last. */
  readonly seen: number[];
  /** Number of the current object. */
  object: number;
  /** Where the text before the current member begins: at the comma, or behind the brace. */
  gap: number;
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

/** Everything that one call changes. */
export interface Work {
  readonly source: Buffer;
  readonly output: Output;
  readonly reports: Reports;
  /** By `CompiledObject.index`. */
  readonly states: PlanState[];
  /** The string token of the key member of the record that is being read; `keyEnd` is 0 before it is met. */
  keyStart: number;
  keyEnd: number;
}

const NOTHING = ruleFor("", "", {});

/** Fresh working state for one text and `objects` object plans. */
export function createWork(source: Buffer, objects: number): Work {
  const states = Array.from({ length: objects }, (): PlanState => {
    const head: Known = { start: 0, length: 0, rule: NOTHING, report: undefined, next: undefined };
    return { head, names: new Map(), frames: [], level: 0, objects: 0 };
  });
  return { source, output: createOutput(source), reports: new Map(), states, keyStart: 0, keyEnd: 0 };
}

export function stateOf(work: Work, plan: CompiledObject): PlanState {
  return work.states[plan.index] as PlanState;
}

/** A frame for an object of `plan` whose first member begins behind `brace`. Give it back by lowering `state.level`. */
export function openFrame(state: PlanState, brace: number): Frame {
  let frame = state.frames[state.level];
  if (frame === undefined) {
    frame = { seen: [], object: 0, gap: 0, kept: false, left: false, captured: undefined };
    state.frames.push(frame);
  }
  state.level++;
  frame.object = ++state.objects;
  frame.gap = brace + 1;
  frame.kept = false;
  frame.left = false;
  frame.captured = undefined;
  return frame;
}

/** The name at `at`, which came behind `before`. */
export function nextName(work: Work, plan: CompiledObject, before: Known, at: number): Known {
  const expected = before.next;
  const { source } = work;
  if (expected !== undefined && sameBytes(source, at, source, expected.start, expected.length)) return expected;
  const end = skipKey(source, at);
  const found = lookUp(work, plan, at, end);
  before.next = found;
  return found;
}

function lookUp(work: Work, plan: CompiledObject, start: number, end: number): Known {
  const { names } = stateOf(work, plan);
  const token = work.source.toString("latin1", start, end);
  let known = names.get(token);
  if (known === undefined) {
    const rule = findKey(plan.rules, work.source, start, end) ?? stranger(work, plan, start, end);
    const { report } = rule;
    const counted = report && reportOf(work.reports, report, rule.label, rule.name);
    known = { start, length: end - start, rule, report: counted, next: undefined };
    names.set(token, known);
  }
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
