/** What would break if carryover were removed now. */

import { isUnknown } from "../ledger/difficulty.ts";
import type { ClientEntry } from "../ledger/entry.ts";
import { compareText } from "../ledger/record.ts";
import { grouped } from "../model/group.ts";
import type { RequestTotalsRow } from "../telemetry/progress.ts";
import { largest, sum } from "./merge.ts";

/** Hardest first. */
export const BREAKS = [
  "lacking",
  "native",
  "full-replace",
  "long-list",
  "unknown-field",
  "unseen",
  "operation",
] as const;

/** One thing that would break. Members that do not apply to its kind are null. */
export interface BreakLine {
  /**
   * `lacking`: an operation that v2 lacks; `native`: one that native v1 serves now; `full-replace`: a field that PUTs set to
   * zero by leaving it out; `long-list`: a list longer than a v2 page; `unknown-field`: a field that v2 refuses; `unseen`:
   * requests whose content carryover did not see; `operation`: any v1 call.
   */
  readonly kind: (typeof BREAKS)[number];
  readonly resource: string;
  readonly operation: string | null;
  readonly field: string | null;
  /** Records of the longest such list. */
  readonly records: number | null;
  readonly requests: number | null;
  readonly clients: readonly string[];
}

type BreakKind = BreakLine["kind"];
type BreakCandidate = Pick<BreakLine, "kind" | "resource" | "operation" | "field" | "records" | "requests"> & {
  readonly client: string | undefined;
};

/**
 * What would break if carryover were removed now, hardest first, then by name. `clients`: those that called v1 in the window,
 * which starts at `from`; `rows`: counts of all requests; `counted`: they count from the same time as the ledger.
 */
export function breaksOf(
  clients: readonly ClientEntry[],
  rows: readonly RequestTotalsRow[],
  { from, counted }: { readonly from: number; readonly counted: boolean },
): readonly BreakLine[] {
  const native = nativeCandidates(rows, from).map((one) => (counted ? one : { ...one, requests: null }));
  const candidates = [...clients.flatMap((client) => candidatesOf(client, from)), ...native];
  const groups = grouped(candidates, ({ kind, resource, operation, field }) => [kind, resource, operation, field]);
  const lines = groups.map((group): BreakLine => {
    const [{ kind, resource, operation, field }] = group;
    const records = group.flatMap((one) => one.records ?? []);
    const requests = group.flatMap((one) => one.requests ?? []);
    return {
      kind,
      resource,
      operation,
      field,
      records: records.length === 0 ? null : largest(records),
      requests: requests.length === 0 ? null : sum(requests, (one) => one),
      clients: [...new Set(group.flatMap(({ client }) => client ?? []))].sort(),
    };
  });
  const nameOf = ({ resource, operation, field }: BreakLine) => `${resource} ${operation ?? field ?? ""}`;
  return lines.sort((a, b) => BREAKS.indexOf(a.kind) - BREAKS.indexOf(b.kind) || compareText(nameOf(a), nameOf(b)));
}

function candidatesOf({ name, operations, needs }: ClientEntry, from: number): readonly BreakCandidate[] {
  const candidate = (kind: BreakKind, resource: string, more: Partial<BreakCandidate>): BreakCandidate => ({
    kind,
    resource,
    operation: null,
    field: null,
    records: null,
    requests: null,
    client: name,
    ...more,
  });
  // Unknown paths count even if they failed: an error does not show that v1 lacks them.
  const unknown = operations.filter((one) => isUnknown(one) && one.lastSeen >= from);
  return [
    ...[...needs.lacking, ...unknown].map(({ resource, operation }) => candidate("lacking", resource, { operation })),
    ...needs.zeroedFields.map(({ resource, field }) => candidate("full-replace", resource, { field })),
    ...needs.longLists.map(({ resource, records }) => candidate("long-list", resource, { records })),
    ...needs.unknownFields.map(({ resource, field }) => candidate("unknown-field", resource, { field })),
    ...needs.unseen.map(({ resource, operation }) => candidate("unseen", resource, { operation })),
    ...operations
      .filter(({ lastSeen }) => lastSeen >= from)
      .map(({ resource, operation, requests }) => candidate("operation", resource, { operation, requests })),
  ];
}

/** From the counts of requests, so that calls of clients that are not in the ledger are included. */
function nativeCandidates(rows: readonly RequestTotalsRow[], from: number): readonly BreakCandidate[] {
  return rows
    .filter(({ apiVersion, mode, lastSeen }) => apiVersion === "v1" && mode === "native" && lastSeen >= from)
    .map(({ resource, operation, requests }) => ({
      kind: "native",
      resource,
      operation,
      field: null,
      records: null,
      requests,
      client: undefined,
    }));
}
