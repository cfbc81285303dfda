/** Explores a list that several readers follow from different places: every interleaving, by brute force. */
import type { Tokens } from "../../support/platform-pages.ts";
import { isWhole } from "./rules.ts";
import { keysOf, pageAt, startsOf } from "./windows.ts";

export interface ChainSpace {
  readonly keys: number;
  readonly size: number;
  readonly writes: number;
  /** Where the readers begin; these pages are read first, in this order. */
  readonly skips: readonly number[];
  readonly tokens: Tokens;
}

export interface ChainVerdict {
  runs: number;
  violations: number;
  example: readonly string[] | undefined;
}

interface Chain {
  readonly items: readonly number[];
  readonly end: boolean;
  /** The token of the next page. */
  readonly next: string;
}

interface Walk {
  readonly space: ChainSpace;
  readonly verdict: ChainVerdict;
  readonly steps: string[];
}

/** Stitches in every interleaving of `space`: a chain ends where the next one began, or at the end of the list. */
export function exploreChains(space: ChainSpace): ChainVerdict {
  const verdict: ChainVerdict = { runs: 0, violations: 0, example: undefined };
  for (const start of startsOf(space.keys)) {
    heads({ space, verdict, steps: [`start ${keysOf(start)}`] }, start, start, [], space.writes);
  }
  return verdict;
}

function heads(walk: Walk, set: number, persistent: number, read: readonly Chain[], writes: number): void {
  const skip = walk.space.skips[read.length];
  if (skip === undefined) {
    advance(walk, set, persistent, inOrder(read), writes);
    return;
  }
  const chain = pageAt(set, { size: walk.space.size, skip }, walk.space.tokens);
  within(walk, `skip ${skip} (${chain.items})`, () => heads(walk, set, persistent, [...read, chain], writes));
  if (read.length === 0 || writes === 0) return;
  write(walk, set, (next, bit) => heads(walk, next, persistent & ~bit, read, writes - 1));
}

/** Chains by their first keys: deletes can turn the order of two heads around, or leave one empty. */
function inOrder(chains: readonly Chain[]): readonly Chain[] {
  return chains.filter((chain) => chain.items.length > 0).toSorted((a, b) => (a.items[0] ?? 0) - (b.items[0] ?? 0));
}

function advance(walk: Walk, set: number, persistent: number, chains: readonly Chain[], writes: number): void {
  const open = chains.flatMap((chain, i) => (isDone(chain, chains[i + 1]) ? [] : [i]));
  if (open.length === 0) {
    judge(walk, chains, persistent);
    return;
  }
  for (const i of open) {
    const chain = chains[i];
    if (chain === undefined) continue;
    const page = pageAt(set, { size: walk.space.size, token: chain.next }, walk.space.tokens);
    const longer: Chain = { ...page, items: [...chain.items, ...page.items] };
    within(walk, `chain ${i} (${page.items})`, () => advance(walk, set, persistent, chains.with(i, longer), writes));
  }
  if (writes === 0) return;
  write(walk, set, (after, bit) => advance(walk, after, persistent & ~bit, chains, writes - 1));
}

function isDone(chain: Chain, following: Chain | undefined): boolean {
  return chain.end || (following !== undefined && (chain.items.at(-1) ?? 0) >= (following.items[0] ?? Infinity));
}

function write(walk: Walk, set: number, then: (set: number, bit: number) => void): void {
  for (let key = 0; key < walk.space.keys; key += 1) {
    const bit = 1 << key;
    within(walk, set & bit ? `del ${key}` : `ins ${key}`, () => then(set ^ bit, bit));
  }
}

function within(walk: Walk, name: string, act: () => void): void {
  walk.steps.push(name);
  act();
  walk.steps.pop();
}

function judge(walk: Walk, chains: readonly Chain[], persistent: number): void {
  walk.verdict.runs += 1;
  const out: number[] = [];
  for (const chain of chains) for (const key of chain.items) if (key > (out.at(-1) ?? -1)) out.push(key);
  if (isWhole(out, keysOf(persistent))) return;
  walk.verdict.violations += 1;
  walk.verdict.example ??= [...walk.steps, `list ${out}`, `persistent ${keysOf(persistent)}`];
}
