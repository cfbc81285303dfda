/** Which record of one list is which of the other? */
import { isDue, type Pace } from "./compare-skip.ts";

/** One side of a list: what names its elements, and what they say. */
export interface Listed {
  /** The id of each element; undefined where it has none. */
  readonly ids: readonly (string | undefined)[];
  /** The same text for elements that say the same. Asked for elements without an id, or with one that is there several times. */
  readonly contentOf: (index: number) => Generator<void, string>;
}

/** Most elements that are sorted: more would take too long in one step, and are paired in the order of their lists. */
const MAX_SORTED = 2000;

/** Indexes of elements that belong together, and of those that stand alone. */
export interface Aligned {
  readonly pairs: readonly (readonly [native: number, translated: number])[];
  readonly missing: readonly number[];
  readonly extra: readonly number[];
  /** False when elements that are surely the same are in another order. */
  readonly ordered: boolean;
}

interface Found {
  readonly pairs: [number, number][];
  /** Pairs of what was left over. */
  readonly guessed: [number, number][];
  readonly missing: number[];
  readonly extra: number[];
}

type Group = { readonly native: number[]; readonly translated: number[] };

/**
 * Pairs the elements of two lists by id, wherever they stand. Elements of one id (or without one) are paired by what they
 * say; those left over are sorted by it and paired in turn, so that the order of a list never decides what is compared.
 */
export function* align(native: Listed, translated: Listed, pace: Pace): Generator<void, Aligned> {
  const groups = new Map<string | undefined, Group>();
  for (const side of ["native", "translated"] as const) {
    const { ids } = side === "native" ? native : translated;
    for (const [index, id] of ids.entries()) {
      const group = groups.get(id);
      if (group === undefined) groups.set(id, { native: [], translated: [], [side]: [index] });
      else group[side].push(index);
      if (isDue(pace, 0)) yield;
    }
  }
  const found: Found = { pairs: [], guessed: [], missing: [], extra: [] };
  for (const group of groups.values()) {
    const [one, other] = [group.native, group.translated];
    if (one.length > 1 || other.length > 1) yield* matchGroup(native, translated, group, pace, found);
    else if (one[0] === undefined) found.extra.push(...other);
    else if (other[0] === undefined) found.missing.push(...one);
    else found.pairs.push([one[0], other[0]]);
    if (isDue(pace, 0)) yield;
  }
  const { pairs, guessed, missing, extra } = found;
  const ordered = yield* inOrder(pairs, native.ids.length, pace);
  return { pairs: [...pairs, ...guessed], missing, extra, ordered };
}

/** Pairs elements that cannot be told apart by id. */
function* matchGroup(
  native: Listed,
  translated: Listed,
  group: Group,
  pace: Pace,
  found: Found,
): Generator<void, void> {
  const same = new Map<string, number[]>();
  for (const index of group.translated) {
    const content = yield* translated.contentOf(index);
    const others = same.get(content);
    if (others === undefined) same.set(content, [index]);
    else others.push(index);
    if (isDue(pace, content.length)) yield;
  }
  const single: [content: string, index: number][] = [];
  // From the front: equal elements in the same order stay in it.
  const taken = new Map<string, number>();
  for (const index of group.native) {
    const content = yield* native.contentOf(index);
    const next = taken.get(content) ?? 0;
    const match = same.get(content)?.[next];
    taken.set(content, next + 1);
    if (match === undefined) single.push([content, index]);
    else found.pairs.push([index, match]);
    if (isDue(pace, content.length)) yield;
  }
  const left = [...same].flatMap(([content, indexes]) =>
    indexes.slice(taken.get(content) ?? 0).map((index): [string, number] => [content, index]),
  );
  if (single.length + left.length <= MAX_SORTED) {
    single.sort(byContent);
    left.sort(byContent);
  }
  for (let i = 0; i < Math.max(single.length, left.length); i++) {
    const [one, other] = [single[i]?.[1], left[i]?.[1]];
    if (one === undefined) found.extra.push(other as number);
    else if (other === undefined) found.missing.push(one);
    else found.guessed.push([one, other]);
    if (isDue(pace, 0)) yield;
  }
}

function byContent([a]: readonly [string, number], [b]: readonly [string, number]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** True when walking the pairs in native's order is walking them in the other's. */
function* inOrder(pairs: Found["pairs"], length: number, pace: Pace): Generator<void, boolean> {
  const partners = new Int32Array(length).fill(-1);
  for (const [native, translated] of pairs) {
    partners[native] = translated;
    if (isDue(pace, 0)) yield;
  }
  let last = -1;
  for (const partner of partners) {
    if (partner === -1) continue;
    if (partner < last) return false;
    last = partner;
    if (isDue(pace, 0)) yield;
  }
  return true;
}
