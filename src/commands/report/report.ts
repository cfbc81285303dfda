/** The report on the migration: its shape (docs/report.md), how it follows from the instances' progress, and the verdict. */

import { difficultyOf, isUnknown } from "../../ledger/difficulty.ts";
import { compareText } from "../../ledger/record.ts";
import { grouped } from "../../model/group.ts";
import type { ClientEntry, ClientNeeds, Difficulty } from "../../model/ledger.ts";
import type { RequestTotalsRow, RuleProgress, RuleStateName } from "../../model/progress.ts";
import type { CutoverMode, Rules } from "../../model/rules.ts";
import type { InstanceResult } from "./ask.ts";
import { largest, latestOf, type MergedProgress, merge, type RespondingInstance, sharerOf, sum } from "./merge.ts";

/** The output of `--json`. Times are ISO 8601 in UTC; null: unknown, or never. Shares are 0 to 1. */
export interface MigrationReport {
  readonly version: 1;
  /** The latest time of an instance; null if none responded. */
  readonly at: string | null;
  /** Every address responded. */
  readonly complete: boolean;
  readonly instances: readonly InstanceLine[];
  readonly window: {
    /** Beginning of `--since`; null without it. */
    readonly from: string | null;
    /** Since when every instance that responded has been watching. */
    readonly watchedSince: string | null;
  };
  /** Requests since the instances started. `v1Share`: null without any. */
  readonly requests: { readonly v1: number; readonly v2: number; readonly v1Share: number | null };
  readonly resources: readonly ResourceLine[];
  readonly ledger: {
    readonly since: string | null;
    readonly v1: number;
    readonly v2: number;
    /** By how much each client's v1 count may be too high, and the most v1 requests of a client that is not listed. */
    readonly bound: number;
  };
  /** Those on v1 first, most v1 requests first. */
  readonly clients: readonly ClientLine[];
  readonly bounds: readonly BoundLine[];
  readonly rules: readonly RuleLine[];
  /** What would break if carryover were removed now. */
  readonly breaks: readonly BreakLine[];
  readonly v1Left: "yes" | "no" | "unknown";
  /** Why `v1Left` is what it is, one sentence. */
  readonly why: string;
}

export interface InstanceLine {
  readonly address: string;
  /** Why there was no usable response; null if there was one. Unless it is null, all members but the address are null. */
  readonly fault: string | null;
  readonly instance: string | null;
  readonly since: string | null;
  readonly at: string | null;
  readonly mode: CutoverMode | null;
  readonly force: Rules["force"] | null;
  readonly lastReloadSuccessful: boolean | null;
  /** An earlier address of the same instance, which counts once. */
  readonly sameAs: string | null;
  /** An earlier address whose ledger started from the same file (`clients.file`): what that held counts for both. */
  readonly sharesLedgerWith: string | null;
  /** Seconds by which its clock is behind the latest one, which all times outside of this line follow. */
  readonly clockBehind: number | null;
}

export interface ResourceLine {
  readonly resource: string;
  readonly v1: number;
  readonly v2: number;
  readonly v1Share: number;
  /** How v1 was served. */
  readonly native: number;
  readonly shadow: number;
  readonly translate: number;
  readonly refused: number;
  readonly lastV1: string | null;
}

export interface ClientLine {
  readonly name: string;
  readonly label: string;
  /** It called v1 in the window. */
  readonly onV1: boolean;
  readonly v1: number;
  readonly v2: number;
  /** By how many `v1` may be too high. */
  readonly over: number;
  readonly difficulty: Difficulty;
  readonly firstSeen: string;
  readonly lastSeen: string;
  readonly lastV1: string | null;
  readonly operations: readonly { readonly resource: string; readonly operation: string; readonly requests: number }[];
  readonly needs: ClientNeeds;
}

export interface BoundLine {
  readonly resource: string;
  readonly operation: string;
  /** Null: all clients. */
  readonly client: string | null;
  readonly comparisons: number;
  readonly differences: number;
  /** Upper bound (95 %) of the share of responses that differ. */
  readonly upper: number;
}

