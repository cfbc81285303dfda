/** How does a list of many pages look while it becomes one? (Design section 5.) */
import type { Witness } from "./exchange.ts";
import type { ApiRequest, ApiResponse, BodyStream, HeaderList } from "./http.ts";

/** Which page to ask for. No token and no skip: the first one. */
export interface PageSelector {
  readonly size: number;
  readonly token?: string;
  readonly skip?: number;
}

/** One page, read and checked: records as byte ranges of `bytes`, in the order of the platform. */
export interface ListPage {
  /** The records lie in here in order, separated by single commas: `bytes.subarray(starts[i], ends[j])` is `rec,…,rec`. */
  readonly bytes: Uint8Array;
  readonly starts: ArrayLike<number>;
  readonly ends: ArrayLike<number>;
  /** The unique key (v2 `uid`) of each record; same length as `starts`. */
  readonly keys: readonly string[];
  /** 1 for a record that counts for the proof but is not to be shown (filtered by carryover). */
  readonly hidden?: Uint8Array;
  /** True when the page has no list of records at all, which may mean an empty one. */
  readonly bare?: boolean;
  /** Empty when this is the last page. */
  readonly nextPageToken: string;
  /** Undefined when absent or not a plausible number. */
  readonly totalCount: number | undefined;
  readonly skipped: number | undefined;
}

/** What a drain needs to know of a list; it knows no version and no field name. */
export interface ListPlan {
  /** The catalogue name of the resource, for limits and messages. */
  readonly resource: string;
  /** True when records come in strictly ascending key order by default. */
  readonly keyOrder: boolean;
  request(page: PageSelector): ApiRequest;
  /** Reads a 200 answer. Throws `Problem` UPSTREAM_INVALID when it is not a page. Pages may come in any order, and twice. */
  read(response: ApiResponse): ListPage | Promise<ListPage>;
  /** What a first page without any list of records is: an empty list, or nothing that proves one. */
  readonly bareMeans?: "empty" | "nothing" | undefined;
  /**
   * Makes of committed records (`rec,…,rec`, never empty) what the client sees; undefined: nothing is to be made. Called for
   * one chunk after another in the order of the list, while further pages are fetched. Throws `Problem`.
   */
  readonly show?: ((chunk: Uint8Array) => Promise<ShownChunk>) | undefined;
}

/** One chunk as the client sees it, or the platform's refusal of a read that it needed. */
export type ShownChunk = { readonly kind: "shown"; readonly bytes: Uint8Array } | DrainRefused;

/** A whole list, proved as far as `witness` says. */
export interface DrainedList {
  readonly kind: "list";
  /** Fields of the first page's answer. */
  readonly headers: HeaderList;
  /** Each chunk is `rec,…,rec`, never empty, duplicates and hidden records left out. */
  readonly chunks: readonly Uint8Array[];
  /** Shown records in all chunks. */
  readonly records: number;
  readonly pages: number;
  readonly witness: Witness;
}

/** A list that is still being read: what its end will prove at least, or else its chunks end with a rejection. */
export interface StreamedList {
  readonly kind: "long";
  /** Fields of the first page's answer. */
  readonly headers: HeaderList;
  readonly floor: Witness;
  /** As in `DrainedList`; to be iterated once. Rejects with a `Problem`, or the signal's reason, when the list cannot be completed. */
  readonly chunks: BodyStream;
}

/** The platform refused a page (any status but 200): its own answer, to be translated as an error. */
export interface DrainRefused {
  readonly kind: "refused";
  readonly response: ApiResponse;
}

/** Turns pages into one list. Throws `Problem` (DRAIN_INCOMPLETE, DRAIN_TOO_LARGE, LIST_UNPROVEN, OVERLOADED, UPSTREAM_*). */
export type Drain = (plan: ListPlan) => Promise<DrainedList | DrainRefused>;

/** The same; a list that outgrows the buffer is given back while it is being read. */
export type StreamingDrain = (plan: ListPlan) => Promise<DrainedList | StreamedList | DrainRefused>;
