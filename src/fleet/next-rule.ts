/** The next step of one rule: it follows from what the rule does, and from what its proof lacks. */
import { DAY_MS } from "../ledger/days.ts";
import { counted, duration, percent } from "../rules/words.ts";
import type { RequestTotalsRow } from "../telemetry/progress.ts";
import { type Next, ofRule, option, type Pair, person } from "./change.ts";
import type { FleetRule } from "./fleet.ts";
import { DEFAULT_TERMS, type GateTerms, judgeRule, type Lack, timeOfDay, troubleTexts } from "./judge.ts";
import { type ClientsNow, calledV1, GONE_MS } from "./next-client.ts";
import { callersWithin, isAbout, joiningText, widerShare } from "./next-percent.ts";

/** What is known beside the rule. */
export interface Surroundings extends ClientsNow {
  /** All of them, in the order of the file. */
  readonly rules: readonly FleetRule[];
  /** Requests of the window, by kind. */
  readonly counts: readonly RequestTotalsRow[];
}

/** More evidence is waited for if it comes within this time. */
const PATIENCE_MS = 3 * DAY_MS;
/** What came within less than a day says little of how much will come. */
const SHORT_MS = DAY_MS;
/** A rule that is younger has no pace yet. */
const YOUNG_MS = 60_000;
/** Whoever calls often has called a rule of this age. */
const HOUR_MS = 3_600_000;
/** Reads that v2 fails are served by native v1, and the rule steps back when the translation fails. */
const TRANSLATING: readonly [Pair, ...Pair[]] = [
  ["mode", "translate"],
  ["onFailure", "native"],
  ["stepBack.failures", 0.02],
];
/** Equal comparisons in a row that are worth a word. */
const ENOUGH_EQUAL = 10;
/** The default of `shadow.sample` in a rule in shadow mode. */
const USUAL_SAMPLE = 0.1;

/** The step of one rule by these terms; undefined: nothing is to be done about it. */
export function nextOfRule(rule: FleetRule, known: Surroundings, terms: GateTerms = DEFAULT_TERMS): Next | undefined {
  if (rule.state === "unknown") return confirming(rule);
  return stepOfFailing(rule, true) ?? afterStepBack(rule) ?? stepOfRule(rule, known, terms) ?? idle(rule, known);
}

/** Its saved state cannot be read. */
export function confirming({ name }: FleetRule): Next {
  return person(
    `find out what ${name} did before its saved state was lost (/rules, the log), then carryover confirm ${name}`,
  );
}

/** v2 fails its clients now. */
export function stepOfFailing(rule: FleetRule, hasNative: boolean): Next | undefined {
  const { name, guard } = rule;
  const [trouble] = troubleTexts(rule);
  if (trouble === undefined) return undefined;
  if (!hasNative) return person(`repair v2: there is no native v1 to go back to, and ${trouble}`);
  if (guard?.action === "stepBack")
    return person(`find out why v2 fails clients of ${name}, or carryover force native: ${trouble}`);
  const says = `carryover force native, or let ${name} go back to native v1 by itself (guard: stepBack): ${trouble}`;
  return { says, change: ofRule(name, [["guard", "stepBack"]]) };
}

export function afterStepBack({ name, state, byGuard, cause }: FleetRule): Next | undefined {
  if (state !== "stepped-back") return undefined;
  const why = cause === undefined ? "" : `: ${cause}`;
  return byGuard === true
    ? person(`find out why v2 fails: ${name} returns by itself when v2 responds${why}`)
    : person(`find out why ${name} stepped back (/samples, the log), and fix the cause${why}`);
}

/** Of a rule that fails nobody. */
export function stepOfRule(rule: FleetRule, known: Surroundings, terms: GateTerms): Next | undefined {
  const { name, mode, state, cause } = rule;
  if (state === "expired")
    return person(`remove rule ${name} from the rules file: it has expired, and matches nothing`);
  if (state === "returning") {
    const why = cause === undefined ? "" : ` (it stepped back: ${cause})`;
    return person(`wait until ${name} translates for all of its clients again${why}`);
  }
  if (mode === "native") return undefined;
  const [lack] = judgeRule(rule, terms).lacks;
  if (lack === undefined) return further(rule, known);
  const proved = raisedByRest(rule, lack, known);
  if (proved !== undefined) return proved;
  // Nothing follows from the proof that is missing.
  if (isWhole(rule) && (lack.why === "nothing-translated" || lack.isNearer === true)) return undefined;
  return stepForLack(rule, lack, known);
}

