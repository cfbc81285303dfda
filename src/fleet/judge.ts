/** Judges a rule by what instances tell of it, in words for people. */
import { brownoutText } from "../rollout/brownout.ts";
import { comparisonsNeeded, RISK, upperBound } from "../rollout/upper-bound.ts";
import type { RuleEvidence } from "../rules/status.ts";
import { boundWords, counted, neededWords, percent, plural } from "../rules/words.ts";
import type { FleetRule } from "./fleet.ts";
import { durationText } from "./merge.ts";

/** What a rule must reach. Shares are above 0, at most 1. */
export interface GateTerms {
  /** Undefined: as the rule says, else `DEFAULT_BELOW`. */
  readonly differencesBelow: number | undefined;
  readonly failuresBelow: number | undefined;
  /** Milliseconds for which the rule must have been as it is. */
  readonly minAge: number;
}

/** As docs/cutover.md recommends. */
const DEFAULT_BELOW = 0.02;
export const DEFAULT_TERMS: GateTerms = { differencesBelow: undefined, failuresBelow: undefined, minAge: 0 };

/** What a rule lacks, and why. */
export interface Lack {
  readonly why:
    | "expired"
    | "stuck"
    | "failing"
    | "just-failed"
    | "young"
    | "older-instance"
    | "nothing-compared"
    | "nothing-translated"
    | "differences"
    | "failures"
    | "clients"
    | "held-back";
  readonly text: string;
  /** Of shares: how many more cases without a bad one are enough; undefined where that is unknown. */
  readonly more?: number | undefined;
  /** Of shares: the share that was found is below the threshold, so that more cases help. */
  readonly isNearer?: boolean;
}

interface GateJudgement {
  /** The first is the most urgent. Empty: the rule may go further. */
  readonly lacks: readonly Lack[];
  readonly evidence: readonly string[];
}

/** Whether what is known of a rule is enough for it to go further. `clientsKnown`: clients that the ledgers know; undefined: it is not asked. */
export function judgeRule(rule: FleetRule, terms: GateTerms, clientsKnown?: number): GateJudgement {
  const { mode, state, evidence, age, on } = rule;
  if (state === "expired")
    return { lacks: [{ why: "expired", text: "it has expired, and matches nothing" }], evidence: [] };
  const young: readonly Lack[] = isYoung(age, terms)
    ? [{ why: "young", text: `it has been so for ${lastingText(age)}, not for ${lastingText(terms.minAge)}` }]
    : [];
  if (mode === "brownout") return { lacks: young, evidence: [] };
  if (mode === "native") return { lacks: young, evidence: ["native v1 responds to all of it, and still would"] };
  if (evidence === undefined) {
    const text = `an instance is older, and tells no evidence (on ${on.join(", ")})`;
    return { lacks: [{ why: "older-instance", text }], evidence: [] };
  }
  const isPromoted = state === "promoted";
  const known =
    mode === "shadow" && !isPromoted ? compared(evidence, terms, clientsKnown) : translated(evidence, terms);
  const heldBack = evidence.heldBack.map((one) => `${isPromoted ? "still native" : "not proved"}: ${one}`);
  const all = (why: Lack["why"], texts: readonly string[]) => texts.map((text): Lack => ({ why, text }));
  return {
    lacks: [
      ...all("stuck", stuckTexts(rule)),
      ...all("failing", troubleTexts(rule)),
      ...all("just-failed", pastTexts(rule)),
      ...young,
      ...known.lacks,
      ...all("held-back", heldBack),
    ],
    evidence: known.evidence,
  };
}

/** What keeps a rule from doing as it says. */
function stuckTexts({ state, byGuard }: FleetRule): readonly string[] {
  if (state === "unknown") return ["its saved state cannot be read; carryover confirm lets it go on"];
  if (state === "returning") return ["it stepped back, and returns step by step"];
  if (state !== "stepped-back") return [];
  return byGuard === true
    ? ["it stepped back because v2 failed, and returns by itself when v2 responds again"]
    : ["/samples and the log say why it stepped back; fix the cause, then rename the rule"];
}

/** What v2 does to the rule's clients now, a sentence for each operation; empty: nothing is known to be wrong. */
export function troubleTexts({ guard }: Pick<FleetRule, "guard">): readonly string[] {
  const trouble = guard?.trouble;
  if (trouble === undefined) return [];
  return trouble.says.map((one) => `since ${timeOfDay(trouble.since)} ${one}`);
}

/** Why a rule waits although v2 fails nobody any more. */
function pastTexts({ guard }: FleetRule): readonly string[] {
  if (guard?.past === undefined) return [];
  const { until, quietAt, says } = guard.past;
  return [`until ${timeOfDay(until)} ${says}; it may go further if nothing fails until ${timeOfDay(quietAt)}`];
}

/** `02:13:07Z`. */
export function timeOfDay(at: number): string {
  return `${new Date(at).toISOString().slice(11, 19)}Z`;
}

function isYoung(age: number | undefined, { minAge }: GateTerms): boolean {
  return minAge > 0 && (age === undefined || age < minAge);
}

