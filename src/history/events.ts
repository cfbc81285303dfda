/** The events of one instance, bounded: kept, selected, saved and read. */
import * as z from "zod";
import { EVENT_KINDS, type EventKind, type NewEvent, type RecordEvent } from "../model/event.ts";
import { scrub } from "../model/secrets.ts";
import { replaceUnprintable } from "../model/text.ts";
import { checkOf, jsonArray } from "../state/section.ts";

/**
 * A rule that steps back and returns all day makes some 60 events per day, a breaker that flaps some thousand per hour. A typical event has
 * 300 bytes.
 */
export const MOST_EVENTS = 5_000;

const LONGEST = { reason: 1_000, phase: 200, name: 128, by: 100 } as const;
const MOST_REQUESTS = 3;

/** A newer version may know more kinds. */
const KIND = /^[a-z-]{1,40}$/;
/** Digits of base 36: of the time, which last until the year 5188, and of the number within one millisecond. */
const [TIME_DIGITS, NUMBER_DIGITS] = [9, 3];
const ID = /^[0-9a-z]{9}-[0-9a-z]{3}-[0-9a-f]{8}$/;

const textOf = (most: number) =>
  z
    .string()
    .max(4 * most)
    .transform((text) => plain(text, most));
const time = z.iso.datetime().transform((text) => Date.parse(text));

/** An event as JSON: the form in which it is saved, served and read. */
export const EventSchema = z.object({
  id: z.string().regex(ID),
  at: time,
  kind: z.string().regex(KIND),
  rule: textOf(LONGEST.name).optional(),
  client: textOf(LONGEST.name).optional(),
  from: textOf(LONGEST.phase).optional(),
  to: textOf(LONGEST.phase).optional(),
  reason: textOf(LONGEST.reason),
  by: textOf(LONGEST.by).optional(),
  requests: z.array(textOf(LONGEST.name)).max(MOST_REQUESTS).optional(),
});

/** `at`: milliseconds since 1970. */
export type HistoryEvent = Readonly<z.output<typeof EventSchema>>;

/** Which events; absent members select all. Times are milliseconds since 1970; `to` itself is too late. */
export interface EventFilter {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly rule?: string | undefined;
  readonly client?: string | undefined;
  readonly kind?: string | undefined;
}

export interface EventHistory {
  readonly record: RecordEvent;
  /** Calls `listener` with each event that is recorded from now on. */
  subscribe(listener: (event: HistoryEvent) => void): void;
  /** Oldest first. */
  select(filter?: EventFilter): readonly HistoryEvent[];
  /** Since when no event is missing, in milliseconds since 1970. */
  since(): number;
  /** How many of each kind this process recorded. */
  counts(): Iterable<readonly [EventKind, number]>;
  /** Takes the changes that an earlier version saved elsewhere; those it has already are left out. */
  adopt(events: readonly (NewEvent & { readonly at: number })[]): void;
  /** JSON in pieces. `writer`: the version that writes it. */
  saved(writer: string): Iterable<string>;
  /** Takes what `saved` returned; what cannot be read of it is left out. Returns the version that wrote it. Throws for anything else. */
  restore(value: unknown): string;
  /** Grows with every change. */
  revision(): number;
}

interface EventHistoryOptions {
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Random, one per process: eight hexadecimal digits. */
  readonly process: string;
  readonly most?: number;
}

/** Events in memory. */
export function createEventHistory({ wall, process, most = MOST_EVENTS }: EventHistoryOptions): EventHistory {
  /** In the order of their ids. */
  let events: HistoryEvent[] = [];
  let since = wall();
  let revision = 0;
  const counts = new Map<EventKind, number>(EVENT_KINDS.map((kind) => [kind, 0]));
  const listeners: ((event: HistoryEvent) => void)[] = [];
  const bound = (): void => {
    while (events.length > most) {
      const [dropped] = events.splice(indexToDrop(events), 1);
      if (dropped !== undefined) since = Math.max(since, dropped.at);
    }
  };
  const merge = (more: readonly HistoryEvent[]): void => {
    const byId = new Map([...events, ...more].map((event) => [event.id, event]));
    events = [...byId.values()].sort(byIds);
    bound();
    revision += 1;
  };
  return {
    record: (event) => {
      const at = event.at ?? wall();
      const made = eventOf(event, at, idAfter(events.at(-1)?.id, at, process));
      events.push(made);
      bound();
      counts.set(event.kind, (counts.get(event.kind) ?? 0) + 1);
      revision += 1;
      for (const listener of listeners) listener(made);
      return made.id;
    },
    subscribe: (listener) => void listeners.push(listener),
    select: (filter = {}) => events.filter((event) => isSelected(event, filter)),
    since: () => since,
    counts: () => counts,
    adopt: (older) => {
      if (older.length === 0) return;
      since = Math.min(since, ...older.map(({ at }) => at));
      merge(
        older.map((event) => eventOf(event, event.at, idOf(event.at, 0, checkOf(JSON.stringify(event)).slice(0, 8)))),
      );
    },
    saved: function* (writer) {
      yield `${JSON.stringify({ version: 1, writer, since: new Date(since) }).slice(0, -1)},"events":`;
      yield* jsonArray(events.map(eventRecord));
      yield "}";
    },
    restore: (value) => {
      const found = SavedEvents.parse(value);
      since = Math.min(since, found.since);
      merge(found.events.flatMap((one) => EventSchema.safeParse(one).data ?? []));
      return found.writer;
    },
    revision: () => revision,
  };
}

