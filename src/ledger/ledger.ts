/** The ledger: which clients call which operations, since when, and what makes each of them hard to move to v2. */
import type { IsUntranslated } from "../catalogue/catalogue.ts";
import { type Exchange, faultOf, firstFaultOf, isTurnedAway, wasLetIn } from "../model/exchange.ts";
import type { Operation, Resource } from "../model/resource.ts";
import { plainField } from "../model/text.ts";
import { createDayPool, DAY_MS, type DayPool, dayOf } from "./days.ts";
import type { ClientEntry, LedgerSnapshot, RefusedRequests, VersionCounts } from "./entry.ts";
import type { ClientIdentity } from "./identity.ts";
import {
  blameV2,
  byCount,
  type ClientRecord,
  createRecord,
  entryOf,
  type FactBudget,
  factOf,
  factsIn,
  fillRecord,
  noteErrors,
  noteNeed,
  type OperationTraits,
  operationOf,
} from "./record.ts";
import { mergeSnapshots } from "./snapshot.ts";
import { createSpaceSaving, type SpaceSaving } from "./space-saving.ts";

export interface LedgerOptions {
  /** Most clients kept (`clients.max`). */
  readonly max: number;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Random, one per process; a restored file brings its own. */
  readonly instance: string;
  /** Records of one v2 page: a client that gets more in one list relies on whole lists. */
  readonly pageSize: number;
  readonly identity: Pick<ClientIdentity, "labelOf" | "isExcluded" | "nameNow"> &
    Partial<Pick<ClientIdentity, "ownerOf">>;
  readonly traits: OperationTraits;
}

/** What carryover found out about a request from its content, whether native v1 or v2 served it. */
export type RequestFindings = Pick<
  Exchange,
  "client" | "resource" | "operation" | "list" | "defaultedFields" | "unknownFields"
>;

export interface Ledger {
  /** Counts a request that is over. */
  observe(exchange: Exchange): void;
  /** Native v1 has served a request that was counted as failed: v2 was at fault. */
  blameV2(exchange: Exchange): void;
  /** Adds the findings of a background translation of a request that native v1 served; counts nothing, makes no entry. */
  learn(findings: RequestFindings): void;
  /** With the owners of `clients.names`. */
  snapshot(): LedgerSnapshot;
  /**
   * A snapshot that may be read while requests go on: each entry is as it is when it is read, and `head` is to be called last.
   * Counts of the head are then no smaller than those of the entries.
   */
  stream(): { readonly entries: Iterable<ClientEntry>; head(): Omit<LedgerSnapshot, "clients"> };
  /** Why v1 cannot be taken from a client yet: requests of the last day failed because of the translation. Cheap. */
  failingByTranslation(client: string): string | undefined;
  /** The clients, and when each called last; cheap. */
  seen(): Iterable<{ readonly name: string; readonly lastSeen: number }>;
  /** How many clients there are. */
  size(): number;
  /** The clients that have changed since the revision; cheap. Of 0: all. */
  changedSince(revision: number): Iterable<string>;
  /** As `stream`, of these clients only; those that are no longer there are left out. */
  entriesOf(names: Iterable<string>): readonly ClientEntry[];
  /** As `snapshot`, without the clients; cheap. */
  head(): Omit<LedgerSnapshot, "clients">;
  /** How many clients called each version; cheap, for metrics. */
  callers(): VersionCounts;
  /**
   * Continues from `snapshot`, also under its instance. `nameOf`: the current name of a client in it. Throws `Error` when a
   * request has been counted already.
   */
  restore(snapshot: LedgerSnapshot, nameOf?: (stored: string) => string): void;
  /** Gives each client its current name; entries of one name become one. */
  rename(nameOf: (stored: string) => string): void;
  /**
   * Drops the clients of these names. What they call later counts as a new client's. Who called v1 before the last v1 call of one of them is
   * no longer known, so the ledger has been watching since then at the earliest. Returns the entries.
   */
  forget(names: Iterable<string>): readonly ClientEntry[];
  /** Grows with every change. */
  revision(): number;
}

/** Facts per client, and facts for any of them. */
const FACTS_PER_CLIENT = 16;
const FACTS = 100_000;
/** Milliseconds between a snapshot and its restoration after which calls count as missed. */
export const LONGEST_GAP = 600_000;
/** Milliseconds; few requests take longer. */
const LONGEST_REQUEST = 60_000;
/** Unknown fields kept of one request. */
const MAX_UNKNOWN = 64;

