/**
 * Keeps the document of this process in the shared store: once per second its head and the totals if they changed, and as much of the rest as the
 * budget allows. A small document is there whole within a second or two, a large one in turns. Never called by a request.
 */
import { DOCUMENT, rowName } from "../fleet/document.ts";
import { type SavedTier, TIERS } from "../history/buckets.ts";
import { type EventHistory, eventRecord, type HistoryEvent } from "../history/events.ts";
import type { RequestHistory } from "../history/requests.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Timer } from "../model/clock.ts";
import type { RuleStatus } from "../rules/status.ts";
import { checkOf } from "../state/section.ts";
import type { Contributions } from "../state/shared/contributions.ts";
import { packedRows } from "../state/shared/packing.ts";
import type { ComparisonCounts, OwnProgress } from "../telemetry/progress.ts";

const PUBLISH_MS = 1_000;
/** The head is sent so often even without news: others take the time of the last rows for the end of a process that is gone. */
const HEAD_MS = 300_000;
/** Of one second, besides the head and the totals. */
const BUDGET = { bytes: 32 * 1024, ms: 3 };
const TOTALS_IN_ROW = 200;
const RULES_IN_ROW = 50;
const BOUNDS_IN_ROW = 200;
const EVENTS_IN_ROW = 100;
/** Clients of one row, on average, in a full ledger. */
const CLIENTS_IN_ROW = 64;
/** Buckets of one row, finest first: two hours, a day, 30 days. */
const BUCKETS_IN_ROW = [24, 24, 30];
const MOST_SAMPLES = 20;

export interface DocumentSources {
  /** The members of the progress that are small. */
  readonly head: () => Omit<OwnProgress, "shared" | "totals" | "window" | "ledger" | "bounds" | "rules">;
  readonly rules: () => readonly RuleStatus[];
  readonly bounds: () => readonly ComparisonCounts[];
  /** As `/samples` shows them. */
  readonly samples: () => { readonly values: "redact" | "show"; readonly samples: readonly unknown[] } | undefined;
  readonly ledger: Pick<Ledger, "head" | "changedSince" | "entriesOf" | "revision">;
  /** Option `clients.max`. */
  readonly mostClients: number;
  readonly requests: Pick<RequestHistory, "snapshot" | "tiers">;
  readonly events: Pick<EventHistory, "select" | "since" | "revision">;
  /** What a restart takes from the document besides the counts. */
  readonly saved: () => unknown;
  readonly contributions: Pick<Contributions, "put">;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
  readonly later: Timer;
  /** False while another process has `state.dir`, and with it the document. */
  readonly mayPublish: () => boolean;
}

/** A row that may have changed. `isSame`: it has not, and its value was not made. */
type Candidate = readonly [name: string, value: unknown] | { readonly isSame: string };

export type DocumentPublisher = ReturnType<typeof createDocumentPublisher>;

