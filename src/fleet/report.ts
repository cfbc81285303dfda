/** How a report on the migration follows from the instances' progress. */
import type { AskedTimes } from "../history/requests.ts";
import { dateOf } from "../ledger/days.ts";
import { difficultyOf } from "../ledger/difficulty.ts";
import type { ClientEntry, OperationErrors } from "../ledger/entry.ts";
import { grouped } from "../model/group.ts";
import type { RequestTotalsRow } from "../telemetry/progress.ts";
import { type BreakLine, breaksOf } from "./breaks.ts";
import { brownoutLines } from "./brownouts.ts";
import { type Fleet, fleetOf } from "./fleet.ts";
import { lostOf } from "./lost.ts";
import {
  type InstanceResult,
  largest,
  latestOf,
  type MergedProgress,
  merge,
  type RespondingInstance,
  sharerOf,
  sum,
} from "./merge.ts";
import { nextStep } from "./next.ts";
import { isAbout } from "./next-percent.ts";
import type { ClientLine, InstanceLine, MigrationReport, NamedNext, ResourceLine, WindowLine } from "./report-lines.ts";
import { type CountedRequests, matching, type ReportScope, scoped } from "./scope.ts";
import { type Standing, sharesOf, standingOf } from "./standing.ts";
import { callsOf, judgeV1, type ReportView } from "./verdict.ts";
import { callsV1, clientDaysWords, limitsOf, requestsIn, windowOf, windowWords } from "./window.ts";

/** The part of a report that `carryover status` and the page show; a fraction of its work where many clients are known. `asked`: as of `createReport`. */
export function createStanding(
  fleet: Fleet,
  asked: AskedTimes,
): Pick<MigrationReport, "at" | "standing" | "window"> & {
  readonly allTime: Pick<Standing, "translatedShare" | "served">;
} {
  const { responding } = readInstances(fleet.results);
  const whole = merge(responding);
  const view = whole && viewOf(whole, asked, {});
  return {
    at: timeOf(view?.merged.at),
    standing: view === undefined ? null : standingIn(view, fleet, {}),
    window: windowLine(view),
    allTime: view === undefined ? { translatedShare: null, served: null } : sharesOf(knownModes(view.merged.allCounts)),
  };
}

/** `asked`: the times that the instances were asked for. */
export function createReport(
  results: readonly InstanceResult[],
  asked: AskedTimes,
  scope: ReportScope = {},
): MigrationReport {
  const { instances, responding } = readInstances(results);
  const complete = instances.every(({ fault }) => fault === null);
  const whole = merge(responding);
  const view = whole && viewOf(whole, asked, scope);
  const merged = view?.merged;
  return {
    version: 1,
    at: timeOf(merged?.at),
    complete,
    standing: view === undefined ? null : standingIn(view, fleetOf(results), scope),
    scope: { resource: scope.resource ?? null, client: scope.client ?? null },
    instances,
    lost: lostOf(responding.map(({ progress }) => progress)).map(({ name, seen, until }) => {
      return { name, seen: new Date(seen).toISOString(), until: new Date(until).toISOString() };
    }),
    window: windowLine(view),
    ...requestsOf(view, scope),
    ledger: {
      since: timeOf(merged?.ledger.since),
      v1: merged?.ledger.requests.v1 ?? 0,
      v2: merged?.ledger.requests.v2 ?? 0,
      bound: merged?.ledger.bound ?? 0,
    },
    clients: view === undefined ? [] : clientLines(view, scope),
    comparedSince: timeOf(merged?.comparedSince),
    bounds: (merged?.bounds ?? []).map((bound) => ({ ...bound, client: bound.client ?? null })),
    rules: (merged?.rules ?? []).map(({ age: _, ...rule }) => ({ ...rule, since: timeOf(rule.since) })),
    brownouts: whole === undefined ? [] : brownoutsIn(whole, scope),
    breaks: view === undefined ? [] : breaksIn(view, scope),
    ...judgeV1({ view, complete, calls: callsOf(scope) }),
  };
}

function viewOf(whole: MergedProgress, asked: AskedTimes, scope: ReportScope): ReportView {
  const window = windowOf(asked, whole);
  return { window, merged: scoped(whole, scope, window) };
}

