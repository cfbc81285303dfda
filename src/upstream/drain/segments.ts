/** How is a list read at several places at a time, so that its pages prove that nothing lies between them? */
import type { DrainRefused } from "../../model/list.ts";
import { incomplete } from "./cursor.ts";
import { ascends, type Merged, reachesBehind } from "./merged.ts";
import { fetchPage, type Page, saysNothing } from "./page.ts";
import { pageOf, type Queue } from "./queue.ts";
import type { Run } from "./run.ts";
import { joins, type Lost, lost, seek } from "./seek.ts";
import { type Outcome, take } from "./take.ts";

/** Chunks as they are taken; ends with undefined when the list is whole and every border held. */
export type Segments = AsyncGenerator<Uint8Array, DrainRefused | Lost | undefined>;

/** Reading on that brings this part of a full page, or more, is no repair. */
const MUCH = 4;

/** What a platform may answer that knows no `skip`. */
const REFUSES_SKIP: ReadonlySet<number> = new Set([400, 404, 422, 501]);

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
        current = cutAgain(plannedTotal(run));
        continue;
      }
      const page = pageOf(step);
      if (page.kind === "refused") return run.trying && REFUSES_SKIP.has(page.response.status) ? lost("skip") : page;
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
        run.trying = false;
        current.widen();
      }
      current.until(run.merged.latestTotal);
    }
  } finally {
    current.close();
  }
}

/** Where the list goes on although its count is reached, the count is wrong: as many pages are tried as may be at a time. */
function plannedTotal({ merged, parts }: Run): number {
  const { latestTotal, rank } = merged;
  return latestTotal > rank ? latestTotal : rank + parts.limits.readers * parts.limits.pageSize;
}

/** A page behind a token with nothing but what came before it: such a token begins the list again, and leads nowhere. */
function wentBack(merged: Merged, { skip, keys }: Page): boolean {
  return skip === undefined && keys.length > 0 && !reachesBehind(merged, keys);
}

/** Takes the next page of a part, after whatever is needed to join it on. */
async function* takePart(run: Run, page: Page): AsyncGenerator<Uint8Array, Outcome> {
  const { merged, plan } = run;
  if (!ascends(page.keys)) return lost("order");
  // Read before the list's count was known.
  if (saysNothing(merged, page)) throw incomplete(plan.resource, "a page behind the first one says nothing at all");
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
    const page = await fetchPage(run, { token: merged.token, rank: merged.rank });
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
  const before = run.merged.distinct;
  const outcome = yield* take(run, page);
  // What brings much uses up no repairs.
  if ((run.merged.distinct - before) * MUCH >= run.parts.limits.pageSize) run.repairs += 1;
  return outcome;
}
