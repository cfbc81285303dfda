/** Who calls, what, since when, and what makes it hard to move each of them? (Design section 8.) */
import { type Exchange, wasLetIn } from "../model/exchange.ts";
import type { LedgerSnapshot, VersionCounts } from "../model/ledger.ts";
import type { Operation, Resource } from "../model/resource.ts";
import { plainField } from "../model/text.ts";
import {
  byCount,
  type ClientRecord,
  createFactBudget,
  createRecord,
  entryOf,
  type FactBudget,
  factOf,
  factsIn,
  fillRecord,
  noteNeed,
  operationOf,
} from "./record.ts";
import { mergeSnapshots } from "./snapshot.ts";
import { createSpaceSaving, type SpaceSaving } from "./space-saving.ts";

export interface LedgerOptions extends OperationTraits {
  /** Most clients remembered (`clients.max`). */
  readonly max: number;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Random, one per process; a file that is restored has its own. */
  readonly instance: string;
  /** Records of one v2 page: whoever gets more in one list relies on it. */
  readonly pageSize: number;
  /** What metrics call a client (`Identity`). */
  readonly labelOf: (name: string) => string;
  readonly isExcluded: (name: string) => boolean;
  /** How a client that was kept under `name` is called now (`Identity`). */
  readonly nameNow: (name: string) => string;
}

/** What carryover found out about a request, whoever served it. */
export type RequestFindings = Pick<
  Exchange,
  "client" | "resource" | "operation" | "list" | "defaultedFields" | "unknownFields"
>;

export interface Ledger {
  /** Enters a request that is over. */
  observe(exchange: Exchange): void;
  /** Notes what was found out behind a request that native v1 served; counts nothing, and makes no entry. */
  learn(learnt: RequestFindings): void;
  snapshot(): LedgerSnapshot;
  /** How many clients called each version; cheap, for metrics. */
  callers(): VersionCounts;
  /**
   * Takes in what was known before; from then on the ledger goes under the instance of `snapshot`. Throws `Error` when a
   * request has been entered already.
   */
  restore(snapshot: LedgerSnapshot): void;
  /** Another number whenever something changed. */
  revision(): number;
}

/** Facts for each client when all places are taken, and for the first ones. */
const FACTS_PER_CLIENT = 16;
const FACTS = 100_000;
/** Milliseconds that a restart may take, and a file may be old meanwhile, before calls may have been missed. */
const MAY_BE_OFF = 600_000;
/** Unknown fields of one request that are looked at. */
const MAX_UNKNOWN = 64;

interface LedgerState {
  readonly options: LedgerOptions;
  readonly clients: SpaceSaving<ClientRecord>;
  readonly room: FactBudget;
  instances: readonly string[];
  since: number;
  watchedSince: number;
  v1: number;
  v2: number;
  revision: number;
}

/**
 * Places are competed for by v1 requests alone (Space-Saving): traffic on v2 grows just when v1 gets rare, and must not push
 * the last callers of v1 out. A client that calls v2 only gets a place that is free, or that of another such client; without
 * one it is counted in the sums.
 *
 * Bounded, whatever is sent: `max` clients, 63 operations and 32 needs of a kind of each, 100,000 + 16 × `max` in all.
 */
export function createLedger(options: LedgerOptions): Ledger {
  const since = options.wall();
  const state = createState(options, [options.instance], since);
  return {
    observe: (exchange) => observe(state, exchange),
    learn: (learnt) => {
      const record = state.clients.find(learnt.client);
      if (record === undefined) return;
      state.revision += 1;
      const operation = factOf(record.operations, learnt.resource, learnt.operation, 0, state.room);
      if (operation !== undefined) operation.looked += 1;
      noteNeeds(state, record, learnt);
    },
    snapshot: () => ({
      version: 1,
      instances: state.instances,
      since: state.since,
      watchedSince: state.watchedSince > state.since ? state.watchedSince : undefined,
      at: options.wall(),
      requests: { v1: state.v1, v2: state.v2 },
      bound: state.clients.bound(),
      clients: [...state.clients.items()].map((record) => entryOf(record, options.tells)).sort(byCount),
    }),
    callers: () => callers(state.clients.items()),
    restore: (snapshot) => restore(state, snapshot),
    revision: () => state.revision,
  };
}