/** It translates for all that it matches. */
export function isWhole({ mode, evidence }: FleetRule): boolean {
  return mode === "translate" && (evidence?.percent ?? 100) >= 100;
}

/** The rule has proved what it must. Undefined: it translates for all that it matches. */
function further(rule: FleetRule, known: Surroundings): Next | undefined {
  const { name, mode, state, evidence } = rule;
  if (state === "promoted") {
    const says = `write mode: translate into rule ${name}: it translates by itself now`;
    return { says, change: ofRule(name, [["mode", "translate"]]) };
  }
  if (mode !== "shadow") return isWhole(rule) || isDoubtful(restOf(rule, known)) ? undefined : raised(rule, known);
  // The rule before it has the step.
  if (translatedPart(rule, known) !== undefined) return undefined;
  const isFirst = evidence?.percent === undefined && hasParts(rule, known);
  const first = isFirst ? widerShare(rule, 0, known) : { percent: evidence?.percent ?? 100, joining: [] };
  const percents: readonly Pair[] = isFirst && first.percent < 100 ? [["match.percent", first.percent]] : [];
  const joins = joiningText(first);
  const says = `set rule ${name} to mode: translate${percents.length === 0 ? "" : `, for ${first.percent} % of its clients first${joins === "" ? "" : ` (it ${joins})`}`}`;
  const change = ofRule(name, [...TRANSLATING, ...percents, ...usualSample(rule, first.percent)]);
  return { says, change };
}

/** A rule for named clients is a first part already, and one client has no parts. */
function hasParts({ evidence }: FleetRule, known: Surroundings): boolean {
  const isOne = (evidence?.clientsNeeded ?? 1) <= 1 && callingV1(known) <= 1;
  return evidence?.namesClients !== true && !isOne;
}

/** The rule before this one that translates for a part of the same clients: this one compares the others. */
function translatedPart(rule: FleetRule, { rules }: Surroundings): FleetRule | undefined {
  const before = rules.slice(0, Math.max(0, rules.indexOf(rule)));
  return before.find((one) => one.mode === "translate" && !isWhole(one) && one.evidence?.whom === rule.evidence?.whom);
}

/** A share that lacks only time may grow once the rule behind it has proved the requests of the others. */
function raisedByRest(rule: FleetRule, lack: Lack, known: Surroundings): Next | undefined {
  const rest = restOf(rule, known);
  const isWell = lack.why === "nothing-translated" || lack.isNearer === true;
  if (rest === undefined || !isWell || rule.state !== "as-written" || (rule.age ?? 0) < HOUR_MS) return undefined;
  if (judgeRule(rest, DEFAULT_TERMS).lacks.length > 0) return undefined;
  return raised(rule, known, `rule ${rest.name} proved what it does for the others`);
}

/** The rule behind this one that compares the clients that it leaves out. */
function restOf(rule: FleetRule, known: Surroundings): FleetRule | undefined {
  return known.rules.find((one) => one.mode === "shadow" && translatedPart(one, known) === rule);
}

/** Its comparisons speak against translating what it matches. */
function isDoubtful(rule: FleetRule | undefined): boolean {
  if (rule === undefined) return false;
  return judgeRule(rule, DEFAULT_TERMS).lacks.some(
    ({ why, isNearer }) => why === "held-back" || (why === "differences" && isNearer === false),
  );
}

/** A larger share for a rule that translates. */
function raised(rule: FleetRule, known: Surroundings, why = ""): Next {
  const { name, evidence } = rule;
  const share = evidence?.percent ?? 0;
  const wider = widerShare(rule, share, known);
  const reasons = [why, joiningText(wider)].filter((one) => one !== "").join("; ");
  const because = reasons === "" ? "" : `: ${reasons}`;
  const rest = restOf(rule, known);
  // A file with a rule that never matches is refused.
  if (wider.percent === 100 && rest !== undefined)
    return person(`remove rule ${rest.name}, and raise match.percent of rule ${name} from ${share} to 100${because}`);
  return {
    says: `raise match.percent of rule ${name} from ${share} to ${wider.percent}${because}`,
    change: ofRule(name, [["match.percent", wider.percent], ...usualSample(rule, wider.percent)]),
  };
}

