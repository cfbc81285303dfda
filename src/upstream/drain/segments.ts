/** How is a list read at several places at a time, so that its pages prove that nothing lies between them? */
import type { DrainRefused, ListPage } from "../../model/list.ts";
import { incomplete, sizeOf } from "./cursor.ts";
import { checkAfterPage, checkPages } from "./limits.ts";
import { ascends, type Merged, plausible, takeBehind } from "./merged.ts";
import { fetchPage, type Page } from "./page.ts";
import { type Cut, pageOf, type Queue } from "./queue.ts";
import type { Run } from "./run.ts";
import { joins, type Lost, lost, seek } from "./seek.ts";

/** Bytes of pages that may lie ahead of the commit point. */
const AHEAD_BYTES = 4 * 1024 * 1024;
/** Lists of so many pages are read one page after another. */
const FEW_PAGES = 3;

/** Pages may be shorter than asked for by this factor. */
const MAX_SHORTNESS = 4;
/** Readings of a last page that contradicts its own count. */
const END_TRIES = 3;

/** Chunks as they are taken; ends with undefined when the list is whole and every border held. */
export type Segments = AsyncGenerator<Uint8Array, DrainRefused | Lost | undefined>;

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
    from: run.merged.rank - overlap,
    overlap,
    step: pages * records - overlap,
    pages,
    ahead: Math.min(2 * readers, Math.max(1, Math.floor(room / pages))),
    readers,
  };
}

/**
 * Reads on behind the first page until a page that joins on says itself that it is the last. Takes parts in their order, each
 * only when it begins at or before the commit point; a gap is closed from there, what was taken is never read anew.
 */
export async function* readBySegments(run: Run, queue: Queue, cutAgain: (total: number) => Queue): Segments {
  let current = queue;
  try {
    for (;;) {
      const step = await current.step();
      if (step === undefined) {
        if (current.advance()) continue;
        // As many records as were counted, and still no end: there are more by now, or the end is behind a token.
        const more = yield* readOn(run);
        if (more !== "open") return more;
        current.close();
        current = cutAgain(Math.max(run.merged.latestTotal, run.merged.rank));
        continue;
      }
      const page = pageOf(step);
      if (page.kind === "refused") return page;
      if (page.kind === "unskipped") return lost("skip");
      if (wentBack(run.merged, page)) {
        run.notes.add("list-token-restarted");
        current.drop();
        continue;
      }
      const end = yield* takePart(run, page);
      if (end !== "open") return end;
      if (page.skip !== undefined && page.skip > 0) {
        run.parts.memory.sawSkip(run.plan.resource, true);
        current.widen();
      }
      current.until(run.merged.latestTotal);
    }
  } finally {
    current.close();
  }
}

/** A page behind a token with nothing but what came before it: such a token begins the list again, and leads nowhere. */
function wentBack({ lastKey }: Merged, { skip, keys }: Page): boolean {
  const last = keys.at(-1);
  return skip === undefined && last !== undefined && lastKey !== undefined && last <= lastKey;
}

type Outcome = DrainRefused | Lost | undefined | "open";

/** Takes the next page of a part, after whatever is needed to join it on. */
async function* takePart(run: Run, page: Page): AsyncGenerator<Uint8Array, Outcome> {
  const { merged } = run;
  if (!ascends(page.keys)) return lost("order");
  // What begins the list cannot be so far behind its beginning.
  if (page.skip !== undefined && page.skip > 0 && page.keys[0] !== undefined && page.keys[0] === merged.firstKey) {
    return lost("skip");
  }
  // A page behind a token of the page just taken cannot leave a gap that could be closed by rank.
  while (page.skip !== undefined && !joins(merged, page)) {
    run.notes.add("list-repaired");
    const closed = yield* closeGap(run);
    if (closed !== "open") return closed;
  }
  return yield* take(run, page);
}

/**
 * Reads and takes what follows the commit point where parts have run out. A token that is a position in the order says it
 * best; any other one only where reading by rank brings nothing new.
 */
async function* readOn(run: Run): AsyncGenerator<Uint8Array, Outcome> {
  const { merged, parts } = run;
  if (parts.tokens === "keyset" && merged.token !== "") {
    const page = await fetchPage(run, { token: merged.token });
    if (page.kind === "refused") return page;
    // Nothing and a token is no progress.
    const says = page.kind === "page" && (page.keys.length > 0 || page.nextPageToken === "");
    if (says && ascends(page.keys, merged.lastKey)) return yield* takePart(run, page);
  }
  return yield* closeGap(run);
}

/** Reads and takes one page from the commit point on. */
async function* closeGap(run: Run): AsyncGenerator<Uint8Array, Outcome> {
  const page = await seek(run);
  if (page.kind !== "page") return page;
  return yield* take(run, page);
}

async function* take(run: Run, page: Page): AsyncGenerator<Uint8Array, Outcome> {
  const { merged, plan, parts } = run;
  // Unless it overlaps, a page behind a token is only as good as the token, and so is its being the end.
  const says = page.keys.length > 0 || page.nextPageToken === "";
  if (says && page.skip === undefined && parts.tokens !== "keyset" && !joins(merged, page)) merged.proved = false;
  if (run.announced === "cover" && !merged.proved)
    throw incomplete(plan.resource, "a token was no position in the order");
  const chunk = takeBehind(merged, page, page.skip);
  checkAfterPage(plan.resource, sizeOf(merged), parts.limits);
  if (page.nextPageToken !== "")
    checkPages(plan.resource, Math.floor(merged.distinct / parts.limits.pageSize), parts.limits);
  if (page.nextPageToken !== "") {
    if (chunk !== undefined) yield chunk;
    return "open";
  }
  // Before the last records go out: what is announced with them must be known.
  const ending = await settle(run, page);
  if (chunk !== undefined) yield chunk;
  yield* ending.chunks;
  return ending.outcome;
}

/**
 * The last page by its own word, and not the last one by its own count: it may have left records out. Counts are often made
 * beside the page, so it is read again; where it goes on contradicting itself, nothing is proved.
 */
async function settle(run: Run, last: Page): Promise<{ readonly outcome: Outcome; readonly chunks: Uint8Array[] }> {
  const { merged, plan, parts } = run;
  const chunks: Uint8Array[] = [];
  let page = last;
  for (let tries = 1; contradictsItself(page); tries += 1) {
    if (tries >= END_TRIES) {
      merged.proved = false;
      parts.memory.sawMiscount(plan.resource);
      break;
    }
    run.notes.add("list-page-again");
    const again = await seek(run);
    if (again.kind !== "page") {
      // The doubt stays: what follows is no page that would take it away.
      merged.proved = false;
      return { outcome: again, chunks };
    }
    const chunk = takeBehind(merged, again, again.skip);
    checkAfterPage(plan.resource, sizeOf(merged), parts.limits);
    if (chunk !== undefined) chunks.push(chunk);
    if (again.nextPageToken !== "") return { outcome: "open", chunks };
    page = again;
  }
  merged.token = "";
  merged.ended = true;
  return { outcome: undefined, chunks };
}

/** Says that it is the last one, and counts other records than there are up to its end. */
function contradictsItself({ skip, keys, totalCount }: Page): boolean {
  const total = plausible(totalCount);
  if (skip === undefined || total === undefined) return false;
  return keys.length === 0 ? total > skip : total !== skip + keys.length;
}