function compared(evidence: RuleEvidence, terms: GateTerms, clientsKnown?: number): GateJudgement {
  const { comparisons, clients, clientsNeeded } = evidence;
  // A ledger that knows none, or fewer than were compared, is new or was lost, and shows nothing.
  const isShort = clientsKnown !== undefined && Math.max(1, clients) <= clientsKnown && clientsKnown < clientsNeeded;
  const tooFew: readonly Lack[] = isShort ? [{ why: "clients", text: tooFewText(clientsNeeded, clientsKnown) }] : [];
  if (comparisons === 0) {
    const text = "nothing was compared yet: this needs requests, a shadow.sample above 0, and upstream.v1.url";
    return { lacks: [{ why: "nothing-compared", text }, ...tooFew], evidence: [] };
  }
  const who: Judged = {
    why: "clients",
    isBelow: clients >= clientsNeeded,
    text:
      clients < clientsNeeded
        ? `${neededWords(clients, clientsNeeded, "client")} ${plural(clientsNeeded, "was", "were")} compared`
        : `${counted(clients, "client")} or more were compared, ${clientsNeeded} needed`,
  };
  // Whoever was compared is one client.
  const judged = sorted([judgeDifferences(evidence, terms), ...(clientsNeeded > 1 ? [who] : [])]);
  return { ...judged, lacks: [...judged.lacks, ...tooFew] };
}

/** For `carryover gate` and `check`: waiting does not help. */
export function tooFewText(needed: number, known: number): string {
  return `minClients needs ${counted(needed, "client")}, and the ledger knows ${known}: the rule cannot move on before more clients call, or minClients is lowered to ${known} at most`;
}

/** What it compares now is little, and its own shadow came before: comparisons speak against it only when some differ. */
function translated(evidence: RuleEvidence, terms: GateTerms): GateJudgement {
  const { requests, failures, comparisons, differences } = evidence;
  if (requests === 0)
    return { lacks: [{ why: "nothing-translated", text: "it has translated no request yet" }], evidence: [] };
  const below = terms.failuresBelow ?? belowOf(evidence.failuresBelow);
  const failed = judgeShare(
    { why: "failures", bad: failures, all: requests, risk: RISK, below },
    { noun: "request", did: "failed because of translation" },
  );
  if (comparisons === 0) return sorted([failed]);
  const none: Judged = {
    why: "differences",
    isBelow: true,
    text: `0 of ${counted(comparisons, "comparison")} differed`,
  };
  return sorted([failed, differences === 0 ? none : judgeDifferences(evidence, terms)]);
}

function judgeDifferences(
  { comparisons, differences, risk, differencesBelow }: RuleEvidence,
  terms: GateTerms,
): Judged {
  const below = terms.differencesBelow ?? belowOf(differencesBelow);
  return judgeShare(
    { why: "differences", bad: differences, all: comparisons, risk, below },
    { noun: "comparison", did: "differed" },
  );
}

/** A threshold of 0 is never reached: `stepBack` has it for "at once". */
function belowOf(threshold: number | undefined): number {
  return threshold === undefined || threshold <= 0 ? DEFAULT_BELOW : threshold;
}

/** `isBelow`: it is surely below what it must be below. */
interface Judged extends Lack {
  readonly isBelow: boolean;
}

function sorted(judged: readonly Judged[]): GateJudgement {
  return {
    lacks: judged.filter(({ isBelow }) => !isBelow).map(({ isBelow: _, ...lack }) => lack),
    evidence: judged.filter(({ isBelow }) => isBelow).map(({ text }) => text),
  };
}

interface CountedShare extends Pick<Lack, "why"> {
  readonly bad: number;
  readonly all: number;
  readonly risk: number;
  readonly below: number;
}

function judgeShare(
  { why, bad, all, risk, below }: CountedShare,
  { noun, did }: { readonly noun: string; readonly did: string },
): Judged {
  const bound = upperBound(bad, all, risk);
  const shown = boundWords({ bad, all, upper: bound }, (share) => percent(share, 3), "do");
  const found = `${bad} of ${counted(all, noun)} ${did}: ${shown}`;
  if (bound < below) return { why, isBelow: true, text: `${found}, below ${percent(below)}` };
  const needed = comparisonsNeeded(below, bad, risk) - all;
  const more = needed > 0 && Number.isFinite(needed) ? needed : undefined;
  const isNearer = bad / all < below;
  const enough = more === undefined || !isNearer ? "" : `; ${more} more without one are enough`;
  const text = `${found}, not yet below ${percent(below)}${enough}`;
  return { why, isBelow: false, text, more, isNearer };
}

/** `translate for 2 h`, `stepped back 2 h ago, native responds`. */
export function stateText(rule: FleetRule): string {
  const { mode, doing, state, age } = rule;
  if (rule.brownout !== undefined && state !== "expired") return brownoutText(rule.brownout);
  const lasting = age === undefined ? "" : ` for ${lastingText(age)}`;
  const ago = age === undefined ? "" : ` ${lastingText(age)} ago`;
  switch (state) {
    case "stepped-back":
      return `stepped back${ago}, native v1 responds`;
    case "unknown":
      return doing === "translate"
        ? `translates${lasting}, though its saved state cannot be read, without a native v1`
        : `has a saved state that cannot be read, native v1 responds${lasting}`;
    case "returning":
      return `returns to ${mode}${lasting}`;
    case "promoted":
      return `moved to translate by itself${ago}`;
    case "expired":
      return `expired${ago}, matches nothing`;
    default:
      return doing === mode ? `${mode}${lasting}` : `${mode}, but ${doing} is forced`;
  }
}

/** `reads of group, client ci-bot, 10 % of clients`. */
export function whomText({ evidence }: Pick<FleetRule, "evidence">): string {
  if (evidence === undefined) return "an instance is older, and does not tell whom";
  const { whom, percent: share } = evidence;
  return share === undefined ? whom : `${whom}, ${share} % of clients`;
}

/** Nothing where all instances do the same. */
export function placeText({ on }: Pick<FleetRule, "on">, instances: number): string {
  return on.length === instances ? "" : ` (on ${on.join(", ")})`;
}

/** Milliseconds, rounded down. */
export function lastingText(ms: number | undefined): string {
  return ms === undefined ? "an unknown time" : durationText(Math.floor(ms / 1000));
}
