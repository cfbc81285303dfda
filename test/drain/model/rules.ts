/** Rules that join pages read at different times into one list. Keys are small integers. */

/** One page: its keys in order, and whether the answer itself said that nothing follows. */
export interface Page {
  readonly items: readonly number[];
  readonly end: boolean;
}

/** The list that the windows make, in the order of their places; undefined when the rule does not accept them. */
export type Rule = (windows: readonly Page[]) => readonly number[] | undefined;

/** The first claim: equal records at each border are enough. */
export const literalClaim: Rule = (windows) => {
  const out = [...(windows[0]?.items ?? [])];
  for (const [a, b] of borders(windows)) {
    if (a.at(-1) === undefined || a.at(-1) !== b[0]) return undefined;
    out.push(...b.slice(1));
  }
  return out;
};

/** The claim, and the last window must say itself that it is the last. */
export const equalityAndEnd: Rule = (windows) => (ends(windows) ? literalClaim(windows) : undefined);

/** The first record of each window must be somewhere in the one before; merged by key. */
export const containmentAndEnd: Rule = (windows) =>
  ends(windows) ? merged(windows, (a, b) => b[0] !== undefined && a.includes(b[0])) : undefined;

/** Each window must begin at or before the last record of the one before; merged by key. */
export const comparatorAndEnd: Rule = (windows) => (ends(windows) ? comparator(windows) : undefined);

/** The comparator rule without the proof of the right edge. */
export const comparator: Rule = (windows) => merged(windows, (a, b) => (b[0] ?? Infinity) <= (a.at(-1) ?? -Infinity));

function ends(windows: readonly Page[]): boolean {
  return windows.at(-1)?.end === true;
}

function merged(
  windows: readonly Page[],
  meet: (a: readonly number[], b: readonly number[]) => boolean,
): readonly number[] | undefined {
  const out = [...(windows[0]?.items ?? [])];
  for (const [a, b] of borders(windows)) {
    if (!meet(a, b)) return undefined;
    for (const key of b) if (key > (out.at(-1) ?? -Infinity)) out.push(key);
  }
  return out;
}

function borders(windows: readonly Page[]): (readonly [readonly number[], readonly number[]])[] {
  return windows.slice(1).map((page, i) => [windows[i]?.items ?? [], page.items] as const);
}

/** Is every one of `persistent` there once, and nothing twice? */
export function isWhole(out: readonly number[], persistent: Iterable<number>): boolean {
  const seen = new Set(out);
  if (seen.size !== out.length) return false;
  for (const key of persistent) if (!seen.has(key)) return false;
  return true;
}

/** How many windows of `size`, each one record into the one before, a count of `total` asks for. */
export function windowsFor(total: number, size: number): number {
  return total > 1 ? Math.max(1, Math.ceil((total - 1) / (size - 1))) : 1;
}
