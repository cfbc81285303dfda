/** What does it prove that a list came to its end, and is it the end? */
import type { Witness } from "../../model/exchange.ts";
import { Problem } from "../../model/problem.ts";
import { type Committed, type Page, plausible } from "./committed.ts";

/** What `upstream.v2.totals` says of `totalCount`: evidence, or nothing to be relied on. */
export type Totals = "verify" | "ignore";

const RANK: Readonly<Record<Witness, number>> = { none: 0, count: 1, cover: 2 };

/** A last page that counts more records than there are with it. */
export interface Shortfall {
  /** Records of the list once the page is taken. */
  readonly read: number;
  /** What the page says there are. */
  readonly total: number;
}

/**
 * What is missing when `page`, which has no token and brings `fresh` records, ends the list; undefined when nothing is. Its rank and the count may both have grown because
 * records were created before the place that was being read: they did not exist all the time. Where the count never changed, as
 * many different records must have come.
 */
export function shortfall(list: Committed, page: Page, fresh: number, totals: Totals): Shortfall | undefined {
  if (totals === "ignore") return undefined;
  const total = plausible(page.totalCount) ?? (page.keys.length > 0 ? list.lastTotal : undefined);
  if (total === undefined) return undefined;
  const read = list.distinct + fresh;
  return read >= total || reachesMoved(list, page, total) ? undefined : { read, total };
}

/** True when `page` ends at the rank that it counts, and the count has changed since the list was begun. */
function reachesMoved(list: Committed, page: Page, total: number): boolean {
  const moved = list.distinct > 0 && !(list.steady && total === list.firstTotal);
  return moved && (page.skip ?? list.rank) + page.keys.length >= total;
}

/** True when `page`, read by rank, shows that `last` was the end although it fell short of its count: it ends there, too. */
export function confirms(list: Committed, page: Page, last: Page): boolean {
  const total = plausible(page.totalCount);
  if (total === undefined || page.nextPageToken !== "" || page.keys.at(-1) !== last.keys.at(-1)) return false;
  return page.keys.length > 0 && reachesMoved(list, page, total);
}

/** True when `page` ends at a higher rank than there are records by its own count. */
export function isOvercounted({ skip, keys, totalCount }: Page): boolean {
  const total = plausible(totalCount);
  return skip !== undefined && keys.length > 0 && total !== undefined && total < skip + keys.length;
}

/**
 * The strongest witness for a list whose last page was accepted as its end.
 * `cover`: the first page began at rank 0, every further page began at or before the last record already taken (or followed
 * a token that is known to be a position in the order), and the last one said itself that nothing follows. Whatever
 * existed all the time lies in one of them. A single page that contradicts its own count may have left a record out: no proof.
 * `count`: every page named the same count, and as many distinct records came.
 */
export function witnessOf(list: Committed): Witness {
  if (list.proved && list.ascending && !(list.pages === 1 && isMiscounted(list))) return "cover";
  return isCounted(list) ? "count" : "none";
}

/** The platform counted, but not the records that came: its count changed, or is wrong. */
export function isMiscounted(list: Committed): boolean {
  return list.firstTotal !== undefined && !isCounted(list);
}

function isCounted(list: Committed): boolean {
  return list.steady && list.firstTotal === list.distinct;
}

/** True when `witness` proves as much as `required`. */
export function isEnough(witness: Witness, required: Witness): boolean {
  return RANK[witness] >= RANK[required];
}

/** Throws LIST_UNPROVEN when `witness` is less than `required`. */
export function checkWitness(resource: string, witness: Witness, required: Witness): void {
  if (isEnough(witness, required)) return;
  throw new Problem(
    "LIST_UNPROVEN",
    `the list of ${resource} could not be proved complete: "${required}" is required, "${witness}" was reached`,
    { metadata: { required, witness } },
  );
}

/** The pages of a list contradict each other. */
export function incomplete(resource: string, why: string): Problem {
  return new Problem("DRAIN_INCOMPLETE", `the platform's pages of ${resource} do not form a whole list: ${why}`);
}

export function tooFew(resource: string, { read, total }: Shortfall): Problem {
  const why = `its last page counts ${total} records, and ${read} were read`;
  return new Problem(
    "DRAIN_INCOMPLETE",
    `the platform's pages of ${resource} do not form a whole list: ${why} (upstream.v2.totals: ignore, where totals count records that the caller may not see)`,
    { metadata: { read: String(read), total: String(total) } },
  );
}