function windowLine(view: ReportView | undefined): WindowLine {
  const window = view?.window;
  const counted = window?.counted;
  const rows = view?.merged.counts.byLedger === true ? undefined : view?.merged.counts.rows;
  const says = window && clientDaysWords(window);
  return {
    from: timeOf(window?.from),
    to: timeOf(window?.to),
    says: view === undefined ? null : windowWords(view.window, view.merged.ledger.since),
    limits: (window && limitsOf(window)) ?? null,
    counted:
      counted === undefined
        ? null
        : {
            from: new Date(counted.from).toISOString(),
            to: new Date(counted.to).toISOString(),
            since: new Date(counted.countedSince).toISOString(),
          },
    tooOld: window?.tooOld ?? [],
    rows: rows?.map((row) => ({ ...row, lastSeen: new Date(row.lastSeen).toISOString() })) ?? null,
    clientDays:
      window === undefined || says === undefined
        ? null
        : { from: dateOf(window.days.from), to: dateOf(window.days.to), says },
    watchedSince: timeOf(view?.merged.watchedSince),
    countsSince: timeOf(view?.merged.ledger.since),
  };
}

function requestsOf(
  view: ReportView | undefined,
  scope: ReportScope,
): Pick<MigrationReport, "requests" | "resources" | "allTime"> {
  if (view === undefined) {
    const nothing = { requests: UNKNOWN_REQUESTS, resources: [] };
    return { ...nothing, allTime: { ...nothing, translatedShare: null, served: null } };
  }
  const { merged, window } = view;
  const ofResource = scope.resource !== undefined;
  const lines = ({ rows, byLedger }: CountedRequests): Pick<MigrationReport, "requests" | "resources"> => {
    if (rows === undefined) return { requests: UNKNOWN_REQUESTS, resources: [] };
    if (!byLedger) return { requests: v1SharesOf(rows), resources: resourcesOf(rows) };
    const requests = v1SharesOf(rows);
    return { requests: ofResource ? { ...requests, ...NO_V2 } : requests, resources: resourcesByLedger(rows) };
  };
  const allTime = { ...lines(merged.allCounts), ...sharesOf(knownModes(merged.allCounts)) };
  const ofClients = !window.isAll && scope.client !== undefined;
  return { ...(ofClients ? clientRequests(view, scope) : lines(merged.counts)), allTime };
}

/** Of some clients in a window: which resources they called, and how many requests they made in all. */
function clientRequests(
  { merged, window }: ReportView,
  { resource }: ReportScope,
): Pick<MigrationReport, "requests" | "resources"> {
  const { clients } = merged.ledger;
  const called = clients.flatMap(({ operations }) => operations.filter(merged.isCalled));
  const resources = resourcesByLedger(called.map((one) => ({ ...one, apiVersion: "v1", mode: "", codes: "" }))).map(
    (line) => ({ ...line, v1: null }),
  );
  if (resource !== undefined) return { requests: UNKNOWN_REQUESTS, resources };
  const sumOf = (version: "v1" | "v2") =>
    clients
      .map((client) => requestsIn(client, version, window))
      .reduce<number | null>((all, one) => (all === null || one === undefined ? null : all + one), 0);
  const [v1, v2] = [sumOf("v1"), sumOf("v2")];
  const v1Share = v1 === null || v2 === null || v1 + v2 === 0 ? null : v1 / (v1 + v2);
  return { requests: { v1, v2, v1Share }, resources };
}

/** The ledger does not tell what served a request. */
function knownModes({ rows, byLedger }: CountedRequests): readonly RequestTotalsRow[] | undefined {
  return byLedger ? undefined : rows;
}

/** Who did not come back has called nothing in the window of the report. */
function brownoutsIn({ ledger, rules }: MergedProgress, { client }: ReportScope): MigrationReport["brownouts"] {
  const isWanted = matching(
    client,
    ledger.clients.map(({ name }) => name),
  );
  return brownoutLines({ clients: ledger.clients.filter(({ name }) => isWanted(name)), rules, at: ledger.at });
}

function breaksIn({ merged, window }: ReportView, { resource, client }: ReportScope): readonly BreakLine[] {
  // Counts of requests name no client.
  const allRows =
    client === undefined ? merged.rows.filter((row) => resource === undefined || row.resource === resource) : [];
  return breaksOf({
    clients: merged.ledger.clients.filter((one) => callsV1(one, window)),
    rows: window.isAll ? undefined : knownModes(merged.counts),
    allRows,
    isCalled: merged.isCalled,
    window,
    counted: merged.countFromOneTime,
  });
}

