/** Rewrites one value, or the records of a page, by a plan that the host has put into memory. */
import {
  ASCENDING,
  CALL,
  COMMA,
  COUNT,
  ENTRY_BYTES,
  ENTRY_LENGTH,
  ENTRY_NEW_BYTES,
  ENTRY_NEW_LENGTH,
  ENTRY_SIZE,
  ENUM_COUNT,
  ENUM_ENTRIES,
  ENUM_LAST,
  FLAG_CAPTURE,
  FLAG_EDIT,
  FLAG_KEY,
  FLAG_LEAVE_OUT,
  FLAG_REPORT,
  INSERT_BYTES,
  INSERT_LENGTH,
  INSERT_SIZE,
  INSERT_SLOT,
  KEPT,
  KIND_ARRAY,
  KIND_ENUM,
  KIND_MAP,
  KIND_OBJECT,
  LAST_END,
  MOST_RECORDS,
  NAME_BYTES,
  NAME_END,
  NAME_FIRST,
  NAME_LENGTH,
  NAME_LINK,
  NAME_NEXT,
  NAME_QUOTE,
  NAME_RULE,
  OBJECT_FINISH,
  OBJECT_HEAD,
  OBJECT_INSERT_COUNT,
  OBJECT_INSERTS,
  PLAN_ID,
  PLAN_ITEMS,
  PLAN_KIND,
  REASON_KEY_STRING,
  REASON_NO_KEY,
  REASON_RECORD,
  REASON_REPEATED,
  RECORD_SIZE,
  RECORDS,
  RULE_CALL,
  RULE_COUNT,
  RULE_FLAGS,
  RULE_ID,
  RULE_KEY_BYTES,
  RULE_KEY_LENGTH,
  RULE_SLOT,
  RULE_VALUE,
  SCRATCH_NAME,
  SEEN,
} from "../src/json/layout";
import { copy, cut, exchange, newOffset, spare, startRun } from "./output";
import { enter, fail, skipColon, skipComma, skipName, skipSpace, skipString, skipValue } from "./scan";

export { begin, finished, newLength, place, startRun, untouchedFrom } from "./output";
export { skipColon, skipComma, skipEnd, skipName, skipSpace, skipValue } from "./scan";

/** The name at `at..end`, after `gap` and before the colon that ends at `next`: remembers it, or puts it where it is good for one member. */
@external("host", "learn")
declare function hostLearn(plan: i32, first: i32, gap: i32, at: i32, end: i32, next: i32): i32;
/** A rule that asks for it is counted for the first time in this call. */
@external("host", "report")
declare function hostReport(id: i32, rule: i32): void;
/** Counts a value of another kind than planned; `rule`: whose value it is, -1 for none. */
@external("host", "shape")
declare function hostShape(rule: i32): void;
/** Keeps a member that `finish` will ask for; `object`: where its object begins. */
@external("host", "capture")
declare function hostCapture(object: i32, rule: i32, start: i32, end: i32): void;
/** An enum's value that is in no table as it stands: the host exchanges it, or counts it. */
@external("host", "exchangeEnum")
declare function hostEnum(plan: i32, rule: i32, start: i32, end: i32): void;
@external("host", "convert")
declare function hostConvert(plan: i32, start: i32, end: i32): void;
/** Adds members after the last one, which ends at `gap`. */
@external("host", "finish")
declare function hostFinish(plan: i32, object: i32, gap: i32): void;

/** The string token of the key of the record that is being read; `keyEnd` is 0 before it is met. */
let keyStart: i32 = 0;
let keyEnd: i32 = 0;

