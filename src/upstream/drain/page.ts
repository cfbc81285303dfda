/** How is one page asked for, and is it the page that was asked for? */
import type { DrainRefused, ListPage, PageSelector } from "../../model/list.ts";
import { Problem } from "../../model/problem.ts";
import type { Signal } from "../../model/signal.ts";
import { checkTime } from "./limits.ts";
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
export type Place = Omit<PageSelector, "size">;

/**
 * Fetches one page. A page behind the first one that cannot be read, or is answered 5xx, is asked for once more while the
 * drain may still repair something. `part` stops the call of one that is read ahead. Throws `Problem` UPSTREAM_INVALID for what is no such page, UPSTREAM_TIMEOUT, what the
 * Send throws, or the signal's reason.
 */
export async function fetchPage(run: Run, place: Place, part?: Signal): Promise<Fetched> {
  const signal = part ?? run.stopper.signal;
  // The list waits for a page that is no part of what is read ahead.
  return run.calls.make(() => fetchGood(run, place, signal), signal, part === undefined);
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

async function fetchOnce(run: Run, place: Place, signal: Signal): Promise<Fetched> {
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
  if (page.keys.length > size) {
    throw new Problem("UPSTREAM_INVALID", `a page of ${plan.resource} holds more than the ${size} records asked for`);
  }
  const { skip } = place;
  if (page.skipped !== undefined && page.skipped !== (skip ?? 0)) {
    if (skip !== undefined) return { kind: "unskipped" };
    throw new Problem("UPSTREAM_INVALID", `a page of ${plan.resource} skipped records that were asked for`);
  }
  return { ...page, kind: "page", skip: atStart ? 0 : skip };
}
