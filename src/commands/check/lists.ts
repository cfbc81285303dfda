/** Probes of lists: whether they are answered, their page size, order, `skip` and `totalCount`. */

import type { Config } from "../../config/config.ts";
import { PAGE_SIZE } from "../../drain/limits.ts";
import { grouped } from "../../model/group.ts";
import { Problem } from "../../model/problem.ts";
import type { CutoverMode } from "../../model/rules.ts";
import { counted } from "../../rules/words.ts";
import { isTypedRefusal, MISSING_OR_FORBIDDEN } from "../../translate/error.ts";
import { fail, type Judgement, listed, note, ok, skipped, warn } from "./finding.ts";
import {
  byLength,
  type CheckProbe,
  type ListWithPage,
  orderParam,
  type PlatformList,
  type PlatformListRead,
  type PlatformPage,
  type ProbeContext,
  readPage,
  shownStatus,
} from "./platform.ts";

function listNames(lists: readonly PlatformList[]): string {
  return listed(lists.map(({ resource }) => resource.name));
}

export const lists: CheckProbe = {
  id: "lists",
  asks: "Is every list answered that carryover reads?",
  run: ({ lists: all, config, serves }) => {
    const served = all.filter(({ page }) => page !== undefined);
    const refused = all
      .filter(({ page }) => page === undefined)
      .map((list) => ({ list, ...refusalOf(list) }))
      .map((refused) => ({ ...refused, mode: MISSING.has(refused.kind) ? serves(refused.list) : undefined }));
    return [
      ...(served.length === 0 ? [] : [ok(`answered: ${listNames(served)}`)]),
      ...grouped(refused, ({ kind, why, mode }) => [kind, why, mode]).map((group) =>
        judgeRefusals(group, config.upstream.v1 !== undefined),
      ),
    ];
  },
};

/** Refusals with which the list may well be missing: what serves it in v1 says how bad that is. */
const MISSING: ReadonlySet<Refusal["kind"]> = new Set(["not-found", "refused"]);

interface Refusal {
  readonly kind: "silent" | "forbidden" | "no-page" | "not-found" | "refused";
  readonly why: string;
}

function refusalOf({ response }: PlatformListRead): Refusal {
  if (response instanceof Problem) return { kind: "silent", why: response.reason };
  const why = shownStatus(response);
  if (response.status === 403 && isTypedRefusal(response.response, MISSING_OR_FORBIDDEN))
    return { kind: "forbidden", why };
  if (response.status === 200) return { kind: "no-page", why };
  return { kind: response.status === 400 || response.status === 404 ? "not-found" : "refused", why };
}

type RefusedList = Refusal & { readonly list: PlatformListRead; readonly mode: CutoverMode | undefined };

/** Lists that are refused for one reason, and served alike. `native`: whether there is a native v1. */
function judgeRefusals(group: readonly [RefusedList, ...RefusedList[]], native: boolean): Judgement {
  const [{ kind, why, mode }] = group;
  const refused = group.map(({ list }) => list);
  const names = listNames(refused);
  switch (kind) {
    case "silent":
      return fail(`${names}: no usable answer (${why})`, "check again, and ask the platform's operators");
    case "forbidden": {
      const what = group.length === 1 ? "it" : "them";
      return skipped(
        `${names}: the credential may not read ${what} (${why})`,
        `check with a token that may read ${what}`,
      );
    }
    case "no-page":
      return fail(`${names}: the answer is no page of records`, "have the platform's operators look at it");
  }
  const taken =
    kind === "not-found" ? "; a gateway that takes a bare collection for a record without a uid does this" : "";
  const what = `${names}: the list is refused (${why})${taken}`;
  const priority = kind === "not-found" ? ", and give the bare collection priority over {uid=**}" : "";
  const ask = `have the platform's operators serve ${refused.map(({ path }) => path).join(", ")}${priority}`;
  const rule = `{ name: not-in-v2, match: { resource: [${refused.map(({ resource }) => resource.name).join(", ")}] }, mode: native }`;
  if (mode === "native")
    return note(what, "native v1 serves them by the configuration: move none before v2 has its list");
  if (mode === "shadow")
    return warn(
      what,
      `no comparison can succeed; until v2 has them keep them native by a rule before all others: ${rule}`,
    );
  return native
    ? fail(what, `v1 lists of them fail: keep them on native v1 by a rule before all others: ${rule}; or ${ask}`)
    : fail(what, `v1 lists of them fail, and without upstream.v1.url nothing else serves them: ${ask}`);
}

