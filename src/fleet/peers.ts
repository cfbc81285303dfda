/** Turns the responses of instances that tell of their peers into one line for each process of the fleet. */
import { grouped } from "../model/group.ts";
import type { PeerProgress, Progress } from "../telemetry/progress.ts";
import { type InstanceResult, largest } from "./merge.ts";

/**
 * The responses, then each contributor to their stores that was not asked itself, under its name. A response is worth more than what the store
 * says of the same instance. What could not be read is a line with a fault.
 */
export function withPeers(results: readonly InstanceResult[]): readonly InstanceResult[] {
  const live = results.map((one) => ("fault" in one ? one : { ...one, sharing: sharingOf(one.progress) }));
  const told = results.flatMap((one) => ("fault" in one ? [] : [one.progress]));
  const known = new Set(told.flatMap((one) => [one.instance, contributorOf(one)]));
  const peers = told.flatMap((progress) =>
    (progress.peers ?? []).map((peer) => ({ peer, group: groupOf(progress), at: progress.at })),
  );
  const others = grouped(
    peers.filter(({ peer }) => !known.has(peer.instance) && !known.has(contributorOf(peer))),
    ({ peer }) => [contributorOf(peer)],
  ).map((same): InstanceResult => {
    const latest = largest(same.map(({ at }) => at));
    const { peer, group } = same.find(({ at }) => at === latest) ?? same[0];
    const { name, goneSince, watched, ...progress } = peer;
    return { address: name, progress, sharing: { group, goneSince, watched } };
  });
  const unread = results.flatMap((one) =>
    "fault" in one
      ? []
      : (one.progress.unread ?? []).map(({ name, fault }) => ({
          address: name,
          fault: `cannot be read from the store of ${one.address}: ${fault}`,
        })),
  );
  return [...live, ...others, ...grouped(unread, ({ address }) => [address]).map(([first]) => first)];
}

function contributorOf({ contributor, instance }: Progress | PeerProgress): string {
  return contributor ?? instance;
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
