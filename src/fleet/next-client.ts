/** What ends a migration once the rules translate: which client is to be moved next, and when v1 can be removed. */
import { ownerText, utcMinute } from "../ledger/clients-view.ts";
import { DAY_MS, dateOf, dayOf } from "../ledger/days.ts";
import { difficultyOf } from "../ledger/difficulty.ts";
import { type ClientEntry, DIFFICULTIES } from "../ledger/entry.ts";
import { OTHER_NAME } from "../ledger/record.ts";
import { anyOf, counted } from "../rules/words.ts";

/** What is known of all clients together. */
export interface ClientsNow {
  /** Clients that the ledger knows, whether or not they call v1. */
  readonly clients: readonly ClientEntry[];
  /** The latest clock, and since when every instance has been watching. */
  readonly at: number;
  readonly watchedSince: number;
  /** Other clients may be left. */
  readonly isPart?: boolean | undefined;
}

export interface Traffic {
  /** v1 was called, if only by requests that were refused, which make no client known. */
  readonly isCalled: boolean;
  /** Requests to v2 that passed through in the window. */
  readonly v2: number;
  /** The name of a rule that compares or translates requests for that resource; undefined: there is none. */
  watching(resource: string): string | undefined;
}

const HOUR_MS = 3_600_000;
/** Clients may call so seldom: without a call for this time v1 can be removed. */
export const GONE_MS = 14 * DAY_MS;
/** A client that has not called v1 for this long may have moved: one that still calls is named before it. */
const SILENT_MS = 6 * HOUR_MS;

/** What ends the migration: the client that is easiest to move; of equal ones that with most v1 requests. */
export function clientsStep(
  { clients, at, watchedSince, isPart }: ClientsNow,
  { isCalled, v2, watching }: Traffic,
): string {
  const left = clients.filter((client) => calledV1(client, at - DAY_MS) && !hasMoved(client, at));
  const calling = left.filter((client) => calledV1(client, at - SILENT_MS));
  if (left.length > 0)
    return stepOfClient(calling.length > 0 ? calling : left, { all: left.length, at, isPart, watching });
  if (clients.length === 0)
    return `send clients to carryover: ${isCalled ? "so far all requests were refused, or came from excluded clients" : "none has called yet"}`;
  const [last] = clients.toSorted((a, b) => (b.lastV1 ?? 0) - (a.lastV1 ?? 0));
  const lastV1 = last?.lastV1 ?? 0;
  const gone = Math.max(lastV1, watchedSince) + GONE_MS;
  const unseen = clients.filter(isUnseenOnV2);
  const ask = unseen.length === 0 ? [] : [`ask where ${shortList(unseen.map(named))} went, never seen on v2 since`];
  if (at >= gone) {
    if (isPart === true) return "nothing: no client has called it for 14 days";
    const lead = v2 === 0 ? [] : [`lead past it the ${counted(v2, "v2 request")} of the window`];
    const first = [...lead, ...ask].join(", and ");
    return `remove carryover: no client has called v1 for 14 days${first === "" ? "" : `; first ${first}`}`;
  }
  const who =
    lastV1 === 0 ? "no client has called v1" : `the last v1 call was ${last?.name}'s, on ${dateOf(dayOf(lastV1))}`;
  const then = isPart === true ? "nothing needs it any more" : "remove carryover";
  return `wait until ${utcMinute(gone)}, then ${then}: ${who}${ask.map((one) => `; ${one}`).join("")}`;
}

/** It called v2 after its last call of v1, and has not come back to v1. */
function hasMoved(client: ClientEntry, at: number): boolean {
  return !isUnseenOnV2(client) && !calledV1(client, at - SILENT_MS);
}

/** Its last call was of v1. It may have moved, or call seldom. */
export function isUnseenOnV2({ lastV1, lastSeen, requests }: ClientEntry): boolean {
  return lastV1 !== undefined && (lastV1 === lastSeen || requests.v2 === 0);
}

/** Names in one sentence. */
const MOST_NAMES = 2;

export function shortList(names: readonly string[], many = `${names.slice(0, MOST_NAMES).join(", ")}, …`): string {
  return names.length > MOST_NAMES ? many : names.join(" and ");
}

export function calledV1({ lastV1 }: ClientEntry, since: number): boolean {
  return lastV1 !== undefined && lastV1 >= since;
}

/** The client as it calls now: the ledger remembers what it once needed. */
function asToday(client: ClientEntry, at: number): ClientEntry {
  const { operations, needs } = client;
  const isCalled = (need: { readonly resource: string; readonly operation: string }) =>
    operations.some(
      (one) => one.lastSeen >= at - DAY_MS && (one.resource === OTHER_NAME || nameOf(one) === nameOf(need)),
    );
  return { ...client, needs: { ...needs, lacking: needs.lacking.filter(isCalled) } };
}

/** `all`: how many clients are left. */
function stepOfClient(
  found: readonly ClientEntry[],
  {
    all,
    at,
    isPart,
    watching,
  }: Pick<ClientsNow, "at" | "isPart"> & Pick<Traffic, "watching"> & { readonly all: number },
): string {
  const left = found.map((client) => asToday(client, at));
  const efforts = left.map((client) => DIFFICULTIES.indexOf(difficultyOf(client)));
  const least = Math.min(...efforts);
  const [easiest] = left
    .filter((_, index) => efforts[index] === least)
    .sort((one, other) => other.requests.v1 - one.requests.v1);
  if (easiest === undefined) throw new Error("unreachable: a client is left");
  const need = difficultyOf(easiest);
  const more = isPart ? "" : all === 1 ? ", the last client on v1" : `, one of ${counted(all, "client")} on v1`;
  if (need === "unknown") {
    const [one] = easiest.needs.unseen.map((need) => ({ what: nameOf(need), rule: watching(need.resource) }));
    return one?.rule === undefined
      ? `compare what ${easiest.name} calls by a rule with mode: shadow: nobody knows its needs`
      : `wait until ${easiest.name} calls ${one.what} again: rule ${one.rule} has not seen a response to it yet`;
  }
  if (need === "lacking") {
    return `agree with ${named(easiest)} on a way without ${lackingText(easiest)}${more}: v2 does not have it`;
  }
  const before = found.find(({ name }) => name === easiest.name);
  const once =
    before === undefined || before.needs.lacking.length === 0
      ? ""
      : `; it once called ${lackingText(before)}, which v2 lacks`;
  return `move ${named(easiest)} to v2${more} (hardest need: ${need}; carryover way-out ${easiest.name}${once})`;
}

function lackingText({ needs }: ClientEntry): string {
  return anyOf(needs.lacking.slice(0, 2).map(nameOf)) || "paths that carryover does not know";
}

/** `ci-bot (Team A, team-a@example.com)`. */
function named(client: ClientEntry): string {
  const owner = ownerText(client).replace(" (", ", ").replace(/\)$/, "");
  return owner === "" ? client.name : `${client.name} (${owner})`;
}

/** `group list`. */
export function nameOf({ resource, operation }: { readonly resource: string; readonly operation: string }): string {
  return resource === "unknown" ? "paths that carryover does not know" : `${resource} ${operation}`;
}
