/** May a rule go further? The verdict and its reasons, from what instances tell. */
import { nearest } from "../model/text.ts";
import { comparisonsNeeded, RISK, upperBound } from "../rollout/upper-bound.ts";
import type { RuleEvidence } from "../rules/status.ts";
import { boundWords, counted, neededWords, percent, plural } from "../rules/words.ts";
import { differentRules, type Fleet, type FleetRule, type SilentInstance, troublesOf } from "./fleet.ts";
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

/** The output of `--json`. */
export interface GateVerdict {
  readonly version: 1;
  readonly rule: string;
  /** `unknown`: an instance did not respond, or no instance has such a rule. */
  readonly mayGoFurther: "yes" | "no" | "unknown";
  /** What further means for this rule; null without such a rule. */
  readonly further: string | null;
  /** What the rule does now, one text for each thing that it does somewhere. */
  readonly now: readonly string[];
  /** Why it may not, or why that is unknown. */
  readonly against: readonly string[];
  /** What speaks for it. */
  readonly evidence: readonly string[];
  readonly silent: readonly SilentInstance[];
}

export function judgeGate(fleet: Fleet, name: string, terms: GateTerms): GateVerdict {
  const { silent, instances, rules } = fleet;
  const lines = rules.filter((rule) => rule.name === name);
  const [first] = lines;
  const verdict = { version: 1, rule: name, silent } as const;
  if (first === undefined) {
    const names = [...new Set(rules.map((rule) => rule.name))];
    const near = nearest(name, names);
    const others = names.length === 0 ? "there are no rules" : `the rules are called ${names.join(", ")}`;
    const hint = near === undefined ? others : `did you mean ${near}?`;
    const against = instances.length === 0 ? [] : [`there is no rule ${JSON.stringify(name)}: ${hint}`];
    return { ...verdict, mayGoFurther: "unknown", further: null, now: [], against, evidence: [] };
  }
  const judged = lines.map((rule) => judgeRule(rule, terms, knownClients(fleet)));
  const has = new Set(lines.flatMap(({ on }) => on));
  const against = [
    ...instances.flatMap(troublesOf),
    ...differentRules(instances),
    ...instances.flatMap(({ address }) => (has.has(address) ? [] : [`${address} has no such rule`])),
    ...judged.flatMap((one) => one.against),
  ];
  return {
    ...verdict,
    mayGoFurther: silent.length > 0 ? "unknown" : against.length > 0 ? "no" : "yes",
    further: furtherText(first),
    now: lines.map((rule) => `${stateText(rule)}: ${whomText(rule)}${placeText(rule, instances.length)}`),
    against: [...new Set(against)],
    evidence: [...new Set(judged.flatMap((one) => one.evidence))],
  };
}

interface GateJudgement {
  readonly against: readonly string[];
  readonly evidence: readonly string[];
}

