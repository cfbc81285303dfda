/** All instances that were asked, as one: each counts once, and what they know of a rule adds up. */
import { grouped } from "../model/group.ts";
import type { RuleStatus } from "../rules/status.ts";
import type { Progress } from "../telemetry/progress.ts";
import { type Trouble, troubles } from "./harm.ts";
import {
  type InstanceResult,
  isPresent,
  largest,
  type MergedRule,
  mergeRules,
  type RespondingInstance,
} from "./merge.ts";

export interface Fleet {
  /** As they were asked. */
  readonly results: readonly InstanceResult[];
  /** Those that responded, under the first address that leads to each. */
  readonly instances: readonly RespondingInstance[];
  /** Those that shared a store with them and are gone: what they counted still counts. */
  readonly gone: readonly RespondingInstance[];
  readonly silent: readonly SilentInstance[];
  /** In the order of the file; a rule has a line for each thing that it does somewhere. */
  readonly rules: readonly FleetRule[];
}

export interface SilentInstance {
  readonly address: string;
  readonly fault: string;
}

/** Whether a rule could move depends on the evidence of all instances together. */
export type FleetRule = MergedRule<Exclude<RuleStatus["state"], "could-move"> | "unknown">;

export function fleetOf(results: readonly InstanceResult[]): Fleet {
  const silent = results.flatMap((one) => ("fault" in one ? [one] : []));
  const responses = results.flatMap((one) => ("fault" in one ? [] : [one]));
  const all = grouped(responses, ({ progress }) => [progress.instance]).map((same): RespondingInstance => {
    const latest = largest(same.map(({ progress }) => progress.at));
    return { ...(same.find(({ progress }) => progress.at === latest) ?? same[0]), address: same[0].address };
  });
  const instances = all.filter(isPresent);
  const gone = all.filter((one) => !isPresent(one));
  const rules = grouped(mergeRules(instances, stateOf), ({ name }) => [name]).flat();
  return { results, instances, gone, silent, rules };
}

function stateOf({ state, unknown }: RuleStatus): FleetRule["state"] {
  if (unknown === true) return "unknown";
  return state === "could-move" ? "as-written" : state;
}

/** `native (by the rules file and carryover force, since 02:13Z by anna: v2 returns 503)`, or `none`. */
export function forceText({ force, forcedBy, at }: Pick<Progress, "force" | "forcedBy" | "at">): string {
  if (force === "none" || forcedBy === undefined) return force;
  const { commandAt, by: name, reason } = forcedBy;
  const since = commandAt === undefined ? "" : `, since ${clockText(commandAt, at)}`;
  const command = `carryover force${since}${name === undefined ? "" : ` by ${name}`}${reason === undefined ? "" : `: ${reason}`}`;
  const by = [
    forcedBy.file === force ? "the rules file" : [],
    forcedBy.command !== force ? [] : forcedBy.lost === true ? "a lost state of carryover force" : command,
  ].flat();
  return `${force} (by ${by.join(" and ")})`;
}

/** `02:13Z`, with its day if that is not the day of `now`. */
export function clockText(at: number, now: number): string {
  const [day = "", time = ""] = new Date(at).toISOString().split("T");
  const isToday = new Date(now).toISOString().startsWith(day);
  return `${isToday ? "" : `${day} `}${time.slice(0, 5)}Z`;
}

/** `instances have different rules: http://a:1 has 1a2b3c, http://b:1 has none`. */
export function differentRules(instances: readonly RespondingInstance[]): readonly string[] {
  const files = grouped(instances, ({ progress }) => [progress.digest]);
  if (files.length < 2) return [];
  const texts = files.map(([{ address, progress }]) => `${address} has ${progress.digest ?? "no rules file"}`);
  return [`instances have different rules: ${texts.join(", ")}`];
}

/** What keeps a whole instance from doing as its rules say. */
export function troublesOf({ address, progress }: RespondingInstance): readonly Trouble[] {
  const { at, force, lastReloadSuccessful, rulesFault, openBreakers = [] } = progress;
  const since = rulesFault === undefined ? "" : ` since ${clockText(rulesFault.at, at)}`;
  return [
    ...troubles("forced", force === "none" ? [] : [`${address} is forced to ${forceText(progress)}: no rule decides`]),
    ...troubles(
      "next-failure",
      lastReloadSuccessful
        ? []
        : [
            `${address} has an invalid rules file${since} and keeps the rules before it: ${rulesFault?.says ?? "see /rules"}`,
          ],
    ),
    ...troubles(
      "clients-fail",
      openBreakers.map((name) => `${address} gets no response from upstream ${name}: its circuit breaker is open`),
    ),
  ];
}
