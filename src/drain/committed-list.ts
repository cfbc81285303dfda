/** The list as far as it was read without a gap, how a page becomes part of it, and what its end proves. Pure. */

import type { Witness } from "../model/exchange.ts";
import type { ListPage } from "../model/list.ts";
import { Problem } from "../model/problem.ts";

/** A page of the list. */
export interface RankedPage extends ListPage {
  /** The rank of its first record; undefined when it was requested by a token. */
  readonly skip: number | undefined;
  /** Each key comes after the one before it. */
  readonly ascending: boolean;
  /** The `skip` with which the chain of its token began. */
  readonly chain: number;
  /** Records that the page says it skipped though nothing asked for that; undefined when it says what was expected. */
  readonly leftOut: number | undefined;
}

/** `page` with the rank of its first record. The order of its keys is looked at once: for a short list, that costs more than all else here. */
export function rankedPage(page: ListPage, skip: number | undefined, chain: number, leftOut?: number): RankedPage {
  return {
    bytes: page.bytes,
    starts: page.starts,
    ends: page.ends,
    keys: page.keys,
    ascending: page.ascending ?? ascends(page.keys),
    hidden: page.hidden,
    bare: page.bare,
    nextPageToken: page.nextPageToken,
    totalCount: page.totalCount,
    skipped: page.skipped,
    skip,
    chain,
    leftOut,
  };
}

/** The same page at another rank. */
export function atRank(page: RankedPage, skip: number | undefined): RankedPage {
  return rankedPage(page, skip, page.chain, page.leftOut);
}

/** Keys in the order in which they came, page by page; the newest page first. */
interface KeyChain {
  readonly keys: readonly string[];
  readonly before: KeyChain | undefined;
}

/** What is known of the records taken so far. */
export interface CommittedList {
  /** Keys that need not be looked up yet: while all keys ascend, none can have come before. */
  readonly chain: KeyChain | undefined;
  /**
   * Every key, once the order was broken, so that no unseen record is dropped. Shared with later states and growing with
   * them, because copying 100,000 keys for each page would be too slow: use only the newest state.
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
  /** Rank of the record after the commit point, by the platform's latest page. */
  readonly rank: number;
  /** The platform's token after the commit point; empty when there is no further page. */
  readonly token: string;
  /** The `skip` with which the chain of that token began. */
  readonly tokenChain: number;
  /** The last page was taken, and accepted as the end. */
  readonly ended: boolean;
  /** Some key came twice where none should. */
  readonly repeated: boolean;
  /** `totalCount` of the first page, and the one stated last; undefined when there was none. */
  readonly firstTotal: number | undefined;
  readonly lastTotal: number | undefined;
  /** Every page stated the same count. */
  readonly steady: boolean;
  /** Records that a page says it skipped though nothing asked for that, unless that number turned out to be its position. */
  readonly leftOut: number | undefined;
  /** The list is read again from page one up to the commit point: pages of known records are expected. */
  readonly catchingUp: boolean;
  /** Everything rests on the order of keys alone, and on tokens that are known to be positions in that order. */
  readonly proved: boolean;
}

/** The list with a page, and the bytes to show; undefined when the page shows nothing. */
export interface TakenPage {
  readonly list: CommittedList;
  readonly chunk: Uint8Array | undefined;
}

/** `keyOrder`: the platform promises an order; without one nothing can be proved. */
export function emptyList(keyOrder: boolean): CommittedList {
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
    tokenChain: 0,
    ended: false,
    repeated: false,
    firstTotal: undefined,
    lastTotal: undefined,
    steady: true,
    leftOut: undefined,
    catchingUp: false,
    proved: keyOrder,
  };
}

/** `list` with `changes`. Its members are listed for the reason that `changed` in `state.ts` gives. */
export function changedList(list: CommittedList, changes: Partial<CommittedList>): Mutable<CommittedList> {
  const copy: CommittedList = {
    chain: list.chain,
    seen: list.seen,
    keepsKeys: list.keepsKeys,
    distinct: list.distinct,
    pages: list.pages,
    shown: list.shown,
    bytes: list.bytes,
    ascending: list.ascending,
    firstKey: list.firstKey,
    lastKey: list.lastKey,
    rank: list.rank,
    token: list.token,
    tokenChain: list.tokenChain,
    ended: list.ended,
    repeated: list.repeated,
    firstTotal: list.firstTotal,
    lastTotal: list.lastTotal,
    steady: list.steady,
    leftOut: list.leftOut,
    catchingUp: list.catchingUp,
    proved: list.proved,
  };
  return Object.assign(copy, changes);
}

