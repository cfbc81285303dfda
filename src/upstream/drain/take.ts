/** How does a page that joins on become part of the list, and when is it the end? */
import type { DrainRefused } from "../../model/list.ts";
import { incomplete, sizeOf } from "./cursor.ts";
import { checkAfterPage, checkPages } from "./limits.ts";
import { plausible, takeBehind } from "./merged.ts";
import { mayRepair, type Page } from "./page.ts";
import type { Run } from "./run.ts";
import { joins, type Lost, lost, seek } from "./seek.ts";

/** How the list goes on: by further pages, or not at all (undefined: it is whole). */
export type Outcome = DrainRefused | Lost | undefined | "open";

/** Readings of a last page about which there is a doubt. */
const END_TRIES = 3;

/** Takes what `page` holds behind the commit point. Nothing may fail between that and its bytes: they would be missing. */
export async function* take(run: Run, page: Page): AsyncGenerator<Uint8Array, Outcome> {
  const { merged, plan, parts } = run;
  // Unless it overlaps, a page behind a token is only as good as the token, and so is its being the end.
  const says = page.keys.length > 0 || page.nextPageToken === "";
  if (says && page.skip === undefined && parts.tokens !== "keyset" && !joins(merged, page)) merged.proved = false;
  if (run.announced === "cover" && !merged.proved) {
    throw incomplete(plan.resource, "a token was no position in the order");
  }
  const before = merged.distinct;
  const chunk = takeBehind(merged, page, page.skip);
  checkSize(run, page);
  if (page.nextPageToken !== "") {
    if (chunk !== undefined) yield chunk;
    // A list that always seems to go on, and brings nothing, is no list.
    return merged.distinct > before || page.skip === 0 || mayRepair(run) ? "open" : lost("repairs");
  }
  // Before the last records go out: what is announced with them must be known.
  const end = await settle(run, page);
  if (chunk !== undefined) yield chunk;
  yield* end.chunks;
  if (end.failure !== undefined) throw end.failure.thrown;
  return end.outcome;
}

function checkSize({ merged, plan, parts }: Run, { nextPageToken }: Page): void {
  checkAfterPage(plan.resource, sizeOf(merged), parts.limits);
  if (nextPageToken === "") return;
  checkPages(plan.resource, Math.floor(merged.distinct / parts.limits.pageSize), parts.limits);
}

interface End {
  readonly outcome: Outcome;
  /** What was taken on the way. */
  readonly chunks: readonly Uint8Array[];
  readonly failure?: { readonly thrown: unknown };
}

/**
 * A page that is the last by its own word, but not by its own count, or not by what was seen of the list behind it, is read
 * again: counts are often made beside the page, records may have gone. Where it says the same again and again, the count is
 * taken for wrong. Where it cannot be read again, the doubt stays.
 */
async function settle(run: Run, last: Page): Promise<End> {
  const { merged } = run;
  const chunks: Uint8Array[] = [];
  let page = last;
  for (let tries = 1; tries < END_TRIES && isDoubtful(run, page, tries); tries += 1) {
    run.notes.add("list-page-again");
    const again = await seek(run).catch((thrown: unknown) => ({ kind: "failed" as const, thrown }));
    if (again.kind !== "page") {
      merged.proved = false;
      if (again.kind === "failed") return { outcome: undefined, chunks, failure: again };
      return { outcome: again, chunks };
    }
    const chunk = takeBehind(merged, again, again.skip);
    if (chunk !== undefined) chunks.push(chunk);
    try {
      checkSize(run, again);
    } catch (thrown) {
      return { outcome: undefined, chunks, failure: { thrown } };
    }
    if (again.nextPageToken !== "") return { outcome: "open", chunks };
    page = again;
  }
  merged.token = "";
  merged.ended = true;
  return { outcome: undefined, chunks };
}

/** What was seen behind the end is asked about once: it may really have gone. */
function isDoubtful({ merged, greatest }: Run, page: Page, tries: number): boolean {
  const beyond = greatest !== undefined && (merged.lastKey === undefined || greatest > merged.lastKey);
  return contradictsItself(page) || (beyond && tries === 1);
}

/** Counts other records than there are up to its end. */
function contradictsItself({ skip, keys, totalCount }: Page): boolean {
  const total = plausible(totalCount);
  if (skip === undefined || total === undefined) return false;
  return keys.length === 0 ? total > skip : total !== skip + keys.length;
}