export function createDocumentPublisher(sources: DocumentSources) {
  const { contributions, now, later } = sources;
  /** Of what was put, by name of the row: a check of its JSON, and how many parts it has. */
  const put = new Map<string, { readonly check: string; readonly parts: number }>();
  const clients = createClientRows(sources);
  const history = createHistoryRows(sources);
  const events = createEventRows(sources);
  let round: Iterator<Candidate> | undefined;
  let seen = new Set<string>();
  let cancel = (): void => {};
  const remove = (name: string, from: number, parts: number): void => {
    for (let at = from; at < parts; at++) contributions.put(at === 0 ? name : `${name}+${at}`, undefined);
  };
  /** Returns the bytes that are sent. */
  const offer = (name: string, value: unknown, compared: unknown = value): number => {
    const before = put.get(name);
    const check = checkOf(JSON.stringify(compared));
    if (before?.check === check) return 0;
    const rows = packedRows(name, JSON.stringify(value));
    // The row of before stays: too much is better known late than not at all.
    if (rows === undefined) return 0;
    put.set(name, { check, parts: rows.length });
    for (const [part, text] of rows) contributions.put(part, text);
    remove(name, rows.length, before?.parts ?? 0);
    return rows.reduce((sum, [, text]) => sum + text.length, 0);
  };
  const offerHead = (): void => {
    const { since, rows } = sources.requests.snapshot();
    for (const [at, chunk] of chunked(rows, TOTALS_IN_ROW).entries()) offer(rowName("totals", at), chunk);
    const tiers = sources.requests.tiers();
    const { at, ...head } = sources.head();
    const { at: ledgerAt, ...ledger } = sources.ledger.head();
    const rest = {
      ...head,
      totalsSince: since,
      history: { since: tiers.since, knownFrom: tiers.tiers.map(({ knownFrom }) => knownFrom) },
      eventsSince: sources.events.since(),
    };
    // The time alone is no news, for a while.
    const compared = { ...rest, ledger, minutes: Math.floor(now() / HEAD_MS) };
    offer(rowName("head"), { ...rest, at, ledger: { ...ledger, at: ledgerAt } }, compared);
  };
  function* candidates(): Generator<Candidate> {
    yield [rowName("saved"), sources.saved()];
    yield* numbered("rules", sources.rules(), RULES_IN_ROW);
    yield* history();
    yield* clients.round();
    yield* numbered("bounds", sources.bounds(), BOUNDS_IN_ROW);
    yield* events();
    const samples = sources.samples();
    // Newest first.
    const latest = samples?.samples.slice(0, MOST_SAMPLES) ?? [];
    if (latest.length > 0) yield [rowName("samples"), { values: samples?.values, samples: latest }];
  }
  /** Goes on with the round for as long as the budget allows. */
  const publish = (): void => {
    if (!sources.mayPublish()) return;
    const begun = now();
    offerHead();
    let bytes = 0;
    round ??= candidates();
    while (bytes < BUDGET.bytes && now() - begun < BUDGET.ms) {
      const next = round.next();
      if (next.done === true) {
        endRound();
        return;
      }
      const { value } = next;
      if ("isSame" in value) seen.add(value.isSame);
      else {
        seen.add(value[0]);
        bytes += offer(...value);
      }
    }
  };
  /** Rows that are not in the document any more. */
  const endRound = (): void => {
    round = undefined;
    for (const [name, { parts }] of put) {
      if (seen.has(name) || name === rowName("head") || name.startsWith(rowName("totals"))) continue;
      remove(name, 0, parts);
      put.delete(name);
    }
    seen = new Set();
  };
  const run = (): void => {
    publish();
    cancel = later(PUBLISH_MS, run);
  };
  return {
    /** `names`: rows of this contributor that the store has of an earlier process. */
    start: (names: Iterable<string> = []): void => {
      for (const name of names) {
        if (!name.startsWith(DOCUMENT)) continue;
        const [base = name, part = "0"] = name.split("+");
        put.set(base, { check: "", parts: Math.max(put.get(base)?.parts ?? 0, Number(part) + 1) });
      }
      run();
    },
    /** One turn; for tests. */
    publish,
    /** Hands over the row of a client at once: it was forgotten. */
    forgotten: (client: string): void => {
      const [name, entries] = clients.rowOf(client);
      if (entries.length > 0) offer(name, entries);
      else {
        remove(name, 0, put.get(name)?.parts ?? 0);
        put.delete(name);
      }
      // The rest that may name it is sent with the next turns.
      round = undefined;
      seen = new Set();
    },
    /** What changed in the last second is handed over; sending it is left to the store's connection. */
    close: (): void => {
      cancel();
      if (!sources.mayPublish()) return;
      const end = now() + CLOSING_MS;
      round = undefined;
      seen = new Set();
      do publish();
      while (round !== undefined && now() < end);
    },
  };
}

/** A process that stops hands over as much as it can in this time. */
const CLOSING_MS = 200;

function* numbered(part: "rules" | "bounds", items: readonly unknown[], most: number): Generator<Candidate> {
  for (const [at, chunk] of chunked(items, most).entries()) yield [rowName(part, at), chunk];
}

function chunked<T>(items: readonly T[], most: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / most) }, (_, at) => items.slice(at * most, (at + 1) * most));
}

/**
 * Clients by a hash of their names, in as many rows as fit a full ledger. A row is made when a client in it changed, and one further row in each round:
 * so clients that the ledger dropped go, too.
 */
