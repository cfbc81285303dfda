/** Do lists say how many records they hold, and is it true? (`upstream.v2.totals`.) */
import type { Config } from "../../config.ts";
import { type Finding, listed, type Setting, sayFor } from "../finding.ts";
import { byLength, PAGE_SIZE, type Page, type Probe, type ReadList, readPage, type Subject } from "../first-pages.ts";

const say = sayFor("total-count");
/** Longer lists are not read to their end: a check must not be a burst. */
const MOST_PAGES = 10;

export const totalCount: Probe = {
  id: "total-count",
  asks: "Is `totalCount` there, and does it fit the records that come?",
  run: async (subject) => {
    const all = byLength(subject).filter(({ page }) => page.records.length > 0);
    if (all.length === 0) return [say.skipped("every list is empty", "check with a token that can read some records")];
    const names = (lists: readonly ReadList[]) => listed(lists.map(({ resource }) => resource.name));
    const missing = all.filter(({ page }) => page.totalCount === undefined);
    const short: ReadList[] = [];
    for (const list of all) if (await fallsShort(subject, list)) short.push(list);
    const low = all.filter((list) => !short.includes(list) && countsTooFew(list.page));
    const findings: Finding[] = [];
    if (missing.length > 0) findings.push(lacking(`there is none: ${names(missing)}`, subject.config));
    if (low.length > 0) findings.push(lacking(`it is less than the records that come: ${names(low)}`, subject.config));
    findings.push(...judgeTotals(subject.config, short.length === 0 ? undefined : names(short)));
    if (findings.length === 0)
      findings.push(say.ok(`there, and right where the whole list was seen (${all.length} lists)`));
    return findings;
  },
};

/** What `upstream.v2.totals` should be: `short` names lists that hold fewer records than they count. */
function judgeTotals({ upstream }: Config, short: string | undefined): readonly Finding[] {
  const { totals } = upstream.v2;
  const path = "upstream.v2.totals";
  if (short === undefined) {
    if (totals === "verify") return [];
    const what = "it fits, and upstream.v2.totals: ignore does not look at it";
    return [say.warn(what, "with verify a list that falls short is an error", { path, value: "verify" })];
  }
  const what = `it is more than the records that come: ${short}`;
  if (totals === "ignore") return [say.note(what, "upstream.v2.totals: ignore fits that")];
  const remedy =
    "such lists are refused (DRAIN_INCOMPLETE): ignore totals where they count records that the caller may not see";
  return [say.fail(what, remedy, { path, value: "ignore" })];
}

/** True when the list ends before it has as many records as it counts; false when it is too long to be read here. */
async function fallsShort({ api }: Subject, list: ReadList & { readonly page: Page }): Promise<boolean> {
  let { page } = list;
  const seen = new Set(page.uids);
  if (page.nextPageToken !== "" && (page.totalCount ?? 0) > MOST_PAGES * PAGE_SIZE) return false;
  for (let pages = 1; page.nextPageToken !== ""; pages += 1) {
    const next = await readPage(api, list, { size: PAGE_SIZE, token: page.nextPageToken });
    if (next === undefined || pages === MOST_PAGES) return false;
    for (const uid of next.uids) seen.add(uid);
    page = next;
  }
  return seen.size < (page.totalCount ?? 0);
}

/** A whole list on one page has as many records as it says; a list that goes on has more than its first page. */
function countsTooFew({ records, nextPageToken, totalCount: total }: Page): boolean {
  if (total === undefined) return false;
  return nextPageToken === "" ? total < records.length : total <= records.length;
}

function lacking(what: string, { lists }: Config): Finding {
  const { require } = lists;
  const asked = require.default !== "none" || [...require.resources.values()].some((level) => level !== "none");
  if (!asked) {
    return say.warn(
      what,
      "a list of several pages is answered without proof (carryover-list: witness=none), unless upstream.v2.tokens is keyset (see tokens)",
    );
  }
  const set: Setting = { path: "lists.require", value: "none" };
  return say.fail(
    what,
    "lists.require asks for a proof that such lists cannot have: they would be refused (LIST_UNPROVEN)",
    set,
  );
}
