/** How large may one list become, how is it read, and what does a client hear when it is too large? */
import { Problem } from "../model/problem.ts";

/** Ceilings and measures of one drain (design section 5; options `lists.*`). */
export interface DrainLimits {
  /** Pages that the records of a list fill; pages that overlap or are read again count towards `maxSeconds` only. */
  readonly maxPages: number;
  /** Distinct records, hidden ones included. */
  readonly maxRecords: number;
  /** Bytes of the records kept for the answer. */
  readonly maxBytes: number;
  /** Seconds of the whole drain. Looked at before each page: one page has the limits of its Send. */
  readonly maxSeconds: number;
  /** Records to ask for per page: the largest that the platform allows. */
  readonly pageSize: number;
  /** Bytes up to which a list is answered whole. */
  readonly bufferBytes: number;
  /** Pages of one list that are read at a time. */
  readonly readers: number;
  /** Records that a parallel read begins before the previous one is expected to end; at most half a page. */
  readonly overlap: number;
  /** Longer lists are read in segments that follow their own cursor: deep offsets cost the platform dearly. */
  readonly windowRecords: number;
  /** Most pages of a segment. */
  readonly segmentPages: number;
}

/** What no operator needs to turn: see `DrainLimits` (design section 5). */
export const FIXED_LIMITS = { overlap: 10, windowRecords: 10_000, segmentPages: 16 } as const;

/** Where one reading of a list stands. */
export interface ListSize {
  readonly records: number;
  readonly bytes: number;
}

/**
 * Refuses the next page when there is no time for it: UPSTREAM_TIMEOUT. A slow platform is no contradiction in its pages,
 * so it is not DRAIN_INCOMPLETE.
 */
export function checkTime(resource: string, records: number, seconds: number, limits: DrainLimits): void {
  if (seconds < limits.maxSeconds) return;
  throw new Problem(
    "UPSTREAM_TIMEOUT",
    `the list of ${resource} took longer than ${limits.maxSeconds} s: narrow it with a filter`,
    { metadata: { limit: String(limits.maxSeconds), unit: "seconds", records: String(records) } },
  );
}

/** Refuses a list that needs one page more than it may have: DRAIN_TOO_LARGE. */
export function checkPages(resource: string, pages: number, limits: DrainLimits): void {
  if (pages >= limits.maxPages) throw tooLarge(resource, "pages", limits.maxPages, pages + 1);
}

/** Refuses a list that has outgrown its ceilings with the page just read: DRAIN_TOO_LARGE. */
export function checkAfterPage(resource: string, size: ListSize, limits: DrainLimits): void {
  if (size.records > limits.maxRecords) throw tooLarge(resource, "records", limits.maxRecords, size.records);
  if (size.bytes > limits.maxBytes) throw tooLarge(resource, "bytes", limits.maxBytes, size.bytes);
}

/**
 * Refuses after page one what cannot fit by the platform's own count, instead of after hundreds of pages: DRAIN_TOO_LARGE.
 * Asked only while there is a next page: a list that is already whole is not refused for a count that lies.
 */
export function checkAnnounced(resource: string, totalCount: number, limits: DrainLimits): void {
  if (totalCount > limits.maxRecords) throw tooLarge(resource, "records", limits.maxRecords, totalCount);
  const pages = Math.ceil(totalCount / limits.pageSize);
  if (pages > limits.maxPages) throw tooLarge(resource, "pages", limits.maxPages, pages);
}

function tooLarge(resource: string, unit: "pages" | "records" | "bytes", limit: number, count: number): Problem {
  return new Problem(
    "DRAIN_TOO_LARGE",
    `the list of ${resource} has at least ${count} ${unit}, the limit is ${limit}: narrow it with a filter, or page through it with v2`,
    { metadata: { limit: String(limit), count: String(count), unit } },
  );
}
