/** How does a list of many pages look while it becomes one? (Design section 5.) */
import type { Witness } from "./exchange.ts";
import type { ApiRequest, ApiResponse } from "./message.ts";

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
  /** Reads a 200 answer. Throws `Problem` UPSTREAM_INVALID when it is not a page. */
  read(response: ApiResponse): ListPage;
}

/** A whole list, proved as far as `witness` says. */
export interface DrainedList {
  readonly kind: "list";
  /** Each chunk is `rec,…,rec`, never empty: one per page, duplicates and hidden records left out. */
  readonly chunks: readonly Uint8Array[];
  /** Shown records in all chunks. */
  readonly records: number;
  readonly pages: number;
  readonly witness: Witness;
}

/** The platform refused a page (any status but 200): its own answer, to be translated as an error. */
export interface DrainRefused {
  readonly kind: "refused";
  readonly response: ApiResponse;
}

/** Turns pages into one list. Throws `Problem` (DRAIN_INCOMPLETE, DRAIN_TOO_LARGE, LIST_UNPROVEN, OVERLOADED, UPSTREAM_*). */
export type Drain = (plan: ListPlan) => Promise<DrainedList | DrainRefused>;
