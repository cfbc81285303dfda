/** Events for a terminal: one line each. */
import type { eventRecord } from "../../history/events.ts";
import { counted } from "../../rules/words.ts";

/** The output of `--json`. Times are ISO 8601 in UTC. */
export interface EventsReport {
  readonly version: 1;
  readonly from: string;
  readonly to: string;
  readonly rule: string | undefined;
  readonly client: string | undefined;
  readonly kind: string | undefined;
  /** Oldest first; `on`: the addresses that have it, and the names of replicas that were not asked. */
  readonly events: readonly (ReturnType<typeof eventRecord> & {
    readonly owner?: string | undefined;
    readonly on: readonly string[];
  })[];
  /** `since`: from then on no event is missing; `leftOut`: older events of the window that were too many. */
  readonly instances: readonly {
    readonly address: string;
    readonly instance: string;
    readonly since: string;
    readonly leftOut: number;
  }[];
  /** Those that share a store with the instances, and were not asked themselves: their events are here, too. */
  readonly replicas: readonly { readonly name: string; readonly goneSince: string | undefined }[];
  /** Those whose events their store has lost, and when they were there last. */
  readonly lost: readonly { readonly name: string; readonly seen: string }[];
  readonly silent: readonly { readonly address: string; readonly fault: string }[];
}

export function eventsText(report: EventsReport): string {
  const { events, instances, replicas, silent } = report;
  const isSeveral = new Set(instances.map(({ instance }) => instance)).size + replicas.length > 1;
  const width = Math.max(0, ...events.map(({ kind }) => kind.length));
  const place = isSeveral ? Math.max(0, ...events.map(placeOf).map(({ length }) => length)) : 0;
  const lines = events.map((event) =>
    [
      secondsOf(event.at),
      ...(isSeveral ? [placeOf(event).padEnd(place)] : []),
      event.kind.padEnd(width),
      ...(event.rule === undefined ? [] : [`rule ${event.rule}`]),
      ...(event.client === undefined
        ? []
        : [`client ${event.client}${event.owner === undefined ? "" : `, ${event.owner}`}`]),
      ...changeOf(event),
      `${event.reason}${event.by === undefined ? "" : `, by ${event.by}`}${requestsOf(event)}`,
    ].join("  "),
  );
  return [
    ...lines,
    ...(lines.length > 0 ? [""] : []),
    summaryOf(report),
    ...limitsOf(report),
    ...report.lost.map(
      ({ name, seen }) => `the events of ${name} were lost with the store, last seen ${secondsOf(seen)}`,
    ),
    ...silentOf(silent),
  ].join("\n");
}

type Shown = EventsReport["events"][number];

function placeOf({ on }: Shown): string {
  return on.map((address) => address.replace(/^https?:\/\//, "")).join(",");
}

/** What a rule does is clearer than the name of its state. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ["forward", "translate"],
  ["back", "native"],
]);

function changeOf({ from, to }: Shown): readonly string[] {
  if (from === undefined || to === undefined || from === to) return [];
  return [`${WORDS.get(from) ?? from} -> ${WORDS.get(to) ?? to}`];
}

function requestsOf({ requests = [] }: Shown): string {
  if (requests.length === 0) return "";
  return ` (request${requests.length === 1 ? "" : "s"} ${requests.join(", ")})`;
}

/** `2026-11-28 02:13:07Z`. */
function secondsOf(time: string): string {
  return `${time.slice(0, 19).replace("T", " ")}Z`;
}

function summaryOf({ from, to, rule, client, kind, events, instances }: EventsReport): string {
  if (instances.length === 0) return "Not known: no instance responded";
  const isBefore = events.length === 0 && instances.every(({ since }) => since >= to);
  if (isBefore) return `Not known what happened from ${secondsOf(from)} to ${secondsOf(to)}`;
  const of = [
    ...(kind === undefined ? [] : [`of kind ${kind}`]),
    ...(rule === undefined ? [] : [`of rule ${rule}`]),
    ...(client === undefined ? [] : [`of client ${client}`]),
  ];
  const count = events.length === 0 ? "No event" : counted(events.length, "event");
  return `${[count, ...of].join(" ")} from ${secondsOf(from)} to ${secondsOf(to)}`;
}

/** Where an instance does not know the whole window, or has more than it sent. */
function limitsOf({ from, events, instances }: EventsReport): readonly string[] {
  return instances.flatMap(({ address, since, leftOut }) => [
    ...(since > from ? [`${address} knows no events before ${secondsOf(since)}`] : []),
    ...(since <= from && events.length === 0 ? [`${address} knows its events since ${secondsOf(since)}`] : []),
    ...(leftOut > 0 ? [`${address} has ${counted(leftOut, "older event")} more: ask for a shorter time`] : []),
  ]);
}

function silentOf(silent: EventsReport["silent"]): readonly string[] {
  return silent.map(({ address, fault }) => `${address} ${fault}: its events are missing here`);
}
