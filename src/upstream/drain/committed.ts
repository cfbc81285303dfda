/** The list as far as it has been read without a gap: a value, and how a page becomes part of it. */
import type { ListPage } from "../../model/list.ts";
import { Problem } from "../../model/problem.ts";

/** A page of the list that is being read, and the rank of its first record; undefined when it was asked for by a token. */
export interface Page extends ListPage {
  readonly skip: number | undefined;
}

/** Keys in the order in which they came, page by page; the newest page first. */
interface Chain {
  readonly keys: readonly string[];
  readonly before: Chain | undefined;
}

/** All that is known of the records taken so far. */
export interface Committed {
  /** Keys that need not be looked up yet: while all keys ascend, none can have come before. */
  readonly chain: Chain | undefined;
  /**
   * Every key, once the order was broken: an order that breaks must not drop a record that was never seen. It is shared with later states
   * and grows with them, since copying 100,000 keys for each page would cost more than the list: use only the newest state.
   */
  readonly seen: Set<string> | undefined;
  /** False: only records after the last one are accepted from now on, so keys are not kept. */
  readonly keepsKeys: boolean;
  /** Different keys. */
  readonly distinct: number;
  /** Pages taken in this reading of the list. */
  readonly pages: number;
  /** Records and bytes that the client sees. */
  readonly shown: number;
  readonly bytes: number;
  /** Keys came in strictly ascending order, within pages and across them. */
  readonly ascending: boolean;
  readonly firstKey: string | undefined;
  /** The commit point: every record up to this key has been taken. */
  readonly lastKey: string | undefined;
  /** Rank of the record after the commit point, by what the platform said last. */
  readonly rank: number;
  /** Where the platform's cursor goes on after the commit point; empty when it has no further page. */
  readonly token: string;
  /** The last page has been taken and was accepted as the end. */
  readonly ended: boolean;
  /** Some key came twice where none should. */
  readonly repeated: boolean;
  /** `totalCount` of the first page, and the one stated last; undefined when there was none. */
  readonly firstTotal: number | undefined;
  readonly lastTotal: number | undefined;
  /** Every page stated the same count. */
  readonly steady: boolean;
  /** The list is read again from page one up to the commit point: pages of known records are expected. */
  readonly catchingUp: boolean;
  /** Everything rests on the order of keys alone, and on tokens that are known to be positions in that order. */
  readonly proved: boolean;
}

/** What a page adds: the list with it, and the bytes to show; undefined when it shows nothing. */
export interface Taken {
  readonly list: Committed;
  readonly chunk: Uint8Array | undefined;
}

/** Nothing yet. `keyOrder`: the platform promises an order; without one nothing can be proved. */
export function emptyList(keyOrder: boolean): Committed {
  return {
    chain: undefined,
    seen: undefined,
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
    firstTotal: undefined,
    lastTotal: undefined,
    steady: true,
    catchingUp: false,
    proved: keyOrder,
  };
}

/** From now on only keys after the commit point are accepted; what came before need not be remembered. */
export function forgetKeys(list: Committed): Committed {
  return { ...list, keepsKeys: false, chain: undefined };
}

/** The list is to be read again from its first page; what was taken stays taken, and what was counted counted. */
export function startOver(list: Committed): Committed {
  const seen = list.keepsKeys ? indexOf(list) : undefined;
  return { ...list, chain: undefined, seen, pages: 0, rank: 0, catchingUp: true };
}

/** Takes what an ascending page, which may begin before the commit point, holds after it. */
export function takeAfter(list: Committed, page: Page): Taken {
  const from = page.keys.length - freshIn(list, page.keys);
  if (from === page.keys.length) return { list: counted(list, page), chunk: undefined };
  const wanted = from === 0 ? undefined : new Uint8Array(page.keys.length).fill(1, from);
  const fresh = from === 0 ? page.keys : page.keys.slice(from);
  const rank = page.skip === undefined ? list.rank + fresh.length : page.skip + page.keys.length;
  return keep({ ...counted(list, page), ...remembered(list, fresh), rank, token: page.nextPageToken }, page, wanted);
}

/** Takes the first page, or one after a token: each key that was not there yet, whatever its order. */
export function takeNew(list: Committed, page: Page): Taken {
  const { keys } = page;
  const at = { ...counted(list, page), rank: list.rank + keys.length, token: page.nextPageToken };
  if (list.ascending && ascends(keys, list.lastKey)) {
    return keep({ ...at, ...remembered(list, keys) }, page, undefined);
  }
  const seen = indexOf(list);
  const { lastKey, catchingUp } = list;
  const inTurn = (key: string): boolean => seen.has(key) || lastKey === undefined || key > lastKey;
  const ordered = list.ascending && catchingUp && ascends(keys) && keys.every(inTurn);
  const wanted = new Uint8Array(keys.length);
  let { distinct, repeated } = list;
  keys.forEach((key, i) => {
    if (seen.has(key)) repeated ||= !catchingUp;
    else {
      seen.add(key);
      distinct += 1;
      wanted[i] = 1;
    }
  });
  const proved = list.proved && ordered;
  return keep({ ...at, seen, chain: undefined, distinct, repeated, ascending: ordered, proved }, page, wanted);
}