/** A rule that compares every request was to prove something. Once it translates for all, that only doubles the load. */
function usualSample({ evidence }: FleetRule, share: number): readonly Pair[] {
  return share >= 100 && evidence?.sample === 1 ? [["shadow.sample", USUAL_SAMPLE]] : [];
}

function stepForLack(rule: FleetRule, lack: Lack, known: Surroundings): Next | undefined {
  const { name, evidence } = rule;
  if (evidence === undefined) return person(`upgrade the instances: ${lack.text}`);
  switch (lack.why) {
    case "just-failed":
      return person(`wait until ${timeOfDay(rule.guard?.past?.quietAt ?? known.at)} for ${name}: ${lack.text}`);
    case "young":
      return person(`wait for ${name}: ${lack.text}`);
    case "nothing-compared":
      return firstComparisons(rule, known);
    case "nothing-translated":
      return firstTranslations(rule, known);
    case "differences":
      return evidence.differences === 0 || lack.isNearer === true ? moreOf(rule, lack, known) : differing(rule);
    case "failures":
      return lack.isNearer === true
        ? moreOf(rule, lack, known)
        : person(`find out why the translation fails for ${name} (the log, /clients): ${lack.text}`);
    case "clients":
      return clientsFor(rule, known);
    case "held-back":
      return heldBack(rule, lack);
    default:
      return person(`${name}: ${lack.text}`);
  }
}

/** Some clients call once a day. */
function firstComparisons(rule: FleetRule, known: Surroundings): Next | undefined {
  const { name, evidence, age = Number.POSITIVE_INFINITY } = rule;
  const isCompared = isServed(rule, known, "shadow") && age >= HOUR_MS;
  if (isCompared && evidence?.sample !== 1) {
    return {
      says: `raise shadow.sample of rule ${name}: requests came, and none was compared`,
      change: ofRule(name, [["shadow.sample", 1]]),
    };
  }
  return age < DAY_MS ? person(`wait for the first requests that rule ${name} compares`) : undefined;
}

/** A percentage may take nobody who calls. */
function firstTranslations(rule: FleetRule, known: Surroundings): Next | undefined {
  const { name, evidence, age = Number.POSITIVE_INFINITY } = rule;
  const share = evidence?.percent;
  if (share === undefined || share >= 100) return undefined;
  const within = callersWithin(rule, share, known);
  const isNobody =
    within === 0 || (within === undefined && age >= HOUR_MS && isServed(rule, known, "native", "shadow"));
  if (isNobody)
    return raised(rule, known, `no client that calls is among its ${share} % (/clients shows each client's bucket)`);
  return age < DAY_MS ? person(`wait for the first requests that rule ${name} translates`) : undefined;
}

/** Time helps if enough cases come. */
function moreOf(rule: FleetRule, { why, more }: Lack, known: Surroundings): Next {
  const { name, evidence, age } = rule;
  const what = why === "failures" ? "translated request" : "comparison";
  const seen = (why === "failures" ? evidence?.requests : evidence?.comparisons) ?? 0;
  if (more === undefined) return person(`wait for ${name}: it needs more ${what}s`);
  const needed = counted(more, `more ${what}`);
  // The age of a rule that stepped back began anew, and what it had counted did not.
  const hasPace = age !== undefined && age >= YOUNG_MS && seen > 0 && evidence?.stepBacks === 0;
  if (!hasPace && (age === undefined || age < SHORT_MS || seen === 0)) return person(`wait for ${name}: ${needed}`);
  const ms = (more / seen) * age;
  if (ms <= PATIENCE_MS) return person(`wait for ${name}: ${needed}, about ${duration(ms)}`);
  const slow = `${needed} would take about ${days(ms)}`;
  if (why !== "failures" && (evidence?.sample === undefined || evidence.sample < 1)) {
    const says = `raise shadow.sample of rule ${name} to 1: ${slow}`;
    return { says, change: ofRule(name, [["shadow.sample", 1]]) };
  }
  if (age < (why === "failures" ? SHORT_MS : PATIENCE_MS))
    return person(`wait for ${name}: ${needed}, after ${seen} in ${duration(age)}`);
  if (why === "failures") {
    return raised(rule, known, `without its proof, ${evidence?.failures} of ${seen} requests failed, and ${slow}`);
  }
  return {
    says: `let rule ${name} match more, or go on without the proof (mode: translate): ${slow}`,
    change: ofRule(name, TRANSLATING),
  };
}