export const pageSize: CheckProbe = {
  id: "page-size",
  asks: `Does a page hold the ${PAGE_SIZE} records that were asked for?`,
  run: (context) => {
    const all = byLength(context);
    const over = all.find(({ page }) => page.records.length > PAGE_SIZE);
    if (over !== undefined) {
      const what = `${over.resource.name}: ${over.page.records.length} records came on a page of ${PAGE_SIZE}`;
      return [fail(what, "carryover refuses such lists: have the platform's operators look at it")];
    }
    const full = all.find(({ page }) => page.records.length === PAGE_SIZE);
    if (full !== undefined) return [ok(`${full.resource.name}: a page holds ${PAGE_SIZE} records`)];
    const short = all.find(({ page }) => page.nextPageToken !== "");
    if (short === undefined) {
      return [skipped(`no list has more than ${PAGE_SIZE} records`, "check with a token that can read a long list")];
    }
    const size = short.page.records.length;
    const times = size === 0 ? "many" : (PAGE_SIZE / size).toFixed(1);
    return [
      warn(
        `${short.resource.name}: a page holds ${size} records where ${PAGE_SIZE} were asked for and more follow`,
        `nothing to set: lists are complete, but take ${times} times the calls, and lists.maxPages is reached sooner`,
      ),
    ];
  },
};

/** Records of the second, smaller read. */
const REREAD_SIZE = 5;

export const order: CheckProbe = {
  id: "order",
  asks: "Do lists come in ascending order of uid where the catalogue says so, and the same way twice elsewhere?",
  run: async (context) => {
    const all = byLength(context).filter(({ page }) => page.records.length > 1);
    if (all.length === 0) return [skipped("no list has two records", "check with a token that can read a longer list")];
    const right = all.filter(({ resource, page }) => resource.orderedByUid && ascends(page.uids));
    const findings: Judgement[] = right.length === 0 ? [] : [ok(`by uid: ${listNames(right)}`)];
    const others = all.filter((list) => !right.includes(list));
    const wrong = others.filter(({ resource }) => resource.orderedByUid);
    if (wrong.length > 0) findings.push(await judgeOrder(context, `not by uid: ${listNames(wrong)}`));
    const unsteady: ListWithPage[] = [];
    for (const list of others) {
      const again = await readPage(context.api, list, { size: REREAD_SIZE });
      if (again?.uids.every((uid, index) => uid === list.page.uids[index]) === false) unsteady.push(list);
    }
    const steady = others.filter((list) => !unsteady.includes(list) && !list.resource.orderedByUid);
    if (steady.length > 0) findings.push(ok(`an order of its own, the same twice: ${listNames(steady)}`));
    if (unsteady.length > 0) {
      findings.push(
        warn(
          `a list read twice begins differently: ${listNames(unsteady)}`,
          "either somebody is writing right now (check again), or pages may miss records: set lists.require: count to make such lists errors",
        ),
      );
    }
    return findings;
  },
};

/** Unordered lists are read one page after another and prove little: tests whether the platform orders them on request. */
async function judgeOrder(context: ProbeContext, what: string): Promise<Judgement> {
  const { api, config } = context;
  const slow = "such lists are read one page after another, and lists.require: cover refuses them";
  if (config.lists.orderBy !== undefined)
    return warn(what, `nothing to set, order_by=${config.lists.orderBy} is sent already: ${slow}`);
  const refused: ListWithPage[] = [];
  for (const list of byLength(context)) {
    const page = await readPage(api, list, { size: REREAD_SIZE }, [orderParam("uid")]);
    if (page === undefined || !ascends(page.uids)) refused.push(list);
  }
  // The option applies to all lists: one that refuses it could no longer be read.
  if (refused.length > 0)
    return warn(what, `nothing to set, order_by=uid is not heeded (${listNames(refused)}): ${slow}`);
  return warn(what, `${slow}, unless they are asked for by uid`, { path: "lists.orderBy", value: "uid" });
}

function ascends(uids: readonly string[]): boolean {
  return uids.every((uid, index) => index === 0 || uid > (uids[index - 1] ?? ""));
}

const SKIP_SIZE = 2;
/** Other writers may interfere, but not every time. */
const SKIP_TRIES = 3;

export const skip: CheckProbe = {
  id: "skip",
  asks: "Is the page at skip=2 the one that the first page's token leads to?",
  run: async (context) => {
    const list = byLength(context).find(({ page }) => page.records.length > SKIP_SIZE);
    if (list === undefined)
      return [skipped("no list has three records", "check with a token that can read a longer list")];
    for (let left = SKIP_TRIES; ; left--) {
      const { judgement, sure } = await trySkip(context, list);
      if (sure || left === 1) return [judgement];
    }
  },
};

