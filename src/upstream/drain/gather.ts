/** What has been gathered of a list so far, and what does that prove? */
import type { Witness } from "../../model/exchange.ts";
import type { ListPage } from "../../model/list.ts";
import { keptBytes } from "./keep.ts";

/** One reading of a list, growing page by page. Bounded by `maxRecords` and `maxBytes`. */
export interface Gathered {
  readonly chunks: Uint8Array[];
  /** Keys of pages that were not looked up yet: while all keys ascend, no key can have come before. */
  readonly ascended: (readonly string[])[];
  /** All other keys so far; `indexOf` moves every key here: an order that breaks must not drop a record that was never seen. */
  readonly seen: Set<string>;
  /** Different keys so far. */
  distinct: number;
  pages: number;
  /** Records in `chunks`. */
  shown: number;
  /** Bytes in `chunks`. */
  bytes: number;
  /** Keys came in strictly ascending order, within pages and across them. */
  ascending: boolean;
  firstKey: string | undefined;
  lastKey: string | undefined;
  /** Some key came twice. */
  repeated: boolean;
  /** Count of the first page; undefined when it had none. */
  total: number | undefined;
  /** Every page carried the same count. */
  steady: boolean;
}

/** Nothing gathered yet. */
export function emptyGathered(): Gathered {
  return {
    chunks: [],
    ascended: [],
    seen: new Set(),
    distinct: 0,
    pages: 0,
    shown: 0,
    bytes: 0,
    ascending: true,
    firstKey: undefined,
    lastKey: undefined,
    repeated: false,
    total: undefined,
    steady: true,
  };
}

/**
 * True when `page`, asked for with a token, begins the list again: with its very first record, or with known records only.
 * Platforms answer an expired token like that, without an error. Known records beside new ones are no such sign: an insert
 * shifts the pages of an offset token. (A restart hidden by other writers is followed to its end, which is a whole reading too.)
 */
export function beginsAgain(gathered: Gathered, page: ListPage): boolean {
  const [first] = page.keys;
  if (first === undefined) return false;
  if (first === gathered.firstKey) return true;
  if (gathered.ascending && (gathered.lastKey === undefined || first > gathered.lastKey)) return false;
  const seen = indexOf(gathered);
  return page.keys.every((key) => seen.has(key));
}

/**
 * True when `page`, asked for with a token, is as good as `{}`: no record, no token, and no count where the list had one. A
 * front may have answered it; of a list that was emptied meanwhile a second reading shows the same in its first page.
 */
export function saysNothing(gathered: Gathered, page: ListPage): boolean {
  const counted = gathered.total !== undefined && gathered.total > 0;
  return counted && page.totalCount === undefined && page.keys.length === 0 && page.nextPageToken === "";
}

/** Adds `page` to `gathered`: each key once, hidden records only to the count. */
export function addPage(gathered: Gathered, page: ListPage): void {
  const total = plausible(page.totalCount);
  if (gathered.pages === 0) gathered.total = total;
  gathered.steady &&= total !== undefined && total === gathered.total;
  gathered.pages += 1;

  const wanted = newKeys(gathered, page.keys);
  gathered.firstKey ??= page.keys[0];
  gathered.lastKey = page.keys.at(-1) ?? gathered.lastKey;
  const kept = keptBytes(page, wanted);
  if (kept !== undefined) {
    gathered.chunks.push(kept.bytes);
    gathered.shown += kept.records;
    gathered.bytes += kept.bytes.length;
  }
}

/** Enters `keys` into `gathered`: 1 for each that is new. Looking keys up costs more than all else here, so order saves it. */
function newKeys(gathered: Gathered, keys: readonly string[]): Uint8Array {
  const wanted = new Uint8Array(keys.length);
  if (gathered.ascending && ascends(gathered.lastKey, keys)) {
    gathered.ascended.push(keys);
    gathered.distinct += keys.length;
    return wanted.fill(1);
  }
  gathered.ascending = false;
  const seen = indexOf(gathered);
  keys.forEach((key, i) => {
    if (seen.has(key)) gathered.repeated = true;
    else {
      seen.add(key);
      gathered.distinct += 1;
      wanted[i] = 1;
    }
  });
  return wanted;
}

/** True when each key lies behind the one before it, the first behind `last`. */
function ascends(last: string | undefined, keys: readonly string[]): boolean {
  let before = last;
  for (const key of keys) {
    if (before !== undefined && key <= before) return false;
    before = key;
  }
  return true;
}

/** Every key so far, to look keys up. */
function indexOf(gathered: Gathered): Set<string> {
  for (const keys of gathered.ascended) for (const key of keys) gathered.seen.add(key);
  gathered.ascended.length = 0;
  return gathered.seen;
}

/**
 * The strongest witness for a reading that ended with an empty token (design section 5).
 * `cover`: a single page is the left edge and the right edge of its list at one moment, so nothing can lie beside it.
 * `count`: every page named the same count, and as many distinct records came.
 * A count that contradicts a single page takes its proof away: that page may have left a record out.
 */
export function witnessOf(gathered: Gathered, keyOrder: boolean): Witness {
  if (gathered.pages === 1 && keyOrder && gathered.ascending && !isMiscounted(gathered)) return "cover";
  return isCounted(gathered) ? "count" : "none";
}

/** The platform counted, but not the records that came: its count changed, is wrong, or counts what this caller cannot see. */
export function isMiscounted(gathered: Gathered): boolean {
  return gathered.total !== undefined && !isCounted(gathered);
}

function isCounted(gathered: Gathered): boolean {
  return gathered.steady && gathered.total === gathered.distinct;
}

/** A count is foreign input: only what a count can be is taken for one. */
function plausible(count: number | undefined): number | undefined {
  return count !== undefined && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