function createState(options: LedgerOptions, instances: readonly string[], since: number): LedgerState {
  const room = createFactBudget(FACTS + FACTS_PER_CLIENT * options.max);
  const clients = createSpaceSaving<ClientRecord>(
    options.max,
    (name) => createRecord(name, options.labelOf(name), options.wall()),
    (record) => room.give(factsIn(record)),
  );
  return { options, clients, room, instances, since, watchedSince: since, v1: 0, v2: 0, revision: 0 };
}

function observe(state: LedgerState, exchange: Exchange): void {
  const { options, clients } = state;
  if (options.isExcluded(exchange.client)) return;
  const entrance = eligibilityOf(exchange);
  if (entrance === "no" || (entrance === "known" && clients.find(exchange.client) === undefined)) return;
  const at = options.wall();
  state.revision += 1;
  if (exchange.apiVersion === "v2") {
    state.v2 += 1;
    const user = clients.see(exchange.client);
    if (user === undefined) return;
    user.v2 += 1;
    user.lastSeen = at;
    return;
  }
  state.v1 += 1;
  const record = clients.add(exchange.client);
  // With its first v1 request: also those that it may have made before it got its place.
  record.v1 += record.v1 === 0 ? record.count : 1;
  record.lastSeen = at;
  record.lastV1 = at;
  const operation = operationOf(record, exchange.resource, exchange.operation, state.room);
  operation.amount += 1;
  operation.at = at;
  if (isLookedInto(exchange)) operation.looked += 1;
  // Anybody may say that name and ask for something: it is a need of the client's only when somebody was let in.
  if (entrance !== "yes") return;
  if (lacks(state, exchange)) noteNeed(record, "lacking", exchange.resource, exchange.operation, state.room);
  noteNeeds(state, record, exchange);
}

function callers(records: Iterable<ClientRecord>): VersionCounts {
  let [v1, v2] = [0, 0];
  for (const record of records) {
    if (record.v1 > 0) v1 += 1;
    if (record.v2 > 0) v2 += 1;
  }
  return { v1, v2 };
}

/** A path that nobody knows is one that the client needs when it was answered. */
function lacks({ options }: LedgerState, { resource, operation, status }: Exchange): boolean {
  return options.lacks(resource, operation) && (resource !== "unknown" || status < 400);
}

/** Of what native v1 served carryover knows the head; what failed has nothing to be looked into. */
function isLookedInto({ mode, status, list, defaultedFields }: Exchange): boolean {
  if (mode !== "native" && mode !== "shadow") return true;
  return status >= 400 || list !== undefined || defaultedFields.length > 0;
}

function noteNeeds({ options, room }: LedgerState, record: ClientRecord, learnt: RequestFindings): void {
  const { resource, list, defaultedFields, unknownFields } = learnt;
  if (list?.outcome === "complete" && list.records > options.pageSize) {
    noteNeed(record, "longLists", resource, "", room, list.records);
  }
  for (const field of defaultedFields) noteNeed(record, "zeroedFields", resource, field, room);
  for (const { direction, name } of unknownFields.slice(0, MAX_UNKNOWN)) {
    if (direction === "request") noteNeed(record, "unknownFields", resource, plainField(name), room);
  }
}

