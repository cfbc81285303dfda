/**
 * The document of a contributor: all that one process counts and knows, as rows in the shared store. Each row is whole by itself, so that those
 * that changed are sent alone.
 */
import { TIERS } from "../history/buckets.ts";
import { EventSchema, eventRecord, type HistoryEvent } from "../history/events.ts";
import { type AskedTimes, createRequestHistory } from "../history/requests.ts";
import type { ClientEntry } from "../ledger/entry.ts";
import { byCount } from "../ledger/record.ts";
import { upperBound } from "../rollout/upper-bound.ts";
import { readRecord } from "../rules/record.ts";
import type { RuleStatus } from "../rules/status.ts";
import { isContinuation, unpackedRow } from "../state/shared/packing.ts";
import {
  BoundRows,
  BucketRows,
  ClientRows,
  type DocumentHead,
  HeadRow,
  RuleRows,
  SampleRows,
  type SavedParts,
  SavedRow,
  TotalsRows,
} from "../telemetry/document.ts";
import type { ComparisonCounts, OwnProgress, RequestTotalsRow } from "../telemetry/progress.ts";

/** What precedes the names of its rows. */
export const DOCUMENT = "doc:";

export interface FleetDocument {
  readonly head: DocumentHead;
  readonly totals: readonly RequestTotalsRow[];
  /** Finest first. Each bucket: its number, then each kind with its count. */
  readonly tiers: readonly (readonly (readonly number[])[])[];
  readonly clients: readonly ClientEntry[];
  readonly bounds: readonly ComparisonCounts[];
  readonly rules: readonly RuleStatus[];
  /** Oldest first. */
  readonly events: readonly HistoryEvent[];
  readonly samples: { readonly values: "redact" | "show"; readonly samples: readonly unknown[] } | undefined;
  readonly saved: SavedParts | undefined;
}

/** `faults`: why rows could not be read; the document lacks them, or has them as they were before. */
export interface ReadDocument {
  readonly document: FleetDocument | undefined;
  readonly faults: readonly string[];
}

/** Rows have the names of these parts, and the number of the row: `doc:clients:12`. */
export const SCHEMAS = {
  head: HeadRow,
  totals: TotalsRows,
  clients: ClientRows,
  bounds: BoundRows,
  rules: RuleRows,
  events: EventSchema.array(),
  samples: SampleRows,
  saved: SavedRow,
  history: BucketRows,
} as const;
type Part = keyof typeof SCHEMAS;

export function rowName(part: Part, ...numbers: readonly number[]): string {
  return `${DOCUMENT}${[part, ...numbers].join(":")}`;
}

function partOf(name: string): { readonly part: Part; readonly numbers: readonly number[] } | undefined {
  if (!name.startsWith(DOCUMENT) || isContinuation(name)) return undefined;
  const [part = "", ...numbers] = name.slice(DOCUMENT.length).split(":");
  const known = (Object.keys(SCHEMAS) as Part[]).find((one) => one === part);
  return known && { part: known, numbers: numbers.map(Number) };
}

interface KnownRow {
  readonly text: string;
  readonly value: unknown;
}

/** Reads the document of one contributor again and again; rows that are as before cost nothing. `unpack`: the value of a row of `rows`. */
export function createDocumentReader(unpack: typeof unpackedRow = unpackedRow) {
  let known = new Map<string, KnownRow>();
  return {
    /** `pause`: called between rows. Never rejects. */
    read: async (rows: ReadonlyMap<string, string>, pause: () => Promise<void>): Promise<ReadDocument> => {
      const found = new Map<string, KnownRow>();
      const faults: string[] = [];
      for (const [name, text] of rows) {
        const place = partOf(name);
        if (place === undefined) continue;
        const before = known.get(name);
        if (before?.text === text) {
          found.set(name, before);
          continue;
        }
        await pause();
        try {
          found.set(name, { text, value: readRecord(SCHEMAS[place.part], unpack(name, rows), name) });
        } catch (error) {
          faults.push(error instanceof Error ? error.message : String(error));
          if (before !== undefined) found.set(name, before);
        }
      }
      known = found;
      return { document: documentOf(found), faults };
    },
    /** Characters that are kept for the next time. */
    size: (): number => [...known.values()].reduce((sum, { text }) => sum + text.length, 0),
  };
}

export type DocumentReader = ReturnType<typeof createDocumentReader>;

