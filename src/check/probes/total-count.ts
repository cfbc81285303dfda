/** Do lists say how many records they hold, and is it true? */
import type { Config } from "../../config.ts";
import { type Finding, listed, type Setting, sayFor } from "../finding.ts";
import { byLength, type Page, type Probe } from "../first-pages.ts";

const say = sayFor("total-count");

export const totalCount: Probe = {
  id: "total-count",
  asks: "Is `totalCount` there, and does it fit the records that come?",
  run: (subject) => {
    const all = byLength(subject).filter(({ page }) => page.records.length > 0);
    if (all.length === 0)
      return Promise.resolve([say.skipped("every list is empty", "check with a token that can read some records")]);
    const names = (wanted: (page: Page) => boolean) =>
      all.filter(({ page }) => wanted(page)).map(({ resource }) => resource.name);
    const missing = names(({ totalCount: total }) => total === undefined);
    const wrong = names(contradicts);
    const findings: Finding[] = [];
    if (missing.length > 0) findings.push(lacking(`there is none: ${listed(missing)}`, subject.config));
    if (wrong.length > 0)
      findings.push(lacking(`it is not the number of records that come: ${listed(wrong)}`, subject.config));
    if (findings.length === 0)
      findings.push(say.ok(`there, and right where the whole list was seen (${all.length} lists)`));
    return Promise.resolve(findings);
  },
};

/** A whole list on one page has as many records as it says; a list that goes on has more than its first page. */
function contradicts({ records, nextPageToken, totalCount: total }: Page): boolean {
  if (total === undefined) return false;
  return nextPageToken === "" ? total !== records.length : total <= records.length;
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
