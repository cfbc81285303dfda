/** What does the ledger hold of one client, and how does that become an entry of a snapshot, and back? */
import type { ClientEntry, ClientNeeds, ClientOperation } from "../model/ledger.ts";
import { type Fact, factOf, OTHER, ownText, type Room } from "./facts.ts";
import type { Counted } from "./space-saving.ts";

/** v1 operations by name of one client; one more is `other`. */
export const MAX_OPERATIONS = 63;
/** Needs of one kind of one client. */
export const MAX_NEEDS = 32;

/** One client. Lists are made with their first element: most clients need nothing. */
export interface ClientRecord extends Counted {
  readonly label: string;
  readonly firstSeen: number;
  lastSeen: number;
  lastV1: number | undefined;
  v1: number;
  v2: number;
  readonly operations: Fact[];
  /** Requests of operations that there was no room for. */
  others: Fact | undefined;
  needs: Needs | undefined;
}

/** Facts by kind: `amount` of a list is its records, of the rest nothing. */
export interface Needs {
  readonly longLists: Fact[];
  readonly zeroedFields: Fact[];
  readonly lacking: Fact[];
  readonly unknownFields: Fact[];
}

export function createRecord(name: string, label: string, at: number): ClientRecord {
  return {
    name: ownText(name),
    count: 0,
    over: 0,
    touched: 0,
    place: 0,
    label,
    firstSeen: at,
    lastSeen: at,
    lastV1: undefined,
    v1: 0,
    v2: 0,
    operations: [],
    others: undefined,
    needs: undefined,
  };
}

export function needsOf(record: ClientRecord): Needs {
  record.needs ??= { longLists: [], zeroedFields: [], lacking: [], unknownFields: [] };
  return record.needs;
}

/** The fact of one operation; the common one for all others when there is no room. */
export function operationOf(record: ClientRecord, resource: string, operation: string, room: Room): Fact {
  const own = factOf(record.operations, resource, operation, MAX_OPERATIONS, room);
  if (own !== undefined) return own;
  record.others ??= { resource: OTHER, name: OTHER, amount: 0, at: 0, looked: 0 };
  return record.others;
}

/** How many places in the room `record` takes. */
export function factsIn({ operations, needs }: ClientRecord): number {
  if (needs === undefined) return operations.length;
  const { longLists, zeroedFields, lacking, unknownFields } = needs;
  return operations.length + longLists.length + zeroedFields.length + lacking.length + unknownFields.length;
}

/** What a snapshot says of `record`. `tells`: whose requests have to be looked into. */
export function entryOf(record: ClientRecord, tells: (resource: string, operation: string) => boolean): ClientEntry {
  const { name, label, firstSeen, lastSeen, lastV1, v1, v2, over, operations, others } = record;
  const all = others === undefined ? operations : [...operations, others];
  return {
    name,
    label,
    firstSeen,
    lastSeen,
    lastV1,
    requests: { v1, v2 },
    over,
    operations: all
      .map(({ resource, name: operation, amount, at }) => ({ resource, operation, requests: amount, lastSeen: at }))
      .sort(byRequests),
    needs: shownNeeds(
      record,
      operations.filter(({ resource, name: operation, looked }) => looked === 0 && tells(resource, operation)),
    ),
  };
}

function shownNeeds({ needs }: ClientRecord, unseen: readonly Fact[]): ClientNeeds {
  const field = ({ resource, name }: Fact) => ({ resource, field: name });
  const operation = ({ resource, name }: Fact) => ({ resource, operation: name });
  return {
    longLists: (needs?.longLists ?? [])
      .map(({ resource, amount }) => ({ resource, records: amount }))
      .sort((a, b) => b.records - a.records || compare(a.resource, b.resource)),
    zeroedFields: (needs?.zeroedFields ?? []).map(field).sort(byField),
    lacking: (needs?.lacking ?? []).map(operation).sort(byOperation),
    unknownFields: (needs?.unknownFields ?? []).map(field).sort(byField),
    unseen: unseen.map(operation).sort(byOperation),
  };
}

/** Takes what `entry` says into `record`, which is new. */
export function fill(record: ClientRecord, entry: ClientEntry, room: Room): void {
  const { requests, over, needs } = entry;
  record.v1 = requests.v1;
  record.v2 = requests.v2;
  record.count = requests.v1;
  record.over = over;
  record.lastSeen = entry.lastSeen;
  record.lastV1 = entry.lastV1;
  for (const { resource, operation, requests: amount, lastSeen } of entry.operations) {
    const fact = operationOf(record, resource, operation, room);
    const unseen = needs.unseen.some((one) => one.resource === resource && one.operation === operation);
    fact.amount += amount;
    fact.at = Math.max(fact.at, lastSeen);
    fact.looked = unseen ? 0 : amount;
  }
  for (const { resource, records } of needs.longLists) noteNeed(record, "longLists", resource, "", room, records);
  for (const { resource, field } of needs.zeroedFields) noteNeed(record, "zeroedFields", resource, field, room);
  for (const { resource, operation } of needs.lacking) noteNeed(record, "lacking", resource, operation, room);
  for (const { resource, field } of needs.unknownFields) noteNeed(record, "unknownFields", resource, field, room);
}

/** Remembers one need, as far as there is room. */
export function noteNeed(
  record: ClientRecord,
  kind: keyof Needs,
  resource: string,
  name: string,
  room: Room,
  amount = 0,
): void {
  const fact = factOf(needsOf(record)[kind], resource, name, MAX_NEEDS, room);
  if (fact !== undefined) fact.amount = Math.max(fact.amount, amount);
}

/** Orders by code units, the same on every machine. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function byRequests(a: ClientOperation, b: ClientOperation): number {
  return b.requests - a.requests || byOperation(a, b);
}

type Named = { readonly resource: string };

export function byField(a: Named & { readonly field: string }, b: Named & { readonly field: string }): number {
  return compare(a.resource, b.resource) || compare(a.field, b.field);
}

export function byOperation(
  a: Named & { readonly operation: string },
  b: Named & { readonly operation: string },
): number {
  return compare(a.resource, b.resource) || compare(a.operation, b.operation);
}

/** Most v1 requests first, then most v2 requests. */
export function byCount(a: ClientEntry, b: ClientEntry): number {
  return b.requests.v1 - a.requests.v1 || b.requests.v2 - a.requests.v2 || compare(a.name, b.name);
}
