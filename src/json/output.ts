/** The edited bytes: untouched ones are copied in long runs. */
import { allocate, checkText, fill, padded } from "./scan.ts";

/** Memory that is not larger is kept for the next text. */
const KEPT_BYTES = 1024 * 1024;
/** Longer runs are copied by the runtime, shorter ones here: calling it costs as much as this many bytes. */
const SHORT = 256;
/** Words may be written this far past their end. */
const SLACK = 16;

/**
 * The text being read and, after it in the same memory, the text being written: the engine is quickest at copying inside
 * one array. `from` is the first byte of the run that is still to be copied.
 */
export interface OutputBuffer {
  bytes: Buffer;
  view: DataView;
  /** Where the new text begins, and how far it has come. */
  start: number;
  end: number;
  from: number;
}

/** Bytes that are put often, with room after them so that they can be read by words. */
export interface WritableToken {
  readonly view: DataView;
  readonly size: number;
}

/** An output without memory. */
export function createOutput(): OutputBuffer {
  return { ...allocate(0), start: 0, end: 0, from: 0 };
}

/** Loads `text`; after its new form there is room for `margin` bytes. Throws `JsonError` as `checkText` says. */
export function beginOutput(output: OutputBuffer, text: Uint8Array, margin: number): void {
  checkText(text);
  const start = padded(text.length);
  const size = start * 2 + (text.length >> 3) + SLACK + margin;
  if (output.bytes.length < size) setMemory(output, size);
  fill(output, text);
  output.start = start;
  output.end = start;
  output.from = 0;
}

/** Keeps the memory for the next text, unless it is much. */
export function endOutput(output: OutputBuffer): void {
  if (output.bytes.length > KEPT_BYTES) setMemory(output, 0);
}

function setMemory(output: OutputBuffer, size: number): void {
  const { bytes, view } = allocate(size);
  output.bytes = bytes;
  output.view = view;
}

/** Copies the run up to `end` of the source; the next one begins at `next`. */
export function cut(output: OutputBuffer, end: number, next: number): void {
  const { from } = output;
  const size = end - from;
  if (size > 0) {
    reserve(output, size);
    copyRun(output, from, size);
    output.end += size;
  }
  output.from = next;
}

/** Adds bytes that are not in the source, after the runs copied so far. */
export function put(output: OutputBuffer, text: Uint8Array | string): void {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  reserve(output, bytes.length);
  output.bytes.set(bytes, output.end);
  output.end += bytes.length;
}

export function tokenOf(text: string): WritableToken {
  const size = Buffer.byteLength(text);
  const { bytes, view } = allocate(size + SLACK);
  bytes.fill(0).write(text);
  return { view, size };
}

/** Puts `token` where `start..end` of the source was. */
export function exchange(output: OutputBuffer, start: number, end: number, token: WritableToken): void {
  const { from, end: at } = output;
  const { size, view } = token;
  const behind = at + start - from;
  if (behind + size + SLACK > output.bytes.length) reserve(output, start - from + size);
  copyRun(output, from, start - from);
  const into = output.view;
  for (let i = 0; i < size; i += 4) into.setInt32(behind + i, view.getInt32(i, true), true);
  output.end = behind + size;
  output.from = end;
}

/** Copies `size` bytes of the source to the end of the new text, for which there must be room. */
function copyRun({ bytes, view, end }: OutputBuffer, from: number, size: number): void {
  if (size > SHORT) bytes.copyWithin(end, from, from + size);
  else copyWords(view, from, view, end, size);
}

/** Copies `size` bytes of valid UTF-8; up to seven more are read after them, and written. */
export function copyWords(from: DataView, start: number, to: DataView, at: number, size: number): void {
  // Copied as numbers. The engine may change the bytes of a NaN, but no eight bytes of UTF-8 look like one.
  for (let i = 0; i < size; i += 8) to.setFloat64(at + i, from.getFloat64(start + i, true), true);
}

/** Puts `text` where `start..end` of the source was. */
export function replace(output: OutputBuffer, start: number, end: number, text: Uint8Array | string): void {
  cut(output, start, end);
  put(output, text);
}

/** Where byte `at` of the source, which lies in the current run, will stand in the new text. */
export function outputOffset(output: OutputBuffer, at: number): number {
  return output.end - output.start + (at - output.from);
}

/** True when nothing was written: what was read so far is, from `from` on, as it was. */
export function untouched(output: OutputBuffer): boolean {
  return output.end === output.start;
}

/** Everything, with the run up to `end` of the source. Use the output no more. */
export function written(output: OutputBuffer, end: number): Uint8Array {
  cut(output, end, end);
  const { bytes, start } = output;
  const whole = Buffer.allocUnsafe(output.end - start);
  bytes.copy(whole, 0, start, output.end);
  return whole;
}

/** Makes room for `more` bytes; the source moves along. */
function reserve(output: OutputBuffer, more: number): void {
  if (output.end + more + SLACK <= output.bytes.length) return;
  const { bytes } = output;
  setMemory(output, (output.end + more + SLACK) * 2);
  bytes.copy(output.bytes, 0, 0, output.end);
}
