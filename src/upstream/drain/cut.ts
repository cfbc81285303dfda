/** Can a list be read at several places at a time, and where does each begin? */
import type { ListPage } from "../../model/list.ts";
import { plausible } from "./merged.ts";
import type { Cut } from "./queue.ts";
import type { Run } from "./run.ts";

/** Bytes of pages that may lie ahead of the commit point. */
const AHEAD_BYTES = 4 * 1024 * 1024;
/** Lists of so many pages are read one page after another. */
const FEW_PAGES = 3;

/** Pages may be shorter than asked for by this factor. */
const MAX_SHORTNESS = 4;

/**
 * True when `first`, the only page taken so far, lets the rest be read by rank: a count, an order of keys, a page long enough
 * to overlap with the next.
 */
export function canSeek(run: Run, first: ListPage): boolean {
  const { plan, merged, parts } = run;
  const total = plausible(first.totalCount);
  return (
    plan.keyOrder &&
    merged.ascending &&
    merged.keepsKeys &&
    total !== undefined &&
    total > first.keys.length &&
    first.keys.length > 1 &&
    // Of a page much shorter than asked for, as many windows would be needed as there are records.
    first.keys.length * MAX_SHORTNESS >= parts.limits.pageSize &&
    parts.memory.heedsSkip(plan.resource) !== false
  );
}

/**
 * How the rest of a list of `total` records is cut, by a page of `records` in `bytes`: windows of one page, or, for a long list
 * whose platform would have to count through all of it again and again, segments of several (design section 5).
 */
export function cutOf(run: Run, { records, bytes }: { records: number; bytes: number }, total: number): Cut {
  const { limits, tokens } = run.parts;
  const overlap = Math.min(limits.overlap, Math.floor(records / 2));
  const room = Math.max(1, Math.floor(AHEAD_BYTES / Math.max(1, bytes)));
  const readers = total <= FEW_PAGES * records ? 1 : Math.min(limits.readers, room);
  // A row number costs the platform as much as `skip`, and proves nothing.
  const windows = total <= limits.windowRecords || tokens === "offset";
  const pages = windows ? 1 : Math.max(1, Math.min(limits.segmentPages, Math.floor(room / (2 * readers))));
  return {
    from: Math.max(0, run.merged.rank - overlap),
    overlap,
    step: pages * records - overlap,
    pages,
    ahead: Math.min(2 * readers, Math.max(1, Math.floor(room / pages))),
    readers,
    aheadBytes: AHEAD_BYTES,
  };
}