/** From now on only keys after the commit point are accepted, so earlier keys need not be remembered. */
export function forgetKeys(list: CommittedList): CommittedList {
  return changedList(list, { keepsKeys: false, chain: undefined });
}

/** The list is to be read again from its first page; records that were taken stay taken. */
export function startOver(list: CommittedList): CommittedList {
  const seen = list.keepsKeys ? keySetOf(list) : undefined;
  const restarted = { pages: 0, rank: 0, ended: false, leftOut: undefined, catchingUp: true } as const;
  return changedList(list, { chain: undefined, seen, ...restarted });
}

/** Takes what an ascending page, which may begin before the commit point, holds after it. */
export function takeAfter(list: CommittedList, page: RankedPage): TakenPage {
  const from = page.keys.length - freshIn(list, page.keys);
  if (from === page.keys.length) return { list: counted(list, page), chunk: undefined };
  const wanted = from === 0 ? undefined : new Uint8Array(page.keys.length).fill(1, from);
  const fresh = from === 0 ? page.keys : page.keys.slice(from);
  const rank = page.skip === undefined ? list.rank + fresh.length : page.skip + page.keys.length;
  const at = Object.assign(counted(list, page), remembered(list, fresh), { rank, ...tokenOf(page) });
  return keep(at, page, wanted);
}

/** Takes the first page, or one after a token: each key that was not there yet, whatever its order. */
export function takeNew(list: CommittedList, page: RankedPage): TakenPage {
  const { keys } = page;
  const at = Object.assign(counted(list, page), { rank: list.rank + keys.length, ...tokenOf(page) });
  if (list.ascending && ascendsFrom(list.lastKey, page)) {
    return keep(Object.assign(at, remembered(list, keys)), page, undefined);
  }
  const seen = keySetOf(list);
  const { lastKey, catchingUp } = list;
  const inTurn = (key: string): boolean => seen.has(key) || lastKey === undefined || key > lastKey;
  const ordered = list.ascending && catchingUp && page.ascending && keys.every(inTurn);
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
  Object.assign(at, { seen, chain: undefined, distinct, repeated, ascending: ordered, proved });
  return keep(at, page, wanted);
}

function remembered(list: CommittedList, keys: readonly string[]): Pick<CommittedList, "chain" | "seen" | "distinct"> {
  const distinct = list.distinct + keys.length;
  if (!list.keepsKeys) return { chain: undefined, seen: undefined, distinct };
  if (list.seen === undefined) return { chain: { keys, before: list.chain }, seen: undefined, distinct };
  for (const key of keys) list.seen.add(key);
  return { chain: undefined, seen: list.seen, distinct };
}

/** Where the list goes on after `page`. */
export function tokenOf({ nextPageToken, chain }: RankedPage): Pick<CommittedList, "token" | "tokenChain"> {
  return { token: nextPageToken, tokenChain: chain };
}

function counted(list: CommittedList, page: RankedPage): Mutable<CommittedList> {
  const total = plausible(page.totalCount);
  const firstTotal = list.pages === 0 && !list.catchingUp ? total : list.firstTotal;
  const steady = list.steady && total !== undefined && total === firstTotal;
  // Some platforms state the position of a page; at the end, position and records add up to the count.
  const { skipped = 0 } = page;
  const atEnd = page.nextPageToken === "" && page.skip === undefined && skipped > 0;
  const isPosition = atEnd && total === skipped + page.keys.length;
  const leftOut = isPosition ? undefined : (page.leftOut ?? list.leftOut);
  const pages = list.pages + 1;
  return changedList(list, { pages, firstTotal, lastTotal: total ?? list.lastTotal, steady, leftOut });
}

