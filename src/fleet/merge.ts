/** Merges the progress of several instances into one. */

import { DAY_MS } from "../ledger/days.ts";
import type { ClientEntry, LedgerSnapshot } from "../ledger/entry.ts";
import { mergeSnapshots } from "../ledger/snapshot.ts";
import { LAST_TIME } from "../model/clock.ts";
import { grouped } from "../model/group.ts";
import { timesNative } from "../rollout/slowness.ts";
import { upperBound } from "../rollout/upper-bound.ts";
import type { Rules } from "../rules/rule.ts";
import type { DifferenceCause, RuleEvidence, RuleGuard, RuleStatus } from "../rules/status.ts";
import type { DifferenceBound, Progress, RequestTotalsRow } from "../telemetry/progress.ts";
import { coveredSince, type Interval } from "./coverage.ts";
import { lostOf } from "./lost.ts";

/** One address, and the progress of its instance or why there is none. */
export type InstanceResult = RespondingInstance | { readonly address: string; readonly fault: string };

/** An instance that responded, under the first address that leads to it, or one that another told of, under its name. */
export interface RespondingInstance {
  readonly address: string;
  readonly progress: Progress;
  /** Undefined if it shares no store, or does not tell of the others. */
  readonly sharing?: Sharing | undefined;
}

/** An instance as one of several that keep what they count in a store. */
export interface Sharing {
  /** The same for all of one store. */
  readonly group: string;
  /** When it was heard last; undefined while it is there. */
  readonly goneSince?: number | undefined;
  /** When it saw all of its clients' requests; undefined: since `watchedSince` of its ledger. */
  readonly watched?: readonly Interval[] | undefined;
}

/** True for an instance that is there: one that is gone has counts only. */
export function isPresent({ sharing }: RespondingInstance): boolean {
  return sharing?.goneSince === undefined;
}

/** Requests of the time that instances were asked for. */
export interface MergedWindow {
  /** The earliest and the latest time that an instance counted. */
  readonly from: number;
  readonly to: number;
  /** Since when every instance counted. */
  readonly countedSince: number;
  readonly rows: readonly RequestTotalsRow[];
}

/** All instances as one. Times are by the latest clock. */
export interface MergedProgress {
  readonly at: number;
  /** Since when every instance has been watching its clients. */
  readonly watchedSince: number;
  readonly rows: readonly RequestTotalsRow[];
  /** Undefined if an instance cannot tell: a sum without it would be a guess. */
  readonly window: MergedWindow | undefined;
  /** The addresses of instances that tell no window. */
  readonly withoutWindow: readonly string[];
  /** On every instance, `rows` and `ledger` count from the same time. A restart may lose one of the two. */
  readonly countFromOneTime: boolean;
  /** What overrides every rule, on some instance at least. */
  readonly force: Rules["force"];
  readonly ledger: LedgerSnapshot;
  /** Since when the first of them counts `bounds`. */
  readonly comparedSince: number;
  readonly bounds: readonly DifferenceBound[];
  readonly rules: readonly MergedRule[];
}

/** A rule on all instances where it does the same: its record, since the first and with the detail of the first. */
export interface MergedRule<State = RuleStatus["state"]> extends Omit<RuleStatus, "state"> {
  readonly state: State;
  /** Of those instances, absent where one of them is older and does not tell it. */
  readonly evidence?: RuleEvidence | undefined;
  /** Their addresses. */
  readonly on: readonly string[];
  /** Milliseconds since it last changed on any of them, by the clock of that instance. Undefined if one does not tell it. */
  readonly age: number | undefined;
}

/** The counters of one process begin within this time. */
const SAME_START_MS = 1_000;

/** Undefined without any instance. */
export function merge(instances: readonly RespondingInstance[]): MergedProgress | undefined {
  if (instances.length === 0) return undefined;
  const at = latestOf(instances);
  const adjusted = instances.map((one) => setClock(one, at));
  const all = adjusted.map(({ progress }) => progress);
  const present = adjusted.filter(isPresent);
  const ledger = mergeSnapshots(withOwnLedgerNames(adjusted));
  const watched = adjusted.map((one) => ({ ...one, intervals: watchedIn(one) }));
  // What was lost may have seen a client that nobody else saw.
  const lostUntil = largest(lostOf(all).map(({ until }) => until));
  const watchedSince = Math.max(sinceOf(watched) ?? 0, lostUntil);
  const hasDays = all.every((one) => one.ledger.daysSince !== undefined);
  const dayCounts = adjusted.map((one) => ({
    ...one,
    intervals: [{ from: one.progress.ledger.daysSince ?? 0, until: endOf(one) }],
  }));
  return {
    at,
    watchedSince: Math.max(watchedSince, ledger.forgottenBefore ?? 0),
    rows: sumRows(all.flatMap(({ totals }) => totals.rows)),
    window: mergeWindows(adjusted, lostUntil),
    withoutWindow: adjusted.flatMap(({ address, progress }) => (progress.window === undefined ? [address] : [])),
    countFromOneTime: all.every(({ totals, ledger }) => Math.abs(totals.since - ledger.since) <= SAME_START_MS),
    force: present.find(({ progress }) => progress.force !== "none")?.progress.force ?? "none",
    ledger: { ...ledger, daysSince: hasDays ? largest([sinceOf(dayCounts) ?? 0, lostUntil]) : undefined },
    comparedSince: Math.min(...all.map(({ comparedSince, since }) => comparedSince ?? since)),
    bounds: mergeBounds(all.flatMap(({ bounds }) => bounds)),
    rules: mergeRules(present, ({ state }) => state),
  };
}