const SavedEvents = z.object({
  version: z.literal(1),
  writer: z.string().max(LONGEST.name),
  since: time,
  events: z.array(z.unknown()).max(10 * MOST_EVENTS),
});

/** JSON of an event. */
export function eventRecord(event: HistoryEvent) {
  return { ...event, at: new Date(event.at).toISOString() };
}

export function byIds(a: HistoryEvent, b: HistoryEvent): number {
  return a.id < b.id ? -1 : a.id === b.id ? 0 : 1;
}

export function isSelected({ at, ...event }: HistoryEvent, { from, to, ...wanted }: EventFilter): boolean {
  if (at < (from ?? at) || at >= (to ?? Number.POSITIVE_INFINITY)) return false;
  return (["rule", "client", "kind"] as const).every((name) => (wanted[name] ?? event[name]) === event[name]);
}

/** The last event of these kinds says why a rule is as it is, however long ago it was. */
const LASTING: ReadonlySet<string> = new Set(["stepped-back", "forced", "rules"] satisfies EventKind[]);

/** The oldest of the kind that is there most often, so that noise drives out noise only. */
function indexToDrop(events: readonly HistoryEvent[]): number {
  const often = new Map<string, number>();
  const last = new Map<string, HistoryEvent>();
  for (const event of events) {
    often.set(event.kind, (often.get(event.kind) ?? 0) + 1);
    if (LASTING.has(event.kind)) last.set(`${event.kind} ${event.rule ?? ""}`, event);
  }
  const [noisiest] = [...often].reduce((most, one) => (one[1] > most[1] ? one : most), ["", 0]);
  const kept = new Set(last.values());
  return Math.max(
    0,
    events.findIndex((event) => event.kind === noisiest && !kept.has(event)),
  );
}

/** Optional members are absent rather than undefined. */
function eventOf(event: NewEvent, at: number, id: string): HistoryEvent {
  const texts = (["rule", "client", "from", "to", "by"] as const).flatMap((name) => {
    const most = name === "by" ? LONGEST.by : name === "from" || name === "to" ? LONGEST.phase : LONGEST.name;
    return event[name] === undefined ? [] : [[name, plain(event[name], most)] as const];
  });
  const requests = (event.requests ?? []).slice(-MOST_REQUESTS).map((one) => plain(scrub(one), LONGEST.name));
  return {
    id,
    at,
    kind: event.kind,
    ...Object.fromEntries(texts),
    reason: plain(scrub(event.reason), LONGEST.reason),
    ...(requests.length === 0 ? {} : { requests }),
  };
}

/** One line. */
function plain(text: string, most: number): string {
  const found = replaceUnprintable(text.replaceAll(/\s+/g, " ").trim());
  return found.length > most ? `${found.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…` : found;
}

/** Greater than `last`, also when the clock was set back. */
function idAfter(last: string | undefined, at: number, process: string): string {
  const time = Math.max(at, last === undefined ? 0 : Number.parseInt(last.slice(0, TIME_DIGITS), 36));
  const isSameTime = last?.startsWith(digits(time, TIME_DIGITS)) === true;
  const number = isSameTime ? Number.parseInt(last.slice(TIME_DIGITS + 1, TIME_DIGITS + 1 + NUMBER_DIGITS), 36) + 1 : 0;
  return number < 36 ** NUMBER_DIGITS ? idOf(time, number, process) : idOf(time + 1, 0, process);
}

function idOf(time: number, number: number, process: string): string {
  return `${digits(time, TIME_DIGITS)}-${digits(number, NUMBER_DIGITS)}-${process}`;
}

function digits(value: number, length: number): string {
  return Math.max(0, Math.floor(value)).toString(36).padStart(length, "0").slice(-length);
}
