/** The command `carryover events`. */
import { type Command, InvalidArgumentError } from "commander";
import { byIds, eventRecord } from "../../history/events.ts";
import type { EventsView } from "../../history/events-view.ts";
import { DAY_MS } from "../../ledger/days.ts";
import { EVENT_KINDS } from "../../model/event.ts";
import type { CommandIo, Outcome } from "../command.ts";
import { argumentError, isTimeOfDay, readAddresses, readMoment } from "../report/arguments.ts";
import { optionsOf, type SharedFlags, shared, show } from "../status/command.ts";
import { type EventsReport, eventsText } from "./text.ts";

interface EventsFlags extends SharedFlags {
  readonly from?: string;
  readonly to?: string;
  readonly rule?: string;
  readonly client?: string;
  readonly kind?: string;
}

/** Exit code: 0; 2 if an address did not respond, or is too old to have events. */
export function addEvents(program: Command, io: CommandIo, outcome: Outcome): void {
  shared(program.command("events"))
    .description(
      "list what happened: step backs, forced modes, changes of rules, starts and stops, each with its cause",
    )
    .option("--from <time>", "2026-11-28T02:00Z, 02:00 (UTC, the last one), or 6h ago (default: 24h before --to)")
    .option("--to <time>", "the same (default: now)")
    .option("--rule <name>", "only events of this rule")
    .option("--client <name>", "only events that one client caused")
    .option("--kind <kind>", `only events of this kind: ${EVENT_KINDS.join(", ")}`, readKind)
    .action(async (addresses: readonly string[], flags: EventsFlags) => {
      const { rule, client, kind } = flags;
      const window = readWindowOf(flags, Date.now());
      const query = new URLSearchParams({
        from: instantOf(window.from),
        ...(flags.to === undefined ? {} : { to: instantOf(window.to) }),
        ...(rule === undefined ? {} : { rule }),
        ...(client === undefined ? {} : { client }),
        ...(kind === undefined ? {} : { kind }),
      });
      const options = optionsOf(flags, io);
      const { askEvents } = await import("../report/ask.ts");
      const results = await Promise.all(
        readAddresses(addresses, io.env).map((address) => askEvents(address, `?${query}`, options)),
      );
      const responses = results.flatMap((one) => ("fault" in one ? [] : [one]));
      const report: EventsReport = {
        version: 1,
        from: instantOf(window.from),
        to: instantOf(window.to),
        rule,
        client,
        kind,
        events: mergedEvents(responses),
        instances: responses.map(({ address, state: { instance, since, total, events } }) => {
          return { address, instance, since, leftOut: Math.max(0, total - events.length) };
        }),
        replicas: otherReplicas(responses),
        lost: lostReplicas(responses),
        silent: [...results.flatMap((one) => ("fault" in one ? [one] : [])), ...unreadOf(responses)],
      };
      show(report, eventsText, options, flags, io);
      outcome.code = report.silent.length === 0 ? 0 : 2;
    });
}

type Responses = readonly { readonly address: string; readonly state: EventsView }[];

/** Those that share a store with the instances that responded, and did not respond themselves. */
function otherReplicas(responses: Responses): EventsReport["replicas"] {
  const heard = new Set(responses.map(({ state }) => state.instance));
  const others = responses.flatMap(({ state }) => state.replicas ?? []).filter(({ instance }) => !heard.has(instance));
  return [...new Map(others.map(({ name, goneSince }) => [name, { name, goneSince }])).values()];
}

function lostReplicas(responses: Responses): EventsReport["lost"] {
  return [...new Map(responses.flatMap(({ state }) => (state.lost ?? []).map((one) => [one.name, one]))).values()];
}

function unreadOf(responses: Responses): EventsReport["silent"] {
  const all = responses.flatMap(({ address, state }) =>
    (state.unread ?? []).map(({ name, fault }) => {
      return { address: name, fault: `cannot be read by carryover at ${address} (${fault})` };
    }),
  );
  return [...new Map(all.map((one) => [one.address, one])).values()];
}

/** Each event once, with the addresses that have it, and the names of replicas that were not asked; oldest first. */
function mergedEvents(responses: Responses): EventsReport["events"] {
  const others = new Set(otherReplicas(responses).map(({ name }) => name));
  const found = new Map<string, { readonly event: EventsView["events"][number]; readonly on: Set<string> }>();
  for (const { address, state } of responses) {
    for (const event of state.events) {
      const known = found.get(event.id) ?? { event, on: new Set() };
      found.set(event.id, known);
      for (const one of event.on?.filter((name) => others.has(name)) ?? [address]) known.on.add(one);
    }
  }
  const sorted = [...found.values()].sort((a, b) => byIds(a.event, b.event));
  return sorted.map(({ event: { on: _, ...event }, on }) => ({ ...eventRecord(event), on: [...on] }));
}

function instantOf(ms: number): string {
  return new Date(ms).toISOString();
}

interface Window {
  readonly from: number;
  readonly to: number;
}

/** Milliseconds since 1970. Throws ArgumentError. */
export function readWindowOf({ from, to }: Pick<EventsFlags, "from" | "to">, now: number): Window {
  const until = to === undefined ? now : readMoment(to, "--to", now);
  const window = { from: from === undefined ? until - DAY_MS : readMoment(from, "--from", now), to: until };
  // From 23:00 to 01:00 is over midnight, and may not be over yet.
  const end = to !== undefined && isTimeOfDay(to) && window.to <= window.from ? window.to + DAY_MS : window.to;
  if (window.from < end) return { from: window.from, to: end };
  if (to === undefined) throw argumentError("--from", "it lies in the future", "name a time in the past");
  throw argumentError("--from", "it is not before --to", "exchange them, or name the days");
}

function readKind(text: string): string {
  if (EVENT_KINDS.some((kind) => kind === text)) return text;
  throw new InvalidArgumentError(`expected one of ${EVENT_KINDS.join(", ")}`);
}