type InTime = Pick<RespondingInstance, "progress" | "sharing">;

/** Until when it counted. */
function endOf({ progress, sharing }: InTime): number {
  return sharing?.goneSince ?? progress.at;
}

function watchedIn(one: InTime): readonly Interval[] {
  const { ledger } = one.progress;
  return one.sharing?.watched ?? [{ from: ledger.watchedSince ?? ledger.since, until: endOf(one) }];
}

/** Since when each store is covered by those who share it, and each instance without one by itself: the latest of these times. */
function sinceOf(
  all: readonly (Pick<RespondingInstance, "address" | "sharing"> & { readonly intervals: readonly Interval[] })[],
): number | undefined {
  const groups = grouped(all, ({ address, sharing }) => [sharing?.group ?? "", sharing === undefined ? address : ""]);
  const times = groups.flatMap((group) => coveredSince(group.flatMap(({ intervals }) => intervals)) ?? []);
  return times.length === 0 ? undefined : largest(times);
}

/** The time of the latest clock, in milliseconds since 1970; 0 without any instance. */
export function latestOf(instances: readonly RespondingInstance[]): number {
  return largest(instances.map(({ progress }) => progress.at));
}

/** The first of `others` that is another instance whose ledger started from the same file as that of `progress`. */
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
 * The ledgers, with names of their own where two started from one file: under the same name only one would count, and clients
 * that the other saw would be lost. What the file held counts for both, which hides no client.
 */
function withOwnLedgerNames(instances: readonly RespondingInstance[]): readonly LedgerSnapshot[] {
  return instances.map(({ progress }) => {
    const { ledger, instance } = progress;
    if (sharerOf(progress, instances) === undefined) return ledger;
    return { ...ledger, instances: ledger.instances.map((name) => `${name} ${instance}`) };
  });
}

export function sum<One>(items: readonly One[], read: (one: One) => number): number {
  return items.reduce((all, one) => all + read(one), 0);
}

/** Of numbers from 0. There may be too many for the arguments of `Math.max`. */
export function largest(numbers: readonly number[]): number {
  return numbers.reduce((most, one) => Math.max(most, one), 0);
}

function sumRows(rows: readonly RequestTotalsRow[]): readonly RequestTotalsRow[] {
  const groups = grouped(rows, (row) => [row.apiVersion, row.resource, row.operation, row.mode, row.codes]);
  return groups.map((group) => ({
    ...group[0],
    requests: sum(group, ({ requests }) => requests),
    lastSeen: largest(group.map(({ lastSeen }) => lastSeen)),
  }));
}

/** `lostUntil`: what was counted before is not whole. */
function mergeWindows(all: readonly RespondingInstance[], lostUntil: number): MergedWindow | undefined {
  const windows = all.flatMap((one) => {
    const { window } = one.progress;
    return window === undefined ? [] : [{ ...one, window, to: Math.min(window.to, endOf(one)) }];
  });
  if (windows.length < all.length) return undefined;
  const counting = windows.filter(({ window, to }) => window.from < to);
  const counted = counting.length > 0 ? counting : windows;
  // Of several that share a store, one may not have counted then because it was not there.
  const sharing = new Set(counting.flatMap((one) => one.sharing?.group ?? []));
  const counts = windows.filter((one) => counting.includes(one) || !sharing.has(one.sharing?.group ?? ""));
  return {
    from: Math.min(...counted.map(({ window }) => window.from)),
    to: largest(counted.map(({ to }) => to)),
    countedSince: largest([
      lostUntil,
      sinceOf(
        counts.map((one) => ({
          ...one,
          intervals: [{ from: one.window.from, until: Math.max(one.window.from, one.to) }],
        })),
      ) ?? 0,
    ]),
    rows: sumRows(windows.flatMap(({ window }) => window.rows)),
  };
}

