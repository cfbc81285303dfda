/** Which percentage of clients a rule should take next: one that adds a client that calls, and few of them at first. */
import type { ClientEntry } from "../ledger/entry.ts";
import { counted } from "../rules/words.ts";
import type { FleetRule } from "./fleet.ts";
import { type ClientsNow, calledV1, GONE_MS, shortList } from "./next-client.ts";

/** The usual steps of `match.percent`. */
const PERCENTS = [1, 5, 10, 25, 50, 100];
const FIRST_PERCENT = 10;

export interface WiderShare {
  /** A whole number, 1 to 100. */
  readonly percent: number;
  /** Clients that it adds, those with the lowest buckets first. Empty: none of those that call, or nobody knows. */
  readonly joining: readonly string[];
}

/** The share after `percent`; 0: of a rule that takes nobody yet. */
export function widerShare(rule: FleetRule, percent: number, known: ClientsNow): WiderShare {
  const usual = percent === 0 ? FIRST_PERCENT : (PERCENTS.find((one) => one > percent) ?? 100);
  const callers = callersOf(rule, known);
  if (callers === undefined) return { percent: usual, joining: [] };
  const outside = callers.filter(({ bucket }) => bucket >= percent);
  const [nearest] = outside;
  if (nearest === undefined) return { percent: 100, joining: [] };
  const wider = Math.min(100, Math.max(usual, Math.floor(nearest.bucket) + 1));
  return { percent: wider, joining: outside.filter(({ bucket }) => bucket < wider).map(({ name }) => name) };
}

/** How many clients a percentage takes of those that call; undefined: nobody knows. */
export function callersWithin(rule: FleetRule, percent: number, known: ClientsNow): number | undefined {
  return callersOf(rule, known)?.filter(({ bucket }) => bucket < percent).length;
}

/** `adds portal`, `adds 12 clients`; empty if nobody knows. */
export function joiningText({ joining }: WiderShare): string {
  return joining.length === 0 ? "" : `adds ${shortList(joining, counted(joining.length, "client"))}`;
}

/** Whether the rule names this resource, or none. */
export function isAbout({ evidence }: FleetRule, resource: string | undefined): boolean {
  return resource === undefined || (evidence?.resources?.includes(resource) ?? true);
}

/** Clients that have not moved or gone, and that call what the rule is about; those with the lowest buckets first. */
function callersOf(
  rule: FleetRule,
  { clients, at }: ClientsNow,
): readonly (ClientEntry & { readonly bucket: number })[] | undefined {
  const calling = clients.filter(
    (client) =>
      calledV1(client, at - GONE_MS) &&
      client.operations.some(({ resource, lastSeen }) => lastSeen >= at - GONE_MS && isAbout(rule, resource)),
  );
  const found = calling.flatMap((client) =>
    client.bucket === undefined ? [] : [{ ...client, bucket: client.bucket }],
  );
  if (found.length < calling.length || found.length === 0) return undefined;
  return found.sort((one, other) => one.bucket - other.bucket);
}