/** Rewrites the value at `start`; 0 as `plan` copies it, 0 as `rule`: it is no member's. */
export function walkValue(plan: i32, start: i32, depth: i32, rule: i32): i32 {
  if (plan == 0) return skipValue(start, depth);
  const byte = load<u8>(start);
  const kind = load<i32>(plan, PLAN_KIND);
  if (kind == KIND_OBJECT) {
    if (byte == 0x7b) return walkObject(plan, start, depth);
  } else if (kind == KIND_ENUM) {
    return byte == 0x5b ? walkArray(plan, start, depth, rule) : walkEnum(plan, start, depth, rule);
  } else if (kind == KIND_ARRAY) {
    if (byte == 0x5b) return walkArray(load<i32>(plan, PLAN_ITEMS), start, depth, rule);
  } else if (kind == KIND_MAP) {
    if (byte == 0x7b) return walkMap(load<i32>(plan, PLAN_ITEMS), start, depth, rule);
  } else {
    const end = skipValue(start, depth);
    hostConvert(load<i32>(plan, PLAN_ID), start, end);
    return end;
  }
  return otherKind(start, depth, rule);
}

/** A value that its plan does not speak of stays as it is; only `null` is not worth a report. */
function otherKind(start: i32, depth: i32, rule: i32): i32 {
  if (load<u8>(start) != 0x6e) hostShape(idOf(rule));
  return skipValue(start, depth);
}

function idOf(rule: i32): i32 {
  return rule == 0 ? -1 : load<i32>(rule, RULE_ID);
}

function walkArray(items: i32, start: i32, depth: i32, rule: i32): i32 {
  enter(start, depth);
  let at = skipSpace(start + 1);
  while (load<u8>(at) != 0x5d) at = skipComma(walkValue(items, at, depth - 1, rule), 0x5d);
  return at + 1;
}

function walkMap(values: i32, start: i32, depth: i32, rule: i32): i32 {
  enter(start, depth);
  let at = skipSpace(start + 1);
  while (load<u8>(at) != 0x7d) {
    const value = skipSpace(skipColon(skipName(at)));
    at = skipComma(walkValue(values, value, depth - 1, rule), 0x7d);
  }
  return at + 1;
}

/** Records of a list mostly agree on a value, so the one met last is tried first. */
function walkEnum(plan: i32, start: i32, depth: i32, rule: i32): i32 {
  const last = load<i32>(plan, ENUM_LAST);
  if (last != 0 && isEntry(start, last)) return exchangeEntry(start, last);
  const byte = load<u8>(start);
  if (byte == 0x22) {
    let entry = load<i32>(plan, ENUM_ENTRIES);
    const after = entry + load<i32>(plan, ENUM_COUNT) * ENTRY_SIZE;
    for (; entry < after; entry += ENTRY_SIZE) {
      if (!isEntry(start, entry)) continue;
      store<i32>(plan, entry, ENUM_LAST);
      return exchangeEntry(start, entry);
    }
  } else if (byte != 0x2d && <u32>byte - 0x30 > 9) {
    return otherKind(start, depth, rule);
  }
  const end = skipValue(start, depth);
  hostEnum(load<i32>(plan, PLAN_ID), idOf(rule), start, end);
  return end;
}

@inline
function isEntry(start: i32, entry: i32): bool {
  return isSame(start, load<i32>(entry, ENTRY_BYTES), load<i32>(entry, ENTRY_LENGTH));
}

function exchangeEntry(start: i32, entry: i32): i32 {
  const end = start + load<i32>(entry, ENTRY_LENGTH);
  const size = load<i32>(entry, ENTRY_NEW_LENGTH);
  if (size != 0) exchange(start, end, load<i32>(entry, ENTRY_NEW_BYTES), size);
  return end;
}

/** True when the `length` bytes at `a` and at `b` are equal. */
@inline
function isSame(a: i32, b: i32, length: i32): bool {
  let i = 0;
  for (; i + 16 <= length; i += 16) {
    if (v128.any_true(v128.xor(v128.load(a + i), v128.load(b + i)))) return false;
  }
  if (i == length) return true;
  const differ = ~i8x16.bitmask(i8x16.eq(v128.load(a + i), v128.load(b + i)));
  return (differ & ((1 << (length - i)) - 1)) == 0;
}