async function trySkip(
  { api }: ProbeContext,
  list: PlatformList,
): Promise<{ readonly judgement: Judgement; readonly sure: boolean }> {
  const { name } = list.resource;
  const alone =
    "lists are read by their tokens, one page after another: long ones take longer, and are proved only with upstream.v2.pageTokens: keyset (see tokens)";
  const first = await readPage(api, list, { size: SKIP_SIZE });
  const token = first?.nextPageToken ?? "";
  const byToken = token === "" ? undefined : await readPage(api, list, { size: SKIP_SIZE, token });
  const bySkip = await readPage(api, list, { size: SKIP_SIZE, skip: SKIP_SIZE });
  if (first === undefined || byToken === undefined)
    return { judgement: skipped(`${name}: a page of ${SKIP_SIZE} has no usable token`, "see lists"), sure: false };
  if (bySkip === undefined) return { judgement: warn(`${name}: skip is refused`, alone), sure: true };
  if (isSamePage(bySkip, byToken)) {
    if (bySkip.skipped === SKIP_SIZE || bySkip.skipped === undefined)
      return { judgement: ok(`${name}: honoured`), sure: true };
    const what = `${name}: honoured, but \`skipped\` says ${bySkip.skipped}`;
    return { judgement: warn(what, `such a jump cannot be trusted: ${alone}`), sure: true };
  }
  if (isSamePage(bySkip, first)) return { judgement: warn(`${name}: ignored`, alone), sure: true };
  const what = `${name}: skip leads elsewhere than the token does, ${SKIP_TRIES} times`;
  return { judgement: warn(what, alone), sure: false };
}

function isSamePage(a: PlatformPage, b: PlatformPage): boolean {
  return a.uids.length > 0 && a.uids.join("\n") === b.uids.join("\n");
}

/** Longer lists are not read to their end: a check must not be a burst. */
const MAX_PAGES = 10;

export const totalCount: CheckProbe = {
  id: "total-count",
  asks: "Is `totalCount` there, and does it fit the records that come?",
  run: async (context) => {
    const { config } = context;
    const all = byLength(context).filter(({ page }) => page.records.length > 0);
    if (all.length === 0) return [skipped("every list is empty", "check with a token that can read some records")];
    const missing = all.filter(({ page }) => page.totalCount === undefined);
    const short: ListWithPage[] = [];
    for (const list of all) if (await fallsShort(context, list)) short.push(list);
    const low = all.filter((list) => !short.includes(list) && countsTooFew(list.page));
    const findings = [
      ...(missing.length === 0 ? [] : [judgeProof(`there is none: ${listNames(missing)}`, config)]),
      ...(low.length === 0 ? [] : [judgeProof(`it is less than the records that come: ${listNames(low)}`, config)]),
      ...judgeTotals(config, short),
    ];
    if (findings.length > 0) return findings;
    return [ok(`there, and right where the whole list was seen (${counted(all.length, "list")})`)];
  },
};

/** What `upstream.v2.totals` should be. `short`: lists with fewer records than their count. */
function judgeTotals({ upstream }: Config, short: readonly PlatformList[]): readonly Judgement[] {
  const { totals } = upstream.v2;
  const path = "upstream.v2.totals";
  if (short.length === 0) {
    if (totals === "verify") return [];
    const what = "it fits, and upstream.v2.totals: ignore does not look at it";
    return [warn(what, "with verify a list that falls short is an error", { path, value: "verify" })];
  }
  const what = `it is more than the records that come: ${listNames(short)}`;
  if (totals === "ignore") return [note(what, "upstream.v2.totals: ignore fits that")];
  const remedy =
    "such lists are refused (DRAIN_INCOMPLETE): ignore totals where they count records that the caller may not see";
  return [fail(what, remedy, { path, value: "ignore" })];
}

/** Whether the list ends before it has as many records as it counts; false when it is too long to be read here. */
async function fallsShort({ api }: ProbeContext, list: ListWithPage): Promise<boolean> {
  let { page } = list;
  const seen = new Set(page.uids);
  if (page.nextPageToken !== "" && (page.totalCount ?? 0) > MAX_PAGES * PAGE_SIZE) return false;
  for (let pages = 1; page.nextPageToken !== ""; pages += 1) {
    const next = await readPage(api, list, { size: PAGE_SIZE, token: page.nextPageToken });
    if (next === undefined || pages === MAX_PAGES) return false;
    for (const uid of next.uids) seen.add(uid);
    page = next;
  }
  return seen.size < (page.totalCount ?? 0);
}

/** A whole list on one page has as many records as it counts; one that goes on has more than its first page. */
function countsTooFew({ records, nextPageToken, totalCount: total }: PlatformPage): boolean {
  if (total === undefined) return false;
  return nextPageToken === "" ? total < records.length : total <= records.length;
}

/** What lists without a usable count mean for `lists.require`. */
function judgeProof(what: string, { lists }: Config): Judgement {
  const { require } = lists;
  const asked = require.default !== "none" || [...require.resources.values()].some((level) => level !== "none");
  if (!asked) {
    return warn(
      what,
      "a list of several pages is answered without proof (carryover-list: witness=none), unless upstream.v2.pageTokens is keyset (see tokens)",
    );
  }
  return fail(
    what,
    "lists.require asks for a proof that such lists cannot have: they would be refused (LIST_UNPROVEN)",
    {
      path: "lists.require",
      value: "none",
    },
  );
}
