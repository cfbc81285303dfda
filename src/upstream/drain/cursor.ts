/** How is a list read by its cursor, one page after another, without ever taking a part for the whole? */
import type { DrainRefused, ListPage } from "../../model/list.ts";
import { Problem } from "../../model/problem.ts";
import { checkAfterPage, checkPages, type Size } from "./limits.ts";
import { ascends, indexOf, type Merged, takeBehind, takeNew } from "./merged.ts";
import { fetchPage, MAX_EMPTY_PAGES } from "./page.ts";
import type { Run } from "./run.ts";

/** Chunks as they are taken; ends with the platform's refusal, or with undefined when the list is whole. */
export type Chunks = AsyncGenerator<Uint8Array, DrainRefused | undefined>;

/**
 * Reads on behind the commit point until a page comes without a token: nothing else ends a list, least of all a short page.
 * Throws `Problem` DRAIN_INCOMPLETE when tokens or pages go in a circle, UPSTREAM_INVALID when an answer is not the page
 * asked for (both may go away when the list is read again), or what limits and Send throw.
 */
export async function* readByCursor(run: Run): Chunks {
  const { plan, parts, merged } = run;
  const tokens = new Set<string>();
  // Pages that were read by rank overlap: they count by what they brought.
  let pages = merged.pages === 1 ? 1 : Math.floor(merged.distinct / parts.limits.pageSize);
  let emptyPages = merged.pages === 1 && merged.distinct === 0 ? 1 : 0;
  while (merged.token !== "") {
    const { token } = merged;
    // The whole set, not the last token only: A, B, A, B would go on for ever.
    if (tokens.has(token)) throw incomplete(plan.resource, "a page token came twice");
    tokens.add(token);
    checkPages(plan.resource, pages, parts.limits);
    pages += 1;
    const page = await fetchPage(run, { token, rank: merged.rank });
    if (page.kind === "refused") return page;
    if (page.kind === "unskipped") throw new Problem("INTERNAL", "internal error");
    const caughtUp = merged.catchingUp && page.keys.some((key) => isNew(merged, key));
    if (!merged.catchingUp && beginsAgain(merged, page)) throw incomplete(plan.resource, "the platform began again");
    emptyPages = page.keys.length === 0 ? emptyPages + 1 : 0;
    if (emptyPages > MAX_EMPTY_PAGES) throw incomplete(plan.resource, "the platform sends only empty pages");
    const chunk = takeFollowing(run, page);
    if (caughtUp) merged.catchingUp = false;
    checkAfterPage(plan.resource, sizeOf(merged), parts.limits);
    merged.ended = page.nextPageToken === "";
    if (chunk !== undefined) yield chunk;
  }
  merged.ended = true;
  return undefined;
}

/** Takes a page behind a token. Rows behind a row number move: only a token that is a position in the order proves anything. */
function takeFollowing(run: Run, page: ListPage): Uint8Array | undefined {
  if (run.parts.tokens !== "keyset") run.merged.proved = false;
  return takeInTurn(run, page);
}

/** Takes the first page, or one behind a token; of a list that is read anew, what lies behind the commit point. */
export function takeInTurn(run: Run, page: ListPage): Uint8Array | undefined {
  const { merged, plan } = run;
  if (merged.keepsKeys) return takeNew(merged, page);
  if (!ascends(page.keys)) throw leftOrder(plan.resource);
  const chunk = takeBehind(merged, page, undefined);
  merged.token = page.nextPageToken;
  return chunk;
}

/**
 * True when `page`, asked for with a token, begins the list again: with its very first record, or with known records only.
 * Platforms answer an expired token like that, without an error. Known records beside new ones are no such sign: an insert
 * shifts the pages of an offset token. (A restart hidden by other writers is followed to its end, which is a whole reading too.)
 */
function beginsAgain(merged: Merged, page: ListPage): boolean {
  const [first] = page.keys;
  if (first === undefined) return false;
  if (first === merged.firstKey) return true;
  if (merged.ascending && (merged.lastKey === undefined || first > merged.lastKey)) return false;
  if (!merged.keepsKeys) return page.keys.every((key) => merged.lastKey !== undefined && key <= merged.lastKey);
  const seen = indexOf(merged);
  return page.keys.every((key) => seen.has(key));
}

function isNew(merged: Merged, key: string): boolean {
  return merged.keepsKeys ? !indexOf(merged).has(key) : merged.lastKey === undefined || key > merged.lastKey;
}

/** How much of the list there is so far. */
export function sizeOf({ distinct, bytes }: Merged): Size {
  return { records: distinct, bytes };
}

/** Parts of a list have gone out as proved by their order, and now there is none. */
export function leftOrder(resource: string): Problem {
  return incomplete(resource, "its records left their order");
}

/** The pages of a list contradict each other. */
export function incomplete(resource: string, why: string): Problem {
  return new Problem("DRAIN_INCOMPLETE", `the platform's pages of ${resource} do not form a whole list: ${why}`);
}