/** Too many comparisons differ: no time helps. */
function differing({ name, evidence, causes }: FleetRule): Next {
  const { differences = 0, comparisons = 0, equal = 0 } = evidence ?? {};
  const quiet = equal < ENOUGH_EQUAL ? "" : `, though none of the latest ${equal} did`;
  const share = `${percent(differences / Math.max(1, comparisons), 2)} of its comparisons differ${quiet}`;
  const [worst] = causes ?? [];
  const then = "and rename the rule when that is fixed";
  if (worst === undefined)
    return person(`find out why the translation of ${name} differs (/samples), ${then}: ${share}`);
  const where = `${worst.what} at ${worst.path} of ${worst.operation}`;
  const [key, value] = worst.set?.split(": ") ?? [];
  if (key === undefined || value === undefined) {
    return person(`find out why the translation of ${name} differs, most often ${where} (/samples), ${then}: ${share}`);
  }
  return {
    says: `set ${key}: ${value}, which removes the difference ${where}: ${share} for ${name}`,
    change: option(key, value),
  };
}

/** Clients that have not moved or gone. */
function callingV1({ clients, at }: Surroundings): number {
  return clients.filter((client) => calledV1(client, at - GONE_MS)).length;
}

function clientsFor({ name, evidence }: FleetRule, known: Surroundings): Next {
  const { clients = 0, clientsNeeded = 1 } = evidence ?? {};
  const calling = callingV1(known);
  const found = `${clients} of ${clientsNeeded} needed were compared`;
  if (calling >= clientsNeeded) return person(`wait until more clients of ${name} call: ${found}`);
  const change = ofRule(name, [["promoteWhen.minClients", Math.max(1, calling)]]);
  return {
    says: `set promoteWhen.minClients of rule ${name} to ${change.value}: only ${counted(calling, "client")} ${calling === 1 ? "calls" : "call"} v1, and ${found}`,
    change,
  };
}

/** Operations that lack comparisons get them in time. Those that cannot be compared, or differ, do not. */
function heldBack({ name }: FleetRule, { text }: Lack): Next {
  if (/ needed$/.test(text)) return person(`wait for ${name}, or give that operation a rule of its own: ${text}`);
  if (/differ$/.test(text))
    return person(
      `find out why the translation differs (/samples), or give that operation a rule of its own before ${name}: ${text}`,
    );
  if (/ failed \(platform\)$/.test(text))
    return person(`wait for ${name} if v2 is well again (carryover check), else find out why it fails: ${text}`);
  return person(`give that operation a rule of its own before ${name}: ${text}`);
}

/** What a rule waits for whose requests nobody sends. */
function idle(rule: FleetRule, known: Surroundings): Next | undefined {
  const { name, mode, state, age = Number.POSITIVE_INFINITY } = rule;
  if (state === "expired" || mode === "native") return undefined;
  if (isWhole(rule) && rule.evidence?.requests === 0 && age < DAY_MS)
    return person(`wait for the first requests that rule ${name} translates`);
  const [lack] = isWhole(rule) ? judgeRule(rule, DEFAULT_TERMS).lacks : [];
  if (lack?.isNearer === true) return person(`nothing more is to be set for ${name}: ${lack.text}`);
  const isIdle = !isServed(rule, known, mode === "shadow" ? "shadow" : "translate");
  return isIdle ? person(`ask who should call what ${name} matches: no request did`) : undefined;
}

/** v1 requests of the window about what the rule names. */
function isServed(rule: FleetRule, { counts }: Surroundings, ...modes: readonly string[]): boolean {
  return counts.some(
    ({ apiVersion, mode, requests, resource }) =>
      apiVersion === "v1" && requests > 0 && modes.includes(mode) && isAbout(rule, resource),
  );
}

function days(ms: number): string {
  return counted(Math.ceil(ms / DAY_MS), "day");
}
