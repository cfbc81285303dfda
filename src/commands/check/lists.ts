/** Does the platform answer every list that carryover reads? (Trap T67: a collection may be taken for a record without a uid.) */

import type { Config } from "../../config/config.ts";
import { Problem } from "../../model/problem.ts";
import { isTypedRefusal, MISSING_OR_FORBIDDEN } from "../../translate/error.ts";
import { type Finding, findingsFor, listed, type OptionSetting } from "./finding.ts";
import {
  byLength,
  type CheckProbe,
  orderParam,
  PAGE_SIZE,
  type PlatformApi,
  type PlatformList,
  type PlatformListRead,
  type PlatformPage,
  type ProbeContext,
  readPage,
  shownStatus,
} from "./platform.ts";

const listsFinding = findingsFor("lists");

export const lists: CheckProbe = {
  id: "lists",
  asks: "Is every list answered that carryover reads?",
  run: ({ lists: all, config }) => {
    const served = all.filter(({ page }) => page !== undefined);
    const refused = all
      .filter(({ page }) => page === undefined)
      .map((list) => judgeList(list, config.upstream.v1 !== undefined));
    const findings =
      served.length === 0 ? [] : [listsFinding.ok(`answered: ${listed(served.map(({ resource }) => resource.name))}`)];
    return Promise.resolve([...findings, ...refused]);
  },
};

function judgeList({ resource, path, answer }: PlatformListRead, native: boolean): Finding {
  const { name } = resource;
  if (answer instanceof Problem) {
    return listsFinding.fail(
      `${name}: no usable answer (${answer.reason})`,
      "check again, and ask the platform's operators",
    );
  }
  const status = shownStatus(answer);
  if (answer.status === 403 && isTypedRefusal(answer.response, MISSING_OR_FORBIDDEN)) {
    return listsFinding.skipped(
      `${name}: the credential may not read it (${status})`,
      "check with a token that may read it",
    );
  }
  if (answer.status === 200) {
    return listsFinding.fail(
      `${name}: ${path} answers something that is no page of ${resource.items}`,
      "have the platform's operators look at it",
    );
  }
  const instead = native
    ? "until then send clients that list them to the platform's own v1, past carryover"
    : "v1 lists of them are refused meanwhile";
  if (answer.status === 400 || answer.status === 404) {
    return listsFinding.warn(
      `${name}: the list is refused (${status}); a gateway that takes ${path} for a record without a uid does this`,
      `have the platform's operators give the bare collection priority over {uid=**}; ${instead}`,
    );
  }
  return listsFinding.warn(
    `${name}: the list is refused (${status})`,
    `ask the platform's operators whether it serves ${path}; ${instead}`,
  );
}

/** Does the platform take the page size that drains ask for? */

const pageSizeFinding = findingsFor("page-size");

export const pageSize: CheckProbe = {
  id: "page-size",
  asks: `Does a page hold the ${PAGE_SIZE} records that were asked for?`,
  run: (subject) => {
    const all = byLength(subject);
    const over = all.find(({ page }) => page.records.length > PAGE_SIZE);
    if (over !== undefined) {
      const what = `${over.resource.name}: ${over.page.records.length} records came on a page of ${PAGE_SIZE}`;
      return Promise.resolve([
        pageSizeFinding.fail(what, "carryover refuses such lists: have the platform's operators look at it"),
      ]);
    }
    const full = all.find(({ page }) => page.records.length === PAGE_SIZE);
    if (full !== undefined)
      return Promise.resolve([pageSizeFinding.ok(`${full.resource.name}: a page holds ${PAGE_SIZE} records`)]);
    const short = all.find(({ page }) => page.nextPageToken !== "");
    if (short === undefined) {
      return Promise.resolve([
        pageSizeFinding.skipped(
          `no list has more than ${PAGE_SIZE} records`,
          "check with a token that can read a long list",
        ),
      ]);
    }
    const size = short.page.records.length;
    const what = `${short.resource.name}: a page holds ${size} records where ${PAGE_SIZE} were asked for and more follow`;
    const times = size === 0 ? "many" : (PAGE_SIZE / size).toFixed(1);
    return Promise.resolve([
      pageSizeFinding.warn(
        what,
        `nothing to set: lists are complete, but take ${times} times the calls, and lists.maxPages is reached sooner`,
      ),
    ]);
  },
};

/** In which order do lists come? */

const orderFinding = findingsFor("order");
/** Records of the second, smaller reading. */
const AGAIN = 5;

