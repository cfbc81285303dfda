/** The report on the migration: its shape (docs/report.md), how it follows from the instances' progress, and the verdict. */

import { difficultyOf } from "../ledger/difficulty.ts";
import type { ClientEntry, ClientNeeds, Difficulty, OperationErrors } from "../ledger/entry.ts";
import { grouped } from "../model/group.ts";
import type { CutoverMode } from "../model/rules.ts";
import type { Rules } from "../rules/rule.ts";
import { counted } from "../rules/words.ts";
import type { RequestTotalsRow } from "../telemetry/progress.ts";
import { type BreakLine, breaksOf } from "./breaks.ts";
import { type Fleet, fleetOf } from "./fleet.ts";
import {
  type InstanceResult,
  largest,
  latestOf,
  type MergedProgress,
  type MergedRule,
  merge,
  type RespondingInstance,
  sharerOf,
  sum,
} from "./merge.ts";
import { type Change, nextStep } from "./next.ts";
import { type ReportScope, type ScopedProgress, scoped } from "./scope.ts";
import { callsV1, type Standing, standingOf } from "./standing.ts";

/** The next step, without a full stop, and what to write for it. */
interface NamedNext {
  readonly next: string;
  readonly change: Change | null;
}

/** The output of `--json`. Times are ISO 8601 in UTC; null: unknown, or never. Shares are 0 to 1. */
export interface MigrationReport {
  readonly version: 1;
  /** The latest time of an instance; null if none responded. */
  readonly at: string | null;
  /** Every address responded. */
  readonly complete: boolean;
  /** Where the migration stands, and the next step; null if no instance responded. */
  readonly standing: (Standing & NamedNext) | null;
  /** What the report was narrowed to; null: nothing. */
  readonly scope: { readonly resource: string | null; readonly client: string | null };
  readonly instances: readonly InstanceLine[];
  readonly window: {
    /** Beginning of `--since`; null without it. What was not called since is left out. */
    readonly from: string | null;
    /** Since when every instance that responded has been watching. */
    readonly watchedSince: string | null;
    /** Since when all requests are counted: the earliest of `countsSince` of the instances. */
    readonly countsSince: string | null;
  };
  /** `v1Share`: null without any, or if `v2` is not known. */
  readonly requests: { readonly v1: number; readonly v2: number | null; readonly v1Share: number | null };
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
  /** When the process started. */
  readonly since: string | null;
  /** Since when its requests count, in this report. */
  readonly countsSince: string | null;
  readonly at: string | null;
  readonly mode: CutoverMode | null;
  readonly force: Rules["force"] | null;
  readonly lastReloadSuccessful: boolean | null;
  /** An earlier address of the same instance, which counts once. */
  readonly sameAs: string | null;
  /** An earlier address whose ledger started from the same file (`state.dir`): what that held counts for both. */
  readonly sharesLedgerWith: string | null;
  /** Seconds by which its clock is behind the latest one, which all times outside of this line follow. */
  readonly clockBehind: number | null;
}

/** All but `v1` is null where the ledger alone is counted. */
export interface ResourceLine {
  readonly resource: string;
  readonly v1: number;
  readonly v2: number | null;
  readonly v1Share: number | null;
  /** How v1 was served. */
  readonly native: number | null;
  readonly shadow: number | null;
  readonly translate: number | null;
  readonly refused: number | null;
  readonly lastV1: string | null;
}

