/** All instances that were asked, as one: each counts once, and what they know of a rule adds up. */
import { grouped } from "../../model/group.ts";
import type { Progress, RuleEvidence, RuleProgress, RuleStateName } from "../../model/progress.ts";
import { upperBound } from "../../rollout/upper-bound.ts";
import type { InstanceResult } from "../report/ask.ts";
import { largest, type RespondingInstance, sum } from "../report/merge.ts";

export interface Fleet {
  /** As they were asked. */
  readonly results: readonly InstanceResult[];
  /** Those that responded, under the first address that leads to each. */
  readonly instances: readonly RespondingInstance[];
  readonly silent: readonly SilentInstance[];
  /** In the order of the file; a rule has a line for each thing that it does somewhere. */
  readonly rules: readonly FleetRule[];
}

export interface SilentInstance {
  readonly address: string;
  readonly fault: string;
}

/** A rule on all instances where it does the same. */
export interface FleetRule extends Pick<RuleProgress, "name" | "mode" | "doing"> {
  readonly state: FleetRuleState;
  /** Milliseconds since it last changed anywhere, by the clock of that instance; undefined: unknown. */
  readonly age: number | undefined;
  /** Addresses. */
  readonly on: readonly string[];
  /** Undefined: one of them does not tell it, since it is older. */
  readonly evidence: RuleEvidence | undefined;
}

/** Whether a rule could move depends on the evidence of all instances together. */
export type FleetRuleState = Exclude<RuleStateName, "could-move"> | "unknown";

export function fleetOf(results: readonly InstanceResult[]): Fleet {
  const silent = results.flatMap((one) => ("fault" in one ? [one] : []));
  const responses = results.flatMap((one) => ("fault" in one ? [] : [one]));
  const instances = grouped(responses, ({ progress }) => [progress.instance]).map((same): RespondingInstance => {
    const latest = largest(same.map(({ progress }) => progress.at));
    return { ...(same.find(({ progress }) => progress.at === latest) ?? same[0]), address: same[0].address };
  });
  return { results, instances, silent, rules: rulesOf(instances) };
}

function rulesOf(instances: readonly RespondingInstance[]): readonly FleetRule[] {
  const all = instances.flatMap(({ address, progress }) => progress.rules.map((rule) => ({ address, progress, rule })));
  const byName = grouped(all, ({ rule }) => [rule.name]);
  const lines = byName.flatMap((same) => grouped(same, ({ rule }) => [rule.mode, rule.doing, stateOf(rule)]));
  return lines.map((group): FleetRule => {
    const [{ rule }] = group;
    const { name, mode, doing } = rule;
    const ages = group.map((one) => ageOf(one.progress, one.rule));
    return {
      name,
      mode,
      doing,
      state: stateOf(rule),
      age: ages.reduce((a, b) => (a === undefined || b === undefined ? undefined : Math.min(a, b))),
      on: group.map(({ address }) => address),
      evidence: evidenceOf(group.map((one) => one.rule.evidence)),
    };
  });
}

function stateOf({ state, unknown }: RuleProgress): FleetRuleState {
  if (unknown === true) return "unknown";
  return state === "could-move" ? "as-written" : state;
}

function ageOf({ at }: Progress, { since }: RuleProgress): number | undefined {
  return since === undefined ? undefined : Math.max(0, at - since);
}

/**
 * Counts add up. A client may have called several instances, so that no more are certain than the most that one of them saw.
 */
function evidenceOf(all: readonly (RuleEvidence | undefined)[]): RuleEvidence | undefined {
  const known = all.filter((one) => one !== undefined);
  const [first] = known;
  if (first === undefined || known.length < all.length) return undefined;
  if (known.length === 1) return first;
  const [comparisons, differences] = [sum(known, (one) => one.comparisons), sum(known, (one) => one.differences)];
  const risk = Math.min(...known.map((one) => one.risk));
  return {
    ...first,
    requests: sum(known, (one) => one.requests),
    failures: sum(known, (one) => one.failures),
    comparisons,
    differences,
    risk,
    bound: upperBound(differences, comparisons, risk),
    clients: largest(known.map((one) => one.clients)),
    clientsNeeded: largest(known.map((one) => one.clientsNeeded)),
    heldBack: [...new Set(known.flatMap((one) => one.heldBack))],
    stepBacks: sum(known, (one) => one.stepBacks),
  };
}

/** `native (by the rules file and carryover force)`, or `none`. */
export function forceText({ force, forcedBy }: Pick<Progress, "force" | "forcedBy">): string {
  if (force === "none" || forcedBy === undefined) return force;
  const by = [
    forcedBy.file === force ? "the rules file" : [],
    forcedBy.command !== force ? [] : forcedBy.lost === true ? "a lost state of carryover force" : "carryover force",
  ].flat();
  return `${force} (by ${by.join(" and ")})`;
}

/** `instances have different rules: http://a:1 has 1a2b3c, http://b:1 has none`. */
export function differentRules(instances: readonly RespondingInstance[]): readonly string[] {
  const files = grouped(instances, ({ progress }) => [progress.digest]);
  if (files.length < 2) return [];
  const texts = files.map(([{ address, progress }]) => `${address} has ${progress.digest ?? "no rules file"}`);
  return [`instances have different rules: ${texts.join(", ")}`];
}

/** What keeps a whole instance from doing as its rules say. */
export function troublesOf({ address, progress }: RespondingInstance): readonly string[] {
  const { force, lastReloadSuccessful, openBreakers = [] } = progress;
  return [
    ...(force === "none" ? [] : [`${address} is forced to ${forceText(progress)}: no rule decides`]),
    ...(lastReloadSuccessful ? [] : [`${address} has an invalid rules file and keeps the rules before it: see /rules`]),
    ...openBreakers.map((name) => `${address} gets no response from upstream ${name}: its circuit breaker is open`),
  ];
}
