/** Explores a list that is read in windows while records come and go: every interleaving, by brute force. */
import { type Asked, ascending, cutPage, type Tokens } from "../../support/platform-pages.ts";
import { isWhole, type Page, type Rule, windowsFor } from "./rules.ts";

/** What was found for one rule. */
export interface Verdict {
  runs: number;
  accepted: number;
  violations: number;
  /** The first violation, step by step. */
  example: Example | undefined;
}

export interface Example {
  readonly start: readonly number[];
  readonly steps: readonly string[];
  readonly out: readonly number[];
  readonly persistent: readonly number[];
}

export interface Space {
  /** Keys 0 … keys-1 may be in the list; every set of them but the empty one is a start. */
  readonly keys: number;
  readonly size: number;
  readonly writes: number;
  /** Stop at the first violation. */
  readonly first?: boolean;
}

/** One interleaving on its way: window 0 was read first, the others come in any order, writes anywhere between. */
interface Walk {
  readonly space: Space;
  readonly rules: readonly Rule[];
  readonly verdicts: readonly Verdict[];
  readonly start: readonly number[];
  readonly windows: (Page | undefined)[];
  readonly steps: string[];
}

/** Tries `rules` on every interleaving of `space`; one verdict for each. */
export function exploreWindows(space: Space, rules: readonly Rule[]): readonly Verdict[] {
  const verdicts = rules.map(() => ({ runs: 0, accepted: 0, violations: 0, example: undefined }));
  for (const start of startsOf(space.keys)) {
    const list = keysOf(start);
    const first = pageAt(start, space);
    const windows: (Page | undefined)[] = Array.from({ length: windowsFor(list.length, space.size) });
    windows[0] = first;
    const walk: Walk = { space, rules, verdicts, start: list, windows, steps: [`read w0 (${first.items})`] };
    step(walk, start, start, space.writes);
    if (isOver(walk)) break;
  }
  return verdicts;
}

/** Sets of keys as bits: smaller sets first, in the order of their keys. */
export function startsOf(keys: number): readonly number[] {
  const sets = Array.from({ length: 2 ** keys - 1 }, (_, i) => i + 1);
  return sets.toSorted((a, b) => {
    const [left, right] = [keysOf(a), keysOf(b)];
    if (left.length !== right.length) return left.length - right.length;
    const at = left.findIndex((key, i) => key !== right[i]);
    return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
  });
}

/** The keys of a set, ascending. */
export function keysOf(set: number): readonly number[] {
  const keys: number[] = [];
  for (let key = 0; set >> key !== 0; key += 1) if ((set >> key) & 1) keys.push(key);
  return keys;
}

/** The page of the keys in `set`, and the token of the next one. */
export function pageAt(set: number, asked: Asked, tokens: Tokens = "keyset"): Page & { readonly next: string } {
  const { items, next } = cutPage(ascending(keysOf(set)), asked, { tokens });
  return { items, next, end: next === "" };
}

function isOver(walk: Walk): boolean {
  return walk.space.first === true && walk.verdicts.some((verdict) => verdict.violations > 0);
}

function step(walk: Walk, set: number, persistent: number, writes: number): void {
  const { windows, space } = walk;
  if (!windows.includes(undefined)) {
    judge(walk, persistent);
    return;
  }
  for (let place = 1; place < windows.length; place += 1) {
    if (windows[place] !== undefined) continue;
    const page = pageAt(set, { size: space.size, skip: place * (space.size - 1) });
    windows[place] = page;
    within(walk, `read w${place} (${page.items})`, () => step(walk, set, persistent, writes));
    windows[place] = undefined;
    if (isOver(walk)) return;
  }
  if (writes === 0) return;
  for (let key = 0; key < space.keys; key += 1) {
    const bit = 1 << key;
    const name = set & bit ? `del ${key}` : `ins ${key}`;
    within(walk, name, () => step(walk, set ^ bit, persistent & ~bit, writes - 1));
    if (isOver(walk)) return;
  }
}

function within(walk: Walk, name: string, act: () => void): void {
  walk.steps.push(name);
  act();
  walk.steps.pop();
}

function judge(walk: Walk, persistent: number): void {
  const windows = walk.windows.filter((page) => page !== undefined);
  walk.rules.forEach((rule, i) => {
    const verdict = walk.verdicts[i];
    if (verdict === undefined) return;
    verdict.runs += 1;
    const out = rule(windows);
    if (out === undefined) return;
    verdict.accepted += 1;
    if (isWhole(out, keysOf(persistent))) return;
    verdict.violations += 1;
    verdict.example ??= { start: walk.start, steps: [...walk.steps], out, persistent: keysOf(persistent) };
  });
}