/** Of a report on less than everything: once nobody is left, nothing is to be done. */
function standingIn({ merged, window }: ReportView, fleet: Fleet, scope: ReportScope): Standing & NamedNext {
  const { clients } = merged.ledger;
  const counts = knownModes(merged.counts);
  const standing = standingOf({ counts, clients }, (client) => callsV1(client, window));
  const isAll = scope.resource === undefined && scope.client === undefined;
  if (!isAll && standing.moved + standing.silent.length === standing.clients) {
    return { ...standing, next: `nothing, no client calls ${callsOf(scope)}`, change: null };
  }
  const rules = scope.client === undefined ? fleet.rules.filter((rule) => isAbout(rule, scope.resource)) : [];
  const { says, change } = nextStep(
    { ...fleet, rules },
    {
      ...merged,
      // Counts of requests name no client.
      counts: scope.client === undefined ? (counts ?? merged.rows) : [],
      isPart: !isAll,
      clients,
    },
  );
  return { ...standing, next: says, change };
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
      return {
        address,
        fault: result.fault,
        ...nothing,
        sameAs: null,
        sharesLedgerWith: null,
        clockBehind: null,
        goneSince: null,
      };
    }
    const { progress, sharing } = result;
    const before = responding.findIndex((one) => one.progress.instance === progress.instance);
    const same = responding[before];
    const sharer = same === undefined ? sharerOf(progress, responding) : undefined;
    if (same === undefined) responding.push({ address, progress, sharing });
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
      goneSince: timeOf(sharing?.goneSince),
    };
  });
  return { instances, responding };
}

/** Those on v1 first, most requests of the window first. */
function clientLines(view: ReportView, scope: ReportScope): readonly ClientLine[] {
  const lines = view.merged.ledger.clients.map((client) => clientLine(client, view, scope));
  return lines.sort(
    (a, b) => Number(b.onV1) - Number(a.onV1) || (b.v1 ?? 0) - (a.v1 ?? 0) || b.allTime.v1 - a.allTime.v1,
  );
}

function clientLine(client: ClientEntry, { merged, window }: ReportView, { resource }: ReportScope): ClientLine {
  const { v1, v2 } = client.requests;
  const operations = client.operations.filter(merged.isCalled);
  const isCounted = resource === undefined || window.isAll;
  return {
    name: client.name,
    label: client.label,
    owner: client.owner ?? null,
    contact: client.contact ?? null,
    onV1: callsV1(client, window),
    v1: (isCounted ? requestsIn(client, "v1", window) : undefined) ?? null,
    v2: (resource === undefined ? requestsIn(client, "v2", window) : undefined) ?? null,
    allTime: { v1, v2: resource === undefined ? v2 : null },
    over: client.over,
    difficulty: difficultyOf({ ...client, operations }),
    firstSeen: new Date(client.firstSeen).toISOString(),
    lastSeen: new Date(client.lastSeen).toISOString(),
    lastV1: timeOf(client.lastV1),
    operations: operations.map(({ resource, operation, requests, errors }) => {
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
const UNKNOWN_REQUESTS = { v1: null, ...NO_V2 };

function v1SharesOf(rows: readonly RequestTotalsRow[]) {
  const [v1, v2] = [countRequests(rows, "v1"), countRequests(rows, "v2")];
  return { v1, v2, v1Share: v1 + v2 === 0 ? null : v1 / (v1 + v2) };
}

/** Most v1 requests first. */
function resourcesOf(rows: readonly RequestTotalsRow[]): readonly ResourceLine[] {
  const ofApi = rows.filter(({ apiVersion }) => apiVersion === "v1" || apiVersion === "v2");
  const lines = grouped(ofApi, ({ resource }) => [resource]).map((group): ResourceLine => {
    const { v1, v2 } = v1SharesOf(group);
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
  return lines.sort((a, b) => (b.v1 ?? 0) - (a.v1 ?? 0) || (b.v2 ?? 0) - (a.v2 ?? 0));
}

function resourcesByLedger(rows: readonly RequestTotalsRow[]): readonly ResourceLine[] {
  const unknown = { ...NO_V2, native: null, shadow: null, translate: null, refused: null };
  return resourcesOf(rows.filter(({ apiVersion }) => apiVersion === "v1")).map((line) => ({ ...line, ...unknown }));
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

/** 0: success; 1: v1 is in use, with `failIfV1`; 2: the report is incomplete, or does not know. */
export function exitCodeOf({ complete, v1Left }: MigrationReport, failIfV1: boolean): 0 | 1 | 2 {
  if (failIfV1 && v1Left === "yes") return 1;
  return !complete || (failIfV1 && v1Left === "unknown") ? 2 : 0;
}
