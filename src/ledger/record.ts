/** What does the ledger hold of one client, and how does that become an entry of a snapshot, and back? */
import type { ClientEntry, ClientNeeds, ClientOperation } from "../model/ledger.ts";
import type { MonitoredItem } from "./space-saving.ts";

/** v1 operations by name of one client; one more is `other`. */
export const MAX_OPERATIONS = 63;
/** Needs of one kind of one client. */
export const MAX_NEEDS = 32;

/** One client. Lists are made with their first element: most clients need nothing. */
export interface ClientRecord extends MonitoredItem {
  readonly label: string;
  readonly firstSeen: number;
  lastSeen: number;
  lastV1: number | undefined;
  v1: number;
  v2: number;
  readonly operations: ClientFact[];
  /** Requests of operations that there was no room for. */
  others: ClientFact | undefined;
  needs: RecordedNeeds | undefined;
}

/** Facts by kind: `amount` of a list is its records, of the rest nothing. */
export interface RecordedNeeds {
  readonly longLists: ClientFact[];
  readonly zeroedFields: ClientFact[];
  readonly lacking: ClientFact[];
  readonly unknownFields: ClientFact[];
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

export function needsOf(record: ClientRecord): RecordedNeeds {
  record.needs ??= { longLists: [], zeroedFields: [], lacking: [], unknownFields: [] };
  return record.needs;
}

/** The fact of one operation; the common one for all others when there is no room. */
export function operationOf(record: ClientRecord, resource: string, operation: string, room: FactBudget): ClientFact {
  const own = factOf(record.operations, resource, operation, MAX_OPERATIONS, room);
  if (own !== undefined) return own;
  record.others ??= { resource: OTHER_NAME, name: OTHER_NAME, amount: 0, at: 0, looked: 0 };
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

function shownNeeds({ needs }: ClientRecord, unseen: readonly ClientFact[]): ClientNeeds {
  const field = ({ resource, name }: ClientFact) => ({ resource, field: name });
  const operation = ({ resource, name }: ClientFact) => ({ resource, operation: name });
  return {
    longLists: (needs?.longLists ?? [])
      .map(({ resource, amount }) => ({ resource, records: amount }))
      .sort((a, b) => b.records - a.records || compareText(a.resource, b.resource)),
    zeroedFields: (needs?.zeroedFields ?? []).map(field).sort(byField),
    lacking: (needs?.lacking ?? []).map(operation).sort(byOperation),
    unknownFields: (needs?.unknownFields ?? []).map(field).sort(byField),
    unseen: unseen.map(operation).sort(byOperation),
  };
}

/** Takes what `entry` says into `record`, which is new. */
export function fillRecord(record: ClientRecord, entry: ClientEntry, room: FactBudget): void {
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
  kind: keyof RecordedNeeds,
  resource: string,
  name: string,
  room: FactBudget,
  amount = 0,
): void {
  const fact = factOf(needsOf(record)[kind], resource, name, MAX_NEEDS, room);
  if (fact !== undefined) fact.amount = Math.max(fact.amount, amount);
}

/** Orders by code units, the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function byRequests(a: ClientOperation, b: ClientOperation): number {
  return b.requests - a.requests || byOperation(a, b);
}

type OfResource = { readonly resource: string };

export function byField(
  a: OfResource & { readonly field: string },
  b: OfResource & { readonly field: string },
): number {
  return compareText(a.resource, b.resource) || compareText(a.field, b.field);
}

export function byOperation(
  a: OfResource & { readonly operation: string },
  b: OfResource & { readonly operation: string },
): number {
  return compareText(a.resource, b.resource) || compareText(a.operation, b.operation);
}

/** Most v1 requests first, then most v2 requests. */
export function byCount(a: ClientEntry, b: ClientEntry): number {
  return b.requests.v1 - a.requests.v1 || b.requests.v2 - a.requests.v2 || compareText(a.name, b.name);
}

/** What is remembered of one client beside its counts, and how much of it at most? */

/** Something that a client does, or needs. */
export interface ClientFact {
  readonly resource: string;
  /** An operation, or a field. */
  readonly name: string;
  /** How often, or how many records. */
  amount: number;
  /** When last, milliseconds since 1970. */
  at: number;
  /** How many of `amount` carryover looked into. */
  looked: number;
}

/** What there is no room for, under one name. */
export const OTHER_NAME = "other";

/** Room for facts of all clients together, so that many clients with many facts each do not fill the memory. */
export interface FactBudget {
  /** True when there was room for one more; it is taken then. */
  take(): boolean;
  give(count: number): void;
}

export function createFactBudget(most: number): FactBudget {
  const state = { left: most };
  return {
    take() {
      if (state.left <= 0) return false;
      state.left -= 1;
      return true;
    },
    give(count) {
      state.left += count;
    },
  };
}

/** A fact of `facts`, made when there is room; undefined when there is none. */
export function factOf(
  facts: ClientFact[],
  resource: string,
  name: string,
  most: number,
  room: FactBudget,
): ClientFact | undefined {
  // Few, and their texts are mostly the catalogue's own: looking through them costs less than a table for each client.
  for (const fact of facts) if (fact.name === name && fact.resource === resource) return fact;
  if (facts.length >= most || !room.take()) return undefined;
  const made: ClientFact = { resource: ownText(resource), name: ownText(name), amount: 0, at: 0, looked: 0 };
  facts.push(made);
  return made;
}

/** A copy: what was cut out of a longer text would keep all of it in memory. Of a part of a text nothing else is kept. */
export function ownText(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}
