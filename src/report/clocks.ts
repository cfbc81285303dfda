/** How do times add up that were told by clocks which differ? (All instances are asked at the same moment.) */
import type { ClientEntry } from "../model/ledger.ts";
import type { Progress } from "../model/progress.ts";
import { LAST_TIME } from "./members.ts";

/** Seconds by which a clock may be behind before it is worth a word: slow answers and what clocks usually differ by. */
export const CLOCKS_MAY_DIFFER = 300;

/** `told` as an instance would have told it whose clock shows `at`: a window then holds the same calls by either clock. */
export function setClock(told: Progress, at: number): Progress {
  const ms = at - told.at;
  if (ms === 0) return told;
  // A ledger may tell times beyond its own clock, and a date ends somewhere.
  const shift = (time: number): number => Math.min(LAST_TIME, Math.max(0, time + ms));
  const { totals, ledger, rules } = told;
  return {
    ...told,
    since: shift(told.since),
    at,
    totals: { since: shift(totals.since), at: shift(totals.at), rows: totals.rows.map((row) => seenAt(row, shift)) },
    ledger: {
      ...ledger,
      since: shift(ledger.since),
      watchedSince: ledger.watchedSince === undefined ? undefined : shift(ledger.watchedSince),
      at: shift(ledger.at),
      clients: ledger.clients.map((client) => shiftClient(client, shift)),
    },
    rules: rules.map((rule) => (rule.since === undefined ? rule : { ...rule, since: shift(rule.since) })),
  };
}

function shiftClient(client: ClientEntry, shift: (time: number) => number): ClientEntry {
  return {
    ...seenAt(client, shift),
    firstSeen: shift(client.firstSeen),
    lastV1: client.lastV1 === undefined ? undefined : shift(client.lastV1),
    operations: client.operations.map((one) => seenAt(one, shift)),
  };
}

function seenAt<One extends { readonly lastSeen: number }>(one: One, shift: (time: number) => number): One {
  return { ...one, lastSeen: shift(one.lastSeen) };
}

/** `26 h`, `12 min`: the largest unit of which there are two. */
export function sayBehind(seconds: number): string {
  const units = [
    [86_400, "d"],
    [3600, "h"],
    [60, "min"],
  ] as const;
  const [size, name] = units.find(([each]) => seconds >= 2 * each) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${name}`;
}