interface LedgerState {
  readonly options: LedgerOptions;
  readonly clients: SpaceSaving<ClientRecord>;
  readonly days: DayPool;
  readonly budget: FactBudget;
  instances: readonly string[];
  since: number;
  watchedSince: number;
  /** 0: no client was forgotten. */
  forgottenBefore: number;
  daysSince: number;
  v1: number;
  v2: number;
  revision: number;
  /** Requests that began before names were changed may end until then (`wall`). */
  renamed: { readonly nameOf: (stored: string) => string; readonly until: number } | undefined;
}

/**
 * Only v1 requests compete for entries (Space-Saving): v2 traffic grows just when v1 gets rare, and must not push out the last
 * callers of v1. A client that calls v2 only gets a free entry, or that of another such client; without one it is counted in
 * the sums.
 *
 * Bounded: `max` clients, 63 operations and 32 needs of each kind per client, 100,000 + 16 × `max` facts in all, and 172 bytes
 * for the days of each client.
 */
export function createLedger(options: LedgerOptions): Ledger {
  const since = options.wall();
  let state = createState(options, [options.instance], since);
  return {
    observe: (exchange) => observe(state, exchange),
    blameV2: (exchange) => {
      const record = state.clients.find(nameIn(state, exchange.client));
      const from = firstFaultOf(exchange);
      const operation = record && factOf(record.operations, exchange.resource, exchange.operation, 0, state.budget);
      if (operation === undefined || from === undefined) return;
      state.revision += 1;
      if (record !== undefined) record.revision = state.revision;
      blameV2(operation, from);
    },
    learn: (findings) => {
      const record = state.clients.find(nameIn(state, findings.client));
      if (record === undefined) return;
      state.revision += 1;
      record.revision = state.revision;
      const operation = factOf(record.operations, findings.resource, findings.operation, 0, state.budget);
      if (operation !== undefined) operation.inspected += 1;
      noteNeeds(state, record, findings);
    },
    snapshot: () => {
      const clients = Array.from(entriesOf(state), (entry) => ({
        ...entry,
        ...options.identity.ownerOf?.(entry.name),
      }));
      return { ...headOf(state), clients: clients.sort(byCount) };
    },
    stream: () => {
      const streamed = state;
      return { entries: entriesOf(streamed), head: () => headOf(streamed) };
    },
    failingByTranslation: (client) => {
      const since = options.wall() - DAY_MS;
      const record = state.clients.find(client);
      const found = record?.operations.find(({ at, errors }) => at >= since && (errors?.translation ?? 0) > 0);
      return found && `requests of ${found.resource} ${found.name} failed because of the translation`;
    },
    seen: () => state.clients.items(),
    size: () => state.clients.size,
    changedSince: (revision) => changedSince(state, revision),
    entriesOf: (names) => {
      const { clients, days, options: by } = state;
      return Array.from(names, (name) => clients.find(name)).flatMap((one) =>
        one === undefined ? [] : [entryOf(one, days, by.traits)],
      );
    },
    head: () => headOf(state),
    callers: () => callers(state.clients.items()),
    restore: (snapshot, nameOf = options.identity.nameNow) => restore(state, snapshot, nameOf),
    rename: (nameOf) => {
      const before = { ...headOf(state), clients: [...entriesOf(state)] };
      const { revision } = state;
      state = createState(options, before.instances, options.wall());
      state.revision = revision + 1;
      restore(state, before, nameOf);
      state.renamed = { nameOf, until: options.wall() + LONGEST_REQUEST };
    },
    forget: (names) => [...names].flatMap((name) => forget(state, name) ?? []),
    revision: () => state.revision,
  };
}

function forget(state: LedgerState, name: string): ClientEntry | undefined {
  const record = state.clients.find(name);
  if (record === undefined) return undefined;
  const entry = entryOf(record, state.days, state.options.traits);
  state.clients.remove(name);
  state.revision += 1;
  // A later time is a mistake of the clock.
  const lastV1 = Math.min(record.lastV1 ?? -1, state.options.wall());
  state.forgottenBefore = Math.max(state.forgottenBefore, lastV1 + 1);
  return entry;
}

function* entriesOf({ options, clients, days }: LedgerState): Generator<ClientEntry> {
  // A copy of the list: a new client may take the place of another meanwhile.
  for (const record of [...clients.items()]) yield entryOf(record, days, options.traits);
}

function headOf({ options, clients, instances, since, daysSince, v1, v2, ...state }: LedgerState) {
  const watchedSince = Math.max(state.watchedSince, state.forgottenBefore);
  return {
    version: 1 as const,
    instances,
    since,
    watchedSince: watchedSince > since ? watchedSince : undefined,
    forgottenBefore: state.forgottenBefore > 0 ? state.forgottenBefore : undefined,
    daysSince,
    at: options.wall(),
    requests: { v1, v2 },
    bound: clients.bound(),
  };
}

