/** How does a page that joins on become part of the list? */
import type { DrainRefused } from "../../model/list.ts";
import { incomplete, sizeOf } from "./cursor.ts";
import { judge } from "./judge.ts";
import { checkAfterPage, checkPages } from "./limits.ts";
import { takeBehind } from "./merged.ts";
import { mayRepair, type Page } from "./page.ts";
import type { Run } from "./run.ts";
import { joins, type Lost, lost } from "./seek.ts";

/** How the list goes on: by further pages, or not at all (undefined: it is whole). */
export type Outcome = DrainRefused | Lost | undefined | "open";

/** A page of which less than this part is new uses up repairs. */
const LITTLE = 4;

/**
 * Takes what `page`, or the one that stands for it when it is doubtful, holds behind the commit point. Nothing may fail
 * between that and its bytes: they would be missing.
 */
export async function* take(run: Run, page: Page): AsyncGenerator<Uint8Array, Outcome> {
  const { merged, plan, parts } = run;
  const judged = await judge(run, page);
  if (judged.kind !== "judged") return judged;
  checkProof(run, judged.page, judged.end === "doubted");
  const before = merged.distinct;
  const chunk = takeBehind(merged, judged.page, judged.page.skip);
  checkAfterPage(plan.resource, sizeOf(merged), parts.limits);
  if (judged.end !== "no") {
    merged.token = "";
    // Before the last records go out: what is announced with them must be known.
    merged.ended = true;
    if (chunk !== undefined) yield chunk;
    return undefined;
  }
  checkPages(plan.resource, Math.floor(merged.distinct / parts.limits.pageSize), parts.limits);
  if (chunk !== undefined) yield chunk;
  // A list that always seems to go on, and brings hardly anything, is no list.
  const fresh = merged.distinct - before;
  return fresh * LITTLE >= Math.max(1, judged.page.keys.length) || mayRepair(run) ? "open" : lost("repairs");
}

/** Unless it overlaps, a page behind a token is only as good as the token, and so is its being the end. */
function checkProof(run: Run, page: Page, doubted: boolean): void {
  const { merged, parts, plan } = run;
  const says = page.keys.length > 0 || page.nextPageToken === "";
  const trusts = says && page.skip === undefined && parts.tokens !== "keyset" && !joins(merged, page);
  if (trusts || doubted) merged.proved = false;
  if (run.announced !== "cover" || merged.proved) return;
  throw incomplete(
    plan.resource,
    doubted ? "its last page counts more records than there are" : "a token was no position in the order",
  );
}
