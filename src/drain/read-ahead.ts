/** Parts of a list that are read ahead of the commit point, several at a time: a value, and which calls to make next. Pure. */

import type { ApiResponse } from "../model/http.ts";
import type { RankedPage } from "./committed-list.ts";
import type { DrainLimits } from "./limits.ts";

/** Where to read: at a rank, or after a token; neither is the beginning. */
export interface ReadPosition {
  readonly token?: string;
  readonly skip?: number;
  /** Records before this position, as far as is known; for positions that are given by a token. */
  readonly rank?: number;
  /** The `skip` with which the chain of this token began; absent: 0. */
  readonly chain?: number;
}

/** What one call brought. `unskipped`: by the number that the platform says it skipped, the page may be another one. */
export type FetchResult =
  | { readonly kind: "page"; readonly page: RankedPage }
  | { readonly kind: "unskipped" }
  | { readonly kind: "refused"; readonly response: ApiResponse }
  | { readonly kind: "failed"; readonly problem: unknown };

/** How a list is cut into parts, by rank. */
export interface ReadAheadPlan {
  /** Rank at which the first part begins. */
  readonly from: number;
  /** Ranks from one part to the next: less than a part holds, so that parts overlap. */
  readonly step: number;
  /** Pages of a part: one, or several that follow each other's tokens. */
  readonly pages: number;
  /** Records at the end of a part that the next one repeats. */
  readonly overlap: number;
  /** Parts that may be read ahead of the one that is taken. */
  readonly ahead: number;
  /** Calls at a time. */
  readonly readers: number;
  /** Bytes of pages that may be read ahead; beyond them only the first part goes on. */
  readonly aheadBytes: number;
}

interface ReadAheadPart {
  readonly id: number;
  readonly skip: number;
  /** Token of its next page; undefined before its first page. */
  readonly token: string | undefined;
  readonly rank: number;
  readonly read: number;
  /** First and last key so far. */
  readonly head: string | undefined;
  readonly last: string;
  /** What has come and was not taken. */
  readonly steps: readonly FetchResult[];
  readonly calling: boolean;
  /** Nothing more comes, or is wanted. */
  readonly done: boolean;
}

export interface ReadAhead {
  readonly cut: ReadAheadPlan;
  /** In the order of the list; the first is the one that is being taken. */
  readonly parts: readonly ReadAheadPart[];
  /** Records of the list, as far as is known: how many parts there are follows from it. */
  readonly total: number;
  /** Parts begun. */
  readonly begun: number;
  readonly readers: number;
  /** Of pages that have come and were not taken. */
  readonly bytes: number;
}

/** A call that a part wants. */
export interface WantedCall {
  readonly part: number;
  readonly place: ReadPosition;
}

/** Nothing is requested yet. `narrow`: one call at a time until it is known whether `skip` is heeded. */
export function startReadAhead(cut: ReadAheadPlan, total: number, narrow: boolean): ReadAhead {
  return { cut, parts: [], total, begun: 0, readers: narrow ? 1 : cut.readers, bytes: 0 };
}

/** The calls to make now, in the order of the list. */
export function nextCalls(ahead: ReadAhead): { readonly ahead: ReadAhead; readonly calls: readonly WantedCall[] } {
  const { cut } = ahead;
  const calls: WantedCall[] = [];
  const roomy = ahead.bytes < cut.aheadBytes;
  const parts = ahead.parts.map((part, i) => {
    // The first part always goes on, because the list waits for it.
    if (part.done || part.calling || (i > 0 && !roomy)) return part;
    calls.push({ part: part.id, place: positionOf(part) });
    return changedPart(part, { calling: true });
  });
  let reading = parts.reduce((count, part) => (part.done ? count : count + 1), 0);
  let { begun } = ahead;
  const isPlanned = (): boolean => cut.from + begun * cut.step + cut.overlap < ahead.total;
  while (reading < ahead.readers && parts.length < cut.ahead && roomy && isPlanned()) {
    const skip = cut.from + begun * cut.step;
    const part: ReadAheadPart = { ...NEW_PART, id: begun, skip, rank: skip };
    parts.push(part);
    calls.push({ part: part.id, place: positionOf(part) });
    begun += 1;
    reading += 1;
  }
  return calls.length === 0 ? { ahead, calls } : { ahead: changedAhead(ahead, { parts, begun }), calls };
}

const NEW_PART = {
  token: undefined,
  read: 0,
  head: undefined,
  last: "",
  steps: [],
  calling: true,
  done: false,
} as const;

function positionOf({ token, skip, rank }: ReadAheadPart): ReadPosition {
  return token === undefined ? { skip } : { token, rank, chain: skip };
}

/**
 * Adds the result of a part's call. A part goes on beyond its pages until it meets the next part, for at most as many pages
 * again: records were inserted into it meanwhile.
 */
