/** Which records of a list have been taken so far, and what is known about them? */
import type { ListPage } from "../../model/list.ts";
import { keptBytes } from "./keep.ts";

/** One reading of a list, growing page by page. */
export interface Merged {
  /** Keys of pages that were not looked up yet: while all keys ascend, no key can have come before. */
  readonly ascended: (readonly string[])[];
  /** All other keys so far; `indexOf` moves every key here: an order that breaks must not drop a record that was never seen. */
  readonly seen: Set<string>;
  /** False: keys are not kept any more, as nothing but a strict order will be accepted. */
  keepsKeys: boolean;
  /** Different keys so far. */
  distinct: number;
  /** Pages that were taken in. */
  pages: number;
  /** Records and bytes that are to be shown. */
  shown: number;
  bytes: number;
  /** Keys came in strictly ascending order, within pages and across them. */
  ascending: boolean;
  firstKey: string | undefined;
  /** The commit point: every record up to here has been taken. */
  lastKey: string | undefined;
  /** Rank of the record behind the commit point, by what the platform said last. */
  rank: number;
  /** Where the platform's own cursor goes on behind the commit point; empty at the end. */
  token: string;
  /** The last page has been taken, and will not be looked at again. */
  ended: boolean;
  /** Some key came twice where none should have. */
  repeated: boolean;
  /** Count of the first page; undefined when it had none. */
  total: number | undefined;
  /** The count that came last; 0 when none did. */
  latestTotal: number;
  /** Every page carried the same count. */
  steady: boolean;
  /** The list is read anew up to the commit point: pages of known records only are as they should be. */
  catchingUp: boolean;
  /** Nothing that was taken rests on anything but the order of keys, and on tokens that are known to be positions in it. */
  proved: boolean;
}

/** Nothing yet. `keyOrder`: the platform promises an order, without which nothing can be proved. */
export function emptyMerged(keyOrder: boolean): Merged {
  return {
    ascended: [],
    seen: new Set(),
    keepsKeys: true,
    distinct: 0,
    pages: 0,
    shown: 0,
    bytes: 0,
    ascending: true,
    firstKey: undefined,
    lastKey: undefined,
    rank: 0,
    token: "",
    ended: false,
    repeated: false,
    total: undefined,
    latestTotal: 0,
    steady: true,
    catchingUp: false,
    proved: keyOrder,
  };
}

/** From now on only keys behind the commit point are accepted: what came before need not be remembered. */
export function forgetKeys(merged: Merged): void {
  merged.keepsKeys = false;
  merged.ascended.length = 0;
}

/** The list is to be read again from its first page; what was taken stays taken. */
export function startOver(merged: Merged): void {
  merged.pages = 0;
  merged.rank = 0;
  merged.steady = true;
  merged.catchingUp = true;
}

/**
 * Takes in a page that may begin before the commit point and must ascend: the records behind that point. Gives their bytes,
 * undefined when none is to be shown. `skip`: the rank at which the page began, when it is known.
 */
export function takeBehind(merged: Merged, page: ListPage, skip: number | undefined): Uint8Array | undefined {
  noteTotal(merged, page);
  const { keys } = page;
  let from = 0;
  if (merged.lastKey !== undefined) while (from < keys.length && (keys[from] ?? "") <= merged.lastKey) from += 1;
  const fresh = keys.length - from;
  if (fresh === 0) return undefined;
  const wanted = new Uint8Array(keys.length).fill(1, from);
  if (merged.keepsKeys) merged.ascended.push(from === 0 ? keys : keys.slice(from));
  merged.distinct += fresh;
  merged.rank = skip === undefined ? merged.rank + fresh : skip + keys.length;
  merged.token = page.nextPageToken;
  return keep(merged, page, wanted);
}

/** Takes in a page of a cursor: each key that was not there yet, whatever its order. Gives the bytes to show. */
export function takeNew(merged: Merged, page: ListPage): Uint8Array | undefined {
  noteTotal(merged, page);
  merged.rank += page.keys.length;
  merged.token = page.nextPageToken;
  return keep(merged, page, newKeys(merged, page.keys));
}

function keep(merged: Merged, page: ListPage, wanted: Uint8Array): Uint8Array | undefined {
  merged.firstKey ??= page.keys[0];
  const last = page.keys.at(-1);
  // Of a list that is read anew, pages come before the commit point first.
  const back = merged.catchingUp && merged.ascending && merged.lastKey !== undefined && (last ?? "") < merged.lastKey;
  if (!back) merged.lastKey = last ?? merged.lastKey;
  const kept = keptBytes(page, wanted);
  if (kept === undefined) return undefined;
  merged.shown += kept.records;
  merged.bytes += kept.bytes.length;
  return kept.bytes;
}

function noteTotal(merged: Merged, page: ListPage): void {
  const total = plausible(page.totalCount);
  if (merged.pages === 0) merged.total = total;
  merged.latestTotal = total ?? merged.latestTotal;
  merged.steady &&= total !== undefined && total === merged.total;
  merged.pages += 1;
}

/** Enters `keys` into `merged`: 1 for each that is new. Looking keys up costs more than all else here, so order saves it. */
function newKeys(merged: Merged, keys: readonly string[]): Uint8Array {
  const wanted = new Uint8Array(keys.length);
  if (merged.ascending && ascends(keys, merged.lastKey)) {
    if (merged.keepsKeys) merged.ascended.push(keys);
    merged.distinct += keys.length;
    return wanted.fill(1);
  }
  const seen = indexOf(merged);
  const { lastKey } = merged;
  const inTurn = (key: string): boolean => seen.has(key) || lastKey === undefined || key > lastKey;
  if (!(merged.catchingUp && merged.ascending && ascends(keys) && keys.every(inTurn))) {
    merged.ascending = false;
    merged.proved = false;
  }
  keys.forEach((key, i) => {
    if (seen.has(key)) merged.repeated ||= !merged.catchingUp;
    else {
      seen.add(key);
      merged.distinct += 1;
      wanted[i] = 1;
    }
  });
  return wanted;
}

/** True when the last of `keys` lies behind the commit point. */
export function reachesBehind({ lastKey }: Merged, keys: readonly string[]): boolean {
  const last = keys.at(-1);
  return last !== undefined && (lastKey === undefined || last > lastKey);
}

/** True when each key lies behind the one before it, the first behind `last`. */
export function ascends(keys: readonly string[], last?: string): boolean {
  let before = last;
  for (const key of keys) {
    if (before !== undefined && key <= before) return false;
    before = key;
  }
  return true;
}

/** Every key so far, to look keys up. */
export function indexOf(merged: Merged): Set<string> {
  for (const keys of merged.ascended) for (const key of keys) merged.seen.add(key);
  merged.ascended.length = 0;
  return merged.seen;
}

/** A count is foreign input: only what a count can be is taken for one. */
export function plausible(count: number | undefined): number | undefined {
  return count !== undefined && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