function createClientRows({ ledger, mostClients }: Pick<DocumentSources, "ledger" | "mostClients">) {
  const count = 2 ** Math.max(0, Math.ceil(Math.log2(mostClients / CLIENTS_IN_ROW)));
  const names = Array.from({ length: count }, () => new Set<string>());
  const changed = new Set<number>();
  let revision = 0;
  let turn = 0;
  const note = (name: string): void => {
    const at = hashOf(name) & (count - 1);
    names[at]?.add(name);
    changed.add(at);
  };
  const made = (at: number) => {
    const entries = ledger.entriesOf(names[at] ?? []);
    names[at] = new Set(entries.map((entry) => entry.name));
    return [rowName("clients", at), entries] as const;
  };
  return {
    rowOf: (client: string) => made(hashOf(client) & (count - 1)),
    round: function* (): Generator<Candidate> {
      const before = revision;
      revision = ledger.revision();
      for (const name of ledger.changedSince(before)) note(name);
      changed.add(turn++ % count);
      // A round that is not finished leaves the rest to the next one.
      for (const [at, known] of names.entries()) {
        if (!changed.delete(at)) {
          if (known.size > 0) yield { isSame: rowName("clients", at) };
          continue;
        }
        const [name, entries] = made(at);
        if (entries.length > 0) yield [name, entries];
      }
    },
  };
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** Requests count in the buckets of this moment, so the rows of others are made in turn, one in each round. */
function createHistoryRows({ requests, wall }: Pick<DocumentSources, "requests" | "wall">) {
  let isFirst = true;
  let turn = 0;
  return function* (): Generator<Candidate> {
    const { tiers } = requests.tiers();
    const isAll = isFirst;
    isFirst = false;
    turn += 1;
    for (const [at, tier] of tiers.entries()) {
      const size = BUCKETS_IN_ROW[at] ?? 1;
      const open = Math.floor(wall() / (TIERS[at]?.ms ?? 1) / size);
      const rows = groupedBuckets(tier, size);
      for (const [index, [group, buckets]] of [...rows].entries()) {
        const name = rowName("history", at, group);
        // A bucket that has just ended may have news, too.
        const isOpen = group === open || group === open - 1;
        yield isAll || isOpen || turn % rows.size === index ? [name, buckets] : { isSame: name };
      }
    }
  };
}

function groupedBuckets({ buckets }: SavedTier, size: number): ReadonlyMap<number, readonly (readonly number[])[]> {
  const groups = new Map<number, (readonly number[])[]>();
  for (const bucket of buckets) {
    const group = Math.floor((bucket[0] ?? 0) / size);
    groups.set(group, [...(groups.get(group) ?? []), bucket]);
  }
  return groups;
}

/** Consecutive events. An event never changes, so only the last row does, and one from which an event was dropped. */
function createEventRows({ events }: Pick<DocumentSources, "events">) {
  /** The id of the first event of each row, with the number of the row. */
  let rows: readonly { readonly from: string; readonly number: number }[] = [];
  /** By number of the row: how many events it had, and the last of them. */
  let counts = new Map<number, string>();
  let revision = -1;
  return function* (): Generator<Candidate> {
    if (revision === events.revision()) {
      for (const { number } of rows) yield { isSame: rowName("events", number) };
      return;
    }
    revision = events.revision();
    const all = events.select();
    const groups: { readonly from: string; readonly number: number; readonly events: HistoryEvent[] }[] = [];
    for (const event of all) {
      const last = groups.at(-1);
      const own = rows.findLast(({ from }) => event.id >= from);
      const isFull = own === rows.at(-1) && (last?.events.length ?? 0) >= EVENTS_IN_ROW;
      if (last !== undefined && !isFull && (own === undefined || last.number >= own.number)) last.events.push(event);
      else if (own !== undefined && (last === undefined || last.number < own.number))
        groups.push({ ...own, events: [event] });
      else groups.push({ from: event.id, number: (last?.number ?? -1) + 1, events: [event] });
    }
    const before = counts;
    rows = groups.map(({ from, number }) => ({ from, number }));
    counts = new Map(groups.map(({ number, events: own }) => [number, `${own.length} ${own.at(-1)?.id}`]));
    for (const { number, events: own } of groups) {
      const name = rowName("events", number);
      yield before.get(number) === counts.get(number) ? { isSame: name } : [name, own.map(eventRecord)];
    }
  };
}