/** Undefined without its head. */
function documentOf(known: ReadonlyMap<string, KnownRow>): FleetDocument | undefined {
  const rows = [...known].flatMap(([name, { value }]) => {
    const place = partOf(name);
    return place === undefined ? [] : [{ ...place, value }];
  });
  // Numbers of rows follow the order of what they have.
  const ordered = rows.sort(
    (a, b) => (a.numbers[0] ?? 0) - (b.numbers[0] ?? 0) || (a.numbers[1] ?? 0) - (b.numbers[1] ?? 0),
  );
  // Each value has passed the schema of its part.
  const of = <Value>(part: Part): readonly Value[] =>
    ordered.flatMap((one) => (one.part === part ? [one.value as Value] : []));
  const [head] = of<DocumentHead>("head");
  if (head === undefined) return undefined;
  const clients = new Map<string, ClientEntry>();
  for (const entry of of<readonly ClientEntry[]>("clients").flat()) clients.set(entry.name, entry);
  return {
    head,
    totals: of<readonly RequestTotalsRow[]>("totals").flat(),
    tiers: head.history.knownFrom.map((_, at) =>
      ordered.flatMap(({ part, numbers, value }) =>
        part === "history" && numbers[0] === at ? (value as readonly (readonly number[])[]) : [],
      ),
    ),
    clients: [...clients.values()].sort(byCount),
    bounds: of<readonly ComparisonCounts[]>("bounds").flat(),
    rules: of<readonly RuleStatus[]>("rules").flat(),
    events: of<readonly HistoryEvent[]>("events").flat(),
    samples: of<NonNullable<FleetDocument["samples"]>>("samples")[0],
    saved: of<SavedParts>("saved")[0],
  };
}

/** What the contributor told, or would tell, at `now` by the clock of who reads it. */
export function progressOf(document: FleetDocument, now: number, times: AskedTimes | undefined): OwnProgress {
  const { head, totals, clients, bounds, rules } = document;
  const { ledger, totalsSince, history: _, eventsSince: __, watched: ___, ...rest } = head;
  return {
    ...rest,
    at: now,
    totals: { since: totalsSince, at: head.at, rows: totals },
    window: times && windowOf(document, now, times),
    ledger: { ...ledger, clients },
    bounds: bounds.map((one) => ({ ...one, upper: upperBound(one.differences, one.comparisons) })),
    rules,
  };
}

function windowOf(document: FleetDocument, now: number, times: AskedTimes): OwnProgress["window"] {
  const { head, totals } = document;
  const history = createRequestHistory(() => now);
  const fault = history.restore({ since: head.totalsSince, rows: totals }, savedHistoryOf(document));
  return fault === undefined ? history.window(times) : undefined;
}

const LENGTHS = TIERS.map(({ ms }) => ms);

/** As `RequestHistory` saves it. A bucket may be newer than the totals that it was sent with: kinds that these lack are left out. */
function savedHistoryOf({ head, tiers, totals }: FleetDocument) {
  const known = (flat: readonly number[]): readonly number[] => [
    flat[0] ?? 0,
    ...flat.slice(1).flatMap((kind, at, all) => (at % 2 === 0 && kind < totals.length ? [kind, all[at + 1] ?? 0] : [])),
  ];
  return {
    version: 1,
    since: head.history.since,
    tiers: tiers.map((buckets, at) => ({
      ms: LENGTHS[at],
      knownFrom: head.history.knownFrom[at] ?? 0,
      buckets: buckets.map(known),
    })),
  };
}

/** The counts as `state.dir` saves them, for a process that continues this one. Undefined if the document lacks some of it. */
export function savedCountsOf(document: FleetDocument): object | undefined {
  const { head, saved, totals, clients, bounds } = document;
  if (saved === undefined) return undefined;
  const { basis, lostAt, names, overdue } = saved;
  return {
    version: 1,
    ...{ basis, lostAt, names, overdue },
    comparedSince: head.comparedSince,
    comparisons: bounds,
    ledger: { ...head.ledger, clients },
    history: savedHistoryOf(document),
    totals: { since: head.totalsSince, at: head.at, rows: totals },
  };
}

/** Events as the history saves them. */
export function savedEventsOf({ head, events }: FleetDocument, writer: string): object {
  return { version: 1, writer, since: new Date(head.eventsSince).toISOString(), events: events.map(eventRecord) };
}
