/** What would break if carryover were removed now. */

import { isUnknown } from "../ledger/difficulty.ts";
import type { ClientEntry, ClientOperation } from "../ledger/entry.ts";
import { compareText } from "../ledger/record.ts";
import { grouped } from "../model/group.ts";
import type { RequestTotalsRow } from "../telemetry/progress.ts";
import { largest, sum } from "./merge.ts";
import { isSeenIn, type ReportWindow } from "./window.ts";

/** Hardest first. */
export const BREAKS = [
  "lacking",
  "native",
  "full-replace",
  "long-list",
  "unknown-field",
  "unseen",
  "operation",
  "v2",
] as const;

/** One thing that would break. Members that do not apply to its kind are null. */
export interface BreakLine {
  /**
   * `lacking`: an operation that v2 lacks; `native`: one that native v1 serves now; `full-replace`: a field that PUTs set to
   * zero by leaving it out; `long-list`: a list longer than a v2 page; `unknown-field`: a field that v2 refuses; `unseen`:
   * requests whose content carryover did not see; `operation`: any v1 call; `v2`: requests that pass through to v2, whose
   * clients are to be led to the platform.
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

interface BreakSource {
  /** Those that called v1 in the window. */
  readonly clients: readonly ClientEntry[];
  /** Counts of all requests in the window. Undefined: only whether something was called is known, by its time. */
  readonly rows: readonly RequestTotalsRow[] | undefined;
  /** Counts of all requests since instances count. */
  readonly allRows: readonly RequestTotalsRow[];
  /** True for an operation of a client that was called in the window. */
  readonly isCalled: (one: ClientOperation) => boolean;
  readonly window: Pick<ReportWindow, "from" | "isAll">;
  /** Requests of rows may be shown: they count from the same time as the ledger. */
  readonly counted: boolean;
}

/** What would break if carryover were removed now, of that which was called in the window: hardest first, then by name. */
export function breaksOf(source: BreakSource): readonly BreakLine[] {
  const candidates = [
    ...source.clients.flatMap((client) => candidatesOf(client, source)),
    ...nativeCandidates(source),
    ...throughCandidates(source),
  ];
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
      requests: kind === "operation" && !source.window.isAll ? requestsOf(source, group[0]) : sumOf(requests),
      clients: [...new Set(group.flatMap(({ client }) => client ?? []))].sort(),
    };
  });
  const nameOf = ({ resource, operation, field }: BreakLine) => `${resource} ${operation ?? field ?? ""}`;
  return lines.sort((a, b) => BREAKS.indexOf(a.kind) - BREAKS.indexOf(b.kind) || compareText(nameOf(a), nameOf(b)));
}

function sumOf(requests: readonly number[]): number | null {
  return requests.length === 0 ? null : sum(requests, (one) => one);
}

/** Of all clients: those of one are not counted by operation over time. */
function requestsOf({ rows }: BreakSource, { resource, operation }: BreakCandidate): number | null {
  const same = rows?.filter(
    (row) => row.apiVersion === "v1" && row.resource === resource && row.operation === operation,
  );
  return same === undefined || same.length === 0 ? null : sum(same, ({ requests }) => requests);
}

function candidatesOf(
  { name, operations, needs }: ClientEntry,
  { isCalled, window }: BreakSource,
): readonly BreakCandidate[] {
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
  const called = operations.filter(isCalled);
  // Needs have no time. Those of an operation that was called at other times only are left out.
  const isNeeded = ({ resource, operation }: { readonly resource: string; readonly operation?: string }) => {
    const same = (one: ClientOperation) =>
      one.resource === resource && (operation === undefined || one.operation === operation);
    return called.some(same) || !operations.some(same);
  };
  const needed = <One extends { readonly resource: string; readonly operation?: string }>(all: readonly One[]) =>
    all.filter(isNeeded);
  // Unknown paths count even if they failed: an error does not show that v1 lacks them.
  const unknown = called.filter(isUnknown);
  return [
    ...[...needed(needs.lacking), ...unknown].map(({ resource, operation }) =>
      candidate("lacking", resource, { operation }),
    ),
    ...needed(needs.zeroedFields).map(({ resource, field }) => candidate("full-replace", resource, { field })),
    ...needed(needs.longLists).map(({ resource, records }) => candidate("long-list", resource, { records })),
    ...needed(needs.unknownFields).map(({ resource, field }) => candidate("unknown-field", resource, { field })),
    ...needed(needs.unseen).map(({ resource, operation }) => candidate("unseen", resource, { operation })),
    ...called.map(({ resource, operation, requests }) =>
      candidate("operation", resource, { operation, requests: window.isAll ? requests : null }),
    ),
  ];
}

/** Counts of requests name no client. */
function throughCandidates({ rows, allRows, window, counted }: BreakSource): readonly BreakCandidate[] {
  const isKnown = window.isAll ? counted : rows !== undefined;
  return (rows ?? allRows)
    .filter((row) => row.apiVersion === "v2" && isSeenIn(row, window))
    .map(({ resource, requests }) => ({
      kind: "v2",
      resource,
      operation: null,
      field: null,
      records: null,
      requests: isKnown ? requests : null,
      client: undefined,
    }));
}

/** From the counts of requests, so that calls of clients that are not in the ledger are included. */
function nativeCandidates({ rows, allRows, window, counted }: BreakSource): readonly BreakCandidate[] {
  const isKnown = window.isAll ? counted : rows !== undefined;
  return (rows ?? allRows)
    .filter((row) => row.apiVersion === "v1" && row.mode === "native" && isSeenIn(row, window))
    .map(({ resource, operation, requests }) => ({
      kind: "native",
      resource,
      operation,
      field: null,
      records: null,
      requests: isKnown ? requests : null,
      client: undefined,
    }));
}
