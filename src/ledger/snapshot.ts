/** Merges the ledger snapshots of several instances, and reads snapshots from JSON. */
import { LAST_TIME } from "../model/clock.ts";
import { member } from "../model/json.ts";
import {
  addErrors,
  type ClientEntry,
  type ClientNeeds,
  type ClientOperation,
  countErrors,
  type LedgerSnapshot,
  type OperationErrors,
  type VersionCounts,
} from "../model/ledger.ts";
import { FAULT_ORIGINS } from "../model/problem.ts";
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

/** Most clients of one ledger, and of several merged. */
const MAX_CLIENTS = 100_000;

/**
 * Merges `snapshots` in any order: counts and bounds add up, times widen except `watchedSince`, needs are united. Of snapshots
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
  const watchedSince = taken.reduce((last, one) => Math.max(last, one.watchedSince ?? one.since), since);
  return {
    version: 1,
    instances: taken.flatMap(({ instances }) => instances).sort(compareText),
    since,
    watchedSince: watchedSince > since ? watchedSince : undefined,
    at: Math.max(0, ...taken.map(({ at }) => at)),
    requests: addCounts(taken.map(({ requests }) => requests)),
    // Of those that are cut, the first made most v1 requests, and other snapshots may have dropped it, too.
    bound: taken.reduce((sum, { bound }) => sum + bound, 0) + (clients[max]?.requests.v1 ?? 0),
    clients: clients.slice(0, max),
  };
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
  const sum = { resource, operation, requests: a.requests + b.requests, lastSeen: Math.max(a.lastSeen, b.lastSeen) };
  return errors === undefined ? sum : { ...sum, errors };
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

const MAX_INSTANCES = 10_000;
/** Most characters of the name of a resource, an operation, a field or a label. */
const MAX_WORD = 128;
/** A million per second for 30 years. */
const LARGEST_COUNT = 1e15;

/**
 * Reads a snapshot from the JSON of a file or of another instance, without members that it does not know. Throws `Error` with
 * the path of what is wrong: another version or type, or a list longer than a ledger writes.
 */
export function readSnapshot(value: unknown): LedgerSnapshot {
  const root = { value, path: "ledger" };
  const version = member(value, "version");
  if (version !== 1) throw new Error(`ledger.version: expected 1, found ${JSON.stringify(version ?? null)}`);
  const clients = readList(root, "clients", MAX_CLIENTS, readEntry);
  if (new Set(clients.map(({ name }) => name)).size < clients.length) throw new Error("ledger.clients: a name twice");
  return {
    version,
    instances: readList(root, "instances", MAX_INSTANCES, readName),
    since: readTime(root, "since"),
    watchedSince: optional(root, "watchedSince", readTime),
    at: readTime(root, "at"),
    requests: readCounts(root),
    bound: readCount(root, "bound"),
    clients,
  };
}

interface SnapshotNode {
  readonly value: unknown;
  readonly path: string;
}

function inside({ value, path }: SnapshotNode, name: string): SnapshotNode {
  return { value: member(value, name), path: `${path}.${name}` };
}

function invalid({ path }: SnapshotNode, expected: string): Error {
  return new Error(`${path}: expected ${expected}`);
}

function readEntry(from: SnapshotNode): ClientEntry {
  const requests = readCounts(from);
  const over = readCount(from, "over");
  if (over > requests.v1) throw invalid(inside(from, "over"), "no more than there are v1 requests");
  const needs = inside(from, "needs");
  return {
    name: readName(inside(from, "name")),
    label: readWord(from, "label"),
    firstSeen: readTime(from, "firstSeen"),
    lastSeen: readTime(from, "lastSeen"),
    lastV1: optional(from, "lastV1", readTime),
    requests,
    over,
    operations: readList(from, "operations", MAX_OPERATIONS + 1, readCalled),
    needs: {
      longLists: readList(needs, "longLists", MAX_NEEDS, (one) => ({
        resource: readWord(one, "resource"),
        records: readCount(one, "records"),
      })),
      zeroedFields: readList(needs, "zeroedFields", MAX_NEEDS, readField),
      lacking: readList(needs, "lacking", MAX_NEEDS, readOperation),
      unknownFields: readList(needs, "unknownFields", MAX_NEEDS, readField),
      unseen: readList(needs, "unseen", MAX_OPERATIONS, readOperation),
    },
  };
}

function readCalled(from: SnapshotNode): ClientOperation {
  const called = {
    ...readOperation(from),
    requests: readCount(from, "requests"),
    lastSeen: readTime(from, "lastSeen"),
  };
  const errors = readErrors(inside(from, "errors"), called.requests);
  return errors === undefined ? called : { ...called, errors };
}

/** Ledgers of earlier versions have none. */
function readErrors(from: SnapshotNode, requests: number): OperationErrors | undefined {
  const counts = FAULT_ORIGINS.map((fault) => [fault, optional(from, fault, readCount) ?? 0] as const);
  const errors = Object.fromEntries(counts);
  if (countErrors(errors) > requests) throw invalid(from, "no more errors than there are requests");
  return addErrors([errors]);
}

function readField(from: SnapshotNode): { resource: string; field: string } {
  return { resource: readWord(from, "resource"), field: readWord(from, "field") };
}

function readOperation(from: SnapshotNode): { resource: string; operation: string } {
  return { resource: readWord(from, "resource"), operation: readWord(from, "operation") };
}

function readCounts(from: SnapshotNode): VersionCounts {
  const requests = inside(from, "requests");
  return { v1: readCount(requests, "v1"), v2: readCount(requests, "v2") };
}

function readCount(from: SnapshotNode, name: string): number {
  return wholeNumber(inside(from, name), LARGEST_COUNT);
}

function readTime(from: SnapshotNode, name: string): number {
  return wholeNumber(inside(from, name), LAST_TIME);
}

function wholeNumber(node: SnapshotNode, most: number): number {
  const { value } = node;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= most) return value;
  throw invalid(node, `a whole number from 0 to ${most}`);
}

function readName(node: SnapshotNode): string {
  const { value } = node;
  if (typeof value === "string" && plainName(value) === value) return value;
  throw invalid(node, "a printable text of 1 to 128 characters");
}

function readWord(from: SnapshotNode, name: string): string {
  const { value } = inside(from, name);
  if (typeof value === "string" && value.length <= MAX_WORD && isPrintable(value)) return value;
  throw invalid(inside(from, name), `a printable text of at most ${MAX_WORD} characters`);
}

function readList<T>(from: SnapshotNode, name: string, most: number, read: (one: SnapshotNode) => T): readonly T[] {
  const { value, path } = inside(from, name);
  if (!Array.isArray(value) || value.length > most) throw invalid({ value, path }, `a list of at most ${most}`);
  return value.map((one: unknown, at) => read({ value: one, path: `${path}[${at}]` }));
}

/** JSON has no undefined: null is absent as well. */
function optional(
  from: SnapshotNode,
  name: string,
  read: (from: SnapshotNode, name: string) => number,
): number | undefined {
  return (inside(from, name).value ?? undefined) === undefined ? undefined : read(from, name);
}
