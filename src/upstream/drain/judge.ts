/** Is a page that says that it is the last one believed? */
import type { DrainRefused } from "../../model/list.ts";
import { plausible, reachesBehind } from "./merged.ts";
import type { Page } from "./page.ts";
import type { Run } from "./run.ts";
import { type Lost, seek } from "./seek.ts";

/** The page to be taken, and whether it is the end. `doubted`: it seems to be, but nothing is proved by it. */
export interface Judged {
  readonly kind: "judged";
  readonly page: Page;
  readonly end: "no" | "yes" | "doubted";
}

/** Readings of a last page about which there is a doubt. */
const END_TRIES = 3;

/**
 * A page that is the last by its own word, but not by its own count, or not by what was seen of the list behind it, is read
 * again, before anything of it is taken: counts are often made beside the page, records may have gone. One that goes on counting
 * more than there are is no end while it brings something: the list is read on by rank. When nothing comes any more, it ends, and
 * nothing is proved: records may be missing, or be such as the caller may not see. A count that is too small hides nothing.
 */
export async function judge(run: Run, last: Page): Promise<Judged | DrainRefused | Lost> {
  const { merged, parts, plan } = run;
  const most = parts.memory.miscounts(plan.resource) ? 1 : END_TRIES;
  let page = last;
  for (let tries = 1; page.nextPageToken === ""; tries += 1) {
    const more = countsMore(page);
    const doubt = more || countsLess(page) || (tries === 1 && sawMore(run, page));
    if (!doubt || (tries >= most && !more)) return { kind: "judged", page, end: "yes" };
    if (tries >= most) {
      const brings = reachesBehind(merged, page.keys);
      if (!brings) parts.memory.sawMiscount(plan.resource);
      return { kind: "judged", page, end: brings ? "no" : "doubted" };
    }
    run.notes.add("list-page-again");
    const again = await seek(run);
    if (again.kind !== "page") return again;
    page = again;
  }
  return { kind: "judged", page, end: "no" };
}

/** A page that was fetched, taken or not, went further. */
function sawMore({ merged, greatest = "" }: Run, { keys }: Page): boolean {
  return greatest > (keys.at(-1) ?? "") && greatest > (merged.lastKey ?? "");
}

/** By its own count there are records behind it. */
function countsMore({ skip, keys, totalCount }: Page): boolean {
  return skip !== undefined && (plausible(totalCount) ?? 0) > skip + keys.length;
}

/** By its own count there are not as many up to its end. */
function countsLess({ skip, keys, totalCount }: Page): boolean {
  const total = plausible(totalCount);
  return skip !== undefined && keys.length > 0 && total !== undefined && total < skip + keys.length;
}
