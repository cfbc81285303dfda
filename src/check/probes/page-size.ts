/** Does the platform take the page size that drains ask for? */
import { sayFor } from "../finding.ts";
import { byLength, PAGE_SIZE, type Probe } from "../first-pages.ts";

const say = sayFor("page-size");

export const pageSize: Probe = {
  id: "page-size",
  asks: `Does a page hold the ${PAGE_SIZE} records that were asked for?`,
  run: (subject) => {
    const all = byLength(subject);
    const over = all.find(({ page }) => page.records.length > PAGE_SIZE);
    if (over !== undefined) {
      const what = `${over.resource.name}: ${over.page.records.length} records came on a page of ${PAGE_SIZE}`;
      return Promise.resolve([
        say.fail(what, "carryover refuses such lists: have the platform's operators look at it"),
      ]);
    }
    const full = all.find(({ page }) => page.records.length === PAGE_SIZE);
    if (full !== undefined)
      return Promise.resolve([say.ok(`${full.resource.name}: a page holds ${PAGE_SIZE} records`)]);
    const short = all.find(({ page }) => page.nextPageToken !== "");
    if (short === undefined) {
      return Promise.resolve([
        say.skipped(`no list has more than ${PAGE_SIZE} records`, "check with a token that can read a long list"),
      ]);
    }
    const size = short.page.records.length;
    const what = `${short.resource.name}: a page holds ${size} records where ${PAGE_SIZE} were asked for and more follow`;
    const times = size === 0 ? "many" : (PAGE_SIZE / size).toFixed(1);
    return Promise.resolve([
      say.warn(
        what,
        `nothing to set: lists are complete, but take ${times} times the calls, and lists.maxPages is reached sooner`,
      ),
    ]);
  },
};
