/** How log lines, reports and the admin port describe a rule's evidence. */

import { FAILURE_KINDS, type FailureKind } from "../model/v2-failure.ts";
import { boundWords, counted, duration, neededWords, percent } from "../rules/words.ts";
import { CALLERS_NEEDED, USUAL } from "./guard.ts";
import type { PromotionEvidence } from "./promotion.ts";
import { SLOW_MORE_MS, SLOW_TIMES, type Slowness, TIMES_NEEDED } from "./slowness.ts";
import { type GuardCause, quietNeeded, type StepBack, type StepBackCause, translatedShare } from "./step-back.ts";

/** `forward`, `back`, or the share of clients that are translated again. */
export function phaseText(stepBack: StepBack): string {
  const { phase } = stepBack;
  return phase.kind === "returning" ? `returning, ${percent(translatedShare(stepBack))} of its clients` : phase.kind;
}

/** Why a rule stepped back, with the numbers and the threshold that decided. */
export function causeText(cause: StepBackCause, stepBack: StepBack): string {
  const { replica, together } = cause;
  const found = ownCauseText(cause, stepBack);
  if (together !== undefined) return `${found}; ${counted(together, "replica")} counted together`;
  return replica === undefined ? found : `replica ${replica} found: ${found}`;
}

function ownCauseText(cause: StepBackCause, { settings }: StepBack): string {
  if (cause.what === "guard") return guardText(cause);
  if (cause.what === "slow") return slowText(cause);
  const { what, bad, all, clients } = cause;
  const found = what === "failures" ? failuresText(bad, all) : differencesText(bad, counted(all, "comparison"));
  const over = `${percent(bad / all)}, more than ${percent(settings[what] ?? 0)}`;
  const more = clients >= settings.minClients ? " or more" : "";
  return `${found} within ${duration(settings.window)} (${over}), met by ${counted(clients, "client")}${more}`;
}

const KIND_WORDS: Readonly<Record<FailureKind, string>> = {
  unavailable: "5xx or no response",
  timeout: "timeouts",
  unauthenticated: "401",
  forbidden: "403",
  limited: "429",
};

/** `v2 failed 12 of 40 requests for group list (12 × 5xx or no response); native v1 served 4 of the 4 that it was asked; met by 3 clients`. */
export function guardText(
  { operation, write, bad, all, clients, kinds, pairs, rateLimit }: Omit<GuardCause, "what">,
  names: readonly string[] = [],
): string {
  const what = operation ?? (write ? "writes" : "reads");
  const limit = rateLimit === undefined ? "" : ` (${rateLimit})`;
  const failures = FAILURE_KINDS.filter((kind) => kinds[kind] !== undefined).map(
    (kind) => `${kinds[kind]} × ${KIND_WORDS[kind]}${kind === "limited" ? limit : ""}`,
  );
  const asked = write
    ? `${pairs.served} of them are known to be served by native v1, or were before`
    : `native v1 served ${pairs.served} of the ${pairs.asked} that it was asked`;
  const native = pairs.asked === 0 ? unknownText(write) : asked;
  const who = names.length === 0 ? counted(clients, "client") : listed(names, clients);
  return `v2 failed ${bad} of ${counted(all, "request")} for ${what} (${failures.join(", ")}); ${native}; met by ${who}`;
}

function unknownText(write: boolean): string {
  const what = "what native v1 does with them is not known";
  return write ? `${what}, so the rule does not step back` : what;
}

/** `v2 is slow for group list: 1,200 ms, native v1 takes 90 ms (95th percentiles)`. */
export function slowText({ operation, v2Ms, nativeMs }: Slowness): string {
  const [v2, native] = [v2Ms, nativeMs].map((ms) => Math.round(ms).toLocaleString("en-US"));
  return `v2 is slow for ${operation}: ${v2} ms, native v1 takes ${native} ms (95th percentiles)`;
}

/** What the guard needs before it judges, a sentence each. */
export const GUARD_NEEDS: readonly string[] = [
  `An alarm needs clearly more failures (errors, 401, 403, 429) than the usual ${percent(USUAL)}, second by second, and a native v1 that serves the same reads when it is asked, or fails them at most a quarter as often.`,
  `Failed writes are not repeated: native v1 must have served such writes, and ${counted(CALLERS_NEEDED, "client")} must have failed.`,
  `Times need ${TIMES_NEEDED} responses of each version within ten minutes. v2 is slow at ${SLOW_TIMES} times native v1's 95th percentile, if that is ${SLOW_MORE_MS} ms more.`,
];

const SHOWN_NAMES = 3;

function listed(names: readonly string[], all: number): string {
  const more = all - Math.min(names.length, SHOWN_NAMES);
  return `${names.slice(0, SHOWN_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Why a rule entered its present phase. */
export function changeText(before: StepBack, after: StepBack): string {
  const { phase } = after;
  if (phase.kind === "back") return causeText(phase.cause, after);
  const waited = duration(quietNeeded(before) ?? 0);
  if (phase.kind === "forward") return `quiet for ${waited} with all of its clients translated`;
  return `quiet for ${waited}; ${percent(translatedShare(after))} of its clients are translated now`;
}

/** What a bound rests on: old comparisons are forgotten, so it says how many of the latest it counts. */
export function evidenceText({ comparisons, differences, clients, bound }: PromotionEvidence, needed: number): string {
  const by = clients >= needed ? `${counted(clients, "client")} or more` : neededWords(clients, needed, "client");
  return `${differencesText(differences, latest(comparisons))} of ${by}: ${boundText({ comparisons, differences, bound }, 4)}`;
}

/** `at most 3 % differ (95 %)`. */
export function boundText(
  { comparisons, differences, bound }: Pick<PromotionEvidence, "comparisons" | "differences" | "bound">,
  digits = 2,
): string {
  return boundWords({ bad: differences, all: comparisons, upper: bound }, (share) => percent(share, digits));
}

/** `1 difference in 90 comparisons`; every text about comparisons says it this way. */
export function differencesText(differences: number, comparisons: string): string {
  return `${counted(differences, "difference")} in ${comparisons}`;
}

/** `3 of 210 translated requests failed because of translation`. */
export function failuresText(failures: number, requests: number): string {
  return `${failures} of ${counted(requests, "translated request")} failed because of translation`;
}

/** `the latest 90 comparisons`. */
export function latest(comparisons: number): string {
  return `the latest ${counted(comparisons, "comparison")}`;
}
