/** How do edited bytes come together, with untouched ones copied in long runs? */

/** The text being read and the text being made of it. `from` is the first byte of the run that is still to be copied. */
export interface Output {
  readonly source: Buffer;
  bytes: Buffer;
  length: number;
  from: number;
}

/** An output for `source`; there is room for an eighth more before it must grow. */
export function createOutput(source: Buffer): Output {
  return { source, bytes: Buffer.allocUnsafe(source.length + (source.length >> 3) + 64), length: 0, from: 0 };
}

/** Copies the run up to `end` of the source; the next one begins at `next`. */
export function cut(output: Output, end: number, next: number): void {
  const { source, from } = output;
  if (end > from) {
    room(output, end - from);
    source.copy(output.bytes, output.length, from, end);
    output.length += end - from;
  }
  output.from = next;
}

/** Adds bytes that are not in the source, behind the runs copied so far. */
export function put(output: Output, text: Uint8Array | string): void {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  room(output, bytes.length);
  output.bytes.set(bytes, output.length);
  output.length += bytes.length;
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

function room(output: Output, more: number): void {
  if (output.length + more <= output.bytes.length) return;
  const bigger = Buffer.allocUnsafe((output.length + more) * 2);
  output.bytes.copy(bigger, 0, 0, output.length);
  output.bytes = bigger;
}

/** Everything, with the run up to `end` of the source. Use the output no more. */
export function written(output: Output, end: number): Uint8Array {
  cut(output, end, end);
  return output.bytes.subarray(0, output.length);
}
