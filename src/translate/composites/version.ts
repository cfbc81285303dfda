/** Which of two names is the later version, and which of two times the later one? */

/** `1.2.10`, `v1.2`: numbers with dots between them, and nothing behind. A number alone may be a date or an alias. */
const VERSION = /^v?(\d+(?:\.\d+)+)$/;

/** The later of two names; names that are no version are never the later one. Empty when neither is a version. */
export function laterVersion(a: string, b: string): string {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  if (left === undefined || right === undefined) return left === undefined ? (right === undefined ? "" : b) : a;
  for (const [at, number] of left.entries()) {
    const other = right[at];
    // 1.2 comes before 1.2.0.
    if (other === undefined || number > other) return a;
    if (number < other) return b;
  }
  if (right.length > left.length) return b;
  // The same version, once with a `v`: whichever came first, the answer is the same.
  return a < b ? a : b;
}

function numbersOf(name: string): bigint[] | undefined {
  return VERSION.exec(name)?.[1]?.split(".").map(BigInt);
}

/** A moment: milliseconds, and what of its fraction of a second lies below them. */
export interface Moment {
  readonly ms: number;
  readonly below: string;
}

/** The moment that an RFC 3339 text names; undefined for any other text. */
export function momentOf(text: unknown): Moment | undefined {
  if (typeof text !== "string") return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return undefined;
  return { ms, below: (/\.(\d+)/.exec(text)?.[1] ?? "").slice(3).padEnd(6, "0") };
}

/** Below zero when `a` comes first, above when `b` does. */
export function compareMoments(a: Moment, b: Moment): number {
  if (a.ms !== b.ms) return a.ms - b.ms;
  return a.below === b.below ? 0 : a.below < b.below ? -1 : 1;
}
