/** What the ledger keeps of one client, and its conversion to and from an entry of a snapshot. */
import { FAULT_ORIGINS, type FaultOrigin } from "../model/problem.ts";
import { detachedText } from "../model/text.ts";
import type { DayPool } from "./days.ts";
import {
  addErrors,
  type ClientEntry,
  type ClientNeeds,
  type ClientOperation,
  countErrors,
  MAX_NEEDS,
  MAX_OPERATIONS,
  type RefusedRequests,
} from "./entry.ts";
import type { MonitoredItem } from "./space-saving.ts";

/** One client. */
export interface ClientRecord extends MonitoredItem {
  readonly label: string;
  readonly firstSeen: number;
  /** Its place in the pool of days. */
  readonly slot: number;
  lastSeen: number;
  lastV1: number | undefined;
  lastV2: number | undefined;
  /** By the last brownout. */
  refused: RefusedRequests | undefined;
  v1: number;
  v2: number;
  /** Revision of the ledger at its last change. */
  revision: number;
  readonly operations: ClientFact[];
  /** Requests of operations beyond the limits. */
  others: ClientFact | undefined;
  /** Undefined until there is one: most clients need nothing. */
  needs: RecordedNeeds | undefined;
}

/** Facts by kind: `amount` of a list is its records, of the rest nothing. */
export interface RecordedNeeds {
  readonly longLists: ClientFact[];
  readonly zeroedFields: ClientFact[];
  readonly lacking: ClientFact[];
  readonly unknownFields: ClientFact[];
}

export function createRecord(name: string, label: string, at: number, slot: number): ClientRecord {
  return {
    name: detachedText(name),
    count: 0,
    over: 0,
    lastUse: 0,
    heapIndex: 0,
    label,
    firstSeen: at,
    slot,
    lastSeen: at,
    lastV1: undefined,
    lastV2: undefined,
    refused: undefined,
    v1: 0,
    v2: 0,
    revision: 0,
    operations: [],
    others: undefined,
    needs: undefined,
  };
}

/** The fact of one operation; beyond the limits the common one for all others. */
export function operationOf(record: ClientRecord, resource: string, operation: string, budget: FactBudget): ClientFact {
  const own = factOf(record.operations, resource, operation, MAX_OPERATIONS, budget);
  if (own !== undefined) return own;
  record.others ??= createFact(OTHER_NAME, OTHER_NAME);
  return record.others;
}

/** How many facts of the budget `record` uses. */
export function factsIn({ operations, needs }: ClientRecord): number {
  return Object.values(needs ?? {}).reduce((sum, facts) => sum + facts.length, operations.length);
}

/** What must be known of an operation, by the names that an `Exchange` has. */
export interface OperationTraits {
  /** v2 has no such operation, or carryover knows none: only native v1 serves it. */
  readonly isLackingInV2: (resource: string, operation: string) => boolean;
  /** Its content shows how hard the client is to move: the length of a list that v1 returned whole, or the body of a full replace. */
  readonly revealsNeeds: (resource: string, operation: string) => boolean;
}

/** The entry of a snapshot. */
export function entryOf(
  record: ClientRecord,
  days: Pick<DayPool, "read">,
  { isLackingInV2, revealsNeeds }: OperationTraits,
): ClientEntry {
  const { name, label, firstSeen, lastSeen, lastV1, lastV2, refused, v1, v2, over, operations, others } = record;
  const all = others === undefined ? operations : [...operations, others];
  return {
    name,
    label,
    firstSeen,
    lastSeen,
    lastV1,
    ...(lastV2 === undefined ? {} : { lastV2 }),
    ...(refused === undefined ? {} : { refused }),
    requests: { v1, v2 },
    days: days.read(record.slot),
    over,
    operations: all
      .map(({ resource, name: operation, amount, at, errors, translated }) => ({
        ...{ resource, operation, requests: amount, lastSeen: at },
        ...(errors === undefined ? {} : { errors: addErrors([errors]) }),
        ...(translated === 0 ? {} : { translated }),
      }))
      .sort(byRequests),
    needs: shownNeeds(
      record,
      // Whatever was answered: native v1 may answer 501 to what v2 lacks, and that is no answer by which a client is let in.
      operations.filter(({ resource, name }) => resource !== "unknown" && isLackingInV2(resource, name)),
      // A failed request has no content to inspect.
      operations.filter(({ resource, name, amount, inspected, errors }) => {
        return inspected === 0 && amount > countErrors(errors) && revealsNeeds(resource, name);
      }),
    ),
  };
}

function shownNeeds(
  { needs }: ClientRecord,
  lacking: readonly ClientFact[],
  unseen: readonly ClientFact[],
): ClientNeeds {
  const field = ({ resource, name }: ClientFact) => ({ resource, field: name });
  const operation = ({ resource, name }: ClientFact) => ({ resource, operation: name });
  return {
    longLists: (needs?.longLists ?? [])
      .map(({ resource, amount }) => ({ resource, records: amount }))
      .sort((a, b) => b.records - a.records || compareText(a.resource, b.resource)),
    zeroedFields: (needs?.zeroedFields ?? []).map(field).sort(byField),
    lacking: united(needs?.lacking ?? [], lacking)
      .map(operation)
      .sort(byOperation)
      .slice(0, MAX_NEEDS),
    unknownFields: (needs?.unknownFields ?? []).map(field).sort(byField),
    unseen: unseen.map(operation).sort(byOperation),
  };
}

