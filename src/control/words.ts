/** In which words is it said what became of a rule? (For the log and for people who look at the admin port.) */
import { couldMove, type Evidence, evidence } from "../cutover/promote.ts";
import { type Cause, LONGEST_WAIT, quietNeeded, type Retreat, translatedShare } from "../cutover/retreat.ts";
import { type Hinderer, hinderers } from "./operations.ts";
import { type Held, translates } from "./state.ts";

/** `0.02` as `2 %`, to four digits. */
export function percent(share: number): string {
  return `${Number((share * 100).toPrecision(4))} %`;
}

/** Milliseconds as a person says them. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${Number((ms / 1_000).toFixed(1))} s`;
  return ms < 7_200_000 ? `${Number((ms / 60_000).toFixed(1))} min` : `${Number((ms / 3_600_000).toFixed(1))} h`;
}

/** `forward`, `back`, or the share that it translates again. */
export function phaseWords(retreat: Retreat): string {
  const { phase } = retreat;
  return phase.kind === "returning" ? `returning, ${percent(translatedShare(retreat))} of its clients` : phase.kind;
}

/** Why a rule stepped back, with the numbers and the threshold that decided. */
export function causeWords({ what, bad, all, clients }: Cause, { settings }: Retreat): string {
  const met = `met by ${clients === 1 ? "1 client" : `${clients} clients`}${clients >= settings.minClients ? " or more" : ""}`;
  const within = `within ${duration(settings.window)}`;
  const over = `${percent(bad / all)}, more than ${percent(settings[what] ?? 0)}`;
  return what === "failures"
    ? `${bad} of ${all} requests failed because of translation ${within} (${over}), ${met}`
    : `${bad} of ${all} comparisons differed ${within} (${over}), ${met}`;
}

/** Why a rule is now in another phase than `before`. */
export function changeWords(before: Retreat, after: Retreat): string {
  const { phase } = after;
  if (phase.kind === "back") return causeWords(phase.cause, after);
  const waited = duration(quietNeeded(before) ?? 0);
  if (phase.kind === "forward") return `quiet for ${waited} with all of its clients translated`;
  return `quiet for ${waited}; ${percent(translatedShare(after))} of its clients are translated now`;
}

/** What a bound rests on. */
export function evidenceWords({ comparisons, differences, clients, bound }: Evidence, needed: number): string {
  const by = `${clients === 1 ? "1 client" : `${clients} clients`}${clients >= needed ? " or more" : ` of ${needed} needed`}`;
  return `${differences} differences in ${comparisons} comparisons of ${by}: at most ${percent(bound)} differ (95 %)`;
}

/** Why an operation does not move with its rule: `repo create: 12 requests, 0 compared: cannot be compared`. */
export function hindererWords({ operation, requests, compared, ...found }: Hinderer): string {
  return `${operation}: ${requests} requests, ${compared} compared: ${hindranceWords({ compared, ...found })}`;
}

function hindranceWords({
  why,
  compared,
  differences,
  failures,
  needed,
  failure,
}: Omit<Hinderer, "operation" | "requests">): string {
  if (why === "differences") return `${differences} of them differ`;
  if (why === "too-few") return `${needed} needed`;
  if (compared === 0 && failure === "not-comparable") return "cannot be compared";
  return `${failures} failed (${failure ?? "internal"})`;
}

/** How many operations are named in full. */
const NAMED = 10;

/** The operations that do not move, one sentence each, those that are asked for most first. */
export function heldBackWords(held: Held): readonly string[] {
  const found = hinderers(held);
  const more = found.length - NAMED;
  return [...found.slice(0, NAMED).map(hindererWords), ...(more > 0 ? [`${more} more operations`] : [])];
}

/** What the rule does, in a sentence or two. */
export function stateWords(held: Held): string {
  const { rule, retreat, promotion } = held;
  const compared = rule.shadow.sample > 0 ? `, ${percent(rule.shadow.sample)} of requests are compared` : "";
  if (!translates(held)) {
    return rule.mode === "native" ? "native answers" : `native answers${compared}${promotionWords(held)}`;
  }
  const promoted = promotion.promoted ? "moved on by itself: " : "";
  const but = leftWords(held);
  if (retreat === undefined || retreat.phase.kind === "forward") return `${promoted}translates${compared}${but}`;
  if (retreat.phase.kind === "returning") {
    return `${promoted}translates for ${percent(translatedShare(retreat))} of its clients, native answers the rest${compared}${but}`;
  }
  return `stepped back: ${causeWords(retreat.phase.cause, retreat)}; native answers${compared}; ${returnWords(retreat)}`;
}

function returnWords(retreat: Retreat): string {
  const needed = quietNeeded(retreat);
  if (needed === undefined) return "it stays so until the rule is changed";
  const longest = retreat.factor === LONGEST_WAIT ? ", the longest wait" : "";
  return `it tries again after ${duration(needed)} without a difference${longest}`;
}

/** What a rule that moved by itself leaves to native. */
function leftWords(held: Held): string {
  const left = heldBackWords(held);
  return left.length === 0 ? "" : `; native still answers ${left.join("; ")}`;
}

function promotionWords(held: Held): string {
  const { rule, promotion } = held;
  if (rule.promoteWhen === undefined) return "";
  const { differencesBelow, automatic } = rule.promoteWhen;
  const found = evidence(promotion);
  const back = heldBackWords(held);
  const says =
    back.length === 0 && couldMove(promotion)
      ? "it could be set to translate"
      : `${automatic ? "it moves" : "it may move"} on below ${percent(differencesBelow)}`;
  const waits = back.length === 0 ? "" : `; held back by ${back.join("; ")}`;
  return `; ${says}: ${evidenceWords(found, promotion.clientsNeeded)}${waits}`;
}
