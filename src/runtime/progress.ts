/** What an instance tells reports and `carryover status`: `GET /progress`. */
import type { EventHistory } from "../history/events.ts";
import { DAY_MS } from "../ledger/days.ts";
import type { LedgerSnapshot } from "../ledger/entry.ts";
import type { EventKind } from "../model/event.ts";
import type { CutoverMode } from "../model/rules.ts";
import type { Rollout } from "../rollout/rollout.ts";
import { upperBound } from "../rollout/upper-bound.ts";
import type { RuleStatus } from "../rules/status.ts";
import type { Shadow } from "../shadow/shadow.ts";
import {
  type ComparisonCounts,
  type LatelyEvent,
  type LostContributor,
  MOST_LATELY,
  PROGRESS_VERSION,
  type Progress,
  type RequestTotals,
  type RequestWindow,
} from "../telemetry/progress.ts";

interface ProgressSources {
  readonly instance: string;
  /** Undefined without state.url. */
  readonly contributor?: () => string | undefined;
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly wall: () => number;
  /** Option `cutover.mode`. */
  readonly mode: CutoverMode;
  readonly rollout: Pick<Rollout, "rules" | "states" | "force">;
  readonly shadow: Pick<Shadow, "tally" | "causes"> | undefined;
  readonly rulesFault: () => Progress["rulesFault"];
  readonly shared: () => Progress["shared"];
  /** Other contributors to the store that it has lost. */
  readonly lost: () => readonly LostContributor[];
  readonly saved: () => boolean;
  readonly countsLostAt: () => number | undefined;
  readonly comparedSince: () => number;
  readonly events: Pick<EventHistory, "select">;
  readonly totals: () => RequestTotals;
  readonly window: () => RequestWindow | undefined;
  readonly ledger: () => LedgerSnapshot;
  /** Of a client, as rules with `match.percent` choose. */
  readonly bucketOf: (client: string) => number;
}

/** What this instance tells a report. */
export function progressOf(sources: ProgressSources): Progress {
  return {
    ...headOf(sources),
    shared: sources.shared(),
    totals: sources.totals(),
    window: sources.window(),
    ledger: withBuckets(sources.ledger(), sources.bucketOf),
    bounds: comparisonsOf(sources).map((one) => ({ ...one, upper: upperBound(one.differences, one.comparisons) })),
    rules: rulesOf(sources),
  };
}

/** Its small members; cheap. */
export function headOf(sources: Omit<ProgressSources, "shared" | "totals" | "window" | "ledger" | "bucketOf">) {
  const { rollout } = sources;
  const lost = sources.lost();
  return {
    version: PROGRESS_VERSION,
    instance: sources.instance,
    contributor: sources.contributor?.(),
    since: sources.since,
    at: sources.wall(),
    mode: sources.mode,
    force: rollout.force().effective,
    forcedBy: rollout.force(),
    digest: rollout.rules()?.digest,
    lost: lost.length === 0 ? undefined : lost,
    saved: sources.saved(),
    countsLostAt: sources.countsLostAt(),
    comparedSince: sources.comparedSince(),
    lately: latelyOf(sources.events, sources.wall()),
    lastReloadSuccessful: sources.rulesFault() === undefined,
    rulesFault: sources.rulesFault(),
  } as const;
}

export function comparisonsOf({ shadow }: Pick<ProgressSources, "shadow">): readonly ComparisonCounts[] {
  return (shadow?.tally.rows() ?? []).map(({ resource, operation, client, comparisons, differences }) => {
    return { resource, operation, client, comparisons, differences };
  });
}

export function rulesOf({ rollout, shadow }: Pick<ProgressSources, "rollout" | "shadow">): readonly RuleStatus[] {
  return rollout.states().map((rule) => ({ ...rule, causes: shadow?.causes(rule.name) }));
}

/** Of more clients every usual percentage takes some, and to work out their buckets takes time. */
const MOST_WITH_BUCKETS = 1_000;

export function withBuckets(ledger: LedgerSnapshot, bucketOf: (client: string) => number): LedgerSnapshot {
  if (ledger.clients.length > MOST_WITH_BUCKETS) return ledger;
  return { ...ledger, clients: ledger.clients.map((client) => ({ ...client, bucket: bucketOf(client.name) })) };
}

/** Events that a person should know of, even if they are over. */
const GRAVE: ReadonlySet<string> = new Set([
  "stepped-back",
  "returned",
  "alarm",
  "unknown",
  "brownout-stopped",
  "brownout-not-started",
  "forced",
  "rules-refused",
  "config-refused",
  "breaker-opened",
  "state-failing",
  "certificate-refused",
] satisfies EventKind[]);

function latelyOf(events: Pick<EventHistory, "select">, now: number): readonly LatelyEvent[] {
  const grave = events.select({ from: now - DAY_MS }).filter(({ kind }) => GRAVE.has(kind));
  return grave
    .toReversed()
    .slice(0, MOST_LATELY)
    .map(({ at, kind, rule, reason }) => ({ at, kind, rule, says: reason }));
}
