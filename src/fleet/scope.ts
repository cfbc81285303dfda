/** Narrows what instances told to what a report was asked for: a resource, clients, and what was called in the window. */

import type { ClientEntry } from "../ledger/entry.ts";
import { OTHER_NAME } from "../ledger/record.ts";
import type { RequestTotalsRow } from "../telemetry/progress.ts";
import { largest, type MergedProgress, sum } from "./merge.ts";
import { isSeenIn, type ReportWindow } from "./window.ts";

export interface ReportScope {
  /** Name in the catalogue; undefined: all. */
  readonly resource?: string | undefined;
  /** A client's name, or its beginning and `*`; undefined: all. */
  readonly client?: string | undefined;
}

export interface ScopedProgress extends MergedProgress {
  /** Requests by kind in the window. */
  readonly counts: CountedRequests;
  /** Requests by kind since the instances count. */
  readonly allCounts: CountedRequests;
  /** True for an operation of a client that was called in the window. */
  readonly isCalled: (one: CalledOperation) => boolean;
  /** A client calls more operations than the ledger tells apart, so it may call this resource. */
  readonly mayHide: boolean;
}

export interface CountedRequests {
  /** Undefined: unknown. */
  readonly rows: readonly RequestTotalsRow[] | undefined;
  /**
   * They are the ledger's, which tells neither what served a v1 request nor which resource a v2 request was about. So all
   * numbers count from one time, even if those of requests began at another, and name clients if that is asked.
   */
  readonly byLedger: boolean;
}

interface CalledOperation {
  readonly resource: string;
  readonly operation: string;
  readonly lastSeen: number;
}

export function scoped(merged: MergedProgress, scope: ReportScope, window: ReportWindow): ScopedProgress {
  const { ledger, rows, bounds, rules } = merged;
  const isAll = scope.resource === undefined && scope.client === undefined;
  const { resource } = scope;
  const about = (one: { readonly resource: string }) => resource === undefined || one.resource === resource;
  const isWanted = matching(
    scope.client,
    ledger.clients.map(({ name }) => name),
  );
  const chosen = ledger.clients.filter(({ name }) => isWanted(name));
  const clients = chosen
    .filter(({ operations }) => resource === undefined || operations.some(about))
    .map((client) => (resource === undefined ? client : aboutResource(client, resource)));
  const byLedger = !merged.countFromOneTime || scope.client !== undefined;
  const ofClients = byLedger ? clients.flatMap((client) => rowsOf(client, resource)) : [];
  const allCounts = {
    byLedger,
    rows: byLedger ? [...ofClients, ...(isAll ? unlisted(merged) : [])] : rows.filter(about),
  };
  const isCalled = calledIn(window);
  return {
    ...merged,
    ledger: { ...ledger, clients },
    rows: rows.filter((row) => about(row) || row.resource === OTHER_NAME),
    counts: window.isAll
      ? allCounts
      : {
          byLedger: scope.client !== undefined,
          rows: scope.client === undefined ? window.counted?.rows.filter(about) : undefined,
        },
    allCounts,
    isCalled,
    bounds: bounds.filter(
      (bound) => about(bound) && (scope.client === undefined || (bound.client !== undefined && isWanted(bound.client))),
    ),
    // Nobody tells which resources and clients a rule is about.
    rules: isAll ? rules : [],
    mayHide:
      resource !== undefined &&
      chosen.some(({ operations }) => operations.some((one) => one.resource === OTHER_NAME && isCalled(one))),
  };
}

/** Of one that was called later, the requests of all clients show whether it was called in the window at all. */
function calledIn(window: ReportWindow): (one: CalledOperation) => boolean {
  const { to, counted } = window;
  const nameOf = ({ resource, operation }: { resource: string; operation: string }) => `${resource} ${operation}`;
  const counts = counted?.rows.filter(({ apiVersion }) => apiVersion === "v1");
  const called = counts && new Set(counts.map(nameOf));
  return (one) => {
    if (!isSeenIn(one, window)) return false;
    const isLater = to !== undefined && one.lastSeen >= to;
    return !isLater || called === undefined || one.resource === OTHER_NAME || called.has(nameOf(one));
  };
}

/** A name that is known is taken literally. */
export function matching(client: string | undefined, names: readonly string[]): (name: string) => boolean {
  if (client === undefined) return () => true;
  if (!client.endsWith("*") || names.includes(client)) return (name) => name === client;
  return (name) => name.startsWith(client.slice(0, -1));
}

/** The client as far as it calls this resource in v1. */
function aboutResource(client: ClientEntry, resource: string): ClientEntry {
  const about = (one: { readonly resource: string }) => one.resource === resource;
  const { longLists, zeroedFields, lacking, unknownFields, unseen } = client.needs;
  const operations = client.operations.filter(about);
  const v1 = sum(operations, ({ requests }) => requests);
  return {
    ...client,
    lastV1: operations.length === 0 ? undefined : largest(operations.map(({ lastSeen }) => lastSeen)),
    requests: { ...client.requests, v1 },
    over: Math.min(client.over, v1),
    operations,
    needs: {
      longLists: longLists.filter(about),
      zeroedFields: zeroedFields.filter(about),
      lacking: lacking.filter(about),
      unknownFields: unknownFields.filter(about),
      unseen: unseen.filter(about),
    },
  };
}

const UNKNOWN = { operation: OTHER_NAME, mode: OTHER_NAME, codes: OTHER_NAME };

/** The ledger does not know which resources a client calls in v2. */
function rowsOf(
  { operations, requests: all, lastSeen }: ClientEntry,
  about: string | undefined,
): readonly RequestTotalsRow[] {
  const v1 = operations.map(({ resource, operation, requests, lastSeen }) => {
    return { ...UNKNOWN, apiVersion: "v1", resource, operation, requests, lastSeen };
  });
  if (about !== undefined || all.v2 === 0) return v1;
  return [...v1, { ...UNKNOWN, apiVersion: "v2", resource: OTHER_NAME, requests: all.v2, lastSeen }];
}

/** Requests of clients that the ledger no longer lists. */
function unlisted({ ledger: { requests, clients, at } }: MergedProgress): readonly RequestTotalsRow[] {
  return (["v1", "v2"] as const).flatMap((apiVersion) => {
    const listed = sum(clients, (client) =>
      apiVersion === "v2" ? client.requests.v2 : sum(client.operations, (one) => one.requests),
    );
    const rest = requests[apiVersion] - listed;
    return rest <= 0 ? [] : [{ ...UNKNOWN, apiVersion, resource: OTHER_NAME, requests: rest, lastSeen: at }];
  });
}
