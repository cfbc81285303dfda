/** The processes that share a store, as the instances that were asked know them: one instance knows them all. */
import { grouped } from "../model/group.ts";
import { counted } from "../rules/words.ts";
import type { SharedStateProgress } from "../telemetry/progress.ts";
import { clockText } from "./fleet.ts";
import { largest, type RespondingInstance } from "./merge.ts";

type Replica = SharedStateProgress["replicas"][number];

/** The output of `--json`. Times are ISO 8601 in UTC. */
export interface ReplicaStatus {
  readonly instance: string;
  /** Host and the beginning of `instance`. */
  readonly name: string;
  readonly version: string;
  /** Digest; null without a rules file. */
  readonly rules: string | null;
  readonly heardAt: string;
  /** Null while it is there. */
  readonly goneSince: string | null;
  /** It was stopped, and said so. */
  readonly left: boolean;
}

/** A process that was killed longer ago is listed, and needs no attention. */
const GONE_SHOWN_MS = 3_600_000;

/** Each replica once, as the instance says that heard of it last. */
function replicasOf(instances: readonly RespondingInstance[]): readonly Replica[] {
  const all = instances.flatMap(({ progress }) => progress.shared?.replicas ?? []);
  return grouped(all, ({ instance }) => [instance]).map((same) => {
    const latest = largest(same.map(({ heardAt }) => heardAt));
    return same.find(({ heardAt }) => heardAt === latest) ?? same[0];
  });
}

/** By name. */
export function replicaStatuses(instances: readonly RespondingInstance[]): readonly ReplicaStatus[] {
  const shown = replicasOf(instances).map(({ instance, name, version, rules, heardAt, goneSince, left }) => ({
    ...{ instance, name, version },
    rules: rules ?? null,
    heardAt: new Date(heardAt).toISOString(),
    goneSince: goneSince === undefined ? null : new Date(goneSince).toISOString(),
    left: left === true,
  }));
  return shown.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What keeps replicas from deciding together. */
export function sharedTroubles(instances: readonly RespondingInstance[]): readonly string[] {
  const replicas = replicasOf(instances);
  const present = replicas.filter(({ goneSince }) => goneSince === undefined);
  return [
    ...instances.flatMap(({ address, progress: { at, shared } }) => {
      if (shared === undefined) return [];
      const { up, since, fault } = shared;
      const why = fault === undefined ? "" : `: ${fault}`;
      if (!up) return [`${address} has had no store since ${clockText(since, at)}, and decides alone${why}`];
      return fault === undefined ? [] : [`${address} has trouble with its store${why}`];
    }),
    ...differences(present, "different rules", ({ rules }) => rules ?? "no rules file"),
    ...differences(present, "different versions", ({ version }) => version),
    ...replicas.flatMap(({ name, goneSince, left }) => {
      const at = largest(instances.map(({ progress }) => progress.at)) ?? 0;
      if (goneSince === undefined || left === true || at - goneSince > GONE_SHOWN_MS) return [];
      return [`replica ${name} is gone since ${clockText(goneSince, at)}, without having been stopped`];
    }),
  ];
}

/** `replicas have different rules: 1a2b3c in a, b and 1 more; 4d5e6f in d`. */
function differences(replicas: readonly Replica[], what: string, of: (replica: Replica) => string): readonly string[] {
  const groups = grouped(replicas, (replica) => [of(replica)]);
  if (groups.length < 2) return [];
  const texts = groups.map((group) => `${of(group[0])} in ${named(group.map(({ name }) => name))}`);
  return [`replicas have ${what}: ${texts.join("; ")}`];
}

const SHOWN_NAMES = 2;

function named(names: readonly string[]): string {
  const more = names.length - SHOWN_NAMES;
  return `${names.slice(0, SHOWN_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** `3 replicas`, those that are gone not counted; undefined where none share a store. */
export function replicasText(replicas: readonly ReplicaStatus[]): string | undefined {
  const present = replicas.filter(({ goneSince }) => goneSince === null).length;
  return present === 0 ? undefined : counted(present, "replica");
}
