/** How is a list read by its cursor, one page after another, without ever taking a part for the whole? */
import type { ListPage, ListPlan } from "../../model/list.ts";
import type { ApiResponse, Send } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import type { Signal } from "../../model/signal.ts";
import { addPage, beginsAgain, type Gathered, saysNothing } from "./gather.ts";
import { checkAfterPage, checkAnnounced, checkBeforePage, type DrainLimits } from "./limits.ts";

/** What reading pages needs from outside. */
export interface Reading {
  readonly send: Send;
  readonly signal: Signal;
  readonly limits: DrainLimits;
  /** Seconds since the drain began. */
  seconds(): number;
  /** Called before every page but the first: takes the drain's slot, once. Throws `Problem` OVERLOADED. */
  longer(): void;
}

/** AIP-158 allows empty pages with a token; a platform that sends nothing else must not hold a client for ever. */
const MAX_EMPTY_PAGES = 3;

/**
 * Reads `plan` into `gathered` until a page comes without a token: nothing else ends a list, least of all a short page.
 * Returns the platform's answer when it is not 200, undefined when the list is whole.
 * Throws `Problem`: DRAIN_INCOMPLETE when tokens or pages go in a circle, UPSTREAM_INVALID when an answer is not the page
 * asked for (both may go away when the list is read again), or what the limits and `send` throw. Throws the signal's
 * reason when it aborts.
 */
export async function readByCursor(
  plan: ListPlan,
  reading: Reading,
  gathered: Gathered,
): Promise<ApiResponse | undefined> {
  const tokens = new Set<string>();
  let token = "";
  let emptyPages = 0;
  for (;;) {
    reading.signal.throwIfAborted();
    checkBeforePage(plan.resource, sizeOf(gathered), reading.seconds(), reading.limits);
    const size = reading.limits.pageSize;
    const request = plan.request(token === "" ? { size } : { size, token });
    const response = await reading.send(request, { signal: reading.signal });
    if (response.status !== 200) return response;
    const page = plan.read(response);
    checkPage(plan.resource, page, size);

    if (beginsAgain(gathered, page)) throw incomplete(plan.resource, "the platform began again");
    if (saysNothing(gathered, page)) throw incomplete(plan.resource, "a page behind the first one says nothing at all");
    addPage(gathered, page);
    emptyPages = page.keys.length === 0 ? emptyPages + 1 : 0;
    if (emptyPages > MAX_EMPTY_PAGES) throw incomplete(plan.resource, "the platform sends only empty pages");
    checkAfterPage(plan.resource, sizeOf(gathered), reading.limits);

    token = page.nextPageToken;
    if (token === "") return undefined;
    // The whole set, not the last token only: A, B, A, B would go on for ever.
    if (tokens.has(token)) throw incomplete(plan.resource, "a page token came twice");
    tokens.add(token);
    if (gathered.pages === 1) checkAnnounced(plan.resource, gathered.total ?? 0, reading.limits);
    reading.longer();
  }
}

/** Is this the page that was asked for? No skip was asked for, so an echoed one means records left out. */
function checkPage(resource: string, page: ListPage, size: number): void {
  if (page.keys.length > size) {
    throw new Problem("UPSTREAM_INVALID", `a page of ${resource} holds more than the ${size} records asked for`);
  }
  if (page.skipped !== undefined && page.skipped !== 0) {
    throw new Problem("UPSTREAM_INVALID", `a page of ${resource} skipped records that were asked for`);
  }
}

function sizeOf(gathered: Gathered): { pages: number; records: number; bytes: number } {
  return { pages: gathered.pages, records: gathered.distinct, bytes: gathered.bytes };
}

function incomplete(resource: string, why: string): Problem {
  return new Problem("DRAIN_INCOMPLETE", `the platform's pages of ${resource} do not form a whole list: ${why}`);
}