function createState(options: LedgerOptions, instances: readonly string[], since: number): LedgerState {
  const budget = { left: FACTS + FACTS_PER_CLIENT * options.max };
  const days = createDayPool();
  const clients = createSpaceSaving<ClientRecord>(
    options.max,
    (name) => createRecord(name, options.identity.labelOf(name), options.wall(), days.take()),
    (record) => {
      budget.left += factsIn(record);
      days.release(record.slot);
    },
  );
  return {
    options,
    clients,
    days,
    budget,
    instances,
    since,
    watchedSince: since,
    forgottenBefore: 0,
    daysSince: since,
    v1: 0,
    v2: 0,
    revision: 0,
    renamed: undefined,
  };
}

/** A request that is over may have begun before its client was named. */
function nameIn({ options, clients, renamed }: LedgerState, client: string): string {
  if (clients.find(client) !== undefined) return client;
  return renamed !== undefined && options.wall() < renamed.until
    ? renamed.nameOf(client)
    : options.identity.nameNow(client);
}

function observe(state: LedgerState, exchange: Exchange): void {
  const { options, clients } = state;
  if (options.identity.isExcluded(exchange.client)) return;
  const eligibility = eligibilityOf(exchange);
  const client = nameIn(state, exchange.client);
  if (eligibility === "no" || (eligibility === "known" && clients.find(client) === undefined)) return;
  const at = options.wall();
  state.revision += 1;
  if (exchange.apiVersion === "v2") {
    state.v2 += 1;
    const user = clients.see(client);
    if (user === undefined) return;
    user.v2 += 1;
    user.lastSeen = at;
    user.lastV2 = at;
    user.revision = state.revision;
    state.days.note(user.slot, "v2", dayOf(at));
    return;
  }
  state.v1 += 1;
  const record = clients.add(client);
  // The first v1 request also brings those that the client may have made before it got its entry.
  record.v1 += record.v1 === 0 ? record.count : 1;
  record.lastSeen = at;
  record.lastV1 = at;
  record.revision = state.revision;
  state.days.note(record.slot, "v1", dayOf(at));
  const operation = operationOf(record, exchange.resource, exchange.operation, state.budget);
  operation.amount += 1;
  operation.at = at;
  if (isInspected(exchange)) operation.inspected += 1;
  record.refused = withRefusal(record.refused, exchange, at);
  // A brownout is not a fault. Its refusals are counted separately.
  const fault = exchange.brownout === undefined ? faultOf(exchange) : undefined;
  if (fault !== undefined) noteErrors(operation, fault, 1);
  else if (exchange.mode === "translate" && eligibility === "yes") operation.translated += 1;
  // Without valid credentials a request may use anyone's name: it shows nothing of the client's needs.
  if (eligibility !== "yes") return;
  if (isLacking(state, exchange)) noteNeed(record, "lacking", exchange.resource, exchange.operation, state.budget);
  noteNeeds(state, record, exchange);
}

function* changedSince({ clients }: LedgerState, revision: number): Generator<string> {
  for (const record of clients.items()) if (record.revision > revision || revision === 0) yield record.name;
}

function callers(records: Iterable<ClientRecord>): VersionCounts {
  let [v1, v2] = [0, 0];
  for (const record of records) {
    if (record.v1 > 0) v1 += 1;
    if (record.v2 > 0) v2 += 1;
  }
  return { v1, v2 };
}

/** The client needs an unknown path only if v1 served it. */
function isLacking({ options }: LedgerState, { resource, operation, status }: Exchange): boolean {
  return options.traits.isLackingInV2(resource, operation) && (resource !== "unknown" || status < 400);
}

function withRefusal(
  before: RefusedRequests | undefined,
  { brownout, rule }: Exchange,
  at: number,
): RefusedRequests | undefined {
  if (brownout === undefined || rule === undefined) return before;
  const { start, end } = brownout;
  const isSame = before?.rule === rule && before.start === start;
  return isSame
    ? { ...before, end, requests: before.requests + 1, last: at }
    : { rule, start, end, requests: 1, first: at, last: at };
}

/** Carryover sees only the head of what native v1 serves. */
function isInspected({ mode, list, defaultedFields, brownout }: Exchange): boolean {
  if (brownout !== undefined) return false;
  if (mode !== "native" && mode !== "shadow") return true;
  return list !== undefined || defaultedFields.length > 0;
}

