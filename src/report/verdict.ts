/** Is v1 still in use, and how sure is that? (A gate before removal must not open because nobody looked.) */
import type { Merged } from "./merge.ts";
import type { Report } from "./shape.ts";

interface Evidence {
  readonly merged: Merged | undefined;
  /** Every address was heard. */
  readonly complete: boolean;
  /** Beginning of the window; undefined: all that anybody remembers. */
  readonly from: number | undefined;
  /** Clients that called v1 in the window. */
  readonly onV1: number;
}

/** `no` only when nothing is left open. */
export function judgeV1({ merged, complete, from, onV1 }: Evidence): Pick<Report, "v1Left" | "why"> {
  if (merged === undefined) return { v1Left: "unknown", why: "no instance was heard" };
  if (onV1 > 0) return { v1Left: "yes", why: onV1 === 1 ? "1 client called v1" : `${onV1} clients called v1` };
  if (hasUnlisted(merged, from)) {
    return {
      v1Left: "unknown",
      why: "there were v1 requests, and callers of v1 for which the ledger had no room (clients.max)",
    };
  }
  if (hasUnproven(merged, from)) {
    const why = "there were v1 requests without an answer, or answered with 5xx: that tells nothing of who sent them";
    return { v1Left: "unknown", why };
  }
  if (!complete) return { v1Left: "unknown", why: "not every instance was heard" };
  if (from !== undefined && merged.watchedSince > from) {
    return { v1Left: "unknown", why: "an instance has not been watching for so long" };
  }
  return { v1Left: "no", why: "no client called v1" };
}

/** v1 requests in the window that may be those of clients the ledger dropped. */
function hasUnlisted({ ledger, rows }: Merged, from = 0): boolean {
  return ledger.bound > 0 && rows.some(({ apiVersion, lastSeen }) => apiVersion === "v1" && lastSeen >= from);
}

/**
 * v1 requests in the window whose callers nobody knows, since the platform was in trouble or the client did not wait: they make
 * no entry in the ledger. What carryover refuses by itself serves nobody.
 */
function hasUnproven({ rows }: Merged, from = 0): boolean {
  return rows.some(
    ({ apiVersion, mode, codes, lastSeen }) =>
      apiVersion === "v1" && mode !== "refused" && (codes === "none" || codes === "5xx") && lastSeen >= from,
  );
}

/** 0: as hoped; 1: v1 is in use and that was to be found out; 2: the report is incomplete, or cannot tell. */
export function exitCodeOf({ complete, v1Left }: Report, failIfV1: boolean): 0 | 1 | 2 {
  if (failIfV1 && v1Left === "yes") return 1;
  return !complete || (failIfV1 && v1Left === "unknown") ? 2 : 0;
}
