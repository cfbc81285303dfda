/** What does this instance tell a report? (Design section 8: `GET /progress`.) */
import type { Control } from "../control/control.ts";
import type { RuleState } from "../control/view.ts";
import { upperBound } from "../cutover/bound.ts";
import type { LedgerSnapshot } from "../model/ledger.ts";
import { type Bound, PROGRESS_VERSION, type Progress, type RuleProgress, type Totals } from "../model/progress.ts";
import type { CutoverMode } from "../model/rules.ts";
import type { Shadow } from "../shadow/shadow.ts";

/** Where it is read from. */
export interface ProgressSources {
  readonly instance: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly wall: () => number;
  /** Option `cutover.mode`. */
  readonly mode: CutoverMode;
  readonly control: Pick<Control, "rules" | "states">;
  readonly shadow: Pick<Shadow, "bounds"> | undefined;
  readonly lastReloadSuccessful: () => boolean;
  readonly totals: () => Totals;
  readonly ledger: () => LedgerSnapshot;
}

/** As it is now. */
export function progressOf(sources: ProgressSources): Progress {
  const { control, shadow } = sources;
  return {
    version: PROGRESS_VERSION,
    instance: sources.instance,
    since: sources.since,
    at: sources.wall(),
    mode: sources.mode,
    force: control.rules()?.force ?? "none",
    lastReloadSuccessful: sources.lastReloadSuccessful(),
    totals: sources.totals(),
    ledger: sources.ledger(),
    bounds: (shadow?.bounds() ?? []).map(boundOf),
    rules: control.states().map(ruleOf),
  };
}

function boundOf({ resource, operation, client, comparisons, differences }: Omit<Bound, "upper">): Bound {
  return { resource, operation, client, comparisons, differences, upper: upperBound(differences, comparisons) };
}

function ruleOf(rule: RuleState): RuleProgress {
  const { name, mode, effective, since } = rule;
  return { name, mode, doing: effective, state: wordOf(rule), since, detail: detailOf(rule) };
}

function wordOf({ state, expired, promoted, couldMove }: RuleState): RuleProgress["state"] {
  if (expired) return "expired";
  if (state === "back") return "stepped-back";
  if (state === "returning") return "returning";
  if (couldMove) return "could-move";
  return promoted ? "promoted" : "as-written";
}

/** The numbers that it rests on. */
function detailOf(rule: RuleState): string {
  const { requests, failures, comparisons, differences, bound, step, heldBack } = rule;
  const parts = [
    ...(step === undefined ? [] : [`${share(step)} of its clients are translated`]),
    ...(requests === 0 ? [] : [`${failures} of ${requests} requests failed because of translation`]),
    ...(comparisons === 0
      ? []
      : [`${differences} of ${comparisons} comparisons differed: at most ${share(bound)} do (95 %)`]),
    ...(heldBack.length === 0 ? [] : [`not to be translated yet: ${heldBack.join("; ")}`]),
  ];
  return parts.join("; ");
}

function share(part: number): string {
  return `${Number((part * 100).toPrecision(2))} %`;
}