type ListWithPage = PlatformListRead & { readonly page: PlatformPage };

export const order: CheckProbe = {
  id: "order",
  asks: "Do lists come in ascending order of uid where the catalogue says so, and the same way twice elsewhere?",
  run: async (subject) => {
    const all = byLength(subject).filter(({ page }) => page.records.length > 1);
    if (all.length === 0)
      return [orderFinding.skipped("no list has two records", "check with a token that can read a longer list")];
    const right = all.filter(({ resource, page }) => resource.orderedByUid && ascends(page.uids));
    const findings: Finding[] = right.length === 0 ? [] : [orderFinding.ok(`by uid: ${listNames(right)}`)];
    const others = all.filter((list) => !right.includes(list));
    const wrong = others.filter(({ resource }) => resource.orderedByUid);
    if (wrong.length > 0) findings.push(await remedied(subject, `not by uid: ${listNames(wrong)}`));
    const unsteady = await unsteadyOf(subject, others);
    const steady = others.filter((list) => !unsteady.includes(list) && !list.resource.orderedByUid);
    if (steady.length > 0) findings.push(orderFinding.ok(`an order of its own, the same twice: ${listNames(steady)}`));
    if (unsteady.length > 0) {
      findings.push(
        orderFinding.warn(
          `a list read twice begins differently: ${listNames(unsteady)}`,
          "either somebody writes just now (check again), or pages may miss records: set lists.require: count to be told",
        ),
      );
    }
    return findings;
  },
};

/** Such lists are read one page after another and prove little: whether the platform orders them by uid when asked to. */
async function remedied(subject: ProbeContext, what: string): Promise<Finding> {
  const { api, config } = subject;
  const slow = "such lists are read one page after another, and lists.require: cover refuses them";
  if (config.lists.orderBy !== undefined)
    return orderFinding.warn(what, `nothing to set, order_by=${config.lists.orderBy} is sent already: ${slow}`);
  const refused: ListWithPage[] = [];
  for (const list of byLength(subject)) {
    const page = await readPage(api, list, { size: AGAIN }, [orderParam("uid")]);
    if (page === undefined || !ascends(page.uids)) refused.push(list);
  }
  // The option is for all lists: where one refuses it, that one could not be read any more.
  if (refused.length > 0)
    return orderFinding.warn(what, `nothing to set, order_by=uid is not heeded (${listNames(refused)}): ${slow}`);
  return orderFinding.warn(what, `${slow}, unless they are asked for by uid`, { path: "lists.orderBy", value: "uid" });
}

async function unsteadyOf({ api }: ProbeContext, lists: readonly ListWithPage[]): Promise<readonly ListWithPage[]> {
  const unsteady: ListWithPage[] = [];
  for (const list of lists) {
    const again = await readPage(api, list, { size: AGAIN });
    if (again === undefined) continue;
    const same = again.uids.every((uid, index) => uid === list.page.uids[index]);
    if (!same) unsteady.push(list);
  }
  return unsteady;
}

function ascends(uids: readonly string[]): boolean {
  return uids.every((uid, index) => index === 0 || uid > (uids[index - 1] ?? ""));
}

function listNames(lists: readonly ListWithPage[]): string {
  return listed(lists.map(({ resource }) => resource.name));
}

/** Does `skip` skip? */

const skipFinding = findingsFor("skip");
const STEP = 2;
/** Other writers may come between; more often than this is no chance. */
const TRIES = 3;

export const skip: CheckProbe = {
  id: "skip",
  asks: "Is the page behind skip=2 the one that the first page's token leads to?",
  run: async (subject) => {
    const list = byLength(subject).find(({ page }) => page.records.length > STEP);
    if (list === undefined)
      return [skipFinding.skipped("no list has three records", "check with a token that can read a longer list")];
    for (let left = TRIES; ; left--) {
      const { finding, sure } = judgeSkip(list.resource.name, await readSkipPages(subject.api, list));
      if (sure || left === 1) return [finding];
    }
  },
};

interface SkipPages {
  readonly first: PlatformPage | undefined;
  readonly byToken: PlatformPage | undefined;
  readonly bySkip: PlatformPage | undefined;
}

async function readSkipPages(api: PlatformApi, list: PlatformList): Promise<SkipPages> {
  const first = await readPage(api, list, { size: STEP });
  const token = first?.nextPageToken ?? "";
  const byToken = token === "" ? undefined : await readPage(api, list, { size: STEP, token });
  return { first, byToken, bySkip: await readPage(api, list, { size: STEP, skip: STEP }) };
}

