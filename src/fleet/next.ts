/**
 * The one next step of a migration, for status, report and gate. It names the change to write, or what a person must find out. It says "wait"
 * only where time alone helps, and it never names the command that prints it.
 */
import { DAY_MS } from "../ledger/days.ts";
import { counted, duration, percent } from "../rules/words.ts";
import type { RequestTotalsRow } from "../telemetry/progress.ts";
import { type Change, ofRule, option, type Pair } from "./change.ts";
import { differentRules, type Fleet, type FleetRule } from "./fleet.ts";
import { DEFAULT_TERMS, type GateTerms, judgeRule, type Lack, timeOfDay, troubleTexts } from "./judge.ts";
import { type ClientsNow, calledV1, clientsStep, GONE_MS, nameOf, type Traffic } from "./next-client.ts";

export interface Next {
  /** One sentence without a full stop. */
  readonly says: string;
  /** What to write. Null where there is nothing to write, or where a person must decide what. */
  readonly change: Change | null;
}

/** What is known beside the rules. */
export interface Surroundings extends ClientsNow {
  /** Requests of the window, by kind. */
  readonly counts: readonly RequestTotalsRow[];
}

const HOUR_MS = 3_600_000;
/** More evidence is waited for if it comes within this time. */
const PATIENCE_MS = 3 * DAY_MS;
/** What came within less than a day says little of how much will come. */
const SHORT_MS = DAY_MS;
/** A rule that is younger has no pace yet. */
const YOUNG_MS = 60_000;
/** The usual steps of `match.percent`. */
const PERCENTS = [1, 5, 10, 25, 50, 100];
const FIRST_PERCENT = 10;
/** The default of `shadow.sample` in a rule in shadow mode. */
const USUAL_SAMPLE = 0.1;
/** Fewer requests in the window give too few comparisons by the usual sample. */
const FEW_REQUESTS = 10_000;

/** The most urgent step of the whole migration. Undefined without an instance that responded. */
export function nextStep(fleet: Fleet, known: Surroundings): Next {
  return (
    stepOfNobody(fleet) ??
    stepOfFailures(fleet) ??
    stepOfInstances(fleet) ??
    stepOfSteppedBack(fleet) ??
    stepOfRules(fleet.rules, known, false) ??
    stepOfNative(fleet, known) ??
    stepOfRules(fleet.rules, known, true) ??
    person(clientsStep(known, trafficOf(fleet, known)))
  );
}

/** The step of one rule by these terms; undefined: nothing is to be done about it. */
export function nextOfRule(rule: FleetRule, known: Surroundings, terms: GateTerms = DEFAULT_TERMS): Next | undefined {
  if (rule.state === "unknown") return unread(rule);
  return stepOfFailing(rule, true) ?? afterStepBack(rule) ?? stepOfRule(rule, known, terms) ?? idle(rule, known);
}

function stepOfNobody({ instances, silent: [unheard] }: Fleet): Next | undefined {
  if (instances.length > 0) return undefined;
  if (unheard === undefined) return person("start an instance");
  return person(`start an instance, or name the right address: ${unheard.address} ${unheard.fault}`);
}

function stepOfInstances({ instances, silent, rules }: Fleet): Next | undefined {
  const [unheard] = silent;
  const unknown = rules.find(({ state }) => state === "unknown");
  if (unknown !== undefined) return unread(unknown);
  if (unheard !== undefined) return person(`find out why ${unheard.address} does not respond: ${unheard.fault}`);
  const stale = instances.find(({ progress }) => !progress.lastReloadSuccessful);
  if (stale !== undefined) {
    const how = "carryover check --rules-only --rules FILE names its faults";
    return person(`correct the rules file of ${stale.address}: ${stale.progress.rulesFault?.says ?? how}`);
  }
  const [different] = differentRules(instances);
  if (different !== undefined) return person(`give all instances the same rules file: ${different}`);
  return stepOfForce(instances);
}

function unread({ name }: FleetRule): Next {
  return person(
    `find out what ${name} did before its saved state was lost (/rules, the log), then carryover confirm ${name}`,
  );
}

