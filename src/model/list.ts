/** Pages of a v2 list, and the one list that a drain makes of them. */
import type { Witness } from "./exchange.ts";
import type { ApiRequest, ApiResponse, BodyStream, HeaderList } from "./http.ts";

/** Which page to request. Without token and skip: the first one. */
export interface PageSelector {
  readonly size: number;
  readonly token?: string;
  readonly skip?: number;
}

/** One checked page: records as byte ranges of `bytes`, in the order of the platform. */
export interface ListPage {
  /** Records in order, separated by single commas: `bytes.subarray(starts[i], ends[j])` is `rec,…,rec`. */
  readonly bytes: Uint8Array;
  readonly starts: ArrayLike<number>;
  readonly ends: ArrayLike<number>;
  /** The unique key (v2 `uid`) of each record; same length as `starts`. */
  readonly keys: readonly string[];
  /** Each key comes after the one before it; undefined: not looked at. */
  readonly ascending?: boolean | undefined;
  /** 1 for a record that counts for the proof but is not shown, because carryover filters it. */
  readonly hidden?: Uint8Array | undefined;
  /** True if the page has no list of records at all, which may mean an empty one. */
  readonly bare?: boolean | undefined;
  /** Empty on the last page. */
  readonly nextPageToken: string;
  /** Undefined if absent or implausible. */
  readonly totalCount: number | undefined;
  readonly skipped: number | undefined;
}

/** What a drain needs to know of a list, without versions and field names. */
export interface ListPlan {
  /** The catalogue name of the resource, for limits and messages. */
  readonly resource: string;
  /** True if records come in strictly ascending key order by default. */
  readonly keyOrder: boolean;
  request(page: PageSelector): ApiRequest;
  /** Reads a 200 response. Throws `Problem` UPSTREAM_INVALID if it is not a page. Pages may come in any order, and twice. */
  read(response: ApiResponse): ListPage | Promise<ListPage>;
  /** What a first page without any list of records means: an empty list, or nothing. */
  readonly bareMeans?: "empty" | "nothing" | undefined;
  /**
   * Turns committed records (`rec,…,rec`, never empty) into what the client sees; undefined: they stay as they are. Called for
   * one chunk after another in the order of the list, while further pages are fetched. Throws `Problem`.
   */
  readonly show?: ((chunk: Uint8Array) => Promise<ShownChunk>) | undefined;
}

/** One chunk as the client sees it, or the platform's refusal of a call that it needed. */
export type ShownChunk =
  | {
      readonly kind: "shown";
      /** Length of what comes from other records: it may be much longer than the chunk. */
      readonly joinedBytes: number;
      /** `rec,…,rec` each, never empty. Made one by one as they are taken, all before the next chunk is shown. Throws `Problem`. */
      readonly parts: Iterable<Uint8Array>;
    }
  | DrainRefused;

/** A whole list; `witness`: how its completeness was proved. */
export interface DrainedList {
  readonly kind: "list";
  /** Headers of the first page. */
  readonly headers: HeaderList;
  /** Each chunk is `rec,…,rec`, never empty, without duplicates and hidden records. */
  readonly chunks: readonly Uint8Array[];
  /** Shown records in all chunks. */
  readonly records: number;
  readonly pages: number;
  readonly witness: Witness;
  /** The only page, where it shows all of its records and there are some. */
  readonly only?: ListPage | undefined;
}

/** A list that is still being read. Its end proves `floor` at least, or its chunks end with a rejection. */
export interface StreamedList {
  readonly kind: "long";
  /** Headers of the first page. */
  readonly headers: HeaderList;
  readonly floor: Witness;
  /** Records by the platform's own count; undefined where that is not known, or counts hidden ones. */
  readonly expected: number | undefined;
  /** As in `DrainedList`; to be iterated once. Rejects with a `Problem`, or the signal's reason, if the list cannot be completed. */
  readonly chunks: BodyStream;
}

/** The platform refused a page (any status but 200): its response is to be translated as an error. */
export interface DrainRefused {
  readonly kind: "refused";
  readonly response: ApiResponse;
}

/** Turns pages into one list. Throws `Problem` (DRAIN_INCOMPLETE, DRAIN_TOO_LARGE, LIST_UNPROVEN, OVERLOADED, UPSTREAM_*). */
export type Drain = (plan: ListPlan) => Promise<DrainedList | DrainRefused>;

/** The same; a list that outgrows the buffer is returned while it is being read. */
export type StreamingDrain = (plan: ListPlan) => Promise<DrainedList | StreamedList | DrainRefused>;