/** Comparisons add up, and the bound of all is better than that of each. */
function mergeBounds(bounds: readonly DifferenceBound[]): readonly DifferenceBound[] {
  return grouped(bounds, ({ resource, operation, client }) => [resource, operation, client]).map((group) => {
    const comparisons = sum(group, (one) => one.comparisons);
    const differences = sum(group, (one) => one.differences);
    return { ...group[0], comparisons, differences, upper: upperBound(differences, comparisons) };
  });
}

/** Instances on which a rule does the same, and is in the same state by `stateOf`, share one line. */
export function mergeRules<State extends string>(
  instances: readonly RespondingInstance[],
  stateOf: (rule: RuleStatus) => State,
): readonly MergedRule<State>[] {
  const rules = instances.flatMap(({ address, progress: { at, rules } }) =>
    rules.map((rule) => ({
      address,
      rule,
      state: stateOf(rule),
      age: rule.since === undefined ? undefined : Math.max(0, at - rule.since),
    })),
  );
  return grouped(rules, ({ rule, state }) => [rule.name, rule.mode, rule.doing, state]).map((group) => {
    const [{ address, rule, state }] = group;
    const times = group.flatMap((one) => one.rule.since ?? []);
    const same = group.every((one) => one.rule.detail === rule.detail);
    return {
      ...rule,
      state,
      since: times.length === 0 ? undefined : Math.min(...times),
      detail: same ? rule.detail : `${rule.detail} (${address})`,
      evidence: mergeEvidence(group.map((one) => one.rule.evidence)),
      guard: mergeGuards(group.flatMap((one) => one.rule.guard ?? [])),
      causes: mergeCauses(group.flatMap((one) => one.rule.causes ?? [])),
      on: group.map((one) => one.address),
      age: group
        .map(({ age }) => age)
        .reduce((a, b) => (a === undefined || b === undefined ? undefined : Math.min(a, b))),
    };
  });
}

function mergeCauses(causes: readonly DifferenceCause[]): readonly DifferenceCause[] {
  return grouped(causes, ({ operation, what, path }) => [operation, what, path])
    .map((group) => ({ ...group[0], samples: sum(group, ({ samples }) => samples) }))
    .sort((a, b) => b.samples - a.samples);
}

/** Clients of several instances may be the same. */
function mergeGuards([first, ...rest]: readonly RuleGuard[]): RuleGuard | undefined {
  if (first === undefined) return undefined;
  const troubles = [first, ...rest].flatMap(({ trouble }) => trouble ?? []);
  const [worst] = troubles.toSorted((a, b) => b.failures - a.failures);
  const slow = [first, ...rest].flatMap((one) => one.slow ?? []).toSorted((a, b) => b.v2Ms - a.v2Ms)[0];
  const past = [first, ...rest].flatMap((one) => one.past ?? []).toSorted((a, b) => b.until - a.until)[0];
  const figures = mergeFigures([first, ...rest].flatMap((one) => one.figures ?? []));
  if (worst === undefined) return { ...first, figures, slow, past };
  const sum = (of: (one: NonNullable<RuleGuard["trouble"]>) => number) =>
    troubles.reduce((all, one) => all + of(one), 0);
  const kinds: Record<string, number> = {};
  for (const one of troubles)
    for (const [kind, count] of Object.entries(one.kinds)) kinds[kind] = (kinds[kind] ?? 0) + count;
  const trouble = {
    ...worst,
    since: Math.min(...troubles.map(({ since }) => since)),
    requests: sum(({ requests }) => requests),
    failures: sum(({ failures }) => failures),
    kinds,
    certain: troubles.some(({ certain }) => certain),
    alarm: troubles.some(({ alarm }) => alarm),
  };
  return { ...first, figures, slow, trouble };
}

type Figures = NonNullable<RuleGuard["figures"]>;

function mergeFigures(all: readonly Figures[]): Figures | undefined {
  if (all.length < 2) return all[0];
  const side = (of: "translated" | "native"): Figures["native"] => ({
    requests: sum(all, (one) => one[of].requests),
    errors: sum(all, (one) => one[of].errors),
    denied: sum(all, (one) => one[of].denied),
    limited: sum(all, (one) => one[of].limited),
  });
  return {
    translated: side("translated"),
    native: side("native"),
    repeats: { asked: sum(all, ({ repeats }) => repeats.asked), served: sum(all, ({ repeats }) => repeats.served) },
    evidence: Math.max(...all.map(({ evidence }) => evidence)),
    longest: all.flatMap(({ longest }) => longest ?? []).toSorted((a, b) => timesNative(b) - timesNative(a))[0],
  };
}