/** Rewrites an object by the rules of `plan`. The names of one object are expected in the order of the object before it. */
function walkObject(plan: i32, start: i32, depth: i32): i32 {
  enter(start, depth);
  let seen: u64 = 0;
  // Whether a member was kept, and whether one was left out, so far.
  let kept = false;
  let left = false;
  let known = plan + OBJECT_HEAD;
  // The end of the brace, later that of the last member.
  let gap = start + 1;
  while (true) {
    let next = load<i32>(known, NAME_NEXT);
    if (next == 0 || !isName(gap, next)) {
      const first = known == plan + OBJECT_HEAD;
      next = load<u8>(gap) == 0x7d ? 0 : findName(plan, known, gap, first);
      if (next == 0) {
        const at = first ? skipSpace(gap) : skipComma(gap, 0x7d);
        if (load<u8>(at) == 0x7d) {
          finishObject(plan, start, gap, seen, kept);
          return at + 1;
        }
        const end = skipName(at);
        next = hostLearn(load<i32>(plan, PLAN_ID), first ? 1 : 0, gap, at, end, skipColon(end));
      }
      // What is not remembered is gone when the next such name comes.
      if (known != SCRATCH_NAME && next != SCRATCH_NAME) store<i32>(known, next, NAME_NEXT);
    }
    known = next;
    const rule = load<i32>(known, NAME_RULE);
    const flags = load<i32>(rule, RULE_FLAGS);
    const quote = gap + load<i32>(known, NAME_QUOTE);
    const value = skipSpace(gap + load<i32>(known, NAME_LENGTH));
    const slot = load<u64>(rule, RULE_SLOT);
    if ((seen & slot) != 0) fail(quote, REASON_REPEATED);
    seen |= slot;
    if ((flags & FLAG_REPORT) != 0) countMember(rule);
    if ((flags & FLAG_LEAVE_OUT) != 0) {
      const end = skipValue(value, depth - 1);
      cut(gap, end);
      left = true;
      if ((flags & FLAG_CAPTURE) != 0) hostCapture(start, load<i32>(rule, RULE_ID), value, end);
      if ((flags & FLAG_KEY) != 0) noteKey(value, end);
      gap = end;
      continue;
    }
    // The comma belongs to the member before it: it goes when all of those are left out.
    if (!kept) {
      if (left) startRun(quote);
      kept = true;
    }
    const nameEnd = gap + load<i32>(known, NAME_END);
    gap = (flags & FLAG_EDIT) != 0 ? editMember(rule, quote, nameEnd, value, depth - 1) : skipMember(value, depth - 1);
    if ((flags & FLAG_KEY) != 0) noteKey(value, gap);
  }
}

function countMember(rule: i32): void {
  if (load<i32>(rule, RULE_CALL) == load<i32>(CALL)) {
    store<i32>(rule, load<i32>(rule, RULE_COUNT) + 1, RULE_COUNT);
    return;
  }
  store<i32>(rule, load<i32>(CALL), RULE_CALL);
  store<i32>(rule, 1, RULE_COUNT);
  hostReport(load<i32>(rule, RULE_ID), rule);
}

/** Most values are strings. */
@inline
function skipMember(value: i32, depth: i32): i32 {
  return load<u8>(value) == 0x22 ? skipString(value) : skipValue(value, depth);
}

function editMember(rule: i32, quote: i32, nameEnd: i32, value: i32, depth: i32): i32 {
  const size = load<i32>(rule, RULE_KEY_LENGTH);
  if (size != 0) exchange(quote, nameEnd, load<i32>(rule, RULE_KEY_BYTES), size);
  const plan = load<i32>(rule, RULE_VALUE);
  return plan == 0 ? skipMember(value, depth) : walkValue(plan, value, depth, rule);
}

function noteKey(value: i32, end: i32): void {
  if (load<u8>(value) != 0x22) fail(value, REASON_KEY_STRING);
  keyStart = value;
  keyEnd = end;
}

@inline
function isName(gap: i32, name: i32): bool {
  return isSame(gap, load<i32>(name, NAME_BYTES), load<i32>(name, NAME_LENGTH));
}

