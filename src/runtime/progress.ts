import type { LedgerSnapshot } from "../ledger/entry.ts";
import type { CutoverMode } from "../model/rules.ts";
import type { Rollout } from "../rollout/rollout.ts";
import { upperBound } from "../rollout/upper-bound.ts";
import type { Shadow } from "../shadow/shadow.ts";
import { PROGRESS_VERSION, type Progress, type RequestTotals, type RequestWindow } from "../telemetry/progress.ts";

interface ProgressSources {
  readonly instance: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly wall: () => number;
  /** Option `cutover.mode`. */
  readonly mode: CutoverMode;
  readonly rollout: Pick<Rollout, "rules" | "states" | "force">;
  readonly shadow: Pick<Shadow, "tally" | "causes"> | undefined;
  readonly rulesFault: () => Progress["rulesFault"];
  readonly saved: () => boolean;
  readonly countsLostAt: () => number | undefined;
  readonly totals: () => RequestTotals;
  readonly window: () => RequestWindow | undefined;
  readonly ledger: () => LedgerSnapshot;
}

/** What this instance tells a report. */
export function progressOf(sources: ProgressSources): Progress {
  const { rollout, shadow } = sources;
  return {
    version: PROGRESS_VERSION,
    instance: sources.instance,
    since: sources.since,
    at: sources.wall(),
    mode: sources.mode,
    force: rollout.force().effective,
    forcedBy: rollout.force(),
    digest: rollout.rules()?.digest,
    saved: sources.saved(),
    countsLostAt: sources.countsLostAt(),
    lastReloadSuccessful: sources.rulesFault() === undefined,
    rulesFault: sources.rulesFault(),
    totals: sources.totals(),
    window: sources.window(),
    ledger: sources.ledger(),
    bounds: (shadow?.tally.rows() ?? []).map(({ resource, operation, client, comparisons, differences }) => {
      return { resource, operation, client, comparisons, differences, upper: upperBound(differences, comparisons) };
    }),
    rules: rollout.states().map((rule) => ({ ...rule, causes: shadow?.causes(rule.name) })),
  };
}
