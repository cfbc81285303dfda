/** Which record of one list is which of the other? */
import {
  isPauseDue,
  type NameTable,
  newNameTable,
  tableGet,
  tableMaps,
  tableSet,
  type YieldBudget,
} from "./json-values.ts";

/** One side of a list: what names its elements, and what they say. */
export interface ListSide {
  readonly size: number;
  /** The id of each element; undefined where it has none. Left out when that is so for all. */
  readonly ids?: readonly (string | undefined)[];
  /** The same text for elements that say the same. Asked for elements without an id, or with one that is there several times. */
  readonly contentOf: (index: number) => Generator<void, string>;
}

/** Most elements that are sorted: more would take too long in one step, and are paired in the order of their lists. */
const MAX_SORTED = 2000;
/** Stands for no element. */
export const NONE = -1;

/** Which elements belong together, and which stand alone. */
export interface Alignment {
  /** For each native element its partner's index, or `NONE`. */
  readonly partners: Int32Array;
  /** For each translated element: 1 when it is a partner. */
  readonly taken: Uint8Array;
  /** False when elements that are surely the same are in another order. */
  readonly ordered: boolean;
}

interface AlignmentState {
  readonly partners: Int32Array;
  readonly taken: Uint8Array;
  /** For each translated element the next one that says the same, or `NONE`. */
  readonly next: Int32Array;
  /** Pairs of what was left over, one index behind the other. */
  readonly guessed: number[];
}

/** Elements that cannot be told apart by id. */
interface AmbiguousGroup {
  readonly native: number[];
  readonly translated: number[];
}

/**
 * Pairs the elements of two lists by id, wherever they stand. Elements of one id (or without one) are paired by what they
 * say; those left over are sorted by it and paired in turn, so that the order of a list never decides what is compared.
 */
export function* align(native: ListSide, translated: ListSide, pace: YieldBudget): Generator<void, Alignment> {
  const partners = new Int32Array(native.size).fill(NONE);
  const taken = new Uint8Array(translated.size);
  const found: AlignmentState = { partners, taken, next: new Int32Array(translated.size), guessed: [] };
  for (const group of yield* groupById(native, translated, pace, found)) {
    yield* matchGroup(native, translated, group, pace, found);
    if (isPauseDue(pace, 0)) yield;
  }
  const ordered = yield* inOrder(partners, pace);
  const { guessed } = found;
  for (let i = 0; i < guessed.length; i += 2) {
    const [one, other] = [guessed[i] as number, guessed[i + 1] as number];
    partners[one] = other;
    taken[other] = 1;
    if (isPauseDue(pace, 0)) yield;
  }
  return { partners, taken, ordered };
}

interface AmbiguousGroups {
  /** What has no id comes first. */
  readonly all: AmbiguousGroup[];
  /** For the first native element of each id: the number of its group, 0 while that is no more than a pair. */
  readonly numbers: Int32Array;
}

/** Pairs elements whose id is there once on both sides; gives the groups of all others. */
function* groupById(
  native: ListSide,
  translated: ListSide,
  pace: YieldBudget,
  found: AlignmentState,
): Generator<void, readonly AmbiguousGroup[]> {
  const { partners, taken } = found;
  const unnamed: AmbiguousGroup = { native: [], translated: [] };
  const groups: AmbiguousGroups = { all: [unnamed], numbers: new Int32Array(native.size) };
  const firsts = newNameTable<number>();
  for (let i = 0; i < native.size; i++) {
    const id = native.ids?.[i];
    const first = id === undefined ? undefined : tableGet(firsts, id);
    if (id === undefined) unnamed.native.push(i);
    else if (first === undefined) tableSet(firsts, id, i);
    else groupOf(first, groups, found).native.push(i);
    if (isPauseDue(pace, 0)) yield;
  }
  for (let i = 0; i < translated.size; i++) {
    const id = translated.ids?.[i];
    const first = id === undefined ? undefined : tableGet(firsts, id);
    if (id === undefined) unnamed.translated.push(i);
    else if (first !== undefined && groups.numbers[first] === 0 && partners[first] === NONE) {
      partners[first] = i;
      taken[i] = 1;
    } else if (first !== undefined) groupOf(first, groups, found).translated.push(i);
    if (isPauseDue(pace, 0)) yield;
  }
  return groups.all;
}