function noteNeeds({ options, budget }: LedgerState, record: ClientRecord, findings: RequestFindings): void {
  const { resource, list, defaultedFields, unknownFields } = findings;
  if (list?.outcome === "complete" && list.records > options.pageSize) {
    noteNeed(record, "longLists", resource, "", budget, list.records);
  }
  for (const field of defaultedFields) noteNeed(record, "zeroedFields", resource, field, budget);
  for (const { direction, name } of unknownFields.slice(0, MAX_UNKNOWN)) {
    if (direction === "request") noteNeed(record, "unknownFields", resource, plainField(name), budget);
  }
}

function restore(state: LedgerState, snapshot: LedgerSnapshot, nameOf: (stored: string) => string): void {
  const { options, clients, days, budget } = state;
  const { identity, max } = options;
  if (clients.size > 0 || state.v1 + state.v2 > 0) throw new Error("a ledger is restored before its first request");
  const renamed = {
    ...snapshot,
    clients: snapshot.clients.map((one) => ({ ...one, name: nameOf(one.name) })),
  };
  // Then the file must be written again, even without calls.
  if (renamed.clients.some(({ name }, at) => name !== snapshot.clients[at]?.name)) state.revision += 1;
  const { instances, since, requests, bound, clients: entries } = mergeSnapshots([renamed], max);
  state.instances = instances;
  const isGap = state.since - snapshot.at > LONGEST_GAP;
  state.watchedSince = isGap ? state.since : (snapshot.watchedSince ?? since);
  state.forgottenBefore = snapshot.forgottenBefore ?? 0;
  state.since = since;
  // An older file has no days.
  state.daysSince = snapshot.daysSince ?? state.daysSince;
  state.v1 = requests.v1;
  state.v2 = requests.v2;
  clients.raiseBound(bound);
  // The longest unused first, since they are the first to be dropped. Of callers of v1, v2 requests do not count.
  for (const entry of [...entries].sort((a, b) => (a.lastV1 ?? a.lastSeen) - (b.lastV1 ?? b.lastSeen))) {
    if (identity.isExcluded(entry.name)) continue;
    // The label is computed again, since the configured names may have changed.
    const record = createRecord(entry.name, identity.labelOf(entry.name), entry.firstSeen, days.take());
    fillRecord(record, entry, days, budget);
    record.revision = state.revision;
    // Of several merged ledgers, some may have dropped it before.
    if (record.count > 0 && snapshot.instances.length > 1) record.count += snapshot.bound;
    clients.load(record);
  }
}

const UNAUTHENTICATED = 401;

/**
 * Whether a request counts: `yes`, `no`, or only for a client that has an entry already (`known`).
 *
 * Names come from the request, so a caller without a valid credential must not fill the ledger. Only a v1 or v2 request whose
 * caller the platform let in makes an entry. Statuses that platforms also return to strangers (400, 404, …) and errors of
 * carryover's own count for known clients. Nothing counts that was turned away, that got 401, or that
 * needs no credential (OPTIONS).
 */
function eligibilityOf(exchange: Exchange): "yes" | "known" | "no" {
  const { apiVersion, method, status, calls, reason } = exchange;
  if (apiVersion !== "v1" && apiVersion !== "v2") return "no";
  if (isTurnedAway(exchange) || method === "OPTIONS" || status === UNAUTHENTICATED) return "no";
  if (wasLetIn(exchange)) return "yes";
  if (calls.some((call) => call.status === UNAUTHENTICATED)) return "no";
  return reason !== undefined || calls.some((call) => call.status !== 0) ? "known" : "no";
}

export function createOperationTraits(resources: readonly Resource[], isUntranslated: IsUntranslated): OperationTraits {
  const revealing = new Map<string, ReadonlyMap<string, boolean>>(
    resources.map(({ name, list, operations }) => {
      // Clients cannot miss a path that v1 itself lacks.
      const served = operations.filter((operation) => operation.kind !== "native" || operation.extension === true);
      return [name, new Map(served.map((one) => [one.name, one.kind === "list" ? list === "drain" : replaces(one)]))];
    }),
  );
  return {
    isLackingInV2: (resource, operation) =>
      revealing.get(resource)?.has(operation) !== true && !isUntranslated({ resource, operation }),
    revealsNeeds: (resource, operation) => revealing.get(resource)?.get(operation) === true,
  };
}

/** True for an operation that replaces a whole record in v1: fields that are left out become zero. */
export function replaces(operation: Operation): boolean {
  return operation.kind === "update" || (operation.kind === "composite" && operation.by === "update-wrapped");
}
