/** Contributors whose counts a shared store has lost: no instance is there that could send them again. */
import { grouped } from "../model/group.ts";
import type { LostContributor, OwnProgress } from "../telemetry/progress.ts";

/** What a process and its document both tell of it. */
type Told = Pick<OwnProgress, "instance" | "contributor" | "lost">;

export function contributorOf({ contributor, instance }: Pick<Told, "contributor" | "instance">): string {
  return contributor ?? instance;
}

/** Each once, the latest first. `all`: everything that is known; a contributor among them is not lost, whoever missed it. */
export function lostOf(all: readonly Told[]): readonly LostContributor[] {
  const known = new Set(all.map(contributorOf));
  const missed = all.flatMap(({ lost = [] }) => lost).filter(({ contributor }) => !known.has(contributor));
  return grouped(missed, ({ contributor }) => [contributor])
    .map((same) => ({
      ...same[0],
      seen: Math.max(...same.map(({ seen }) => seen)),
      until: Math.max(...same.map(({ until }) => until)),
    }))
    .sort((a, b) => b.seen - a.seen);
}
