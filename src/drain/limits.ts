/** Limits of one list, and the errors when they are exceeded. */

import { Problem } from "../model/problem.ts";

/** Options `lists.*`. */
export interface DrainLimits {
  /** Full pages of a list; pages that overlap or are read again count towards `maxSeconds` only. */
  readonly maxPages: number;
  /** Distinct records, hidden ones included. */
  readonly maxRecords: number;
  /** Bytes of the records kept for the response, and of the records as the client sees them. */
  readonly maxBytes: number;
  /** Seconds for the whole drain, checked before each page: one page has the timeouts of its Send. */
  readonly maxSeconds: number;
  /** Records to ask for per page: the largest that the platform allows. */
  readonly pageSize: number;
  /** Larger lists are streamed. */
  readonly bufferBytes: number;
  /** Pages of one list that are read at a time. */
  readonly readers: number;
  /** Records that two parallel reads share; at most half a page. */
  readonly overlap: number;
  /** Longer lists are read in segments that follow their own cursor, because deep offsets are expensive for the platform. */
  readonly windowRecords: number;
  /** Most pages of a segment. */
  readonly segmentPages: number;
}

/** The most records that v2 sends in a page. */
export const PAGE_SIZE = 200;

/** Limits without an option. */
export const FIXED_LIMITS = { overlap: 10, windowRecords: 10_000, segmentPages: 16 } as const;

/** The limits of lists under the options `lists.*`. */
export function limitsOf(lists: Omit<DrainLimits, "pageSize" | keyof typeof FIXED_LIMITS>): DrainLimits {
  return { ...lists, ...FIXED_LIMITS, pageSize: PAGE_SIZE };
}

/** UPSTREAM_TIMEOUT when there is no time for the next page. (A slow platform does not contradict itself: not DRAIN_INCOMPLETE.) */
export function checkTime(resource: string, records: number, seconds: number, limits: DrainLimits): void {
  if (seconds < limits.maxSeconds) return;
  throw new Problem(
    "UPSTREAM_TIMEOUT",
    `the list of ${resource} took longer than ${limits.maxSeconds} s: narrow it with a filter`,
    {
      metadata: { limit: String(limits.maxSeconds), unit: "seconds", records: String(records) },
      options: ["lists.maxSeconds"],
    },
  );
}

/** DRAIN_TOO_LARGE for a list that needs one page more than the limit. */
export function checkPages(resource: string, pages: number, limits: DrainLimits): Problem | undefined {
  return pages >= limits.maxPages ? tooLarge(resource, "pages", limits.maxPages, pages + 1) : undefined;
}

/** DRAIN_TOO_LARGE for a list that has exceeded its limits with the page just read. */
export function checkAfterPage(
  resource: string,
  { distinct: records, bytes }: { readonly distinct: number; readonly bytes: number },
  limits: DrainLimits,
): Problem | undefined {
  if (records > limits.maxRecords) return tooLarge(resource, "records", limits.maxRecords, records);
  return bytes > limits.maxBytes ? tooLarge(resource, "bytes", limits.maxBytes, bytes) : undefined;
}

/** Throws DRAIN_TOO_LARGE for a list that the client would see with so many bytes. */
export function checkShown(resource: string, bytes: number, limits: DrainLimits): void {
  if (bytes > limits.maxBytes) throw tooLarge(resource, "bytes", limits.maxBytes, bytes);
}

/**
 * DRAIN_TOO_LARGE after the first page, when the platform's count exceeds the limits. Asked only while there is a next
 * page: a list that is complete already is not refused for a wrong count.
 */
export function checkAnnounced(resource: string, totalCount: number, limits: DrainLimits): Problem | undefined {
  if (totalCount > limits.maxRecords) return tooLarge(resource, "records", limits.maxRecords, totalCount);
  const pages = Math.ceil(totalCount / limits.pageSize);
  return pages > limits.maxPages ? tooLarge(resource, "pages", limits.maxPages, pages) : undefined;
}

const OPTION_OF = { pages: "lists.maxPages", records: "lists.maxRecords", bytes: "lists.maxBytes" } as const;

function tooLarge(resource: string, unit: "pages" | "records" | "bytes", limit: number, count: number): Problem {
  return new Problem(
    "DRAIN_TOO_LARGE",
    `the list of ${resource} has at least ${count} ${unit}, the limit is ${limit}: narrow it with a filter, or page through it with v2`,
    { metadata: { limit: String(limit), count: String(count), unit }, options: [OPTION_OF[unit]] },
  );
}