/** Among the names met so far, those that followed `known` first: where members are left out, the next one is not far. 0 when there is none. */
function findName(plan: i32, known: i32, gap: i32, first: bool): i32 {
  const wanted = first ? 1 : 0;
  const from = load<i32>(known, NAME_LINK);
  for (let name = from; name != 0; name = load<i32>(name, NAME_LINK)) {
    if (load<i32>(name, NAME_FIRST) == wanted && isName(gap, name)) return name;
  }
  for (let name = load<i32>(plan + OBJECT_HEAD, NAME_LINK); name != from && name != 0; name = load<i32>(name, NAME_LINK)) {
    if (load<i32>(name, NAME_FIRST) == wanted && isName(gap, name)) return name;
  }
  return 0;
}

/** Adds what the plan adds to an object whose last member ends at `gap`. */
function finishObject(plan: i32, object: i32, gap: i32, seen: u64, kept: bool): void {
  if (load<i32>(plan, OBJECT_FINISH) != 0) {
    store<u64>(SEEN, seen);
    store<i32>(KEPT, kept ? 1 : 0);
    hostFinish(load<i32>(plan, PLAN_ID), object, gap);
    seen = load<u64>(SEEN);
    kept = load<i32>(KEPT) != 0;
  }
  let insert = load<i32>(plan, OBJECT_INSERTS);
  const after = insert + load<i32>(plan, OBJECT_INSERT_COUNT) * INSERT_SIZE;
  for (; insert < after; insert += INSERT_SIZE) {
    if ((seen & load<u64>(insert, INSERT_SLOT)) != 0) continue;
    // Without its comma where it is the first.
    const comma = kept ? 0 : 1;
    exchange(gap, gap, load<i32>(insert, INSERT_BYTES) + comma, load<i32>(insert, INSERT_LENGTH) - comma);
    kept = true;
  }
}

/**
 * Rewrites the records of an array from `at` on, up to the end of a slice or its last one, and returns where the next one, or
 * the bracket, is. `total`: records before them; the last of those ends at `LAST_END`.
 */
export function walkRecords(plan: i32, start: i32, until: i32, depth: i32, total: i32): i32 {
  let at = start;
  let end = load<i32>(LAST_END);
  let count = 0;
  while (load<u8>(at) != 0x5d && at < until && count < MOST_RECORDS) {
    if (load<u8>(at) != 0x7b) fail(at, REASON_RECORD);
    if (total + count > 0 && at != end + 1) {
      // One comma, without the white space around it.
      exchange(end, at, COMMA, 1);
    }
    const entry = RECORDS + count * RECORD_SIZE;
    store<i32>(entry, newOffset(at));
    keyEnd = 0;
    end = walkObject(plan, at, depth - 1);
    if (keyEnd == 0) fail(at, REASON_NO_KEY);
    store<i32>(entry, newOffset(end), 4);
    store<i32>(entry, keyStart, 8);
    store<i32>(entry, keyEnd, 12);
    count++;
    at = skipComma(end, 0x5d);
  }
  store<i32>(LAST_END, end);
  store<i32>(COUNT, count);
  return at;
}

/** Puts the characters of the keys of the last slice one after another, `size` in all, and says where. Good until more is written. */
export function gatherKeys(count: i32, size: i32): i32 {
  const to = spare(size);
  let at = to;
  let before: i32 = 0;
  let beforeLength: i32 = 0;
  let ascending: i32 = 1;
  for (let i = 0; i < count; i++) {
    const entry = RECORDS + i * RECORD_SIZE;
    const key = load<i32>(entry, 8) + 1;
    const length = load<i32>(entry, 12) - 1 - key;
    copy(at, key, length);
    at += length;
    if (i > 0 && !isAfter(key, length, before, beforeLength)) ascending = 0;
    before = key;
    beforeLength = length;
  }
  store<i32>(ASCENDING, ascending);
  return to;
}

/** True when the `length` bytes at `at` come after the `otherLength` bytes at `other`. */
@inline
function isAfter(at: i32, length: i32, other: i32, otherLength: i32): bool {
  const shared = min(length, otherLength);
  for (let i = 0; i < shared; i += 16) {
    const same = i8x16.bitmask(i8x16.eq(v128.load(at + i), v128.load(other + i)));
    if (same == 0xffff) continue;
    const first = i + ctz<i32>(~same);
    if (first < shared) return load<u8>(at + first) > load<u8>(other + first);
    break;
  }
  return length > otherLength;
}
