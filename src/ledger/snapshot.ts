/** Merges the ledger snapshots of several instances. */
import { mergeDays } from "./days.ts";
import {
  addErrors,
  type ClientEntry,
  type ClientNeeds,
  type ClientOperation,
  countErrors,
  type LedgerSnapshot,
  MAX_CLIENTS,
  MAX_NEEDS,
  MAX_OPERATIONS,
} from "./entry.ts";
import { byCount, byField, byOperation, byRequests, compareText, OTHER_NAME } from "./record.ts";

/**
 * Merges `snapshots` in any order: counts and bounds add up, times widen except `watchedSince` and `daysSince`, needs are united. Of snapshots
 * that share an instance only one counts: the one of more instances, then the later one. Clients are ordered by v1 requests,
 * then by v2 requests; at most `max` remain, and a caller of v1 that is cut raises the bound. A client made at most `bound`
 * more v1 requests than its entry says, and at most `over` fewer. Without any snapshot the result is empty, at time 0.
 *
 * Merging in several steps returns the same result as long as no instance comes in two states and no client or need is cut.
 */
export function mergeSnapshots(snapshots: readonly LedgerSnapshot[], max = MAX_CLIENTS): LedgerSnapshot {
  const taken = distinctSnapshots(snapshots);
  const entries = new Map<string, ClientEntry>();
  for (const { clients } of taken) {
    for (const entry of clients) {
      const known = entries.get(entry.name);
      entries.set(entry.name, known === undefined ? entry : mergeEntries(known, entry));
    }
  }
  const clients = [...entries.values()].sort(byCount);
  const since = taken.reduce((first, one) => Math.min(first, one.since), taken[0]?.since ?? 0);
  const forgottenBefore = taken.reduce((last, one) => Math.max(last, one.forgottenBefore ?? 0), 0);
  const watchedSince = taken.reduce((last, one) => Math.max(last, one.watchedSince ?? one.since), since);
  return {
    version: 1,
    instances: taken.flatMap(({ instances }) => instances).sort(compareText),
    since,
    watchedSince: watchedSince > since ? watchedSince : undefined,
    forgottenBefore: forgottenBefore > 0 ? forgottenBefore : undefined,
    daysSince: taken.map((one) => one.daysSince).reduce(latestKnown, taken[0]?.daysSince),
    at: Math.max(0, ...taken.map(({ at }) => at)),
    requests: addCounts(taken.map(({ requests }) => requests)),
    // Of those that are cut, the first made most v1 requests, and other snapshots may have dropped it, too.
    bound: taken.reduce((sum, { bound }) => sum + bound, 0) + (clients[max]?.requests.v1 ?? 0),
    clients: clients.slice(0, max),
  };
}

function latestKnown(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : Math.max(a, b);
}

