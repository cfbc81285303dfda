/** The edited bytes, written after the text in the same memory: untouched ones are copied in long runs. */
import { PADDING, TEXT } from "../src/json/layout";

/** Longer runs are copied by the engine. */
const SHORT: i32 = 512;

/** Where the new text begins, how far it has come, and the first byte of the source that is still to be copied. */
let start: i32 = 0;
let end: i32 = 0;
let from: i32 = 0;
/** The end of the memory. */
let room: i32 = 0;

/** Makes room for a text of `length` bytes and for its new form, and puts the padding after it. */
export function begin(length: i32): void {
  start = (TEXT + length + PADDING + 15) & ~15;
  end = start;
  from = TEXT;
  room = memory.size() << 16;
  reserve(length + (length >> 3));
  for (let at = TEXT + length; at < start; at += 8) store<u64>(at, 0);
}

/** Makes room for `more` bytes, and as many as may be written after them. */
@inline
function reserve(more: i32): void {
  if (end + more + PADDING > room) grow(more);
}

function grow(more: i32): void {
  // Half as much again, so that a text which grows and grows is not a step each time.
  const wanted = end + more + PADDING + ((end - start) >> 1);
  if (memory.grow((wanted - room + 0xffff) >> 16) < 0) unreachable();
  room = memory.size() << 16;
}

/** Copies `size` bytes; up to 15 more are read after them, and written. */
@inline
export function copy(to: i32, source: i32, size: i32): void {
  if (size > SHORT) memory.copy(to, source, size);
  else for (let i = 0; i < size; i += 16) v128.store(to + i, v128.load(source + i));
}

/** Copies the run up to `until` of the source; the next one begins at `next`. */
export function cut(until: i32, next: i32): void {
  const size = until - from;
  if (size > 0) {
    reserve(size);
    copy(end, from, size);
    end += size;
  }
  from = next;
}

/** Leaves out what lies before `next` and was not copied yet. */
export function startRun(next: i32): void {
  from = next;
}

/** Puts the `size` bytes at `bytes` where `begins..ends` of the source was. */
@inline
export function exchange(begins: i32, ends: i32, bytes: i32, size: i32): void {
  const run = begins - from;
  reserve(run + size);
  copy(end, from, run);
  copy(end + run, bytes, size);
  end += run + size;
  from = ends;
}

/** Room for `size` bytes where `begins..ends` of the source was: where the host writes them. */
export function place(begins: i32, ends: i32, size: i32): i32 {
  cut(begins, ends);
  reserve(size);
  const at = end;
  end += size;
  return at;
}

/** Where the byte at `at` of the source, which lies in the current run, will stand in the new text. */
@inline
export function newOffset(at: i32): i32 {
  return end - start + (at - from);
}

/** Where the source begins that no run was copied of; 0 when something was written. */
export function untouchedFrom(): i32 {
  return end == start ? from : 0;
}

/** Where the new text begins, with the run up to `until` of the source. */
export function finished(until: i32): i32 {
  cut(until, until);
  return start;
}

export function newLength(): i32 {
  return end - start;
}

/** For a part of the new text that is wanted by itself: room after it. */
export function spare(size: i32): i32 {
  reserve(size);
  return end;
}