/** `at` (which may be changed) with the records `i` of `page` that have `wanted[i]` set; undefined: all of them. */
function keep(at: Mutable<CommittedList>, page: RankedPage, wanted: Uint8Array | undefined): TakenPage {
  const last = page.keys.at(-1);
  // When a list is read again, pages before the commit point come first.
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
export function freshIn({ lastKey }: CommittedList, keys: readonly string[]): number {
  if (lastKey === undefined) return keys.length;
  let known = 0;
  while (known < keys.length && (keys[known] ?? "") <= lastKey) known += 1;
  return keys.length - known;
}

/** How many keys of `page` are not in the list yet, whatever their order. */
export function newIn(list: CommittedList, page: RankedPage): number {
  const { keys } = page;
  if (!list.keepsKeys || (list.ascending && ascendsFrom(list.lastKey, page))) return freshIn(list, keys);
  const seen = keySetOf(list);
  return new Set(keys.filter((key) => !seen.has(key))).size;
}

/** True when the list has every one of `keys`, or an ascending one must have had it. */
export function holdsAll(list: CommittedList, keys: readonly string[]): boolean {
  const { lastKey } = list;
  if (!list.keepsKeys) return lastKey !== undefined && keys.every((key) => key <= lastKey);
  const seen = keySetOf(list);
  return keys.every((key) => seen.has(key));
}

/** True when the last of `keys` comes after the commit point. */
export function reachesPast({ lastKey }: CommittedList, keys: readonly string[]): boolean {
  const last = keys.at(-1);
  return last !== undefined && (lastKey === undefined || last > lastKey);
}

/** True when `page` leaves no gap after the commit point: every record up to its own last one is known. */
export function joins({ lastKey }: CommittedList, { skip, keys }: RankedPage): boolean {
  if (skip === 0) return true;
  const [first] = keys;
  return first !== undefined && lastKey !== undefined && first <= lastKey;
}

/** True when each key comes after the one before it. */
export function ascends(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if ((keys[i] as string) <= (keys[i - 1] as string)) return false;
  return true;
}

/** True when the keys of `page` ascend, the first one after `last`. */
export function ascendsFrom(last: string | undefined, { ascending, keys }: RankedPage): boolean {
  const [first] = keys;
  return ascending && (last === undefined || first === undefined || first > last);
}

function keySetOf({ chain, seen }: CommittedList): Set<string> {
  const all = seen ?? new Set<string>();
  for (let page = chain; page !== undefined; page = page.before) for (const key of page.keys) all.add(key);
  return all;
}

/** A count comes from outside: undefined for what cannot be one. */
export function plausible(count: number | undefined): number | undefined {
  return count !== undefined && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

const COMMA = 0x2c;

/**
 * The records `i` of `page` with `wanted[i]` set (undefined: all of them) that are not hidden, as `rec,…,rec`; undefined
 * when there are none. Part of a page is copied, so that the rest of it can be collected.
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
  return { bytes: records === count ? page.bytes.subarray(only.start, only.end) : joinRuns(page.bytes, runs), records };
}

/** Copies of `runs`, separated by commas. */
function joinRuns(bytes: Uint8Array, runs: readonly { start: number; end: number }[]): Uint8Array {
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

/** What `upstream.v2.totals` says of `totalCount`: evidence, or not to be relied on. */
export type TotalsPolicy = "verify" | "ignore";

const WITNESS_RANK: Readonly<Record<Witness, number>> = { none: 0, count: 1, cover: 2 };

/** A last page that counts other records than there are with it: more, or fewer. */
export interface Shortfall {
  /** Records of the list once the page is taken. */
  readonly read: number;
  /** What the page says there are. */
  readonly total: number;
}

/**
 * What is missing when `page`, which has no token and brings `fresh` records, ends the list; undefined when nothing is.
 * Its rank and the count may both have grown because records were created before the position being read: such records
 * did not exist all the time. When the count never changed, as many distinct records must have come.
 */
export function shortfall(
  list: CommittedList,
  page: RankedPage,
  fresh: number,
  totals: TotalsPolicy,
): Shortfall | undefined {
  if (totals === "ignore") return undefined;
  const total = plausible(page.totalCount) ?? (page.keys.length > 0 ? list.lastTotal : undefined);
  if (total === undefined) return undefined;
  const read = list.distinct + fresh;
  return read >= total || reachesMoved(list, page, total) ? undefined : { read, total };
}

/**
 * What contradicts `page`, which has no token and brings `fresh` records: it counts fewer records than were read before it,
 * though more were counted than there are with it. (Deletes meanwhile make counts that are a little too low, but not so
 * low.) No contradiction are a first page, and one whose rank agrees with its count: records before it are gone.
 */
export function sunkenCount(list: CommittedList, page: RankedPage, fresh: number): Shortfall | undefined {
  const total = plausible(page.totalCount);
  if (total === undefined || list.pages === 0 || page.skip === 0) return undefined;
  if (page.skip !== undefined && !isOvercounted(page)) return undefined;
  const read = list.distinct + fresh;
  return total < list.distinct && read < highestTotal(list) ? { read, total } : undefined;
}

/** How many records the whole list will show, by the lower one of the counts; undefined where none tells. */
export function expectedRecords(list: CommittedList, totals: TotalsPolicy | undefined): number | undefined {
  const { firstTotal, lastTotal, shown, distinct } = list;
  if (totals === "ignore" || shown !== distinct) return undefined;
  return firstTotal === undefined || lastTotal === undefined ? undefined : Math.min(firstTotal, lastTotal);
}

/** The higher one of the counts that were stated first and last. */
export function highestTotal({ firstTotal = 0, lastTotal = 0 }: CommittedList): number {
  return Math.max(firstTotal, lastTotal);
}

/** True when `page` ends at the rank that it counts, and the count has changed since the first page. */
function reachesMoved(list: CommittedList, page: RankedPage, total: number): boolean {
  const moved = list.distinct > 0 && !(list.steady && total === list.firstTotal);
  return moved && (page.skip ?? list.rank) + page.keys.length >= total;
}

/** True when `page`, read by rank, shows that `last` was the end although it fell short of its count. */
export function confirms(list: CommittedList, page: RankedPage, last: RankedPage): boolean {
  const total = plausible(page.totalCount);
  if (total === undefined || page.nextPageToken !== "" || page.keys.at(-1) !== last.keys.at(-1)) return false;
  return page.keys.length > 0 && reachesMoved(list, page, total);
}

/** True when `page` ends at a higher rank than there are records by its own count. */
export function isOvercounted({ skip, keys, totalCount }: RankedPage): boolean {
  const total = plausible(totalCount);
  return skip !== undefined && keys.length > 0 && total !== undefined && total < skip + keys.length;
}

/**
 * The strongest witness for a list whose last page was accepted as its end.
 * `cover`: the first page began at rank 0, every further page began at or before the last record taken (or followed a
 * token that is known to be a position in the order), and the last one said that nothing follows. Whatever existed all
 * the time is in one of them. A single page that contradicts its own count proves nothing.
 * `count`: every page stated the same count, and as many distinct records came.
 */
export function witnessOf(list: CommittedList): Witness {
  if (list.proved && list.ascending && !(list.pages === 1 && isMiscounted(list))) return "cover";
  return isCounted(list) ? "count" : "none";
}

/** The platform counted other records than came: its count changed, or is wrong. */
export function isMiscounted(list: CommittedList): boolean {
  return list.firstTotal !== undefined && !isCounted(list);
}

/** Every page stated the same count, and as many records came. */
export function isCounted(list: CommittedList): boolean {
  return list.steady && list.firstTotal === list.distinct;
}

export function isEnough(witness: Witness, required: Witness): boolean {
  return WITNESS_RANK[witness] >= WITNESS_RANK[required];
}

/** Throws LIST_UNPROVEN when `witness` is less than `required`. */
export function checkWitness(resource: string, witness: Witness, required: Witness): void {
  if (isEnough(witness, required)) return;
  throw new Problem(
    "LIST_UNPROVEN",
    `the list of ${resource} could not be proved complete: "${required}" is required, "${witness}" was reached`,
    { metadata: { required, witness } },
  );
}

/** The pages of a list contradict each other. */
export function incomplete(resource: string, why: string, metadata: Readonly<Record<string, string>> = {}): Problem {
  return new Problem("DRAIN_INCOMPLETE", `the platform's pages of ${resource} do not form a whole list: ${why}`, {
    metadata,
    options: [],
  });
}

export function tooFew(resource: string, { read, total }: Shortfall): Problem {
  const why = `its last page counts ${total} records, and ${read} were read`;
  return new Problem(
    "DRAIN_INCOMPLETE",
    `the platform's pages of ${resource} do not form a whole list: ${why} (upstream.v2.totals: ignore, where totals count records that the caller may not see)`,
    { metadata: { read: String(read), total: String(total) } },
  );
}