export interface RuleLine {
  readonly name: string;
  readonly mode: CutoverMode;
  readonly doing: RuleProgress["doing"];
  readonly state: RuleStateName;
  readonly since: string | null;
  readonly detail: string;
  /** Addresses of the instances in this state. */
  readonly on: readonly string[];
}

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

/** `windowMs`: how far back v1 counts; undefined: as far as the instances remember. */
export function createReport(results: readonly InstanceResult[], windowMs: number | undefined): MigrationReport {
  const { instances, responding } = readInstances(results);
  const complete = instances.every(({ fault }) => fault === null);
  const merged = merge(responding);
  const from = merged === undefined || windowMs === undefined ? undefined : merged.at - windowMs;
  const clients = merged?.ledger.clients ?? [];
  const rows = merged?.rows ?? [];
  const onV1 = clients.filter((client) => isOnV1(client, from));
  return {
    version: 1,
    at: timeOf(merged?.at),
    complete,
    instances,
    window: { from: timeOf(from), watchedSince: timeOf(merged?.watchedSince) },
    requests: sharesOf(rows),
    resources: resourcesOf(rows),
    ledger: {
      since: timeOf(merged?.ledger.since),
      v1: merged?.ledger.requests.v1 ?? 0,
      v2: merged?.ledger.requests.v2 ?? 0,
      bound: merged?.ledger.bound ?? 0,
    },
    clients: [
      ...onV1.map((client) => clientLine(client, true)),
      ...clients.filter((client) => !isOnV1(client, from)).map((client) => clientLine(client, false)),
    ],
    bounds: (merged?.bounds ?? []).map((bound) => ({ ...bound, client: bound.client ?? null })),
    rules: (merged?.rules ?? []).map((rule) => ({ ...rule, since: timeOf(rule.since) })),
    breaks: breaksOf(onV1, rows, from ?? 0),
    ...judgeV1({ merged, complete, from, onV1: onV1.length }),
  };
}

/** A line for each address, and the instances that responded; several addresses of one instance count once. */
function readInstances(results: readonly InstanceResult[]): {
  readonly instances: readonly InstanceLine[];
  readonly responding: readonly RespondingInstance[];
} {
  const responding: RespondingInstance[] = [];
  const latest = latestOf(results.flatMap((one) => ("fault" in one ? [] : [one])));
  const instances = results.map(({ address, ...result }): InstanceLine => {
    if ("fault" in result) {
      const nothing = { instance: null, since: null, at: null, mode: null, force: null, lastReloadSuccessful: null };
      return { address, fault: result.fault, ...nothing, sameAs: null, sharesLedgerWith: null, clockBehind: null };
    }
    const { progress } = result;
    const before = responding.findIndex((one) => one.progress.instance === progress.instance);
    const same = responding[before];
    const sharer = same === undefined ? sharerOf(progress, responding) : undefined;
    if (same === undefined) responding.push({ address, progress });
    else if (progress.at > same.progress.at) responding[before] = { ...same, progress };
    const { instance, since, at, mode, force, lastReloadSuccessful } = progress;
    return {
      address,
      fault: null,
      instance,
      since: timeOf(since),
      at: timeOf(at),
      mode,
      force,
      lastReloadSuccessful,
      sameAs: same?.address ?? null,
      sharesLedgerWith: sharer?.address ?? null,
      clockBehind: Math.max(0, Math.round((latest - at) / 1000)),
    };
  });
  return { instances, responding };
}

function isOnV1({ lastV1 }: ClientEntry, from: number | undefined): boolean {
  return lastV1 !== undefined && (from === undefined || lastV1 >= from);
}

function clientLine(client: ClientEntry, onV1: boolean): ClientLine {
  return {
    name: client.name,
    label: client.label,
    onV1,
    ...client.requests,
    over: client.over,
    difficulty: difficultyOf(client),
    firstSeen: new Date(client.firstSeen).toISOString(),
    lastSeen: new Date(client.lastSeen).toISOString(),
    lastV1: timeOf(client.lastV1),
    operations: client.operations.map(({ resource, operation, requests }) => ({ resource, operation, requests })),
    needs: client.needs,
  };
}

