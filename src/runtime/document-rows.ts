/**
 * The rows of the document of this process, made one by one, so that other work can go on between two of them. A row whose content cannot have
 * changed is named, and not made.
 */
import { rowName } from "../fleet/document.ts";
import { type SavedTier, TIERS } from "../history/buckets.ts";
import { type EventHistory, eventRecord, type HistoryEvent } from "../history/events.ts";
import type { RequestHistory } from "../history/requests.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { RuleStatus } from "../rules/status.ts";
import type { ComparisonCounts, OwnProgress } from "../telemetry/progress.ts";

const TOTALS_IN_ROW = 200;
const RULES_IN_ROW = 50;
const BOUNDS_IN_ROW = 200;
const EVENTS_IN_ROW = 100;
/** Buckets of one row, finest first: two hours, a day, 30 days. */
const BUCKETS_IN_ROW = [24, 24, 30];

export interface RowSources {
  /** The members of the progress that are small. */
  readonly head: () => Omit<OwnProgress, "shared" | "totals" | "window" | "ledger" | "bounds" | "rules">;
  readonly rules: () => readonly RuleStatus[];
  readonly bounds: () => readonly ComparisonCounts[];
  /** As `/samples` shows them. */
  readonly samples: () => { readonly values: "redact" | "show"; readonly samples: readonly unknown[] } | undefined;
  readonly ledger: Pick<Ledger, "head" | "changedSince" | "entriesOf" | "revision" | "seen" | "size">;
  /** Option `clients.max`. */
  readonly mostClients: number;
  readonly requests: Pick<RequestHistory, "snapshot" | "tiers">;
  readonly events: Pick<EventHistory, "select" | "since" | "revision">;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
}

/** A row that may have changed. `isSame`: it has not, and its value was not made. */
export type Candidate = readonly [name: string, value: unknown] | { readonly isSame: string };

export type DocumentRows = ReturnType<typeof createDocumentRows>;

/** `clientsInRow`: on average, in a full ledger. `mostSamples`: the newest. */
export function createDocumentRows(
  sources: RowSources,
  { clientsInRow, mostSamples }: { readonly clientsInRow: number; readonly mostSamples: number },
) {
  const clients = createClientRows(sources, clientsInRow);
  const history = createHistoryRows(sources);
  const events = createEventRows(sources);
  return {
    totals: (): Iterable<readonly [name: string, value: unknown]> =>
      chunked(sources.requests.snapshot().rows, TOTALS_IN_ROW).map((chunk, at) => [rowName("totals", at), chunk]),
    head: () => {
      const { since, tiers } = sources.requests.tiers();
      return {
        ...sources.head(),
        ledger: sources.ledger.head(),
        totalsSince: sources.requests.snapshot().since,
        history: { since, knownFrom: tiers.map(({ knownFrom }) => knownFrom) },
        eventsSince: sources.events.since(),
      };
    },
    /** All others in turn. */
    rest: function* (): Generator<Candidate> {
      yield* numbered("rules", sources.rules(), RULES_IN_ROW);
      yield* history();
      yield* clients.round();
      yield* numbered("bounds", sources.bounds(), BOUNDS_IN_ROW);
      yield* events();
      const samples = sources.samples();
      // Newest first.
      const latest = samples?.samples.slice(0, mostSamples) ?? [];
      if (latest.length > 0) yield [rowName("samples"), { values: samples?.values, samples: latest }];
    },
    ofClient: clients.rowOf,
  };
}

function* numbered(part: "rules" | "bounds", items: readonly unknown[], most: number): Generator<Candidate> {
  for (const [at, chunk] of chunked(items, most).entries()) yield [rowName(part, at), chunk];
}

function chunked<T>(items: readonly T[], most: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / most) }, (_, at) => items.slice(at * most, (at + 1) * most));
}

/** Clients by a hash of their names, in as many rows as fit a full ledger. A row is made when a client in it changed, or was dropped by the ledger. */
function createClientRows({ ledger, mostClients }: Pick<RowSources, "ledger" | "mostClients">, clientsInRow: number) {
  const count = 2 ** Math.max(0, Math.ceil(Math.log2(mostClients / clientsInRow)));
  const names = Array.from({ length: count }, () => new Set<string>());
  const changed = new Set<number>();
  let revision = 0;
  const noteDropped = (): void => {
    if (ledger.size() === names.reduce((sum, known) => sum + known.size, 0)) return;
    const present = new Set(Array.from(ledger.seen(), ({ name }) => name));
    for (const [at, known] of names.entries()) {
      for (const name of known) if (!present.has(name)) changed.add(at);
    }
  };
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
      noteDropped();
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
function createHistoryRows({ requests, wall }: Pick<RowSources, "requests" | "wall">) {
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
function createEventRows({ events }: Pick<RowSources, "events">) {
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