export function addResult(ahead: ReadAhead, id: number, step: FetchResult): ReadAhead {
  const at = ahead.parts.findIndex((part) => part.id === id);
  const part = ahead.parts[at];
  if (part === undefined || part.done) return ahead;
  const steps = [...part.steps, step];
  if (step.kind !== "page") return replaced(ahead, at, changedPart(part, { steps, calling: false, done: true }));
  const { keys, nextPageToken: token } = step.page;
  const read = part.read + 1;
  const last = keys.at(-1) ?? part.last;
  const following = ahead.parts[at + 1]?.head;
  const { pages } = ahead.cut;
  const met = following !== undefined && following <= last;
  const far = read >= pages && (pages === 1 || following === undefined || read >= 2 * pages);
  const head = part.head ?? keys[0];
  const rank = part.rank + keys.length;
  const done = token === "" || met || far;
  const longer = changedPart(part, { steps, read, last, token, head, rank, calling: false, done });
  return replaced(ahead, at, longer, step.page.bytes.length);
}

/** With `part` in place of the one at `at`, and `more` bytes. */
function replaced(ahead: ReadAhead, at: number, part: ReadAheadPart, more = 0): ReadAhead {
  return changedAhead(ahead, { parts: ahead.parts.with(at, part), bytes: ahead.bytes + more });
}

/** `ahead` with `changes`. Members are listed here, too, for the reason that `changed` in `state.ts` gives. */
export function changedAhead(ahead: ReadAhead, changes: Partial<ReadAhead>): ReadAhead {
  const { cut, parts, total, begun, readers, bytes } = ahead;
  return Object.assign({ cut, parts, total, begun, readers, bytes }, changes);
}

function changedPart(part: ReadAheadPart, changes: Partial<ReadAheadPart>): ReadAheadPart {
  const { id, skip, token, rank, read, head, last, steps, calling, done } = part;
  return Object.assign({ id, skip, token, rank, read, head, last, steps, calling, done }, changes);
}

/** The next result of the first part; `waiting`: a call is under way; `over`: the part has ended. */
export function frontResult(ahead: ReadAhead): FetchResult | "waiting" | "over" {
  const [part] = ahead.parts;
  const [step] = part?.steps ?? [];
  return step ?? (part === undefined || part.done ? "over" : "waiting");
}

/** Without what `frontResult` gave. */
export function withoutFront(ahead: ReadAhead): ReadAhead {
  const [part] = ahead.parts;
  const [step, ...steps] = part?.steps ?? [];
  if (part === undefined || step === undefined) return ahead;
  return replaced(ahead, 0, changedPart(part, { steps }), -bytesOf(step));
}

/** Without the first part, which is over. */
export function withoutPart(ahead: ReadAhead): ReadAhead {
  return changedAhead(ahead, { parts: ahead.parts.slice(1) });
}

/** Forgets the rest of the first part, whose tokens go in a circle. */
export function dropFront(ahead: ReadAhead): ReadAhead {
  const [part] = ahead.parts;
  if (part === undefined) return ahead;
  const bytes = part.steps.reduce((sum, step) => sum + bytesOf(step), 0);
  return replaced(ahead, 0, changedPart(part, { steps: [], calling: false, done: true }), -bytes);
}

function bytesOf(step: FetchResult): number {
  return step.kind === "page" ? step.page.bytes.length : 0;
}

/** Bytes of pages that may be read ahead of the commit point. */
const AHEAD_BYTES = 4 * 1024 * 1024;
/** Lists of so few pages are read one page after another. */
const FEW_PAGES = 3;

/**
 * How the rest of a list of `total` records, from `rank` on, is cut when its pages hold `records` in `bytes`: into windows
 * of one page, or for a long list, whose platform would count through all of it again and again, into segments of several.
 */
export function planReadAhead(
  limits: DrainLimits,
  tokens: "keyset" | "offset" | "unknown",
  { records, bytes }: { readonly records: number; readonly bytes: number },
  { rank, total }: { readonly rank: number; readonly total: number },
): ReadAheadPlan {
  const overlap = Math.min(limits.overlap, Math.floor(records / 2));
  const room = Math.max(1, Math.floor(AHEAD_BYTES / Math.max(1, bytes)));
  const readers = total <= FEW_PAGES * records ? 1 : Math.min(limits.readers, room);
  // A row number is as expensive for the platform as `skip`, and proves nothing.
  const windows = total <= limits.windowRecords || tokens === "offset";
  const pages = windows ? 1 : Math.max(1, Math.min(limits.segmentPages, Math.floor(room / (2 * readers))));
  return {
    from: Math.max(0, rank - overlap),
    overlap,
    step: pages * records - overlap,
    pages,
    ahead: Math.min(2 * readers, Math.max(1, Math.floor(room / pages))),
    readers,
    aheadBytes: AHEAD_BYTES,
  };
}
