/** How does a list go on behind its commit point, when what was to come next does not join on to it? */
import type { DrainRefused } from "../../model/list.ts";
import { ascends, type Merged, plausible, reachesBehind } from "./merged.ts";
import { fetchPage, mayRepair, type Page } from "./page.ts";
import type { Run } from "./run.ts";

/** The way is of no use any more: `skip` is not heeded, keys are out of order, or too much had to be repaired. */
export interface Lost {
  readonly kind: "lost";
  readonly why: "skip" | "order" | "repairs";
}

export const lost = (why: Lost["why"]): Lost => ({ kind: "lost", why });

/** How far back a second try begins, in pages, and by how much each further one goes back. */
const BACK_PAGES = 1;
const BACK_FACTOR = 4;

/** True when `page` leaves no gap behind the commit point: then every record up to its own last one is known. */
export function joins(merged: Merged, page: Page): boolean {
  if (page.skip === 0) return true;
  const [first] = page.keys;
  return first !== undefined && merged.lastKey !== undefined && first <= merged.lastKey;
}

/**
 * A short page with nothing new, and a token: some platforms give every last page one, which leads to an empty page. That is
 * their end, as good as their tokens are.
 */
async function endBehind(run: Run, page: Page): Promise<Page | undefined> {
  if (page.keys.length >= run.parts.limits.pageSize || !mayRepair(run)) return undefined;
  const next = await fetchPage(run, { token: page.nextPageToken });
  return next.kind === "page" && next.keys.length === 0 && next.nextPageToken === "" ? next : undefined;
}

/**
 * Reads the page that holds the commit point or the place where it was: a little before its last known rank, further back
 * while records seem to have gone from before it, further on while it holds nothing new. The page that is given joins on,
 * and holds a record behind the commit point or is the end of the list.
 */
export async function seek(run: Run): Promise<Page | DrainRefused | Lost> {
  const { merged, parts } = run;
  const { pageSize, overlap } = parts.limits;
  let skip = Math.max(0, merged.rank - overlap);
  let back = BACK_PAGES * pageSize;
  while (mayRepair(run)) {
    const page = await fetchPage(run, { skip });
    if (page.kind === "refused") return page;
    if (page.kind === "unskipped") return lost("skip");
    if (!ascends(page.keys)) return lost("order");
    if (joins(merged, page)) {
      if (reachesBehind(merged, page.keys) || page.nextPageToken === "") return page;
      const end = await endBehind(run, page);
      if (end !== undefined) return end;
      // As many records were put before the commit point as this page holds.
      skip += Math.max(1, page.keys.length - overlap);
      continue;
    }
    const total = plausible(page.totalCount);
    skip = Math.max(0, Math.min(skip - back, (total ?? skip) - overlap));
    back *= BACK_FACTOR;
  }
  return lost("repairs");
}