/** Whether what is known of a rule is enough for it to go further. `clientsKnown`: clients that the ledgers know; undefined: it is not asked. */
export function judgeRule(rule: FleetRule, terms: GateTerms, clientsKnown?: number): GateJudgement {
  const { mode, state, evidence, age, on } = rule;
  if (state === "expired") return { against: ["it has expired, and matches nothing"], evidence: [] };
  const young = isYoung(age, terms)
    ? [`it has been so for ${lastingText(age)}, not for ${lastingText(terms.minAge)}`]
    : [];
  if (mode === "native") return { against: young, evidence: ["native v1 responds to all of it, and still would"] };
  if (evidence === undefined)
    return { against: [`an instance is older, and tells no evidence (on ${on.join(", ")})`], evidence: [] };
  const isPromoted = state === "promoted";
  const known =
    mode === "shadow" && !isPromoted ? compared(evidence, terms, clientsKnown) : translated(evidence, terms);
  const heldBack = evidence.heldBack.map((one) => `${isPromoted ? "still native" : "not proved"}: ${one}`);
  return {
    against: [...stuckTexts(rule), ...troubleTexts(rule), ...young, ...known.against, ...heldBack],
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
  const since = new Date(trouble.since).toISOString().slice(11, 19);
  return trouble.says.map((one) => `since ${since}Z ${one}`);
}

function isYoung(age: number | undefined, { minAge }: GateTerms): boolean {
  return minAge > 0 && (age === undefined || age < minAge);
}

/** Of all instances together; a client that calls several counts once. */
function knownClients({ instances }: Fleet): number {
  return new Set(instances.flatMap(({ progress }) => progress.ledger.clients.map(({ name }) => name))).size;
}

function compared(evidence: RuleEvidence, terms: GateTerms, clientsKnown?: number): GateJudgement {
  const { comparisons, clients, clientsNeeded } = evidence;
  // A ledger that knows none, or fewer than were compared, is new or was lost, and shows nothing.
  const isShort = clientsKnown !== undefined && Math.max(1, clients) <= clientsKnown && clientsKnown < clientsNeeded;
  const tooFew = isShort ? [tooFewText(clientsNeeded, clientsKnown)] : [];
  if (comparisons === 0) {
    const none = "nothing was compared yet: it takes requests, shadow.sample and upstream.v1.url";
    return { against: [none, ...tooFew], evidence: [] };
  }
  const differed = judgeDifferences(evidence, terms);
  const who = {
    isBelow: clients >= clientsNeeded,
    text:
      clients < clientsNeeded
        ? `${neededWords(clients, clientsNeeded, "client")} ${plural(clientsNeeded, "was", "were")} compared`
        : `${counted(clients, "client")} ${plural(clients, "was", "were")} compared, ${clientsNeeded} needed`,
  };
  const judged = sorted([differed, who]);
  return { ...judged, against: [...judged.against, ...tooFew] };
}

/** For `carryover gate` and `check`: waiting does not help. */
export function tooFewText(needed: number, known: number): string {
  return `minClients needs ${counted(needed, "client")}, and the ledger knows ${known}: the rule cannot move on before more clients call, or minClients is lowered to ${known} at most`;
}

/** What it compares now is little, and its own shadow came before: comparisons speak against it only when some differ. */
function translated(evidence: RuleEvidence, terms: GateTerms): GateJudgement {
  const { requests, failures, comparisons, differences } = evidence;
  if (requests === 0) return { against: ["it has translated no request yet"], evidence: [] };
  const below = terms.failuresBelow ?? belowOf(evidence.failuresBelow);
  const failed = judgeShare(
    { bad: failures, all: requests, risk: RISK, below },
    { noun: "request", did: "failed because of translation" },
  );
  if (comparisons === 0) return sorted([failed]);
  const none = { isBelow: true, text: `0 of ${counted(comparisons, "comparison")} differed` };
  return sorted([failed, differences === 0 ? none : judgeDifferences(evidence, terms)]);
}

function judgeDifferences(
  { comparisons, differences, risk, differencesBelow }: RuleEvidence,
  terms: GateTerms,
): Judged {
  const below = terms.differencesBelow ?? belowOf(differencesBelow);
  return judgeShare({ bad: differences, all: comparisons, risk, below }, { noun: "comparison", did: "differed" });
}

/** A threshold of 0 is never reached: `stepBack` has it for "at once". */
function belowOf(threshold: number | undefined): number {
  return threshold === undefined || threshold <= 0 ? DEFAULT_BELOW : threshold;
}

/** `isBelow`: it is surely below what it must be below. */
interface Judged {
  readonly isBelow: boolean;
  readonly text: string;
}

function sorted(judged: readonly Judged[]): GateJudgement {
  return {
    against: judged.flatMap(({ isBelow, text }) => (isBelow ? [] : [text])),
    evidence: judged.flatMap(({ isBelow, text }) => (isBelow ? [text] : [])),
  };
}

interface CountedShare {
  readonly bad: number;
  readonly all: number;
  readonly risk: number;
  readonly below: number;
}

function judgeShare(
  { bad, all, risk, below }: CountedShare,
  { noun, did }: { readonly noun: string; readonly did: string },
): Judged {
  const bound = upperBound(bad, all, risk);
  const shown = boundWords({ bad, all, upper: bound }, (share) => percent(share, 3), "do");
  const found = `${bad} of ${counted(all, noun)} ${did}: ${shown}`;
  if (bound < below) return { isBelow: true, text: `${found}, below ${percent(below)}` };
  const more = comparisonsNeeded(below, bad, risk) - all;
  const enough = more > 0 && Number.isFinite(more) ? `; ${more} more without one are enough` : "";
  return { isBelow: false, text: `${found}, not yet below ${percent(below)}${enough}` };
}

/** What further means. */
function furtherText({ mode, state, evidence }: FleetRule): string {
  if (mode === "native") return "to compare it with native v1: mode: shadow";
  if (state === "promoted") return "to stay so: write mode: translate into the rules file, it translates by itself now";
  if (mode === "shadow") return "to translate what it compares: mode: translate, for a few clients first (percent)";
  const percentage = evidence?.percent;
  return percentage === undefined || percentage >= 100
    ? "to match more: it translates for all clients that it matches"
    : `to more clients: a percent above ${percentage}`;
}

/** `translate for 2 h`, `stepped back 2 h ago, native responds`. */
export function stateText({ mode, doing, state, age }: FleetRule): string {
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

/** For a terminal. */
export function gateText(verdict: GateVerdict): string {
  const { rule, mayGoFurther, further, now, against, evidence, silent } = verdict;
  const answer = {
    yes: "yes, it may go further",
    no: "no, it may not go further yet",
    unknown: "NOT KNOWN whether it may go further",
  }[mayGoFurther];
  const part = (title: string, texts: readonly string[]) =>
    texts.map((text, at) => `  ${(at === 0 ? title : "").padEnd(9)}${text}`);
  return [
    `${rule}: ${answer}`,
    ...part("further", further === null ? [] : [further]),
    ...part("now", now),
    ...part("against", [...silent.map(({ address, fault }) => `${address} ${fault}`), ...against]),
    ...part("for", evidence),
  ].join("\n");
}

/** 0: it may; 1: it may not; 2: unknown. */
export function gateExitCode({ mayGoFurther }: GateVerdict): number {
  return { yes: 0, no: 1, unknown: 2 }[mayGoFurther];
}