/** Nobody asks v2 while native is forced, so nothing here says whether it is well. */
function stepOfForce(instances: Fleet["instances"]): Next | undefined {
  const forced = instances.find(({ progress }) => progress.force !== "none")?.progress;
  if (forced === undefined) return undefined;
  if (forced.forcedBy?.lost === true) {
    return person(
      "carryover force none, unless a person forced native v1: whether one did was lost with the saved state",
    );
  }
  const asks = "see with carryover check whether v2 is well, which nobody asks while native v1 is forced";
  if (forced.forcedBy?.command === "native") return person(`${asks}; then carryover force none`);
  const change: Change = { ...option("force", "none"), file: "rules" };
  return { says: `${forced.force === "native" ? `${asks}; then ` : ""}set force: none in the rules file`, change };
}

/** Clients fail now. */
function stepOfFailures({ rules, instances }: Fleet): Next | undefined {
  const hasNative = instances.some(({ progress }) => progress.native !== false);
  return rules.flatMap((rule) => stepOfFailing(rule, hasNative) ?? [])[0];
}

function stepOfFailing(rule: FleetRule, hasNative: boolean): Next | undefined {
  const { name, guard } = rule;
  const [trouble] = troubleTexts(rule);
  if (trouble === undefined) return undefined;
  if (!hasNative) return person(`repair v2: there is no native v1 to go back to, and ${trouble}`);
  if (guard?.action === "stepBack")
    return person(`find out why v2 fails clients of ${name}, or carryover force native: ${trouble}`);
  const says = `carryover force native, or let ${name} go back to native v1 by itself (guard: stepBack): ${trouble}`;
  return { says, change: ofRule(name, [["guard", "stepBack"]]) };
}

function stepOfSteppedBack({ rules, instances }: Fleet): Next | undefined {
  const back = rules.flatMap((rule) => afterStepBack(rule) ?? [])[0];
  const broken = instances.flatMap(({ progress }) => progress.openBreakers ?? [])[0];
  return back ?? (broken === undefined ? undefined : person(`find out why upstream ${broken} does not respond`));
}

function afterStepBack({ name, state, byGuard, cause }: FleetRule): Next | undefined {
  if (state !== "stepped-back") return undefined;
  const why = cause === undefined ? "" : `: ${cause}`;
  return byGuard === true
    ? person(`find out why v2 fails: ${name} returns by itself when v2 responds${why}`)
    : person(`find out why ${name} stepped back (/samples, the log), and fix the cause${why}`);
}

/** Rules that nobody calls hold up no other rule. `waiting`: the steps that only wait; others come first, and so does a further rule. */
function stepOfRules(rules: readonly FleetRule[], known: Surroundings, waiting: boolean): Next | undefined {
  const isReady = (rule: FleetRule) => judgeRule(rule, DEFAULT_TERMS).lacks.length === 0;
  const steps = rules.flatMap((rule) => {
    const step = stepOfRule(rule, known, DEFAULT_TERMS);
    return step !== undefined && step.says.startsWith("wait") === waiting ? [{ rule, step }] : [];
  });
  return (steps.find(({ rule }) => isReady(rule)) ?? steps[0])?.step;
}

function stepOfRule(rule: FleetRule, known: Surroundings, terms: GateTerms): Next | undefined {
  const { name, mode, state } = rule;
  if (state === "expired")
    return person(`remove rule ${name} from the rules file: it has expired, and matches nothing`);
  if (state === "returning") return person(`wait until ${name} translates for all of its clients again`);
  if (mode === "native") return undefined;
  const [lack] = judgeRule(rule, terms).lacks;
  if (lack === undefined) return further(rule, known);
  // Nothing follows from the proof that is missing.
  if (isWhole(rule) && (lack.why === "nothing-translated" || lack.isNearer === true)) return undefined;
  return stepForLack(rule, lack, known);
}

/** It translates for all that it matches. */
function isWhole({ mode, evidence }: FleetRule): boolean {
  return mode === "translate" && (evidence?.percent ?? 100) >= 100;
}