const countRequests = (rows: readonly RequestTotalsRow[], version: string, mode?: string): number =>
  sum(
    rows.filter((row) => row.apiVersion === version && (mode === undefined || row.mode === mode)),
    ({ requests }) => requests,
  );

function sharesOf(rows: readonly RequestTotalsRow[]): MigrationReport["requests"] {
  const [v1, v2] = [countRequests(rows, "v1"), countRequests(rows, "v2")];
  return { v1, v2, v1Share: v1 + v2 === 0 ? null : v1 / (v1 + v2) };
}

/** Most v1 requests first. */
function resourcesOf(rows: readonly RequestTotalsRow[]): readonly ResourceLine[] {
  const ofApi = rows.filter(({ apiVersion }) => apiVersion === "v1" || apiVersion === "v2");
  const lines = grouped(ofApi, ({ resource }) => [resource]).map((group): ResourceLine => {
    const { v1, v2 } = sharesOf(group);
    const times = group.flatMap(({ apiVersion, lastSeen }) => (apiVersion === "v1" ? [lastSeen] : []));
    return {
      resource: group[0].resource,
      v1,
      v2,
      v1Share: v1 / (v1 + v2),
      native: countRequests(group, "v1", "native"),
      shadow: countRequests(group, "v1", "shadow"),
      translate: countRequests(group, "v1", "translate"),
      refused: countRequests(group, "v1", "refused"),
      lastV1: timeOf(times.length === 0 ? undefined : largest(times)),
    };
  });
  return lines.sort((a, b) => b.v1 - a.v1 || b.v2 - a.v2);
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

type BreakKind = BreakLine["kind"];
type BreakCandidate = Pick<BreakLine, "kind" | "resource" | "operation" | "field" | "records" | "requests"> & {
  readonly client: string | undefined;
};

/**
 * What would break if carryover were removed now, hardest first, then by name. `clients`: those that called v1 in the window,
 * which starts at `from`; `rows`: counts of all requests.
 */
function breaksOf(
  clients: readonly ClientEntry[],
  rows: readonly RequestTotalsRow[],
  from: number,
): readonly BreakLine[] {
  const candidates = [...clients.flatMap((client) => candidatesOf(client, from)), ...nativeCandidates(rows, from)];
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

interface V1Evidence {
  readonly merged: MergedProgress | undefined;
  /** Every address responded. */
  readonly complete: boolean;
  /** Start of the window; undefined: as far as the instances remember. */
  readonly from: number | undefined;
  /** Clients that called v1 in the window. */
  readonly onV1: number;
}

/** `no` only if nothing is uncertain: a gate before the removal of v1 must not open for lack of evidence. */
function judgeV1({ merged, complete, from, onV1 }: V1Evidence): Pick<MigrationReport, "v1Left" | "why"> {
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

/** There were v1 requests in the window that may come from clients that the ledger dropped. */
function hasUnlisted({ ledger, rows }: MergedProgress, from = 0): boolean {
  return ledger.bound > 0 && rows.some(({ apiVersion, lastSeen }) => apiVersion === "v1" && lastSeen >= from);
}

/**
 * There were v1 requests in the window from unknown callers, because the platform failed or the client did not wait: they make
 * no entry in the ledger. Requests that carryover refused do not count.
 */
function hasUnproven({ rows }: MergedProgress, from = 0): boolean {
  return rows.some(
    ({ apiVersion, mode, codes, lastSeen }) =>
      apiVersion === "v1" && mode !== "refused" && (codes === "none" || codes === "5xx") && lastSeen >= from,
  );
}

/** 0: success; 1: v1 is in use, with `failIfV1`; 2: the report is incomplete, or does not know. */
export function exitCodeOf({ complete, v1Left }: MigrationReport, failIfV1: boolean): 0 | 1 | 2 {
  if (failIfV1 && v1Left === "yes") return 1;
  return !complete || (failIfV1 && v1Left === "unknown") ? 2 : 0;
}
