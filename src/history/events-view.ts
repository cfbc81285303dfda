/** Events as the admin port serves them: `GET /events`, and the latest changes of rules in `GET /rules`. */
import * as z from "zod";
import { EVENT_KINDS } from "../model/event.ts";
import { Problem } from "../model/problem.ts";
import {
  type EventFilter,
  type EventHistory,
  EventSchema,
  eventRecord,
  type HistoryEvent,
  isSelected,
  MOST_EVENTS,
} from "./events.ts";

const LONGEST_SHOWN = 300;

/** What an instance responds; readers of other releases leave out what they do not know. Times are ISO 8601. */
export const EventsViewSchema = z.object({
  version: z.literal(1),
  /** Random, one per process. */
  instance: z.string().max(128),
  at: z.iso.datetime(),
  /** Since when no event is missing. */
  since: z.iso.datetime(),
  /** How many events were asked for; `events` has the latest of them, oldest first. */
  total: z.int().nonnegative(),
  /** `owner`: of the client, as `clients.names` says it now. `on`: the names of other replicas that have it; absent: this instance alone. */
  events: z.array(
    EventSchema.extend({
      owner: z.string().max(LONGEST_SHOWN).optional(),
      on: z.array(z.string().max(LONGEST_SHOWN)).optional(),
    }),
  ),
  /** All other replicas that share the store, whose events are among these; absent without a store. */
  replicas: z
    .array(
      z.object({
        name: z.string().max(LONGEST_SHOWN),
        instance: z.string().max(128),
        goneSince: z.iso.datetime().optional(),
      }),
    )
    .optional(),
  /** What of them could not be read, and why; absent: nothing. */
  unread: z.array(z.object({ name: z.string().max(LONGEST_SHOWN), fault: z.string().max(500) })).optional(),
  /** Those whose events the store has lost with their counts, and when they were there last; absent: none. */
  lost: z.array(z.object({ name: z.string().max(LONGEST_SHOWN), seen: z.iso.datetime() })).optional(),
});
export type EventsView = Readonly<z.output<typeof EventsViewSchema>>;

/** The events of this instance and of all that share its store, oldest first, each once. */
export interface FleetEvents extends Pick<EventsView, "replicas" | "unread" | "lost"> {
  readonly events: readonly (HistoryEvent & { readonly on?: readonly string[] | undefined })[];
  readonly since: number;
}

/** JSON for `?from=&to=&rule=&client=&kind=&limit=&fleet=`. Throws `Problem` for a value that cannot be meant. */
export function eventsView(
  history: Pick<EventHistory, "select" | "since">,
  query: URLSearchParams,
  { instance, at, ownerOf, fleet }: EventsSource,
): unknown {
  for (const name of query.keys()) if (!PARAMETERS.has(name)) throw invalid(name, "is not a parameter", NAMES);
  for (const name of PARAMETERS) {
    if (query.getAll(name).length > 1) throw invalid(name, "is there more than once", "give one value");
  }
  const filter: EventFilter = {
    from: timeOf(query, "from"),
    to: timeOf(query, "to"),
    rule: query.get("rule") ?? undefined,
    client: query.get("client") ?? undefined,
    kind: kindOf(query),
  };
  if (filter.from !== undefined && filter.to !== undefined && filter.from >= filter.to) {
    throw invalid("to", "is not after from", "exchange them");
  }
  const found = fleet === undefined ? history.select(filter) : fleet.events.filter((one) => isSelected(one, filter));
  return {
    version: 1,
    instance,
    at: new Date(at).toISOString(),
    since: new Date(fleet?.since ?? history.since()).toISOString(),
    replicas: fleet?.replicas,
    unread: fleet?.unread,
    lost: fleet?.lost,
    total: found.length,
    events: found.slice(-limitOf(query)).map((event) => {
      return { ...eventRecord(event), owner: event.client === undefined ? undefined : ownerOf(event.client) };
    }),
  };
}

interface EventsSource {
  readonly instance: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Owner and contact of a client, as people read them. */
  readonly ownerOf: (client: string) => string | undefined;
  /** Those of all replicas; undefined: of this instance alone. */
  readonly fleet?: FleetEvents | undefined;
}

const PARAMETERS: ReadonlySet<string> = new Set(["from", "to", "rule", "client", "kind", "limit", "fleet"]);
const NAMES = `use ${[...PARAMETERS].join(", ")}`;
const ISO = z.iso.datetime({ offset: true });

function timeOf(query: URLSearchParams, name: "from" | "to"): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const ms = ISO.safeParse(text).success ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw invalid(name, `is not a time: ${JSON.stringify(text)}`, "use ISO 8601: 2026-11-28T02:00:00Z");
}

function kindOf(query: URLSearchParams): string | undefined {
  const kind = query.get("kind");
  if (kind === null || EVENT_KINDS.some((one) => one === kind)) return kind ?? undefined;
  throw invalid("kind", `is not a kind of event: ${JSON.stringify(kind)}`, `use one of ${EVENT_KINDS.join(", ")}`);
}

function limitOf(query: URLSearchParams): number {
  const text = query.get("limit");
  if (text === null) return MOST_EVENTS;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit > 0 && limit <= MOST_EVENTS) return limit;
  throw invalid("limit", `is not a number of events: ${JSON.stringify(text)}`, `use 1 to ${MOST_EVENTS}`);
}

function invalid(name: string, what: string, remedy: string): Problem {
  return new Problem("INVALID_REQUEST", `${JSON.stringify(name)} ${what}; ${remedy}`.slice(0, 2 * LONGEST_SHOWN), {
    options: [],
  });
}

const OF_RULES: ReadonlySet<string> = new Set(EVENT_KINDS.slice(0, EVENT_KINDS.indexOf("started")));

/** The last `most` events of rules, latest first. */
export function latestOfRules(history: Pick<EventHistory, "select">, most: number): readonly unknown[] {
  const found = history.select().filter(({ kind }) => OF_RULES.has(kind));
  return found.slice(-most).reverse().map(eventRecord);
}