function restore(state: LedgerState, snapshot: LedgerSnapshot): void {
  const { options, clients, room } = state;
  if (clients.size > 0 || state.v1 + state.v2 > 0) throw new Error("a ledger is restored before its first request");
  const renamed = {
    ...snapshot,
    clients: snapshot.clients.map((one) => ({ ...one, name: options.nameNow(one.name) })),
  };
  // What was kept is to be replaced, although nobody called.
  if (renamed.clients.some(({ name }, at) => name !== snapshot.clients[at]?.name)) state.revision += 1;
  const { instances, since, requests, bound, clients: entries } = mergeSnapshots([renamed], options.max);
  state.instances = instances;
  const isGap = state.since - snapshot.at > MAY_BE_OFF;
  state.watchedSince = isGap ? state.since : (snapshot.watchedSince ?? since);
  state.since = since;
  state.v1 = requests.v1;
  state.v2 = requests.v2;
  clients.raiseBound(bound);
  // The longest unused first: that is the order in which they make room. Of callers of v1, v2 requests do not count.
  for (const entry of [...entries].sort((a, b) => (a.lastV1 ?? a.lastSeen) - (b.lastV1 ?? b.lastSeen))) {
    // Excluded meanwhile.
    if (options.isExcluded(entry.name)) continue;
    // Names may have come or gone with the configuration, so the label is made anew.
    const record = createRecord(entry.name, options.labelOf(entry.name), entry.firstSeen);
    fillRecord(record, entry, room);
    // Of several ledgers merged, some may have dropped it before.
    if (record.count > 0 && snapshot.instances.length > 1) record.count += snapshot.bound;
    clients.load(record);
  }
}

/** Does a request enter the ledger? (Design section 8: only of callers whom the platform let in.) */

/** `known`: it counts for a client that has a place, and makes no entry by itself. */
export type LedgerEligibility = "yes" | "known" | "no";

/**
 * Names come from the request, so whoever has no credential must not fill the ledger. Only a v1 or v2 request that shows its
 * caller to have been let in makes an entry; what platforms also answer to strangers (400, 404, …) counts for clients that are
 * known. Nothing enters that carryover refused itself before the platform saw it, that was answered with 401 or not at all,
 * or that needs no credential (OPTIONS). An answer without any call (a shared list) was made for the same credential a moment
 * ago.
 */
export function eligibilityOf(exchange: Exchange): LedgerEligibility {
  const { apiVersion, mode, method, status, calls, reason, aborted } = exchange;
  if (apiVersion !== "v1" && apiVersion !== "v2") return "no";
  if (mode === "refused" || method === "OPTIONS" || status === UNAUTHENTICATED) return "no";
  if (calls.length === 0) return reason === undefined && !aborted && status !== 0 ? "yes" : "no";
  if (wasLetIn(exchange)) return "yes";
  return calls.some((call) => call.status !== 0 && call.status !== UNAUTHENTICATED) ? "known" : "no";
}

const UNAUTHENTICATED = 401;

/** What does the ledger have to know of the catalogue? */

/** Two questions about an operation by its names, as an `Exchange` has them. */
export interface OperationTraits {
  /** v2 has no such operation, or carryover knows none: without native v1 nobody serves it. */
  readonly lacks: (resource: string, operation: string) => boolean;
  /** Its body, or the length of its answer, says how hard its client is to move: a list that v1 gave whole, a full replace. */
  readonly tells: (resource: string, operation: string) => boolean;
}

/** The answers for `resources`. */
export function createOperationTraits(resources: readonly Resource[]): OperationTraits {
  const telling = new Map<string, ReadonlyMap<string, boolean>>(
    resources.map((resource) => [
      resource.name,
      new Map(
        resource.operations.filter(isServed).map((operation) => [operation.name, isTelling(resource, operation)]),
      ),
    ]),
  );
  return {
    lacks: (resource, operation) => telling.get(resource)?.has(operation) !== true,
    tells: (resource, operation) => telling.get(resource)?.get(operation) === true,
  };
}

/** A path that v1 itself lacks is none that its clients could miss. */
function isServed(operation: Operation): boolean {
  return operation.kind !== "native" || operation.extension === true;
}

function isTelling({ list }: Resource, operation: Operation): boolean {
  if (operation.kind === "list") return list === "drain";
  return replaces(operation);
}

/** True for what v1 replaces as a whole: fields that are left out become zero. */
export function replaces(operation: Operation): boolean {
  return operation.kind === "update" || (operation.kind === "composite" && operation.by === "update-wrapped");
}
