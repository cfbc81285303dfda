/** Rewrites one value by its compiled plan. Each function takes where a token begins and returns where it ends. */
import type { CompiledEnum, CompiledInsert, CompiledObject, CompiledPlan, MemberRule } from "./compile.ts";
import { fail } from "./error.ts";
import { cut, exchange, put, replace } from "./output.ts";
import { type FinishObject, reportOf } from "./plan.ts";
import { enter, skipColon, skipComma, skipSpace, skipString, skipValue } from "./scan.ts";
import {
  countName,
  type KnownName,
  type LastEnum,
  type ObjectFrame,
  openFrame,
  type RewriteState,
  readName,
  repeats,
  sameText,
  stateOf,
} from "./state.ts";
import { decodeString, encodeString, findKey, sameBytes } from "./text.ts";

/** Rewrites the value at `start`; `depth` is how many more levels may be entered, `rule` whose value it is. */
export function walkValue(
  work: RewriteState,
  plan: CompiledPlan | undefined,
  start: number,
  depth: number,
  rule: MemberRule | undefined,
): number {
  const byte = work.text.getUint8(start);
  switch (plan?.kind) {
    case undefined:
      return skipValue(work.text, start, depth);
    case "object":
      return byte === 0x7b ? walkObject(work, plan, start, depth) : otherKind(work, start, depth, rule);
    case "array":
      return byte === 0x5b ? walkArray(work, plan.items, start, depth, rule) : otherKind(work, start, depth, rule);
    case "map":
      return byte === 0x7b ? walkMap(work, plan.values, start, depth, rule) : otherKind(work, start, depth, rule);
    case "enum":
      return byte === 0x5b ? walkArray(work, plan, start, depth, rule) : walkEnum(work, plan, start, depth, rule);
    case "convert": {
      const end = skipValue(work.text, start, depth);
      replace(work.output, start, end, plan.convert(work.source.subarray(start, end)));
      return end;
    }
  }
}

/** A value that its plan does not speak of stays as it is; only `null` is not worth a report. */
function otherKind(work: RewriteState, start: number, depth: number, rule: MemberRule | undefined): number {
  if (work.text.getUint8(start) !== 0x6e) reportOf(work.reports, "shape", rule?.label ?? "", rule?.name ?? "").count++;
  return skipValue(work.text, start, depth);
}

function walkArray(
  work: RewriteState,
  items: CompiledPlan | undefined,
  start: number,
  depth: number,
  rule: MemberRule | undefined,
): number {
  enter(start, depth);
  const { text } = work;
  let at = skipSpace(text, start + 1);
  while (text.getUint8(at) !== 0x5d) at = skipComma(text, walkValue(work, items, at, depth - 1, rule), 0x5d);
  return at + 1;
}

function walkMap(
  work: RewriteState,
  values: CompiledPlan | undefined,
  start: number,
  depth: number,
  rule: MemberRule | undefined,
): number {
  enter(start, depth);
  const { text } = work;
  let at = skipSpace(text, start + 1);
  while (text.getUint8(at) !== 0x7d) {
    if (text.getUint8(at) !== 0x22) fail(at, "expected a member name");
    const value = skipSpace(text, skipColon(text, skipValue(text, at, depth)));
    at = skipComma(text, walkValue(work, values, value, depth - 1, rule), 0x7d);
  }
  return at + 1;
}

function walkEnum(
  work: RewriteState,
  plan: CompiledEnum,
  start: number,
  depth: number,
  rule: MemberRule | undefined,
): number {
  const { source, text } = work;
  const last = work.enums[plan.index] as LastEnum;
  if (last.length >= 4 && sameText(text, last.start, start, last.length)) {
    const end = start + last.length;
    if (last.token !== undefined) replace(work.output, start, end, last.token);
    return end;
  }
  const byte = text.getUint8(start);
  const quoted = byte === 0x22;
  if (!quoted && byte !== 0x2d && !(byte >= 0x30 && byte <= 0x39)) return otherKind(work, start, depth, rule);
  const end = skipValue(text, start, depth);
  const digits = quoted ? "" : source.toString("latin1", start, end);
  const token = quoted ? findKey(plan.names, source, start, end) : plan.numbers.get(Number(digits));
  if (token === undefined) {
    const value = quoted ? decodeString(source, start, end) : digits;
    reportOf(work.reports, "enum", rule?.label ?? "", rule?.name ?? "", value).count++;
    return end;
  }
  const stays = token.length === end - start && sameBytes(source, start, token, 0, token.length);
  if (!stays) replace(work.output, start, end, token);
  // Only whole strings: a number might go on where this one ended.
  if (quoted) {
    last.start = start;
    last.length = end - start;
    last.token = stays ? undefined : token;
  }
  return end;
}