export interface ClientLine {
  readonly name: string;
  readonly label: string;
  /** Who answers for it, and how to reach them (`clients.names`); null where that is not known. */
  readonly owner: string | null;
  readonly contact: string | null;
  /** It called v1 in the window. */
  readonly onV1: boolean;
  readonly v1: number;
  /** Null in the report of one resource: the ledger does not tell v2 requests by resource. */
  readonly v2: number | null;
  /** By how many `v1` may be too high. */
  readonly over: number;
  readonly difficulty: Difficulty;
  readonly firstSeen: string;
  readonly lastSeen: string;
  readonly lastV1: string | null;
  readonly operations: readonly {
    readonly resource: string;
    readonly operation: string;
    readonly requests: number;
    /** Those that failed, by who was at fault. */
    readonly errors: Readonly<Record<keyof OperationErrors, number>>;
  }[];
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

export interface RuleLine extends Omit<MergedRule, "since" | "age"> {
  readonly since: string | null;
}

/** `windowMs`: how far back v1 counts; undefined: as far as the instances remember. */
export function createReport(
  results: readonly InstanceResult[],
  windowMs: number | undefined,
  scope: ReportScope = {},
): MigrationReport {
  const { instances, responding } = readInstances(results);
  const complete = instances.every(({ fault }) => fault === null);
  const whole = merge(responding);
  const from = whole === undefined || windowMs === undefined ? undefined : whole.at - windowMs;
  const merged = whole && scoped(whole, scope, from);
  const clients = merged?.ledger.clients ?? [];
  const { counts, byLedger } = merged ?? { counts: [], byLedger: false };
  const isOnV1 = (client: ClientEntry) => callsV1(client, from);
  const lineOf = (client: ClientEntry) => clientLine(client, isOnV1(client), scope);
  const onV1 = clients.filter(isOnV1);
  return {
    version: 1,
    at: timeOf(merged?.at),
    complete,
    standing: merged === undefined ? null : standingIn(merged, fleetOf(results), scope, from),
    scope: { resource: scope.resource ?? null, client: scope.client ?? null },
    instances,
    window: {
      from: timeOf(from),
      watchedSince: timeOf(merged?.watchedSince),
      countsSince: timeOf(merged?.ledger.since),
    },
    requests: byLedger && scope.resource !== undefined ? { ...sharesOf(counts), ...NO_V2 } : sharesOf(counts),
    resources: byLedger ? resourcesByLedger(counts) : resourcesOf(counts),
    ledger: {
      since: timeOf(merged?.ledger.since),
      v1: merged?.ledger.requests.v1 ?? 0,
      v2: merged?.ledger.requests.v2 ?? 0,
      bound: merged?.ledger.bound ?? 0,
    },
    clients: [...onV1.map(lineOf), ...clients.filter((client) => !isOnV1(client)).map(lineOf)],
    bounds: (merged?.bounds ?? []).map((bound) => ({ ...bound, client: bound.client ?? null })),
    rules: (merged?.rules ?? []).map(({ age: _, ...rule }) => ({ ...rule, since: timeOf(rule.since) })),
    breaks: breaksOf(onV1, nativeRows(merged, scope), { from: from ?? 0, counted: merged?.countFromOneTime === true }),
    ...judgeV1({ merged, complete, from, onV1: onV1.length, calls: callsOf(scope) }),
  };
}

/** Counts of requests that tell what native v1 serves; none for some clients, since they name no client. */
function nativeRows(
  merged: ScopedProgress | undefined,
  { resource, client }: ReportScope,
): readonly RequestTotalsRow[] {
  if (merged === undefined || client !== undefined) return [];
  return merged.rows.filter((row) => resource === undefined || row.resource === resource);
}

/** Of a report on less than everything: once nobody is left, nothing is to be done. */
function standingIn(
  merged: ScopedProgress,
  fleet: Fleet,
  scope: ReportScope,
  from: number | undefined,
): Standing & NamedNext {
  const { clients } = merged.ledger;
  const standing = standingOf({ ...merged, clients }, from);
  const isAll = scope.resource === undefined && scope.client === undefined;
  if (!isAll && standing.moved === standing.clients) {
    return { ...standing, next: `nothing, no client calls ${callsOf(scope)}`, change: null };
  }
  const { says, change } = nextStep(isAll ? fleet : { ...fleet, rules: [] }, { ...merged, clients, from });
  return { ...standing, next: says, change };
}

/** `v1`, or `v1 group` in the report of one resource. */
function callsOf({ resource }: ReportScope): string {
  return resource === undefined ? "v1" : `v1 ${resource}`;
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
      const nothing = {
        instance: null,
        since: null,
        countsSince: null,
        at: null,
        mode: null,
        force: null,
        lastReloadSuccessful: null,
      };
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
      countsSince: timeOf(progress.ledger.since),
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

function clientLine(client: ClientEntry, onV1: boolean, { resource }: ReportScope): ClientLine {
  const { v1, v2 } = client.requests;
  return {
    name: client.name,
    label: client.label,
    owner: client.owner ?? null,
    contact: client.contact ?? null,
    onV1,
    v1,
    v2: resource === undefined ? v2 : null,
    over: client.over,
    difficulty: difficultyOf(client),
    firstSeen: new Date(client.firstSeen).toISOString(),
    lastSeen: new Date(client.lastSeen).toISOString(),
    lastV1: timeOf(client.lastV1),
    operations: client.operations.map(({ resource, operation, requests, errors }) => {
      return { resource, operation, requests, errors: { ...NO_ERRORS, ...errors } };
    }),
    needs: client.needs,
  };
}

/** How many v1 requests of the client failed so. */
export function errorsOf({ operations }: Pick<ClientLine, "operations">, fault: keyof OperationErrors): number {
  return sum(operations, ({ errors }) => errors[fault]);
}

const NO_ERRORS: Readonly<Record<keyof OperationErrors, number>> = {
  client: 0,
  platform: 0,
  capacity: 0,
  translation: 0,
  v2: 0,
};

const countRequests = (rows: readonly RequestTotalsRow[], version: string, mode?: string): number =>
  sum(
    rows.filter((row) => row.apiVersion === version && (mode === undefined || row.mode === mode)),
    ({ requests }) => requests,
  );

const NO_V2 = { v2: null, v1Share: null };

function sharesOf(rows: readonly RequestTotalsRow[]) {
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
  return lines.sort((a, b) => b.v1 - a.v1 || (b.v2 ?? 0) - (a.v2 ?? 0));
}

function resourcesByLedger(rows: readonly RequestTotalsRow[]): readonly ResourceLine[] {
  const unknown = { ...NO_V2, native: null, shadow: null, translate: null, refused: null };
  return resourcesOf(rows.filter(({ apiVersion }) => apiVersion === "v1")).map((line) => ({ ...line, ...unknown }));
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

interface V1Evidence {
  readonly merged: ScopedProgress | undefined;
  /** Every address responded. */
  readonly complete: boolean;
  /** Start of the window; undefined: as far as the instances remember. */
  readonly from: number | undefined;
  /** Clients that called v1 in the window. */
  readonly onV1: number;
  /** What the report is about: `v1`, `v1 group`. */
  readonly calls: string;
}

/** `no` only if nothing is uncertain: a gate before the removal of v1 must not open for lack of evidence. */
function judgeV1({ merged, complete, from, onV1, calls }: V1Evidence): Pick<MigrationReport, "v1Left" | "why"> {
  if (merged === undefined) return { v1Left: "unknown", why: "no instance was heard" };
  if (onV1 > 0) return { v1Left: "yes", why: `${counted(onV1, "client")} called ${calls}` };
  if (merged.mayHide) {
    return { v1Left: "unknown", why: "a client calls more operations of v1 than the ledger tells apart" };
  }
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
  return { v1Left: "no", why: `no client called ${calls}` };
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