/** The rule has proved what it must. Undefined: it translates for all that it matches. */
function further({ name, mode, state, evidence }: FleetRule, known: Surroundings): Next | undefined {
  if (state === "promoted") {
    const says = `write mode: translate into rule ${name}: it translates by itself now`;
    return { says, change: ofRule(name, [["mode", "translate"]]) };
  }
  const share = evidence?.percent;
  if (mode === "shadow") {
    const first = share ?? firstShare(evidence, known);
    const percents: readonly Pair[] = share === undefined && first < 100 ? [["match.percent", first]] : [];
    const says = `set rule ${name} to mode: translate${percents.length === 0 ? "" : `, for ${first} % of its clients first`}`;
    return { says, change: ofRule(name, [["mode", "translate"], ...percents, ...usualSample(evidence, first)]) };
  }
  if (share === undefined || share >= 100) return undefined;
  const more = widerThan(share);
  return {
    says: `raise match.percent of rule ${name} from ${share} to ${more}`,
    change: ofRule(name, [["match.percent", more], ...usualSample(evidence, more)]),
  };
}

/** A rule for named clients is a first part already, and one client has no parts. */
function firstShare(evidence: FleetRule["evidence"], known: Surroundings): number {
  const isOne = (evidence?.clientsNeeded ?? 1) <= 1 && callingV1(known) <= 1;
  return evidence?.namesClients === true || isOne ? 100 : FIRST_PERCENT;
}

/** A rule that compares every request was to prove something. Once it translates for all, that only doubles the load. */
function usualSample(evidence: FleetRule["evidence"], share: number): readonly Pair[] {
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
      if (!isServed(known, "shadow") || evidence.sample === 1) return undefined;
      return {
        says: `raise shadow.sample of rule ${name}: requests came, and none was compared`,
        change: ofRule(name, [["shadow.sample", 1]]),
      };
    case "nothing-translated":
      return widened(rule, known);
    case "differences":
      return evidence.differences === 0 || lack.isNearer === true ? moreOf(rule, lack) : differing(rule);
    case "failures":
      return lack.isNearer === true
        ? moreOf(rule, lack)
        : person(`find out why the translation fails for ${name} (the log, /clients): ${lack.text}`);
    case "clients":
      return clientsFor(rule, known);
    case "held-back":
      return heldBack(rule, lack);
    default:
      return person(`${name}: ${lack.text}`);
  }
}

/** The usual step after that percentage. */
function widerThan(share = 100): number {
  return PERCENTS.find((one) => one > share) ?? 100;
}

/** A percentage may take nobody who calls. */
function widened({ name, evidence }: FleetRule, known: Surroundings): Next | undefined {
  const share = evidence?.percent;
  if (share === undefined || share >= 100 || !isServed(known, "native", "shadow")) return undefined;
  const more = widerThan(share);
  const says = `raise match.percent of rule ${name} from ${share} to ${more}: no client that calls is among its ${share} % (/clients shows each client's bucket)`;
  return { says, change: ofRule(name, [["match.percent", more]]) };
}

/** Time helps if enough cases come. */
function moreOf({ name, evidence, age }: FleetRule, { why, more }: Lack): Next {
  const what = why === "failures" ? "translated request" : "comparison";
  const seen = (why === "failures" ? evidence?.requests : evidence?.comparisons) ?? 0;
  if (more === undefined) return person(`wait for ${name}: it needs more ${what}s`);
  if (age === undefined || age < YOUNG_MS || seen === 0)
    return person(`wait for ${name}: ${counted(more, `more ${what}`)}`);
  const ms = (more / seen) * age;
  if (ms <= PATIENCE_MS) return person(`wait for ${name}: ${counted(more, `more ${what}`)}, about ${duration(ms)}`);
  const slow = `${counted(more, `more ${what}`)} would take about ${days(ms)}`;
  if (why !== "failures" && (evidence?.sample === undefined || evidence.sample < 1)) {
    const says = `raise shadow.sample of rule ${name} to 1: ${slow}`;
    return { says, change: ofRule(name, [["shadow.sample", 1]]) };
  }
  if (age < SHORT_MS)
    return person(`wait for ${name}: ${counted(more, `more ${what}`)}, after ${seen} in ${duration(age)}`);
  const further = why === "failures" ? `match.percent: ${widerThan(evidence?.percent)}` : "mode: translate";
  return person(`let rule ${name} match more, or go on without the proof (${further}): ${slow}`);
}

