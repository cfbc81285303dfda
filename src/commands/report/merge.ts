/** What do several instances say together? (Design section 8: each replica has its own; they merge.) */

import { mergeSnapshots } from "../../ledger/snapshot.ts";
import type { ClientEntry, LedgerSnapshot } from "../../model/ledger.ts";
import type { DifferenceBound, Progress, RequestTotalsRow, RuleProgress } from "../../model/progress.ts";
import { upperBound } from "../../rollout/upper-bound.ts";
import { LAST_TIME } from "./ask.ts";

/** An instance that was heard, under the first address that leads to it. */
export interface RespondingInstance {
  readonly address: string;
  readonly progress: Progress;
}

/** All instances as one. Times are by the latest clock. */
export interface MergedProgress {
  readonly at: number;
  /** From when on every one of them has been watching its clients. */
  readonly watchedSince: number;
  readonly rows: readonly RequestTotalsRow[];
  readonly ledger: LedgerSnapshot;
  readonly bounds: readonly DifferenceBound[];
  readonly rules: readonly (RuleProgress & { readonly on: readonly string[] })[];
}

/** Undefined when nobody was heard. */
export function merge(heard: readonly RespondingInstance[]): MergedProgress | undefined {
  if (heard.length === 0) return undefined;
  const at = latestOf(heard);
  const told = heard.map((one) => ({ ...one, progress: setClock(one.progress, at) }));
  const all = told.map(({ progress }) => progress);
  return {
    at,
    watchedSince: largest(all.map(({ ledger }) => ledger.watchedSince ?? ledger.since)),
    rows: sumRows(all.flatMap(({ totals }) => totals.rows)),
    ledger: mergeSnapshots(withOwnLedgerNames(told)),
    bounds: mergeBounds(all.flatMap(({ bounds }) => bounds)),
    rules: mergeRules(told),
  };
}

/** What the latest clock shows, in milliseconds since 1970; 0 when nobody was heard. */
export function latestOf(heard: readonly RespondingInstance[]): number {
  return largest(heard.map(({ progress }) => progress.at));
}

/** Of `others`, the first other instance whose ledger began from the same file as that of `progress`. */
export function sharerOf(
  { instance, ledger }: Progress,
  others: readonly RespondingInstance[],
): RespondingInstance | undefined {
  const own = new Set(ledger.instances);
  return others.find(
    ({ progress }) => progress.instance !== instance && progress.ledger.instances.some((name) => own.has(name)),
  );
}

/**
 * The ledgers, each under a name of its own where two began from one file: by that name only one of them would count, and a
 * client that the other one saw would be lost. What the file held is counted for both, which hides nobody.
 */
function withOwnLedgerNames(heard: readonly RespondingInstance[]): readonly LedgerSnapshot[] {
  return heard.map(({ progress }) => {
    const { ledger, instance } = progress;
    if (sharerOf(progress, heard) === undefined) return ledger;
    return { ...ledger, instances: ledger.instances.map((name) => `${name} ${instance}`) };
  });
}

/** `items` by what `key` says of them, in the order in which each key came first. */
export function grouped<One>(items: readonly One[], key: (one: One) => readonly unknown[]): readonly One[][] {
  const groups = new Map<string, One[]>();
  for (const one of items) {
    const name = JSON.stringify(key(one));
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [one]);
    else group.push(one);
  }
  return [...groups.values()];
}

export function sum<One>(items: readonly One[], read: (one: One) => number): number {
  return items.reduce((all, one) => all + read(one), 0);
}

/** Of numbers from 0 on, and there may be as many as clients. */
export function largest(numbers: readonly number[]): number {
  return numbers.reduce((most, one) => Math.max(most, one), 0);
}

function sumRows(rows: readonly RequestTotalsRow[]): readonly RequestTotalsRow[] {
  const groups = grouped(rows, (row) => [row.apiVersion, row.resource, row.operation, row.mode, row.codes]);
  return groups.flatMap((group) =>
    group.slice(0, 1).map((first) => ({
      ...first,
      requests: sum(group, ({ requests }) => requests),
      lastSeen: largest(group.map(({ lastSeen }) => lastSeen)),
    })),
  );
}

/** Comparisons add up, and the bound of all is better than that of each. */
function mergeBounds(bounds: readonly DifferenceBound[]): readonly DifferenceBound[] {
  const groups = grouped(bounds, ({ resource, operation, client }) => [resource, operation, client]);
  return groups.flatMap((group) => {
    const comparisons = sum(group, (one) => one.comparisons);
    const differences = sum(group, (one) => one.differences);
    return group
      .slice(0, 1)
      .map((first) => ({ ...first, comparisons, differences, upper: upperBound(differences, comparisons) }));
  });
}

/** A rule that does the same everywhere is told once: since the first, with the numbers of the first and whose they are. */
function mergeRules(heard: readonly RespondingInstance[]): MergedProgress["rules"] {
  const rules = heard.flatMap(({ address, progress }) => progress.rules.map((rule) => ({ address, rule })));
  const groups = grouped(rules, ({ rule }) => [rule.name, rule.mode, rule.doing, rule.state]);
  return groups.flatMap((group) =>
    group.slice(0, 1).map(({ address, rule }) => {
      const times = group.flatMap((one) => one.rule.since ?? []);
      const since = times.length === 0 ? undefined : times.reduce((first, one) => Math.min(first, one));
      const same = group.every((one) => one.rule.detail === rule.detail);
      const detail = same ? rule.detail : `${rule.detail} (${address})`;
      return { ...rule, since, detail, on: group.map((one) => one.address) };
    }),
  );
}

/** How do times add up that were told by clocks which differ? (All instances are asked at the same moment.) */

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