/** The group of the id whose first native element is `first`, made of what was taken for a pair. */
function groupOf(
  first: number,
  { all, numbers }: AmbiguousGroups,
  { partners, taken }: AlignmentState,
): AmbiguousGroup {
  const known = all[numbers[first] as number];
  if (known !== undefined && numbers[first] !== 0) return known;
  const partner = partners[first] as number;
  partners[first] = NONE;
  if (partner !== NONE) taken[partner] = 0;
  const group: AmbiguousGroup = { native: [first], translated: partner === NONE ? [] : [partner] };
  numbers[first] = all.length;
  all.push(group);
  return group;
}

/** Pairs elements that cannot be told apart by id. */
function* matchGroup(
  native: ListSide,
  translated: ListSide,
  group: AmbiguousGroup,
  pace: YieldBudget,
  found: AlignmentState,
): Generator<void, void> {
  const { partners, taken, next } = found;
  const [one, other] = [group.native[0], group.translated[0]];
  if (one === undefined || other === undefined) return;
  if (group.native.length === 1 && group.translated.length === 1) {
    partners[one] = other;
    taken[other] = 1;
    return;
  }
  const heads = newNameTable<number>();
  // From the back, so that each chain begins with its first: equal elements in the same order stay in it.
  for (let i = group.translated.length - 1; i >= 0; i--) {
    const index = group.translated[i] as number;
    const content = yield* translated.contentOf(index);
    next[index] = tableGet(heads, content) ?? NONE;
    tableSet(heads, content, index);
    if (isPauseDue(pace, content.length)) yield;
  }
  const single: ElementContent[] = [];
  for (const index of group.native) {
    const content = yield* native.contentOf(index);
    const match = tableGet(heads, content) ?? NONE;
    if (match === NONE) {
      // So many are not sorted, and then their texts need not be kept.
      single.push({ index, content: single.length < MAX_SORTED ? content : "" });
    } else {
      tableSet(heads, content, next[match] as number);
      partners[index] = match;
      taken[match] = 1;
    }
    if (isPauseDue(pace, content.length)) yield;
  }
  yield* pairRemaining(single, group, heads, pace, found);
}

/** An element, and what it says. */
interface ElementContent {
  readonly index: number;
  readonly content: string;
}

/** Pairs what is left over: `single` of native's elements, and what `heads` still leads to. */
function* pairRemaining(
  single: ElementContent[],
  group: AmbiguousGroup,
  heads: NameTable<number>,
  pace: YieldBudget,
  { taken, next, guessed }: AlignmentState,
): Generator<void, void> {
  const left: number[] = [];
  for (const index of group.translated) {
    if (taken[index] === 0) left.push(index);
    if (isPauseDue(pace, 0)) yield;
  }
  if (single.length + left.length <= MAX_SORTED) {
    single.sort(byContent);
    const said: ElementContent[] = [];
    for (const map of tableMaps(heads)) {
      for (const [content, head] of map) {
        for (let index = head; index !== NONE; index = next[index] as number) said.push({ index, content });
        if (isPauseDue(pace, 0)) yield;
      }
    }
    said.sort(byContent);
    for (const [i, { index }] of said.entries()) left[i] = index;
  }
  for (let i = 0; i < Math.min(single.length, left.length); i++) {
    guessed.push((single[i] as ElementContent).index, left[i] as number);
    if (isPauseDue(pace, 0)) yield;
  }
}

function byContent(a: ElementContent, b: ElementContent): number {
  return a.content < b.content ? -1 : a.content > b.content ? 1 : 0;
}

/** True when walking the pairs in native's order is walking them in the other's. */
function* inOrder(partners: Int32Array, pace: YieldBudget): Generator<void, boolean> {
  let last = NONE;
  for (const partner of partners) {
    if (partner !== NONE && partner < last) return false;
    if (partner !== NONE) last = partner;
    if (isPauseDue(pace, 0)) yield;
  }
  return true;
}
