/** How log lines, reports and the admin port describe a rule's evidence. */
import { counted, duration, percent } from "../rules/words.ts";
import type { PromotionEvidence } from "./promotion.ts";
import { quietNeeded, type StepBack, type StepBackCause, translatedShare } from "./step-back.ts";

/** `forward`, `back`, or the share of clients that are translated again. */
export function phaseText(stepBack: StepBack): string {
  const { phase } = stepBack;
  return phase.kind === "returning" ? `returning, ${percent(translatedShare(stepBack))} of its clients` : phase.kind;
}

/** Why a rule stepped back, with the numbers and the threshold that decided. */
export function causeText({ what, bad, all, clients }: StepBackCause, { settings }: StepBack): string {
  const found = what === "failures" ? failuresText(bad, all) : differencesText(bad, counted(all, "comparison"));
  const over = `${percent(bad / all)}, more than ${percent(settings[what] ?? 0)}`;
  const more = clients >= settings.minClients ? " or more" : "";
  return `${found} within ${duration(settings.window)} (${over}), met by ${counted(clients, "client")}${more}`;
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
  const by = `${counted(clients, "client")}${clients >= needed ? " or more" : ` of ${needed} needed`}`;
  return `${differencesText(differences, latest(comparisons))} of ${by}: at most ${percent(bound)} differ (95 %)`;
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
