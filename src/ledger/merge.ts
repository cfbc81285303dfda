/** What do the ledgers of several replicas say together? (Design section 8.) */
import type { ClientEntry, ClientNeeds, ClientOperation, LedgerSnapshot } from "../model/ledger.ts";
import { OTHER } from "./facts.ts";
import { byCount, byField, byOperation, byRequests, compare, MAX_NEEDS, MAX_OPERATIONS } from "./record.ts";

/** Most clients of one ledger, so also of what many of them make together. */
export const MAX_CLIENTS = 100_000;

/**
 * One snapshot for all of `snapshots`: counts and bounds added, times widened but for what all have watched, needs united.
 * Of snapshots that share an instance only one counts: the one of more instances, then the later one. Most v1 requests first, then most v2 requests, at
 * most `max` clients; a caller of v1 that is cut raises the bound. A client made at most `bound` more v1 requests than it is
 * shown with, and at most `over` fewer.
 *
 * The order of `snapshots` does not matter, nor does it matter which are merged first, as long as no instance comes in two
 * states and no client or need is cut. Without any snapshot: an empty one, at time 0.
 */
export function mergeSnapshots(snapshots: readonly LedgerSnapshot[], max = MAX_CLIENTS): LedgerSnapshot {
  const taken = distinct(snapshots);
  const entries = new Map<string, ClientEntry>();
  for (const { clients } of taken) {
    for (const entry of clients) {
      const known = entries.get(entry.name);
      entries.set(entry.name, known === undefined ? entry : mergeEntries(known, entry));
    }
  }
  const clients = [...entries.values()].sort(byCount);
  const since = taken.reduce((first, one) => Math.min(first, one.since), taken[0]?.since ?? 0);
  const watchedSince = taken.reduce((last, one) => Math.max(last, one.watchedSince ?? one.since), since);
  return {
    version: 1,
    instances: taken.flatMap(({ instances }) => instances).sort(compare),
    since,
    watchedSince: watchedSince > since ? watchedSince : undefined,
    at: Math.max(0, ...taken.map(({ at }) => at)),
    requests: addCounts(taken.map(({ requests }) => requests)),
    // The first that is cut made most v1 requests of those, and may be missing elsewhere, too.
    bound: taken.reduce((sum, { bound }) => sum + bound, 0) + (clients[max]?.requests.v1 ?? 0),
    clients: clients.slice(0, max),
  };
}

/** Those that count, none sharing an instance with another. */
function distinct(snapshots: readonly LedgerSnapshot[]): readonly LedgerSnapshot[] {
  const seen = new Set<string>();
  const best = [...snapshots].sort(
    (a, b) => b.instances.length - a.instances.length || b.at - a.at || compare(a.instances.join(), b.instances.join()),
  );
  return best.filter(({ instances }) => {
    if (instances.some((instance) => seen.has(instance))) return false;
    for (const instance of instances) seen.add(instance);
    return true;
  });
}

function addCounts(counts: readonly LedgerSnapshot["requests"][]): LedgerSnapshot["requests"] {
  return {
    v1: counts.reduce((sum, { v1 }) => sum + v1, 0),
    v2: counts.reduce((sum, { v2 }) => sum + v2, 0),
  };
}

function mergeEntries(a: ClientEntry, b: ClientEntry): ClientEntry {
  return {
    name: a.name,
    // The same, unless replicas have different keys.
    label: a.label < b.label ? a.label : b.label,
    firstSeen: Math.min(a.firstSeen, b.firstSeen),
    lastSeen: Math.max(a.lastSeen, b.lastSeen),
    lastV1: a.lastV1 === undefined || b.lastV1 === undefined ? (a.lastV1 ?? b.lastV1) : Math.max(a.lastV1, b.lastV1),
    requests: addCounts([a.requests, b.requests]),
    over: a.over + b.over,
    operations: mergeOperations([...a.operations, ...b.operations]),
    needs: mergeNeeds(a, b),
  };
}

/** As many as a ledger keeps; what is beyond that goes to `other`. */
function mergeOperations(all: readonly ClientOperation[]): readonly ClientOperation[] {
  const named = new Map<string, ClientOperation>();
  for (const one of all) {
    const key = keyOf(one.resource, one.operation);
    const known = named.get(key);
    named.set(key, known === undefined ? one : addOperation(known, one));
  }
  const rest = named.get(keyOf(OTHER, OTHER));
  named.delete(keyOf(OTHER, OTHER));
  const sorted = [...named.values()].sort(byRequests);
  const cut = sorted.slice(MAX_OPERATIONS);
  const others = [...(rest === undefined ? [] : [rest]), ...cut].reduce<ClientOperation | undefined>(
    (sum, one) => ({ ...addOperation(sum ?? { ...one, requests: 0 }, one), resource: OTHER, operation: OTHER }),
    undefined,
  );
  const kept = sorted.slice(0, MAX_OPERATIONS);
  return others === undefined ? kept : [...kept, others].sort(byRequests);
}

function addOperation(a: ClientOperation, b: ClientOperation): ClientOperation {
  return { ...a, requests: a.requests + b.requests, lastSeen: Math.max(a.lastSeen, b.lastSeen) };
}

function mergeNeeds(a: ClientEntry, b: ClientEntry): ClientNeeds {
  const lists = new Map<string, number>();
  for (const { resource, records } of [...a.needs.longLists, ...b.needs.longLists]) {
    lists.set(resource, Math.max(records, lists.get(resource) ?? 0));
  }
  const seen = new Set([...lookedInto(a), ...lookedInto(b)]);
  return {
    longLists: [...lists]
      .map(([resource, records]) => ({ resource, records }))
      .sort((one, other) => other.records - one.records || compare(one.resource, other.resource))
      .slice(0, MAX_NEEDS),
    zeroedFields: unite(a.needs.zeroedFields, b.needs.zeroedFields, fieldKey).sort(byField).slice(0, MAX_NEEDS),
    lacking: unite(a.needs.lacking, b.needs.lacking, operationKey).sort(byOperation).slice(0, MAX_NEEDS),
    unknownFields: unite(a.needs.unknownFields, b.needs.unknownFields, fieldKey).sort(byField).slice(0, MAX_NEEDS),
    // One replica that looked is enough.
    unseen: unite(a.needs.unseen, b.needs.unseen, operationKey)
      .filter((one) => !seen.has(operationKey(one)))
      .sort(byOperation),
  };
}

/** Operations that `entry` made and that somebody looked into. */
function lookedInto({ operations, needs }: ClientEntry): readonly string[] {
  const unseen = new Set(needs.unseen.map(operationKey));
  return operations.map(operationKey).filter((key) => !unseen.has(key));
}

function unite<T>(a: readonly T[], b: readonly T[], key: (one: T) => string): T[] {
  return [...new Map([...a, ...b].map((one) => [key(one), one])).values()];
}

function keyOf(resource: string, name: string): string {
  return JSON.stringify([resource, name]);
}

function fieldKey({ resource, field }: { readonly resource: string; readonly field: string }): string {
  return keyOf(resource, field);
}

function operationKey({ resource, operation }: { readonly resource: string; readonly operation: string }): string {
  return keyOf(resource, operation);
}
