/** Turns the responses of instances that tell of their peers into one line for each process of the fleet. */
import { grouped } from "../model/group.ts";
import type { Progress } from "../telemetry/progress.ts";
import { contributorOf } from "./lost.ts";
import type { InstanceResult } from "./merge.ts";

/**
 * The responses, then each contributor to their stores that was not asked itself, under its name. A response is worth more than what the store
 * says of the same instance. What could not be read is a line with a fault.
 */
export function withPeers(results: readonly InstanceResult[]): readonly InstanceResult[] {
  const live = results.map((one) => ("fault" in one ? one : { ...one, sharing: sharingOf(one.progress) }));
  const told = results.flatMap((one) => ("fault" in one ? [] : [one.progress]));
  const known = new Set(told.flatMap((one) => [one.instance, contributorOf(one)]));
  // What two instances of one store say of the others is the same: that of one of them counts, so that nothing counts twice.
  const tellers = grouped(
    told.filter(({ peers }) => peers !== undefined),
    (progress) => [groupOf(progress)],
  ).map(
    (same) => same.toSorted((a, b) => (a.unread?.length ?? 0) - (b.unread?.length ?? 0) || b.at - a.at)[0] ?? same[0],
  );
  const others = tellers.flatMap((progress) =>
    (progress.peers ?? [])
      .filter((peer) => !known.has(peer.instance) && !known.has(contributorOf(peer)))
      .map(({ name, goneSince, watched, ...peer }): InstanceResult => {
        return { address: name, progress: peer, sharing: { group: groupOf(progress), goneSince, watched } };
      }),
  );
  const unread = results.flatMap((one) =>
    "fault" in one
      ? []
      : (one.progress.unread ?? []).map(({ name, fault }) => ({
          address: name,
          fault: `cannot be read by carryover at ${one.address}: ${fault}`,
        })),
  );
  return [...live, ...others, ...grouped(unread, ({ address }) => [address]).map(([first]) => first)];
}

/** Undefined without a store that was read. */
function sharingOf(progress: Progress) {
  return progress.peers === undefined ? undefined : { group: groupOf(progress) };
}

/** The same for all that share a store. */
function groupOf(progress: Progress): string {
  const [first = ""] = [contributorOf(progress), ...(progress.peers ?? []).map(contributorOf)].toSorted();
  return first;
}
