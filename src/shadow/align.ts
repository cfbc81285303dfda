import { NameTable, type YieldBudget } from "./json-values.ts";

/** One side of a list: what names its elements, and what they contain. */
export interface ListSide {
  readonly size: number;
  /** The id of each element, undefined where it has none. Left out when no element has one. */
  readonly ids?: readonly (string | undefined)[];
  /** The same text for elements of the same content. Called for elements without an id, or with a repeated one. */
  readonly contentOf: (index: number) => Generator<void, string>;
}

/** Most elements that are sorted. Sorting more would take too long in one step; those are paired in the order of the lists. */
const MAX_SORTED = 2000;
/** Stands for no element. */
export const NONE = -1;

export interface Alignment {
  /** For each native element its partner's index, or `NONE`. */
  readonly partners: Int32Array;
  /** For each translated element: 1 when it is a partner. */
  readonly taken: Uint8Array;
  /** False when elements that are certainly the same have another order. */
  readonly ordered: boolean;
}

/** Elements without distinct ids. */
interface AmbiguousGroup {
  readonly native: number[];
  readonly translated: number[];
}

interface ElementContent {
  readonly index: number;
  readonly content: string;
}

/**
 * Pairs the elements of two lists by id, whatever their order. Elements with the same id (or without one) are paired by their
 * content; the remaining ones are sorted by it and paired in turn, so that the order of a list does not decide what is compared.
 */
export function* align(native: ListSide, translated: ListSide, pace: YieldBudget): Generator<void, Alignment> {
  return yield* new Aligner(native, translated, pace).run();
}

class Aligner {
  readonly #native: ListSide;
  readonly #translated: ListSide;
  readonly #pace: YieldBudget;
  readonly #partners: Int32Array;
  readonly #taken: Uint8Array;
  /** For each translated element the next one of the same content, or `NONE`. */
  readonly #next: Int32Array;
  /** What has no id comes first. */
  readonly #groups: AmbiguousGroup[] = [{ native: [], translated: [] }];
  /** For the first native element of each id: its index in `#groups`, 0 while it has at most one partner. */
  readonly #groupOf: Int32Array;
  /** Pairs of remaining elements, which say nothing about the order. */
  readonly #guessed: [native: number, translated: number][] = [];

  constructor(native: ListSide, translated: ListSide, pace: YieldBudget) {
    this.#native = native;
    this.#translated = translated;
    this.#pace = pace;
    this.#partners = new Int32Array(native.size).fill(NONE);
    this.#taken = new Uint8Array(translated.size);
    this.#next = new Int32Array(translated.size);
    this.#groupOf = new Int32Array(native.size);
  }

  *run(): Generator<void, Alignment> {
    yield* this.#pairById();
    for (const group of this.#groups) {
      yield* this.#pairByContent(group);
      if (this.#pace.isDue()) yield;
    }
    const ordered = yield* this.#isOrdered();
    for (const [native, translated] of this.#guessed) {
      this.#pair(native, translated);
      if (this.#pace.isDue()) yield;
    }
    return { partners: this.#partners, taken: this.#taken, ordered };
  }

  #pair(native: number, translated: number): void {
    this.#partners[native] = translated;
    this.#taken[translated] = 1;
  }

  /** Pairs elements whose id is there once on both sides; all others go to groups. */
  *#pairById(): Generator<void, void> {
    const [unnamed] = this.#groups as [AmbiguousGroup];
    const firsts = new NameTable<number>();
    for (let i = 0; i < this.#native.size; i++) {
      const id = this.#native.ids?.[i];
      const first = id === undefined ? undefined : firsts.get(id);
      if (id === undefined) unnamed.native.push(i);
      else if (first === undefined) firsts.set(id, i);
      else this.#groupAt(first).native.push(i);
      if (this.#pace.isDue()) yield;
    }
    for (let i = 0; i < this.#translated.size; i++) {
      const id = this.#translated.ids?.[i];
      const first = id === undefined ? undefined : firsts.get(id);
      if (id === undefined) unnamed.translated.push(i);
      else if (first !== undefined && this.#groupOf[first] === 0 && this.#partners[first] === NONE)
        this.#pair(first, i);
      else if (first !== undefined) this.#groupAt(first).translated.push(i);
      if (this.#pace.isDue()) yield;
    }
  }

  /** The group of the id whose first native element is `first`, made of what was taken for a pair. */
  #groupAt(first: number): AmbiguousGroup {
    const index = this.#groupOf[first] as number;
    if (index !== 0) return this.#groups[index] as AmbiguousGroup;
    const partner = this.#partners[first] as number;
    this.#partners[first] = NONE;
    if (partner !== NONE) this.#taken[partner] = 0;
    const group: AmbiguousGroup = { native: [first], translated: partner === NONE ? [] : [partner] };
    this.#groupOf[first] = this.#groups.length;
    this.#groups.push(group);
    return group;
  }

  *#pairByContent(group: AmbiguousGroup): Generator<void, void> {
    const [one, other] = [group.native[0], group.translated[0]];
    if (one === undefined || other === undefined) return;
    if (group.native.length === 1 && group.translated.length === 1) {
      this.#pair(one, other);
      return;
    }
    const heads = new NameTable<number>();
    // Backwards, so that each chain begins with its first element: equal elements in the same order stay in it.
    for (let i = group.translated.length - 1; i >= 0; i--) {
      const index = group.translated[i] as number;
      const content = yield* this.#translated.contentOf(index);
      this.#next[index] = heads.get(content) ?? NONE;
      heads.set(content, index);
      if (this.#pace.isDue(content.length)) yield;
    }
    const single: ElementContent[] = [];
    for (const index of group.native) {
      const content = yield* this.#native.contentOf(index);
      const match = heads.get(content) ?? NONE;
      if (match === NONE) {
        // More are not sorted, and then their texts need not be kept.
        single.push({ index, content: single.length < MAX_SORTED ? content : "" });
      } else {
        heads.set(content, this.#next[match] as number);
        this.#pair(index, match);
      }
      if (this.#pace.isDue(content.length)) yield;
    }
    yield* this.#pairRemaining(single, group, heads);
  }

  /** Pairs `single` of native's elements with the translated ones that `heads` still leads to. */
  *#pairRemaining(single: ElementContent[], group: AmbiguousGroup, heads: NameTable<number>): Generator<void, void> {
    const left: number[] = [];
    for (const index of group.translated) {
      if (this.#taken[index] === 0) left.push(index);
      if (this.#pace.isDue()) yield;
    }
    if (single.length + left.length <= MAX_SORTED) {
      single.sort(byContent);
      const contents: ElementContent[] = [];
      for (const [content, head] of heads.entries()) {
        for (let index = head; index !== NONE; index = this.#next[index] as number) contents.push({ index, content });
        if (this.#pace.isDue()) yield;
      }
      contents.sort(byContent);
      for (const [i, { index }] of contents.entries()) left[i] = index;
    }
    for (let i = 0; i < Math.min(single.length, left.length); i++) {
      this.#guessed.push([(single[i] as ElementContent).index, left[i] as number]);
      if (this.#pace.isDue()) yield;
    }
  }

  *#isOrdered(): Generator<void, boolean> {
    let last = NONE;
    for (const partner of this.#partners) {
      if (partner !== NONE && partner < last) return false;
      if (partner !== NONE) last = partner;
      if (this.#pace.isDue()) yield;
    }
    return true;
  }
}

function byContent(a: ElementContent, b: ElementContent): number {
  return a.content < b.content ? -1 : a.content > b.content ? 1 : 0;
}
