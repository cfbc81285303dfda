/** What do the ledgers of several replicas say together? (Design section 8.) */

import { isJsonObject, member } from "../model/json.ts";
import type { ClientEntry, ClientNeeds, ClientOperation, LedgerSnapshot, VersionCounts } from "../model/ledger.ts";
import { isPrintable, plainName } from "../model/text.ts";
import {
  byCount,
  byField,
  byOperation,
  byRequests,
  compareText,
  MAX_NEEDS,
  MAX_OPERATIONS,
  OTHER_NAME,
} from "./record.ts";

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
  const watchedSince = taken.reduce((last, one) => Math.max(last, one.watchedSince ?? one.since), since);
  return {
    version: 1,
    instances: taken.flatMap(({ instances }) => instances).sort(compareText),
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
  const rest = named.get(keyOf(OTHER_NAME, OTHER_NAME));
  named.delete(keyOf(OTHER_NAME, OTHER_NAME));
  const sorted = [...named.values()].sort(byRequests);
  const cut = sorted.slice(MAX_OPERATIONS);
  const others = [...(rest === undefined ? [] : [rest]), ...cut].reduce<ClientOperation | undefined>(
    (sum, one) => ({
      ...addOperation(sum ?? { ...one, requests: 0 }, one),
      resource: OTHER_NAME,
      operation: OTHER_NAME,
    }),
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
      .sort((one, other) => other.records - one.records || compareText(one.resource, other.resource))
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

/** Is this JSON a ledger's snapshot, whoever wrote it? */

/**
 * The snapshot that `text` holds, with no member that is none of it and no list longer than a ledger writes. Throws `Error`
 * that says what is wrong: no JSON, another version, a member of another kind.
 */
export function readSnapshot(text: string): LedgerSnapshot {
  const value: unknown = JSON.parse(text);
  const version = member(value, "version");
  if (version !== 1)
    throw new Error(`expected version 1 of a ledger's snapshot, found ${JSON.stringify(version ?? null)}`);
  const clients = readList(value, "clients", MAX_CLIENTS, readEntry);
  if (new Set(clients.map(({ name }) => name)).size < clients.length) throw invalidMember("clients", "a name twice");
  return {
    version,
    instances: readList(value, "instances", MAX_INSTANCES, readName),
    since: wholeNumber(value, "since"),
    watchedSince: member(value, "watchedSince") === undefined ? undefined : wholeNumber(value, "watchedSince"),
    at: wholeNumber(value, "at"),
    requests: readCounts(value),
    bound: wholeNumber(value, "bound"),
    clients,
  };
}

const MAX_INSTANCES = 10_000;
/** Names of resources, operations, fields and labels. */
const MAX_WORD = 128;

function readEntry(value: unknown): ClientEntry {
  const lastV1 = member(value, "lastV1");
  const requests = readCounts(value);
  const over = wholeNumber(value, "over");
  if (over > requests.v1) throw invalidMember("over", "more than there are v1 requests");
  return {
    name: readName(member(value, "name")),
    label: readWord(value, "label"),
    firstSeen: wholeNumber(value, "firstSeen"),
    lastSeen: wholeNumber(value, "lastSeen"),
    lastV1: lastV1 === undefined ? undefined : wholeNumber(value, "lastV1"),
    requests,
    over,
    operations: readList(value, "operations", MAX_OPERATIONS + 1, (one) => ({
      ...readOperation(one),
      requests: wholeNumber(one, "requests"),
      lastSeen: wholeNumber(one, "lastSeen"),
    })),
    needs: readNeeds(member(value, "needs")),
  };
}

function readNeeds(value: unknown): ClientNeeds {
  return {
    longLists: readList(value, "longLists", MAX_NEEDS, (one) => ({
      resource: readWord(one, "resource"),
      records: wholeNumber(one, "records"),
    })),
    zeroedFields: readList(value, "zeroedFields", MAX_NEEDS, readField),
    lacking: readList(value, "lacking", MAX_NEEDS, readOperation),
    unknownFields: readList(value, "unknownFields", MAX_NEEDS, readField),
    unseen: readList(value, "unseen", MAX_OPERATIONS, readOperation),
  };
}

function readField(value: unknown): { resource: string; field: string } {
  return { resource: readWord(value, "resource"), field: readWord(value, "field") };
}

function readOperation(value: unknown): { resource: string; operation: string } {
  return { resource: readWord(value, "resource"), operation: readWord(value, "operation") };
}

function readCounts(value: unknown): VersionCounts {
  const requests = member(value, "requests");
  return { v1: wholeNumber(requests, "v1"), v2: wholeNumber(requests, "v2") };
}

/** A count or a time: whole, not negative. */
function wholeNumber(value: unknown, name: string): number {
  const found = member(value, name);
  if (typeof found !== "number" || !Number.isSafeInteger(found) || found < 0)
    throw invalidMember(name, "no whole number from 0");
  return found;
}

function readName(value: unknown): string {
  const name = typeof value === "string" ? plainName(value) : undefined;
  if (name === undefined || name !== value) throw invalidMember("name", "no printable text of 1 to 128 characters");
  return name;
}

function readWord(value: unknown, name: string): string {
  const found = member(value, name);
  if (typeof found !== "string" || found.length > MAX_WORD || !isPrintable(found))
    throw invalidMember(name, `no printable text of at most ${MAX_WORD} characters`);
  return found;
}

function readList<T>(value: unknown, name: string, most: number, read: (one: unknown) => T): readonly T[] {
  const found = isJsonObject(value) ? member(value, name) : undefined;
  if (!Array.isArray(found) || found.length > most) throw invalidMember(name, `no list of at most ${most}`);
  return found.map(read);
}

function invalidMember(name: string, what: string): Error {
  return new Error(`${name}: ${what}`);
}
