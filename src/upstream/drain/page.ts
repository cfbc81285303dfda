/** How is one page asked for, and is it the page that was asked for? */
import type { DrainRefused, ListPage, PageSelector } from "../../model/list.ts";
import { Problem } from "../../model/problem.ts";
import type { Signal } from "../../model/signal.ts";
import { checkTime } from "./limits.ts";
import { type Merged, plausible } from "./merged.ts";
import type { Run } from "./run.ts";

/** A page, and the rank at which it was to begin: undefined behind a token. */
export interface Page extends ListPage {
  readonly kind: "page";
  readonly skip: number | undefined;
}

/** The platform took no notice of `skip`: the page is another one than was asked for. */
export interface Unskipped {
  readonly kind: "unskipped";
}

export type Fetched = Page | Unskipped | DrainRefused;

/** Where to read: at a rank, or behind a token; neither is the beginning. */
export interface Place extends Omit<PageSelector, "size"> {
  /** Records before this place, as far as is known; of a place that is given by its token. */
  readonly rank?: number;
}

/** AIP-158 allows empty pages with a token; a platform that sends nothing else must not hold a client for ever. */
export const MAX_EMPTY_PAGES = 3;

/**
 * Fetches one page. One behind the first that cannot be read, or is answered 5xx, is asked for once more while the drain may
 * still repair something; empty pages at a rank are read past. `part` stops the call of a page that is read ahead. Throws
 * `Problem` UPSTREAM_INVALID for what is no such page, UPSTREAM_TIMEOUT, what the Send throws, or the signal's reason.
 */
export async function fetchPage(run: Run, place: Place, part?: Signal): Promise<Fetched> {
  const signal = part ?? run.stopper.signal;
  // The list waits for a page that is no part of what is read ahead.
  return run.calls.make(() => fetchFilled(run, place, signal), signal, part === undefined);
}

/** The records that begin at a rank may come behind the token of an empty page. */
async function fetchFilled(run: Run, place: Place, signal: Signal): Promise<Fetched> {
  const { skip } = place;
  let page = await fetchGood(run, place, signal);
  for (let left = MAX_EMPTY_PAGES; left > 0 && skip !== undefined && isPassed(page); left -= 1) {
    const next = await fetchGood(run, { token: page.nextPageToken, rank: skip }, signal);
    // Nothing comes before rank 0, whatever is read there: of a page behind a token that cannot be said.
    page = next.kind === "page" && skip > 0 ? { ...next, skip } : next;
  }
  return page;
}

function isPassed(page: Fetched): page is Page {
  return page.kind === "page" && page.keys.length === 0 && page.nextPageToken !== "";
}

async function fetchGood(run: Run, place: Place, signal: Signal): Promise<Fetched> {
  if (place.token === undefined && place.skip === undefined) return fetchOnce(run, place, signal);
  const first = await fetchOnce(run, place, signal).catch(unreadable);
  const bad = first instanceof Problem || (first.kind === "refused" && first.response.status >= 500);
  if (!bad || !mayRepair(run)) {
    if (first instanceof Problem) throw first;
    return first;
  }
  run.notes.add("list-page-again");
  return fetchOnce(run, place, signal);
}

/** Takes one of the repairs that are left; false when there is none. */
export function mayRepair(run: Run): boolean {
  run.repairs -= 1;
  return run.repairs >= 0;
}

function unreadable(thrown: unknown): Problem {
  if (thrown instanceof Problem && thrown.reason === "UPSTREAM_INVALID") return thrown;
  throw thrown;
}

async function fetchOnce(run: Run, { rank, ...place }: Place, signal: Signal): Promise<Fetched> {
  const { plan, parts } = run;
  signal.throwIfAborted();
  checkTime(plan.resource, run.merged.distinct, (parts.now() - run.startedAt) / 1000, parts.limits);
  const size = parts.limits.pageSize;
  const atStart = place.token === undefined && place.skip === undefined;
  const send = atStart ? parts.send : parts.reads;
  const response = await send(plan.request({ size, ...place }), { signal });
  if (response.status !== 200) return { kind: "refused", response };
  run.pages += 1;
  if (atStart) run.headers = response.headers;
  else await parts.turn();
  const page = plan.read(response);
  const { skip } = place;
  if (skip !== undefined && page.skipped !== undefined && page.skipped !== skip) return { kind: "unskipped" };
  checkPage(run, page, atStart ? 0 : (skip ?? rank), skip !== undefined);
  const last = page.keys.at(-1);
  if (last !== undefined && (run.greatest === undefined || last > run.greatest)) run.greatest = last;
  return { ...page, kind: "page", skip: atStart ? 0 : skip };
}

/** Is this the page that was asked for? `rank`: how many records come before it, when that is known; `skips`: it was asked for by that. */
function checkPage(run: Run, page: ListPage, rank: number | undefined, skips: boolean): void {
  const { plan, parts } = run;
  const { pageSize } = parts.limits;
  if (page.keys.length > pageSize) {
    throw invalid(`a page of ${plan.resource} holds more than the ${pageSize} records asked for`);
  }
  // No skip was asked for, so an echoed one means records left out.
  if (!skips && page.skipped !== undefined && page.skipped !== 0) {
    throw invalid(`a page of ${plan.resource} skipped records that were asked for`);
  }
  if (saysNothing(run.merged, page))
    throw invalid(`a page of ${plan.resource} behind the first one says nothing at all`);
  if (page.bare !== true) return;
  // Zeros may be left out, and an empty list with them: but not where records are to come.
  const counted = rank !== undefined && (plausible(page.totalCount) ?? 0) > rank;
  if (counted || page.nextPageToken !== "") throw invalid(`a page of ${plan.resource} is without its records`);
}

/**
 * True when `page`, behind the first one, is as good as `{}`: no record, no token, and no count where the list had one. A
 * front may have answered it; of a list that was emptied meanwhile a second reading shows the same in its first page.
 */
export function saysNothing(merged: Merged, page: ListPage): boolean {
  const counted = merged.pages > 0 && (merged.total ?? 0) > 0;
  return counted && page.totalCount === undefined && page.keys.length === 0 && page.nextPageToken === "";
}

function invalid(what: string): Problem {
  return new Problem("UPSTREAM_INVALID", what);
}
