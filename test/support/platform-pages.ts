/**
 * The one simulator of a platform's pages: which records a page holds, how many it counts, and where its token leads. Pure: the
 * caller hands over the list as it is at this moment, and writes the page as its subject reads it.
 */

/** A list at one moment, in the order of the platform. */
export interface Listed<R> {
  readonly records: readonly R[];
  /** What a token remembers of a record. */
  mark(record: R): string;
  /** The rank of the first record behind the one of `mark`, which need not be there any more. */
  after(mark: string): number;
}

/** A list of keys that ascend. */
export function ascending<K extends string | number>(keys: readonly K[]): Listed<K> {
  const after = (mark: string): number => {
    const at = keys.findIndex((key) => key > mark);
    return at < 0 ? keys.length : at;
  };
  return { records: keys, mark: String, after };
}

/** The content of a token: the last record of its page, or how many records came before. */
export type Tokens = "keyset" | "offset";

/** How a platform pages. Without any of it, `skip` is obeyed and echoed, and the count is right. */
export interface Paging {
  readonly tokens: Tokens;
  /** Never more records than this. */
  readonly cap?: number;
  /** `ignored`: page one comes and 0 is echoed; `claimed`: page one comes, the skip is echoed; `echo`: only the echo is wrong. */
  readonly skip?: "obeyed" | "ignored" | "claimed" | "echo" | "unechoed";
  /** What a page behind a token says it skipped: what its chain did, or its position. Otherwise nothing, as its request did. */
  readonly behind?: "chain" | "position";
  /** A page that reaches the end has a token all the same (always, or when it is full); the empty page behind it has none. */
  readonly trailing?: "always" | "full";
  /** Makes the count that it says from the right one. */
  readonly counts?: (right: number) => number | undefined;
}

/**
 * What befalls one page. `restart`: its token leads to page one; `empty`, `short`: fewer records than there are, and a token that
 * fits; `blank`, `lossy`: without its records, or without its first, and the token of the whole page; `same`: its token leads to
 * itself; `cut`: it has no token; `expired`: behind page one there are no records and no token; `sunk`: the same behind a token, and
 * it counts nothing.
 */
export type PageFault = "restart" | "empty" | "short" | "blank" | "lossy" | "same" | "cut" | "expired" | "sunk";

export interface Asked {
  readonly size: number;
  readonly token?: string | undefined;
  readonly skip?: number | undefined;
}

export interface Page<R> {
  readonly items: readonly R[];
  /** The rank of its first record. */
  readonly start: number;
  /** The token of the next page; empty on the last one. */
  readonly next: string;
  readonly total: number | undefined;
  readonly skipped: number | undefined;
}

/** The page that `asked` selects from `list`. */
export function cutPage<R>(list: Listed<R>, asked: Asked, paging: Paging, fault?: PageFault): Page<R> {
  const { size, token, skip = 0 } = asked;
  const { records } = list;
  const [place = "", chain = String(skip)] = token?.slice(2).split("#") ?? [];
  const obeyed = paging.skip === "ignored" || paging.skip === "claimed" ? 0 : skip;
  const start = (fault === "restart" ? 0 : rankOf(list, place, paging.tokens)) + obeyed;
  if (fault === "sunk" && token !== undefined) return { items: [], start, next: "", total: 0, skipped: undefined };
  const most = Math.min(size, paging.cap ?? size);
  const length = fault === "empty" ? 0 : fault === "short" ? Math.max(1, most - 1) : most;
  const end = Math.min(start + length, records.length);
  const whole = records.slice(start, end);
  const fill = paging.trailing === "full" ? most : 1;
  const isLast = end >= records.length && (paging.trailing === undefined || whole.length < fill);
  const expired = fault === "expired" && (token !== undefined || skip > 0);
  const behind = paging.behind === undefined ? "" : `#${chain}`;
  const next = fault === "same" && token !== undefined ? token : `${tokenAt(list, end, paging.tokens)}${behind}`;
  const echo = paging.behind === "position" ? start : Number(chain);
  return {
    items: fault === "blank" || expired ? [] : fault === "lossy" ? whole.slice(1) : whole,
    start,
    next: isLast || expired || fault === "cut" ? "" : next,
    total: paging.counts === undefined ? records.length : paging.counts(records.length),
    skipped: token === undefined || paging.behind === undefined ? echoOf(skip, paging.skip) : echo,
  };
}

function rankOf<R>(list: Listed<R>, place: string, tokens: Tokens): number {
  if (place === "") return 0;
  return tokens === "offset" ? Number(place) : list.after(place);
}

function tokenAt<R>(list: Listed<R>, rank: number, tokens: Tokens): string {
  const last = list.records[rank - 1];
  return tokens === "offset" ? `o:${rank}` : `k:${last === undefined ? "" : list.mark(last)}`;
}

function echoOf(skip: number, habit: Paging["skip"]): number | undefined {
  if (habit === "unechoed") return undefined;
  if (habit === "ignored") return 0;
  return habit === "echo" && skip > 0 ? skip + 1 : skip;
}
