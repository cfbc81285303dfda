/**
 * The other contributors that this process has seen in the shared store. The store cannot tell what it has lost: one that was there before and is
 * missing now was lost with its counts, unless it sends them again within seconds.
 */
import { readRecord } from "../rules/record.ts";
import { type KnownContributor, KnownRecord, MOST_KNOWN } from "../telemetry/document.ts";
import type { LostContributor } from "../telemetry/progress.ts";

/** A process that still runs sends everything again within this time. */
const RETURN_MS = 10_000;
/** The store drops contributors by itself after 200 days. */
const KEPT_MS = 200 * 86_400_000;
/** Later times of contributors that are there are saved this often. */
const NEWS_MS = 300_000;

/** A contributor as the store lists it. */
export interface ListedContributor {
  readonly id: string;
  /** Host and the beginning of its instance. */
  readonly name: string;
  /** When it was heard last, by the clock of this process; undefined while it is there. */
  readonly goneSince: number | undefined;
  /** The store has lost its rows: a server may evict them alone. */
  readonly isEmpty: boolean;
}

export type KnownContributors = ReturnType<typeof createKnownContributors>;

/** `wall`: milliseconds since 1970. */
export function createKnownContributors(wall: () => number) {
  let known = new Map<string, KnownContributor>();
  let revision = 0;
  let revisedAt = wall();
  const missing = (): readonly (KnownContributor & { readonly missedAt: number })[] =>
    [...known.values()].flatMap((one) => (one.missedAt === undefined ? [] : [{ ...one, missedAt: one.missedAt }]));
  return {
    /** Takes all that the store lists now. */
    found: (listed: readonly ListedContributor[]): void => {
      const now = wall();
      const next = new Map<string, KnownContributor>();
      for (const { id, name, goneSince, isEmpty } of listed) {
        const one = { id, name, seen: goneSince ?? now, gone: goneSince !== undefined };
        next.set(id, isEmpty ? { ...one, missedAt: known.get(id)?.missedAt ?? now } : one);
      }
      for (const one of known.values()) {
        if (next.has(one.id) || now - one.seen > KEPT_MS) continue;
        next.set(one.id, { ...one, missedAt: one.missedAt ?? now });
      }
      const kept = [...next.values()].sort((a, b) => b.seen - a.seen).slice(0, MOST_KNOWN);
      const isNews = kept.length !== known.size || kept.some((one) => !isSame(one, known.get(one.id)));
      known = new Map(kept.map((one) => [one.id, one]));
      if (!isNews && now - revisedAt < NEWS_MS) return;
      revision += 1;
      revisedAt = now;
    },
    /** Names of contributors that are missing, and may return within seconds. */
    returning: (): readonly string[] =>
      missing().flatMap(({ name, missedAt }) => (wall() - missedAt < RETURN_MS ? [name] : [])),
    /** Those that did not return. */
    lost: (): readonly LostContributor[] =>
      missing().flatMap(({ id, name, seen, gone, missedAt }) =>
        // One that was there may have gone on counting until it was missed.
        wall() - missedAt < RETURN_MS ? [] : [{ contributor: id, name, seen, until: gone ? seen : missedAt }],
      ),
    /** JSON. */
    saved: (): Iterable<string> => [JSON.stringify({ version: 1, contributors: [...known.values()] })],
    /** Takes what `saved` returned. Throws for anything else. */
    restore: (value: unknown): void => {
      const { contributors } = readRecord(KnownRecord, value, "replicas");
      known = new Map(contributors.map((one) => [one.id, one]));
    },
    /** Grows with every change that a restart should know of. */
    revision: (): number => revision,
  };
}

function isSame(one: KnownContributor, other: KnownContributor | undefined): boolean {
  return one.name === other?.name && one.gone === other.gone && one.missedAt === other.missedAt;
}