/** Rewrites an object by the rules of `plan`. */
export function walkObject(work: RewriteState, plan: CompiledObject, start: number, depth: number): number {
  enter(start, depth);
  const { text, names } = work;
  const state = stateOf(work, plan);
  const frame = openFrame(state, plan.slots);
  let known = state.head;
  // The end of the brace, later that of the last member.
  let gap = start + 1;
  for (;;) {
    const { next } = known;
    if (next !== undefined && repeats(text, gap, names, next)) {
      known = next;
    } else {
      const at = known === state.head ? skipSpace(text, gap) : skipComma(text, gap, 0x7d);
      if (text.getUint8(at) === 0x7d) {
        finishObject(work, plan, frame, gap);
        state.level--;
        return at + 1;
      }
      known = readName(work, plan, known, gap, at);
    }
    gap = walkMember(work, frame, known, gap, depth - 1);
  }
}

/** The member `known` after `gap`; where it ends. */
function walkMember(work: RewriteState, frame: ObjectFrame, known: KnownName, gap: number, depth: number): number {
  const { text, output } = work;
  const { rule } = known;
  const value = skipSpace(text, gap + known.length);
  if (rule.slot !== -1) claim(frame, rule.slot, gap + known.name);
  if (rule.simple && frame.kept) return skipUntouched(text, value, depth);
  if (rule.report !== undefined) countName(work, known);
  if (rule.action !== "keep") return leaveOut(work, frame, rule, gap, value, depth);
  // The comma belongs to the member before it: it goes when all of those are left out.
  if (!frame.kept && frame.left) output.from = gap + known.name;
  frame.kept = true;
  if (rule.newKey !== undefined) exchange(output, gap + known.name, gap + known.nameEnd, rule.newKey);
  if (rule.overNull !== undefined && text.getUint8(value) === 0x6e) {
    const end = skipValue(text, value, depth);
    replace(output, value, end, rule.overNull);
    return end;
  }
  const plan = rule.value;
  const end = plan === undefined ? skipUntouched(text, value, depth) : walkValue(work, plan, value, depth, rule);
  if (rule.key) noteKey(work, value, end);
  return end;
}

/** Most values are strings; asking for them first lets the engine put their loop right here. */
function skipUntouched(text: DataView, start: number, depth: number): number {
  return text.getUint8(start) === 0x22 ? skipString(text, start) : skipValue(text, start, depth);
}

function leaveOut(
  work: RewriteState,
  frame: ObjectFrame,
  rule: MemberRule,
  gap: number,
  value: number,
  depth: number,
): number {
  const end = skipValue(work.text, value, depth);
  cut(work.output, gap, end);
  frame.left = true;
  if (rule.action === "capture") {
    frame.captured ??= new Map();
    frame.captured.set(rule.capture, work.source.subarray(value, end));
  }
  if (rule.key) noteKey(work, value, end);
  return end;
}

/** Notes that the name of `slot` comes out in this object; twice is an error. */
function claim(frame: ObjectFrame, slot: number, at: number): void {
  if (frame.seen[slot] === frame.object) fail(at, "repeated member");
  frame.seen[slot] = frame.object;
}

function noteKey(work: RewriteState, value: number, end: number): void {
  if (work.text.getUint8(value) !== 0x22) fail(value, "expected a string as the record's key");
  work.keyStart = value;
  work.keyEnd = end;
}

/** Adds what the plan adds to an object whose last member ends at `gap`. */
function finishObject(work: RewriteState, plan: CompiledObject, frame: ObjectFrame, gap: number): void {
  const { finish, inserts } = plan;
  if (finish !== undefined) emitMembers(work, plan, finish, frame, gap);
  for (let i = 0; i < inserts.length; i++) {
    const insert = inserts[i] as CompiledInsert;
    if (frame.seen[insert.slot] !== frame.object) addMember(work, frame, gap, insert.member);
  }
}

function emitMembers(
  work: RewriteState,
  plan: CompiledObject,
  finish: FinishObject,
  frame: ObjectFrame,
  gap: number,
): void {
  finish(frame.captured ?? new Map(), (key, value) => {
    const slot = plan.slotOf.get(key);
    if (slot !== undefined) claim(frame, slot, gap);
    addMember(work, frame, gap, Buffer.from(`${encodeString(key)}:`));
    put(work.output, value);
  });
}

/** Adds a member after the last one, which ends at `gap`. */
function addMember(work: RewriteState, frame: ObjectFrame, gap: number, member: Uint8Array): void {
  cut(work.output, gap, gap);
  if (frame.kept) put(work.output, ",");
  put(work.output, member);
  frame.kept = true;
}
