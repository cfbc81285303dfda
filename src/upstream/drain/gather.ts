/** What has been gathered of a list so far, and what does that prove? */
import type { Witness } from "../../model/exchange.ts";
import type { ListPage } from "../../model/list.ts";
import { keptBytes } from "./keep.ts";

/** One reading of a list, growing page by page. Bounded by `maxRecords` and `maxBytes`. */
export interface Gathered {
  readonly chunks: Uint8Array[];
  /** Every key so far. Kept for ordered lists too: an order that turns out broken must not drop a record that was never seen. */
  readonly seen: Set<string>;
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
    seen: new Set(),
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
  return first === gathered.firstKey || page.keys.every((key) => gathered.seen.has(key));
}

/** Adds `page` to `gathered`: each key once, hidden records only to the count. */
export function addPage(gathered: Gathered, page: ListPage): void {
  const total = plausible(page.totalCount);
  if (gathered.pages === 0) gathered.total = total;
  gathered.steady &&= total !== undefined && total === gathered.total;
  gathered.pages += 1;

  const wanted = new Uint8Array(page.keys.length);
  page.keys.forEach((key, i) => {
    if (gathered.lastKey !== undefined && key <= gathered.lastKey) gathered.ascending = false;
    gathered.firstKey ??= key;
    gathered.lastKey = key;
    if (gathered.seen.has(key)) gathered.repeated = true;
    else {
      gathered.seen.add(key);
      wanted[i] = 1;
    }
  });
  const kept = keptBytes(page, wanted);
  if (kept !== undefined) {
    gathered.chunks.push(kept.bytes);
    gathered.shown += kept.records;
    gathered.bytes += kept.bytes.length;
  }
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
  return gathered.steady && gathered.total === gathered.seen.size;
}

/** A count is foreign input: only what a count can be is taken for one. */
function plausible(count: number | undefined): number | undefined {
  return count !== undefined && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
