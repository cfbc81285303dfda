/** What do several instances say together? (Design section 8: each replica has its own; they merge.) */
import { upperBound } from "../cutover/bound.ts";
import { mergeSnapshots } from "../ledger/merge.ts";
import type { LedgerSnapshot } from "../model/ledger.ts";
import type { Bound, Progress, RuleProgress, TotalsRow } from "../model/progress.ts";
import { setClock } from "./clocks.ts";

/** An instance that was heard, under the first address that leads to it. */
export interface Heard {
  readonly address: string;
  readonly progress: Progress;
}

/** All instances as one. Times are by the latest clock. */
export interface Merged {
  readonly at: number;
  /** From when on every one of them has been watching its clients. */
  readonly watchedSince: number;
  readonly rows: readonly TotalsRow[];
  readonly ledger: LedgerSnapshot;
  readonly bounds: readonly Bound[];
  readonly rules: readonly (RuleProgress & { readonly on: readonly string[] })[];
}

/** Undefined when nobody was heard. */
export function merge(heard: readonly Heard[]): Merged | undefined {
  if (heard.length === 0) return undefined;
  const at = latestOf(heard);
  const told = heard.map((one) => ({ ...one, progress: setClock(one.progress, at) }));
  const all = told.map(({ progress }) => progress);
  return {
    at,
    watchedSince: largest(all.map(({ ledger }) => ledger.watchedSince ?? ledger.since)),
    rows: sums(all.flatMap(({ totals }) => totals.rows)),
    ledger: mergeSnapshots(apart(told)),
    bounds: mergeBounds(all.flatMap(({ bounds }) => bounds)),
    rules: mergeRules(told),
  };
}

/** What the latest clock shows, in milliseconds since 1970; 0 when nobody was heard. */
export function latestOf(heard: readonly Heard[]): number {
  return largest(heard.map(({ progress }) => progress.at));
}

/** Of `others`, the first other instance whose ledger began from the same file as that of `progress`. */
export function sharerOf({ instance, ledger }: Progress, others: readonly Heard[]): Heard | undefined {
  const own = new Set(ledger.instances);
  return others.find(
    ({ progress }) => progress.instance !== instance && progress.ledger.instances.some((name) => own.has(name)),
  );
}

/**
 * The ledgers, each under a name of its own where two began from one file: by that name only one of them would count, and a
 * client that the other one saw would be lost. What the file held is counted for both, which hides nobody.
 */
function apart(heard: readonly Heard[]): readonly LedgerSnapshot[] {
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

function sums(rows: readonly TotalsRow[]): readonly TotalsRow[] {
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
function mergeBounds(bounds: readonly Bound[]): readonly Bound[] {
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
function mergeRules(heard: readonly Heard[]): Merged["rules"] {
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
