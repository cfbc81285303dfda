/** How is one value rewritten by its compiled plan? Each function takes where a token begins and returns where it ends. */
import type { Compiled, CompiledEnum, CompiledObject, Rule } from "./compile.ts";
import { fail } from "./error.ts";
import { type Frame, nextName, openFrame, stateOf, type Work } from "./frame.ts";
import { findKey, sameBytes } from "./keys.ts";
import { cut, put, replace } from "./output.ts";
import { reportOf } from "./reports.ts";
import { enter, skipColon, skipComma, skipSpace, skipValue } from "./scan.ts";
import { decodeString, encodeString } from "./text.ts";

/** Rewrites the value at `start`; `depth` is how many more levels may be entered, `rule` whose value it is. */
export function walkValue(
  work: Work,
  plan: Compiled | undefined,
  start: number,
  depth: number,
  rule: Rule | undefined,
): number {
  const byte = work.source[start];
  switch (plan?.kind) {
    case undefined:
      return skipValue(work.source, start, depth);
    case "object":
      return byte === 0x7b ? walkObject(work, plan, start, depth) : otherKind(work, start, depth, rule);
    case "array":
      return byte === 0x5b ? walkArray(work, plan.items, start, depth, rule) : otherKind(work, start, depth, rule);
    case "map":
      return byte === 0x7b ? walkMap(work, plan.values, start, depth, rule) : otherKind(work, start, depth, rule);
    case "enum":
      return byte === 0x5b ? walkArray(work, plan, start, depth, rule) : walkEnum(work, plan, start, depth, rule);
    case "convert": {
      const end = skipValue(work.source, start, depth);
      replace(work.output, start, end, plan.convert(work.source.subarray(start, end)));
      return end;
    }
  }
}

/** A value that its plan does not speak of stays as it is; only `null` is not worth a report. */
function otherKind(work: Work, start: number, depth: number, rule: Rule | undefined): number {
  if (work.source[start] !== 0x6e) reportOf(work.reports, "shape", rule?.label ?? "", rule?.name ?? "").count++;
  return skipValue(work.source, start, depth);
}

function walkArray(
  work: Work,
  items: Compiled | undefined,
  start: number,
  depth: number,
  rule: Rule | undefined,
): number {
  enter(start, depth);
  const { source } = work;
  let at = skipSpace(source, start + 1);
  while (source[at] !== 0x5d) at = skipComma(source, walkValue(work, items, at, depth - 1, rule), 0x5d);
  return at + 1;
}

function walkMap(
  work: Work,
  values: Compiled | undefined,
  start: number,
  depth: number,
  rule: Rule | undefined,
): number {
  enter(start, depth);
  const { source } = work;
  let at = skipSpace(source, start + 1);
  while (source[at] !== 0x7d) {
    if (source[at] !== 0x22) fail(at, "expected a member name");
    const value = skipColon(source, skipValue(source, at, depth));
    at = skipComma(source, walkValue(work, values, value, depth - 1, rule), 0x7d);
  }
  return at + 1;
}

function walkEnum(work: Work, plan: CompiledEnum, start: number, depth: number, rule: Rule | undefined): number {
  const { source } = work;
  const byte = source[start] as number;
  const text = byte === 0x22;
  if (!text && byte !== 0x2d && !(byte >= 0x30 && byte <= 0x39)) return otherKind(work, start, depth, rule);
  const end = skipValue(source, start, depth);
  const digits = text ? "" : source.toString("latin1", start, end);
  const token = text ? findKey(plan.names, source, start, end) : plan.numbers.get(Number(digits));
  if (token === undefined) {
    const value = text ? decodeString(source, start, end) : digits;
    reportOf(work.reports, "enum", rule?.label ?? "", rule?.name ?? "", value).count++;
  } else if (token.length !== end - start || !sameBytes(source, start, token, 0, token.length)) {
    replace(work.output, start, end, token);
  }
  return end;
}

/** Rewrites an object by the rules of `plan`. */
export function walkObject(work: Work, plan: CompiledObject, start: number, depth: number): number {
  enter(start, depth);
  const { source } = work;
  const state = stateOf(work, plan);
  const frame = openFrame(state, start);
  let known = state.head;
  let at = skipSpace(source, start + 1);
  while (source[at] !== 0x7d) {
    known = nextName(work, plan, known, at);
    if (known.report !== undefined) known.report.count++;
    const { rule } = known;
    const nameEnd = at + known.length;
    const value = skipColon(source, nameEnd);
    const end = walkMember(work, frame, rule, at, nameEnd, value, depth - 1);
    frame.gap = end;
    at = skipComma(source, end, 0x7d);
  }
  if (plan.finish !== undefined) finishObject(work, plan, frame);
  for (const insert of plan.inserts) {
    if (frame.seen[insert.slot] !== frame.object) addMember(work, frame, insert.member);
  }
  state.level--;
  return at + 1;
}

function walkMember(
  work: Work,
  frame: Frame,
  rule: Rule,
  name: number,
  nameEnd: number,
  value: number,
  depth: number,
): number {
  const { source, output } = work;
  if (rule.slot !== -1) claim(frame, rule.slot, name);
  if (rule.key) readKey(work, value, depth);
  if (rule.action !== "keep") {
    cut(output, frame.gap, frame.gap);
    const end = skipValue(source, value, depth);
    output.from = end;
    frame.left = true;
    if (rule.action === "capture") {
      frame.captured ??= new Map();
      frame.captured.set(rule.capture, source.subarray(value, end));
    }
    return end;
  }
  // The comma belongs to the member before it: it goes when all of those are left out.
  if (!frame.kept && frame.left) output.from = name;
  frame.kept = true;
  if (rule.newKey !== undefined) replace(output, name, nameEnd, rule.newKey);
  if (rule.overNull !== undefined && source[value] === 0x6e) {
    const end = skipValue(source, value, depth);
    replace(output, value, end, rule.overNull);
    return end;
  }
  return walkValue(work, rule.value, value, depth, rule);
}

/** Notes that the name of `slot` comes out in this object; twice is an error. */
function claim(frame: Frame, slot: number, at: number): void {
  if (frame.seen[slot] === frame.object) fail(at, "repeated member");
  frame.seen[slot] = frame.object;
}

function readKey(work: Work, value: number, depth: number): void {
  if (work.source[value] !== 0x22) fail(value, "expected a string as the record's key");
  work.keyStart = value;
  work.keyEnd = skipValue(work.source, value, depth);
}

function finishObject(work: Work, plan: CompiledObject, frame: Frame): void {
  plan.finish?.(frame.captured ?? new Map(), (key, value) => {
    const slot = plan.slotOf.get(key);
    if (slot !== undefined) claim(frame, slot, frame.gap);
    addMember(work, frame, Buffer.from(`${encodeString(key)}:`));
    put(work.output, value);
  });
}

/** Adds a member behind the last one. */
function addMember(work: Work, frame: Frame, member: Uint8Array): void {
  cut(work.output, frame.gap, frame.gap);
  if (frame.kept) put(work.output, ",");
  put(work.output, member);
  frame.kept = true;
}
