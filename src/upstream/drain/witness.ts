/** What does it prove that a list came to its end like this? */
import type { Witness } from "../../model/exchange.ts";
import { Problem } from "../../model/problem.ts";
import type { Merged } from "./merged.ts";

const RANK: Readonly<Record<Witness, number>> = { none: 0, count: 1, cover: 2 };

/**
 * The strongest witness for a list whose last page had no token (design section 5).
 * `cover`: the first page began at rank 0, every further page began at or before the last record already taken (or followed
 * a token that is known to be a position in the order), and the last one said itself that nothing comes behind it. Whatever
 * existed all the time lies in one of them. A page that contradicts its own count may have left a record out: no proof.
 * `count`: every page named the same count, and as many distinct records came.
 */
export function witnessOf(merged: Merged): Witness {
  if (merged.proved && merged.ascending && !(merged.pages === 1 && isMiscounted(merged))) return "cover";
  return isCounted(merged) ? "count" : "none";
}

/** The platform counted, but not the records that came: its count changed, is wrong, or counts what this caller cannot see. */
export function isMiscounted(merged: Merged): boolean {
  return merged.total !== undefined && !isCounted(merged);
}

function isCounted(merged: Merged): boolean {
  return merged.steady && merged.total === merged.distinct;
}

/** Throws LIST_UNPROVEN when `witness` is less than `required`. */
export function checkWitness(resource: string, witness: Witness, required: Witness): void {
  if (RANK[witness] >= RANK[required]) return;
  throw new Problem(
    "LIST_UNPROVEN",
    `the list of ${resource} could not be proved complete: "${required}" is required, "${witness}" was reached`,
    { metadata: { required, witness } },
  );
}