/** Counts add up. A client may have called several instances, so that no more are certain than the most that one of them saw. */
function mergeEvidence(all: readonly (RuleEvidence | undefined)[]): RuleEvidence | undefined {
  const known = all.filter((one) => one !== undefined);
  const [first] = known;
  if (first === undefined || known.length < all.length) return undefined;
  // What an instance knows alone, because the store does not respond, is in the sums of the others but for the latest requests.
  const ofAll = known.filter((one) => one.ofAll === true).toSorted((a, b) => b.comparisons - a.comparisons)[0];
  if (ofAll !== undefined) return ofAll;
  if (known.length === 1) return first;
  const [comparisons, differences] = [sum(known, (one) => one.comparisons), sum(known, (one) => one.differences)];
  const risk = Math.min(...known.map((one) => one.risk));
  return {
    ...first,
    requests: sum(known, (one) => one.requests),
    failures: sum(known, (one) => one.failures),
    comparisons,
    differences,
    equal: Math.min(...known.map((one) => one.equal ?? 0)),
    risk,
    bound: upperBound(differences, comparisons, risk),
    clients: largest(known.map((one) => one.clients)),
    clientsNeeded: largest(known.map((one) => one.clientsNeeded)),
    heldBack: [...new Set(known.flatMap((one) => one.heldBack))],
    stepBacks: sum(known, (one) => one.stepBacks),
  };
}

/** Seconds by which a clock may be behind before it is reported: slow responses and ordinary clock skew. */
export const CLOCKS_MAY_DIFFER = 300;

/**
 * Shifts all times as if the clock of the instance showed `at`. All instances are asked at the same moment, so a window then
 * holds the same calls by every clock.
 */
function setClock(instance: RespondingInstance, at: number): RespondingInstance {
  const { progress, sharing } = instance;
  const ms = at - progress.at;
  if (ms === 0) return instance;
  // A ledger may hold times beyond its own clock, and dates have a limit.
  const shift = (time: number): number => Math.min(LAST_TIME, Math.max(0, time + ms));
  const { totals, window, ledger, rules } = progress;
  const shifted: Progress = {
    ...progress,
    since: shift(progress.since),
    comparedSince: progress.comparedSince && shift(progress.comparedSince),
    lost: progress.lost?.map((one) => ({ ...one, seen: shift(one.seen), until: shift(one.until) })),
    at,
    totals: { since: shift(totals.since), at: shift(totals.at), rows: totals.rows.map((row) => seenAt(row, shift)) },
    window: window && {
      from: shift(window.from),
      to: shift(window.to),
      rows: window.rows.map((row) => seenAt(row, shift)),
    },
    ledger: {
      ...ledger,
      since: shift(ledger.since),
      watchedSince: ledger.watchedSince === undefined ? undefined : shift(ledger.watchedSince),
      forgottenBefore: ledger.forgottenBefore === undefined ? undefined : shift(ledger.forgottenBefore),
      daysSince: ledger.daysSince === undefined ? undefined : shift(ledger.daysSince),
      at: shift(ledger.at),
      clients: ledger.clients.map((client) => shiftClient(client, shift, Math.round(ms / DAY_MS))),
    },
    rules: rules.map((rule) => (rule.since === undefined ? rule : { ...rule, since: shift(rule.since) })),
  };
  return {
    ...instance,
    progress: shifted,
    sharing: sharing && {
      ...sharing,
      goneSince: sharing.goneSince === undefined ? undefined : shift(sharing.goneSince),
      watched: sharing.watched?.map(({ from, until }) => ({ from: shift(from), until: shift(until) })),
    },
  };
}

function shiftClient(client: ClientEntry, shift: (time: number) => number, byDays: number): ClientEntry {
  const { days, refused } = client;
  return {
    ...seenAt(client, shift),
    firstSeen: shift(client.firstSeen),
    lastV1: client.lastV1 === undefined ? undefined : shift(client.lastV1),
    ...(client.lastV2 === undefined ? {} : { lastV2: shift(client.lastV2) }),
    // A window begins and ends as the schedule says, by every clock.
    ...(refused === undefined
      ? {}
      : { refused: { ...refused, first: shift(refused.first), last: shift(refused.last) } }),
    days: days && { ...days, last: Math.max(0, days.last + byDays) },
    operations: client.operations.map((one) => seenAt(one, shift)),
  };
}

function seenAt<One extends { readonly lastSeen: number }>(one: One, shift: (time: number) => number): One {
  return { ...one, lastSeen: shift(one.lastSeen) };
}

/** `26 h`, `12 min`: in the largest unit that has at least two. */
export function durationText(seconds: number): string {
  const units = [
    [86_400, "d"],
    [3600, "h"],
    [60, "min"],
  ] as const;
  const [size, name] = units.find(([each]) => seconds >= 2 * each) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${name}`;
}
