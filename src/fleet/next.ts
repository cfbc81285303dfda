/**
 * The one next step of a migration, for status, report and gate. It names the change to write, or what a person must find out. It says "wait"
 * only where time alone helps, and it never names the command that prints it.
 */
import natives from "../catalogue/native.ts";
import type { RequestTotalsRow } from "../telemetry/progress.ts";
import { type Change, type Next, option, person } from "./change.ts";
import { differentRules, type Fleet, type FleetRule } from "./fleet.ts";
import { DEFAULT_TERMS, judgeRule } from "./judge.ts";
import { clientsStep, nameOf, type Traffic } from "./next-client.ts";
import { isAbout } from "./next-percent.ts";
import { afterStepBack, confirming, type Surroundings, stepOfFailing, stepOfRule } from "./next-rule.ts";

const HOUR_MS = 3_600_000;
/** Resources that rules do not know. */
const UNTRANSLATED = new Set(natives.flatMap(({ operations }) => operations.map(({ resource }) => resource)));
/** Fewer requests in the window give too few comparisons by the usual sample. */
const FEW_REQUESTS = 10_000;

/** The most urgent step of the whole migration. Undefined without an instance that responded. */
export function nextStep(all: Fleet, given: Omit<Surroundings, "rules">): Next {
  // A brownout goes by its schedule, and moves nothing.
  const fleet = { ...all, rules: all.rules.filter(({ mode }) => mode !== "brownout") };
  const known = { ...given, rules: fleet.rules };
  return (
    stepOfNobody(fleet) ??
    stepOfFailures(fleet) ??
    stepOfInstances(fleet) ??
    stepOfSteppedBack(fleet) ??
    stepOfRules(known, false) ??
    stepOfNative(known) ??
    stepOfRules(known, true) ??
    person(clientsStep(known, trafficOf(known)))
  );
}

function stepOfNobody({ instances, silent: [unheard] }: Fleet): Next | undefined {
  if (instances.length > 0) return undefined;
  if (unheard === undefined) return person("start an instance");
  return person(`start an instance, or name the right address: ${unheard.address} ${unheard.fault}`);
}

/** What keeps all rules from working. */
export function stepOfInstances({ instances, silent, rules }: Fleet): Next | undefined {
  const [unheard] = silent;
  const unknown = rules.find(({ state }) => state === "unknown");
  if (unknown !== undefined) return confirming(unknown);
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
  if (forced.forcedBy?.command === "native") {
    const { by, reason } = forced.forcedBy;
    const who = by === undefined ? "" : `ask ${by}, and `;
    return person(
      `${who}${asks}; then carryover force none${reason === undefined ? "" : ` (it was forced for: ${reason})`}`,
    );
  }
  const change: Change = { ...option("force", "none"), file: "rules" };
  return { says: `${forced.force === "native" ? `${asks}; then ` : ""}set force: none in the rules file`, change };
}

/** Clients fail now. */
function stepOfFailures({ rules, instances }: Fleet): Next | undefined {
  const hasNative = instances.some(({ progress }) => progress.native !== false);
  return rules.flatMap((rule) => stepOfFailing(rule, hasNative) ?? [])[0];
}

function stepOfSteppedBack({ rules, instances }: Fleet): Next | undefined {
  const back = rules.flatMap((rule) => afterStepBack(rule) ?? [])[0];
  const broken = instances.flatMap(({ progress }) => progress.openBreakers ?? [])[0];
  return back ?? (broken === undefined ? undefined : person(`find out why upstream ${broken} does not respond`));
}

/** Rules that nobody calls hold up no other rule. `waiting`: the steps that only wait; others come first, and so does a further rule. */
function stepOfRules(known: Surroundings, waiting: boolean): Next | undefined {
  const isReady = (rule: FleetRule) => judgeRule(rule, DEFAULT_TERMS).lacks.length === 0;
  const steps = known.rules.flatMap((rule) => {
    const step = stepOfRule(rule, known, DEFAULT_TERMS);
    return step !== undefined && step.says.startsWith("wait") === waiting ? [{ rule, step }] : [];
  });
  return (steps.find(({ rule }) => isReady(rule)) ?? steps[0])?.step;
}

/** An operation that native served this long before its last translated request is still served by native, at least in part. */
const RECENT_MS = HOUR_MS;

/** The resource with most v1 requests that v2 could serve and native v1 still does. */
function stepOfNative({ rules, counts, clients }: Surroundings): Next | undefined {
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
    if (resource === "unknown" || UNTRANSLATED.has(resource) || lacking.has(nameOf(row))) continue;
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
  const rule = [
    `- name: ${name}`,
    `  match: { resource: ${resource} }`,
    "  mode: shadow",
    ...(native + shadow < FEW_REQUESTS ? ["  shadow: { sample: 1 }"] : []),
  ];
  const paste = rules.length === 0 ? ["rules:", ...rule.map((line) => `  ${line}`)] : rule;
  const says = isShadow
    ? `give ${resource} a rule of its own with mode: shadow: only rules gather evidence, and move by it`
    : `compare ${resource} by a rule with mode: shadow: native v1 serves it`;
  return { says, change: { file: "rules", rule: name, key: "mode", value: "shadow", paste } };
}

/** A further rule for the resource would never match. What a percentage leaves to native v1 is left on purpose. */
function takes({ state, mode, evidence }: FleetRule, { resource }: RequestTotalsRow): boolean {
  return state !== "expired" && mode !== "native" && [resource, "everything"].includes(evidence?.whom ?? "");
}

function trafficOf({ rules, counts }: Surroundings): Traffic {
  const active = rules.filter(({ state, mode }) => state !== "expired" && mode !== "native");
  return {
    isCalled: counts.some(({ apiVersion }) => apiVersion === "v1"),
    v2: counts.reduce((sum, { apiVersion, requests }) => sum + (apiVersion === "v2" ? requests : 0), 0),
    watching: (resource) => active.find((rule) => isAbout(rule, resource))?.name,
  };
}