function remembered(list: Committed, keys: readonly string[]): Pick<Committed, "chain" | "seen" | "distinct"> {
  const distinct = list.distinct + keys.length;
  if (!list.keepsKeys) return { chain: undefined, seen: undefined, distinct };
  if (list.seen === undefined) return { chain: { keys, before: list.chain }, seen: undefined, distinct };
  for (const key of keys) list.seen.add(key);
  return { chain: undefined, seen: list.seen, distinct };
}

function counted(list: Committed, { totalCount }: Page): Committed {
  const total = plausible(totalCount);
  const firstTotal = list.pages === 0 && !list.catchingUp ? total : list.firstTotal;
  const steady = list.steady && total !== undefined && total === firstTotal;
  return { ...list, pages: list.pages + 1, firstTotal, lastTotal: total ?? list.lastTotal, steady };
}

/** `at`, made for this, with the records `i` of `page` that have `wanted[i]` set; undefined: all of them. */
function keep(at: Mutable<Committed>, page: Page, wanted: Uint8Array | undefined): Taken {
  const last = page.keys.at(-1);
  // Of a list that is read again, pages before the commit point come first.
  const back = at.catchingUp && at.ascending && at.lastKey !== undefined && (last ?? "") < at.lastKey;
  at.firstKey ??= page.keys[0];
  if (!back) at.lastKey = last ?? at.lastKey;
  const kept = keptBytes(page, wanted);
  if (kept === undefined) return { list: at, chunk: undefined };
  at.shown += kept.records;
  at.bytes += kept.bytes.length;
  return { list: at, chunk: kept.bytes };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** How many of ascending `keys` come after the commit point. */
export function freshIn({ lastKey }: Committed, keys: readonly string[]): number {
  if (lastKey === undefined) return keys.length;
  let known = 0;
  while (known < keys.length && (keys[known] ?? "") <= lastKey) known += 1;
  return keys.length - known;
}

/** How many of `keys` are not in the list yet, whatever their order. */
export function newIn(list: Committed, keys: readonly string[]): number {
  if (!list.keepsKeys || (list.ascending && ascends(keys, list.lastKey))) return freshIn(list, keys);
  const seen = indexOf(list);
  return new Set(keys.filter((key) => !seen.has(key))).size;
}

/** True when the list has every one of `keys`, or an ascending one must have had it. */
export function holdsAll(list: Committed, keys: readonly string[]): boolean {
  const { lastKey } = list;
  if (!list.keepsKeys) return lastKey !== undefined && keys.every((key) => key <= lastKey);
  const seen = indexOf(list);
  return keys.every((key) => seen.has(key));
}

/** True when the last of `keys` comes after the commit point. */
export function reachesPast({ lastKey }: Committed, keys: readonly string[]): boolean {
  const last = keys.at(-1);
  return last !== undefined && (lastKey === undefined || last > lastKey);
}

/** True when `page` leaves no gap after the commit point: then every record up to its own last one is known. */
export function joins({ lastKey }: Committed, { skip, keys }: Page): boolean {
  if (skip === 0) return true;
  const [first] = keys;
  return first !== undefined && lastKey !== undefined && first <= lastKey;
}

/** True when each key comes after the one before it, the first one after `last`. */
export function ascends(keys: readonly string[], last?: string): boolean {
  let before = last;
  for (const key of keys) {
    if (before !== undefined && key <= before) return false;
    before = key;
  }
  return true;
}

function indexOf({ chain, seen }: Committed): Set<string> {
  const all = seen ?? new Set<string>();
  for (let page = chain; page !== undefined; page = page.before) for (const key of page.keys) all.add(key);
  return all;
}

/** A count is foreign input: undefined for what cannot be one. */
export function plausible(count: number | undefined): number | undefined {
  return count !== undefined && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

const COMMA = 0x2c;

/**
 * The records `i` of `page` with `wanted[i]` set (undefined: all of them) that are not hidden, as `rec,…,rec`; undefined when there is none.
 * A page that is kept whole is not copied; any other is, so that the rest of it can be collected.
 */
export function keptBytes(
  page: ListPage,
  wanted: Uint8Array | undefined,
): { bytes: Uint8Array; records: number } | undefined {
  const count = page.keys.length;
  const [first, last] = [page.starts[0], page.ends[count - 1]];
  if (wanted === undefined && page.hidden === undefined && first !== undefined && last !== undefined)
    return { bytes: page.bytes.subarray(first, last), records: count };
  const runs: { start: number; end: number }[] = [];
  let records = 0;
  let open: { start: number; end: number } | undefined;
  for (let i = 0; i < count; i++) {
    if (wanted?.[i] === 0 || page.hidden?.[i] === 1) {
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
  const [only] = runs;
  if (only === undefined) return undefined;
  return { bytes: records === count ? page.bytes.subarray(only.start, only.end) : joined(page.bytes, runs), records };
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