function united(noted: readonly ClientFact[], called: readonly ClientFact[]): readonly ClientFact[] {
  if (called.length === 0) return noted;
  const isNoted = (one: ClientFact) =>
    noted.some(({ resource, name }) => resource === one.resource && name === one.name);
  return [...noted, ...called.filter((one) => !isNoted(one))];
}

/** Restores `entry` into a new `record`. */
export function fillRecord(
  record: ClientRecord,
  entry: ClientEntry,
  days: Pick<DayPool, "write">,
  budget: FactBudget,
): void {
  const { requests, over, needs } = entry;
  if (entry.days !== undefined) days.write(record.slot, entry.days);
  record.v1 = requests.v1;
  record.v2 = requests.v2;
  record.count = requests.v1;
  record.over = over;
  record.lastSeen = entry.lastSeen;
  record.lastV1 = entry.lastV1;
  record.lastV2 = entry.lastV2;
  record.refused = entry.refused;
  for (const { resource, operation, requests: amount, lastSeen, errors, translated = 0 } of entry.operations) {
    const fact = operationOf(record, resource, operation, budget);
    const unseen = needs.unseen.some((one) => one.resource === resource && one.operation === operation);
    fact.amount += amount;
    fact.at = Math.max(fact.at, lastSeen);
    fact.translated += translated;
    fact.inspected = unseen ? 0 : amount - countErrors(errors);
    for (const fault of FAULT_ORIGINS) noteErrors(fact, fault, errors?.[fault] ?? 0);
  }
  for (const { resource, records } of needs.longLists) noteNeed(record, "longLists", resource, "", budget, records);
  for (const { resource, field } of needs.zeroedFields) noteNeed(record, "zeroedFields", resource, field, budget);
  for (const { resource, operation } of needs.lacking) noteNeed(record, "lacking", resource, operation, budget);
  for (const { resource, field } of needs.unknownFields) noteNeed(record, "unknownFields", resource, field, budget);
}

/** Adds `count` failed requests. */
export function noteErrors(fact: ClientFact, fault: FaultOrigin, count: number): void {
  if (count === 0) return;
  fact.errors ??= { client: 0, platform: 0, capacity: 0, translation: 0, v2: 0 };
  fact.errors[fault] += count;
}

/** Counts one of the errors for which `from` was blamed as v2's. */
export function blameV2(fact: ClientFact, from: FaultOrigin): void {
  if (fact.errors === undefined || fact.errors[from] === 0) return;
  fact.errors[from] -= 1;
  fact.errors.v2 += 1;
}

/** Adds one need, within the limits. */
export function noteNeed(
  record: ClientRecord,
  kind: keyof RecordedNeeds,
  resource: string,
  name: string,
  budget: FactBudget,
  amount = 0,
): void {
  record.needs ??= { longLists: [], zeroedFields: [], lacking: [], unknownFields: [] };
  const fact = factOf(record.needs[kind], resource, name, MAX_NEEDS, budget);
  if (fact !== undefined) fact.amount = Math.max(fact.amount, amount);
}

/** Orders by code units, which is the same on every machine. */
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

/** Something that a client does, or needs. */
export interface ClientFact {
  readonly resource: string;
  /** An operation, or a field. */
  readonly name: string;
  /** How often, or how many records. */
  amount: number;
  /** When last, milliseconds since 1970. */
  at: number;
  /** How many of `amount` requests carryover saw the content of. */
  inspected: number;
  /** How many of them the translation served without an error. */
  translated: number;
  /** Requests that failed, by fault; undefined until there is one, since most clients have none. */
  errors: Record<FaultOrigin, number> | undefined;
}

/** The name for everything beyond the limits. */
export const OTHER_NAME = "other";

/** How many more facts may be kept for all clients together: bounds the memory of many clients with many facts each. */
export interface FactBudget {
  left: number;
}

/** A fact of `facts`, added within the limits; undefined beyond them. */
export function factOf(
  facts: ClientFact[],
  resource: string,
  name: string,
  most: number,
  budget: FactBudget,
): ClientFact | undefined {
  // They are few, and comparing texts of the catalogue is cheap: a search costs less than a Map for each client.
  for (const fact of facts) if (fact.name === name && fact.resource === resource) return fact;
  if (facts.length >= most || budget.left <= 0) return undefined;
  budget.left -= 1;
  const added = createFact(detachedText(resource), detachedText(name));
  facts.push(added);
  return added;
}

function createFact(resource: string, name: string): ClientFact {
  return { resource, name, amount: 0, at: 0, inspected: 0, translated: 0, errors: undefined };
}
