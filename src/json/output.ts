/** How do edited bytes come together, with untouched ones copied in long runs? */
import { type Loaded, space } from "./scan.ts";

/** Runs longer than this are copied by the runtime, shorter ones here: a call costs as much as this many bytes. */
const SHORT = 160;
/** Words may be written this far behind what they should reach. */
const SLACK = 8;

/** The text being read and the text being made of it. `from` is the first byte of the run that is still to be copied. */
export interface Output {
  readonly source: Loaded;
  bytes: Buffer;
  view: DataView;
  length: number;
  from: number;
}

/** An output for the `size` bytes of `source`; there is room for an eighth more before it must grow. */
export function createOutput(source: Loaded, size: number): Output {
  const { bytes, view } = space(size + (size >> 3) + 64);
  return { source, bytes, view, length: 0, from: 0 };
}

/** Copies the run up to `end` of the source; the next one begins at `next`. */
export function cut(output: Output, end: number, next: number): void {
  const { from, source } = output;
  output.from = next;
  if (end > from) append(output, source, from, end - from);
}

/** Adds bytes that are not in the source, behind the runs copied so far. */
export function put(output: Output, text: Uint8Array | string): void {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  if (output.length + bytes.length > output.bytes.length) grow(output, bytes.length);
  output.bytes.set(bytes, output.length);
  output.length += bytes.length;
}

/** Bytes that are put often, with room behind them so that they can be read by words. */
export interface Token extends Loaded {
  readonly size: number;
}

export function tokenOf(text: string): Token {
  const size = Buffer.byteLength(text);
  const { bytes, view } = space(size + SLACK);
  bytes.fill(0).write(text);
  return { bytes, view, size };
}

/** Puts `token` where `start..end` of the source was. */
export function exchange(output: Output, start: number, end: number, token: Token): void {
  cut(output, start, end);
  append(output, token, 0, token.size);
}

function append(output: Output, { bytes, view }: Loaded, from: number, size: number): void {
  const { length } = output;
  if (length + size + SLACK > output.bytes.length) grow(output, size);
  output.length = length + size;
  if (size > SHORT) {
    bytes.copy(output.bytes, length, from, from + size);
    return;
  }
  const into = output.view;
  for (let i = 0; i < size; i += 4) into.setInt32(length + i, view.getInt32(from + i, true), true);
}

/** Puts `text` where `start..end` of the source was. */
export function replace(output: Output, start: number, end: number, text: Uint8Array | string): void {
  cut(output, start, end);
  put(output, text);
}

/** Where byte `at` of the source, which lies in the current run, will stand in the output. */
export function placeOf(output: Output, at: number): number {
  return output.length + (at - output.from);
}

function grow(output: Output, more: number): void {
  const { bytes, view } = space((output.length + more + SLACK) * 2);
  output.bytes.copy(bytes, 0, 0, output.length);
  output.bytes = bytes;
  output.view = view;
}

/** Everything, with the run up to `end` of the source. Use the output no more. */
export function written(output: Output, end: number): Uint8Array {
  cut(output, end, end);
  return output.bytes.subarray(0, output.length);
}
