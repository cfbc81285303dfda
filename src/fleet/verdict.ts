/** Is v1 still in use? The verdict of a report on what instances told. */
import type { MergedProgress } from "./merge.ts";
import type { ReportScope, ScopedProgress } from "./scope.ts";
import { callsV1, isSeenIn, type ReportWindow } from "./window.ts";

export interface V1Verdict {
  readonly v1Left: "yes" | "no" | "unknown";
  /** Why `v1Left` is what it is, one sentence. */
  readonly why: string;
}

/** What instances told, and the time that the report is about. */
export interface ReportView {
  readonly merged: ScopedProgress;
  readonly window: ReportWindow;
}

interface V1Evidence {
  readonly view: ReportView | undefined;
  /** Every address responded. */
  readonly complete: boolean;
  /** What the report is about: `v1`, `v1 group`. */
  readonly calls: string;
}

/** `no` only if nothing is uncertain: a gate before the removal of v1 must not open for lack of evidence. */
export function judgeV1({ view, complete, calls }: V1Evidence): V1Verdict {
  if (view === undefined) return { v1Left: "unknown", why: "no instance was heard" };
  const { merged, window } = view;
  const onV1 = merged.ledger.clients.filter((client) => callsV1(client, window)).length;
  if (onV1 > 0) return { v1Left: "yes", why: `${onV1} ${onV1 === 1 ? "client" : "clients"} called ${calls}` };
  if (merged.mayHide) {
    return { v1Left: "unknown", why: "a client calls more operations of v1 than the ledger tells apart" };
  }
  if (hasUnlisted(merged, window)) {
    return {
      v1Left: "unknown",
      why: "there were v1 requests, and callers of v1 for which the ledger had no room (clients.max)",
    };
  }
  if (hasUnproven(merged, window)) {
    const why = "there were v1 requests without an answer, or answered with 5xx: that tells nothing of who sent them";
    return { v1Left: "unknown", why };
  }
  if (!complete) return { v1Left: "unknown", why: "not every instance was heard" };
  if (window.from !== undefined && merged.watchedSince > window.from) {
    return { v1Left: "unknown", why: "an instance has not been watching for so long" };
  }
  return { v1Left: "no", why: `no client called ${calls}` };
}

/** There were v1 requests in the window that may come from clients that the ledger dropped. */
function hasUnlisted({ ledger, rows }: MergedProgress, window: ReportWindow): boolean {
  return ledger.bound > 0 && rows.some((row) => row.apiVersion === "v1" && isSeenIn(row, window));
}

/**
 * There were v1 requests in the window from unknown callers, because the platform failed or the client did not wait: they make
 * no entry in the ledger. Requests that carryover refused do not count.
 */
function hasUnproven({ rows }: MergedProgress, window: ReportWindow): boolean {
  return rows.some((row) => {
    const { apiVersion, mode, codes } = row;
    return apiVersion === "v1" && mode !== "refused" && (codes === "none" || codes === "5xx") && isSeenIn(row, window);
  });
}

/** `v1`, or `v1 group` in the report of one resource. */
export function callsOf({ resource }: ReportScope): string {
  return resource === undefined ? "v1" : `v1 ${resource}`;
}
