/** Which bytes of a page belong into the list? */
import type { ListPage } from "../../model/list.ts";
import { Problem } from "../../model/problem.ts";

const COMMA = 0x2c;

/**
 * The records `i` of `page` with `wanted[i]` set and not hidden, as `rec,…,rec`; undefined when there is none.
 * A page that is kept whole is not copied; of any other a copy is made, so that the rest of it can be collected.
 */
export function keptBytes(page: ListPage, wanted: Uint8Array): { bytes: Uint8Array; records: number } | undefined {
  const runs: { start: number; end: number }[] = [];
  let records = 0;
  let open: { start: number; end: number } | undefined;
  for (let i = 0; i < wanted.length; i++) {
    if (wanted[i] !== 1 || page.hidden?.[i] === 1) {
      open = undefined;
      continue;
    }
    const start = page.starts[i];
    const end = page.ends[i];
    if (start === undefined || end === undefined) throw new Problem("INTERNAL", "internal error");
    records += 1;
    if (open === undefined) {
      open = { start, end };
      runs.push(open);
    } else open.end = end;
  }
  const [first] = runs;
  if (first === undefined) return undefined;
  const whole = records === wanted.length;
  return { bytes: whole ? page.bytes.subarray(first.start, first.end) : joined(page.bytes, runs), records };
}

/** Copies of `runs`, separated by commas. */
function joined(bytes: Uint8Array, runs: readonly { start: number; end: number }[]): Uint8Array {
  const length = runs.reduce((sum, run) => sum + run.end - run.start, runs.length - 1);
  const copy = new Uint8Array(length);
  let at = 0;
  for (const run of runs) {
    if (at > 0) copy[at++] = COMMA;
    copy.set(bytes.subarray(run.start, run.end), at);
    at += run.end - run.start;
  }
  return copy;
}