/** The snapshots to count: no two share an instance. */
function distinctSnapshots(snapshots: readonly LedgerSnapshot[]): readonly LedgerSnapshot[] {
  const seen = new Set<string>();
  const best = [...snapshots].sort(
    (a, b) =>
      b.instances.length - a.instances.length || b.at - a.at || compareText(a.instances.join(), b.instances.join()),
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

export function mergeEntries(a: ClientEntry, b: ClientEntry): ClientEntry {
  return {
    name: a.name,
    // The same, unless replicas have different keys.
    label: a.label < b.label ? a.label : b.label,
    ...mergeOwners(a, b),
    ...(a.bucket === undefined || a.bucket !== b.bucket ? {} : { bucket: a.bucket }),
    firstSeen: Math.min(a.firstSeen, b.firstSeen),
    lastSeen: Math.max(a.lastSeen, b.lastSeen),
    lastV1: laterOf(a.lastV1, b.lastV1),
    ...mergeRefusals(a, b),
    requests: addCounts([a.requests, b.requests]),
    days: mergeDays(a.days, b.days),
    over: a.over + b.over,
    operations: mergeOperations([...a.operations, ...b.operations]),
    needs: mergeNeeds(a, b),
  };
}

function laterOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

/** The last brownout counts; one that several replicas saw counts once. */
function mergeRefusals(a: ClientEntry, b: ClientEntry): Pick<ClientEntry, "lastV2" | "refused"> {
  const lastV2 = laterOf(a.lastV2, b.lastV2);
  const refused = laterRefusal(a.refused, b.refused);
  return { ...(lastV2 === undefined ? {} : { lastV2 }), ...(refused === undefined ? {} : { refused }) };
}

function laterRefusal(a: ClientEntry["refused"], b: ClientEntry["refused"]): ClientEntry["refused"] {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.rule === b.rule && a.start === b.start) {
    return {
      ...a,
      end: Math.max(a.end, b.end),
      requests: a.requests + b.requests,
      first: Math.min(a.first, b.first),
      last: Math.max(a.last, b.last),
    };
  }
  return a.start > b.start || (a.start === b.start && a.rule < b.rule) ? a : b;
}

/** The same, unless replicas have different configurations: then one of them, whatever the order. */
function mergeOwners(a: ClientEntry, b: ClientEntry): Pick<ClientEntry, "owner" | "contact"> {
  const [first, second] = [a, b].map(({ owner, contact }) => ({ owner, contact }));
  const textOf = (one: typeof first) => JSON.stringify([one?.owner ?? null, one?.contact ?? null]);
  const hasNone = (one: typeof first) => one?.owner === undefined && one?.contact === undefined;
  const chosen = hasNone(first) || (!hasNone(second) && textOf(second) < textOf(first)) ? second : first;
  return hasNone(chosen) ? {} : { ...chosen };
}

const OTHER_OPERATION = { resource: OTHER_NAME, operation: OTHER_NAME };

/** As many as a ledger keeps; the rest is summed up as `other`. */
function mergeOperations(all: readonly ClientOperation[]): readonly ClientOperation[] {
  const named = new Map<string, ClientOperation>();
  for (const one of all) {
    const key = operationKey(one);
    const known = named.get(key);
    named.set(key, known === undefined ? one : addOperation(known, one));
  }
  const rest = named.get(operationKey(OTHER_OPERATION));
  named.delete(operationKey(OTHER_OPERATION));
  const sorted = [...named.values()].sort(byRequests);
  const cut = sorted.slice(MAX_OPERATIONS);
  const others = [...(rest === undefined ? [] : [rest]), ...cut].reduce<ClientOperation | undefined>(
    (sum, one) => (sum === undefined ? { ...one, ...OTHER_OPERATION } : addOperation(sum, one)),
    undefined,
  );
  const kept = sorted.slice(0, MAX_OPERATIONS);
  return others === undefined ? kept : [...kept, others].sort(byRequests);
}

function addOperation(a: ClientOperation, b: ClientOperation): ClientOperation {
  const { resource, operation } = a;
  const errors = addErrors([a.errors, b.errors]);
  const translated = (a.translated ?? 0) + (b.translated ?? 0);
  return {
    ...{ resource, operation, requests: a.requests + b.requests, lastSeen: Math.max(a.lastSeen, b.lastSeen) },
    ...(errors === undefined ? {} : { errors }),
    ...(translated === 0 ? {} : { translated }),
  };
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
      .sort((one, other) => other.records - one.records || compareText(one.resource, other.resource))
      .slice(0, MAX_NEEDS),
    zeroedFields: unite(a.needs.zeroedFields, b.needs.zeroedFields, fieldKey).sort(byField).slice(0, MAX_NEEDS),
    lacking: unite(a.needs.lacking, b.needs.lacking, operationKey).sort(byOperation).slice(0, MAX_NEEDS),
    unknownFields: unite(a.needs.unknownFields, b.needs.unknownFields, fieldKey).sort(byField).slice(0, MAX_NEEDS),
    // It is enough that one instance saw the content of the requests.
    unseen: unite(a.needs.unseen, b.needs.unseen, operationKey)
      .filter((one) => !seen.has(operationKey(one)))
      .sort(byOperation),
  };
}

/** Operations of `entry` whose requests its instance saw the content of: failed ones have none. */
function lookedInto({ operations, needs }: ClientEntry): readonly string[] {
  const unseen = new Set(needs.unseen.map(operationKey));
  return operations
    .filter(({ requests, errors }) => requests > countErrors(errors))
    .map(operationKey)
    .filter((key) => !unseen.has(key));
}

function unite<T>(a: readonly T[], b: readonly T[], key: (one: T) => string): T[] {
  return [...new Map([...a, ...b].map((one) => [key(one), one])).values()];
}

function fieldKey({ resource, field }: { readonly resource: string; readonly field: string }): string {
  return JSON.stringify([resource, field]);
}

function operationKey({ resource, operation }: { readonly resource: string; readonly operation: string }): string {
  return JSON.stringify([resource, operation]);
}