function judgeSkip(
  name: string,
  { first, byToken, bySkip }: SkipPages,
): { readonly finding: Finding; readonly sure: boolean } {
  const alone =
    "lists are read by their tokens, one page after another: long ones take longer, and are proved only with upstream.v2.pageTokens: keyset (see tokens)";
  if (first === undefined || byToken === undefined) {
    return { finding: skipFinding.skipped(`${name}: a page of ${STEP} has no usable token`, "see lists"), sure: false };
  }
  if (bySkip === undefined) return { finding: skipFinding.warn(`${name}: skip is refused`, alone), sure: true };
  if (samePage(bySkip, byToken)) {
    if (bySkip.skipped === STEP || bySkip.skipped === undefined)
      return { finding: skipFinding.ok(`${name}: honoured`), sure: true };
    const finding = skipFinding.warn(
      `${name}: honoured, but \`skipped\` says ${bySkip.skipped}`,
      `such a jump cannot be trusted: ${alone}`,
    );
    return { finding, sure: true };
  }
  if (samePage(bySkip, first)) return { finding: skipFinding.warn(`${name}: ignored`, alone), sure: true };
  return {
    finding: skipFinding.warn(`${name}: skip leads elsewhere than the token does, ${TRIES} times`, alone),
    sure: false,
  };
}

function samePage(a: PlatformPage, b: PlatformPage): boolean {
  return a.uids.length > 0 && a.uids.join("\n") === b.uids.join("\n");
}

/** Do lists say how many records they hold, and is it true? (`upstream.v2.totals`.) */

const totalCountFinding = findingsFor("total-count");
/** Longer lists are not read to their end: a check must not be a burst. */
const MOST_PAGES = 10;

export const totalCount: CheckProbe = {
  id: "total-count",
  asks: "Is `totalCount` there, and does it fit the records that come?",
  run: async (subject) => {
    const all = byLength(subject).filter(({ page }) => page.records.length > 0);
    if (all.length === 0)
      return [totalCountFinding.skipped("every list is empty", "check with a token that can read some records")];
    const names = (lists: readonly PlatformListRead[]) => listed(lists.map(({ resource }) => resource.name));
    const missing = all.filter(({ page }) => page.totalCount === undefined);
    const short: PlatformListRead[] = [];
    for (const list of all) if (await fallsShort(subject, list)) short.push(list);
    const low = all.filter((list) => !short.includes(list) && countsTooFew(list.page));
    const findings: Finding[] = [];
    if (missing.length > 0) findings.push(lacking(`there is none: ${names(missing)}`, subject.config));
    if (low.length > 0) findings.push(lacking(`it is less than the records that come: ${names(low)}`, subject.config));
    findings.push(...judgeTotals(subject.config, short.length === 0 ? undefined : names(short)));
    if (findings.length === 0)
      findings.push(totalCountFinding.ok(`there, and right where the whole list was seen (${all.length} lists)`));
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
    return [totalCountFinding.warn(what, "with verify a list that falls short is an error", { path, value: "verify" })];
  }
  const what = `it is more than the records that come: ${short}`;
  if (totals === "ignore") return [totalCountFinding.note(what, "upstream.v2.totals: ignore fits that")];
  const remedy =
    "such lists are refused (DRAIN_INCOMPLETE): ignore totals where they count records that the caller may not see";
  return [totalCountFinding.fail(what, remedy, { path, value: "ignore" })];
}

/** True when the list ends before it has as many records as it counts; false when it is too long to be read here. */
async function fallsShort(
  { api }: ProbeContext,
  list: PlatformListRead & { readonly page: PlatformPage },
): Promise<boolean> {
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
function countsTooFew({ records, nextPageToken, totalCount: total }: PlatformPage): boolean {
  if (total === undefined) return false;
  return nextPageToken === "" ? total < records.length : total <= records.length;
}

function lacking(what: string, { lists }: Config): Finding {
  const { require } = lists;
  const asked = require.default !== "none" || [...require.resources.values()].some((level) => level !== "none");
  if (!asked) {
    return totalCountFinding.warn(
      what,
      "a list of several pages is answered without proof (carryover-list: witness=none), unless upstream.v2.pageTokens is keyset (see tokens)",
    );
  }
  const set: OptionSetting = { path: "lists.require", value: "none" };
  return totalCountFinding.fail(
    what,
    "lists.require asks for a proof that such lists cannot have: they would be refused (LIST_UNPROVEN)",
    set,
  );
}
