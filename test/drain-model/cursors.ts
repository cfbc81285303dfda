/** What does one write do to a list that is read by one cursor, page after page? */

export interface CursorVerdict {
  runs: number;
  /** Runs in which a record that was there throughout is missing. */
  lost: number;
  /** Runs in which a record came twice. */
  twice: number;
}

/** Every list of 3 to 7 records in pages of 2, with one insert or delete anywhere after one of the first three pages. */
export function exploreCursor(tokens: "keyset" | "offset"): CursorVerdict {
  const verdict = { runs: 0, lost: 0, twice: 0 };
  for (let records = 3; records < 8; records += 1) {
    const start = Array.from({ length: records }, (_, i) => i);
    for (const at of [0, 1, 2]) {
      for (const before of Array.from({ length: records + 1 }, (_, i) => i - 1)) {
        judge(
          verdict,
          follow(tokens, start, at, (keys) => keys.filter((key) => key !== before)),
          start,
          before,
        );
        judge(
          verdict,
          follow(tokens, start, at, (keys) => [...keys, before + 0.5].toSorted((a, b) => a - b)),
          start,
        );
      }
    }
  }
  return verdict;
}

/** The list as the cursor brings it; `write` happens after page number `at`, unless that was the last one. */
function follow(
  tokens: "keyset" | "offset",
  start: readonly number[],
  at: number,
  write: (keys: readonly number[]) => readonly number[],
): readonly number[] {
  const size = 2;
  const out: number[] = [];
  let keys = start;
  for (let page = 0; ; page += 1) {
    const last = out.at(-1) ?? -Infinity;
    const from = tokens === "offset" ? out.length : keys.filter((key) => key <= last).length;
    out.push(...keys.slice(from, from + size));
    if (from + size >= keys.length) return out;
    if (page === at) keys = write(keys);
  }
}

function judge(verdict: CursorVerdict, out: readonly number[], start: readonly number[], gone?: number): void {
  verdict.runs += 1;
  if (start.some((key) => key !== gone && !out.includes(key))) verdict.lost += 1;
  if (new Set(out).size !== out.length) verdict.twice += 1;
}