/** Too many comparisons differ: no time helps. */
function differing({ name, evidence, causes }: FleetRule): Next {
  const { differences = 0, comparisons = 0 } = evidence ?? {};
  const share = `${percent(differences / Math.max(1, comparisons), 2)} of its comparisons differ`;
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
function idle({ name, mode, state }: FleetRule, known: Surroundings): Next | undefined {
  if (state === "expired" || mode === "native") return undefined;
  const isIdle = !isServed(known, mode === "shadow" ? "shadow" : "translate");
  return isIdle ? person(`ask who should call what ${name} matches: no request did`) : undefined;
}

function isServed({ counts }: Surroundings, ...modes: readonly string[]): boolean {
  return counts.some(({ apiVersion, mode, requests }) => apiVersion === "v1" && requests > 0 && modes.includes(mode));
}

/** An operation that native served this long before its last translated request is still served by native, at least in part. */
const RECENT_MS = HOUR_MS;

/** The resource with most v1 requests that v2 could serve and native v1 still does. */
function stepOfNative({ rules }: Fleet, { counts, clients }: Surroundings): Next | undefined {
  const v1 = counts.filter(({ apiVersion }) => apiVersion === "v1");
  const lacking = new Set(clients.flatMap(({ needs }) => needs.lacking.map(nameOf)));
  const translated = new Map<string, number>();
  for (const row of v1) {
    if (row.mode !== "translate") continue;
    translated.set(nameOf(row), Math.max(translated.get(nameOf(row)) ?? 0, row.lastSeen));
  }
  const isCompared = rules.some(({ doing }) => doing === "shadow");
  const byResource = new Map<string, { native: number; shadow: number }>();
  for (const row of v1) {
    const { resource, mode, requests, lastSeen } = row;
    if (mode !== "native" && (mode !== "shadow" || isCompared)) continue;
    if (resource === "unknown" || lacking.has(nameOf(row))) continue;
    if (lastSeen < (translated.get(nameOf(row)) ?? 0) - RECENT_MS || rules.some((rule) => takes(rule, row))) continue;
    const sum = byResource.get(resource) ?? { native: 0, shadow: 0 };
    byResource.set(resource, { ...sum, [mode]: sum[mode] + requests });
  }
  const [most] = [...byResource].sort(([, a], [, b]) => b.native + b.shadow - (a.native + a.shadow));
  if (most === undefined) return undefined;
  const [resource, { native, shadow }] = most;
  const isShadow = shadow > native;
  const names = new Set(rules.map(({ name }) => name));
  const name =
    [`${resource}s`.replace(/ys$/, "ies"), `${resource}-shadow`, `${resource}-shadow-2`].find(
      (one) => !names.has(one),
    ) ?? resource;
  const paste = [
    `- name: ${name}`,
    `  match: { resource: ${resource} }`,
    "  mode: shadow",
    ...(native + shadow < FEW_REQUESTS ? ["  shadow: { sample: 1 }"] : []),
  ];
  const says = isShadow
    ? `give ${resource} a rule of its own with mode: shadow: only rules gather evidence, and move by it`
    : `compare ${resource} by a rule with mode: shadow: native v1 serves it`;
  return { says, change: { file: "rules", rule: name, key: "mode", value: "shadow", paste } };
}

/** A further rule for the resource would never match. What a percentage leaves to native v1 is left on purpose. */
function takes({ state, mode, evidence }: FleetRule, { resource }: RequestTotalsRow): boolean {
  return state !== "expired" && mode !== "native" && [resource, "everything"].includes(evidence?.whom ?? "");
}

function trafficOf({ rules }: Fleet, { counts }: Surroundings): Traffic {
  const active = rules.filter(({ state, mode }) => state !== "expired" && mode !== "native");
  return {
    isCalled: counts.some(({ apiVersion }) => apiVersion === "v1"),
    watching: (resource) => active.find((rule) => isAbout(rule, resource))?.name,
  };
}

/** Whether the rule names this resource, or none. */
export function isAbout({ evidence }: FleetRule, resource: string | undefined): boolean {
  return resource === undefined || (evidence?.resources?.includes(resource) ?? true);
}

function person(says: string): Next {
  return { says, change: null };
}

function days(ms: number): string {
  return counted(Math.ceil(ms / DAY_MS), "day");
}
