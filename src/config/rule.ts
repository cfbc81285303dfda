/** One rule of a rules file: its checks, its names, and the rule built from it. */
import { createHash } from "node:crypto";
import { member } from "../model/json.ts";
import type { GuardSettings, StepBackSettings } from "../model/rules.ts";
import type { RuleCircumstances, RuleRemark } from "../rules/conditions/condition.ts";
import { buildMatch, CONDITIONS, type Rule, subjectOf } from "../rules/rule.ts";
import { brownoutOf, brownoutRemarks } from "./brownout-rule.ts";
import { rehearsalRemarks } from "./rehearsal-rule.ts";
import type { RuleText } from "./rules-schema.ts";

/** The rule, complete and frozen. */
export function buildRule(text: RuleText, line: number, given: RuleCircumstances): Rule {
  const match = buildMatch(text.match, given.resources);
  const most = match.clients?.size ?? Number.POSITIVE_INFINITY;
  const { schedule: _, promoteWhen, ...rest } = text;
  const rule: Omit<Rule, "line" | "identity" | "evidenceKey"> = {
    ...rest,
    match,
    expires: text.expires,
    shadow: comparesAtAll(text, given) ? text.shadow : { ...text.shadow, sample: 0 },
    stepBack: text.stepBack && stepBackOf(text.stepBack, most),
    guard: guardOf(text, given),
    onFailure: text.onFailure && { statuses: text.onFailure.statuses },
    fallback: text.fallback,
    promoteWhen: promoteWhen && { ...promoteWhen, minClients: Math.min(promoteWhen.minClients, most) },
    headers: text.headers,
    brownout: brownoutOf(text),
  };
  return freezeRule({ ...rule, line, identity: keyOf(rule), evidenceKey: keyOf(subjectOf(match)) });
}

/** A translating rule calls native only where it sets a sample or needs differences: v1 is to be relieved. Without native v1 nothing is compared. */
function comparesAtAll({ mode, stepBack }: RuleText, { native, saysSample }: RuleCircumstances): boolean {
  if (mode === "brownout") return false;
  return native && (mode !== "translate" || saysSample || stepBack?.differences !== undefined);
}

/** `minClients` is at most the number of clients that the rule names. */
function stepBackOf(text: NonNullable<RuleText["stepBack"]>, most: number): StepBackSettings {
  const { returnAfter } = text;
  return {
    ...text,
    minClients: Math.min(text.minClients, most),
    window: text.window * 1000,
    returnAfter: returnAfter && returnAfter * 1000,
  };
}

/** Without a native v1 there is nothing to step back to. */
function guardOf({ guard: { action, returnAfter, slow } }: RuleText, { native }: RuleCircumstances): GuardSettings {
  return {
    action: native || action === "off" ? action : "warn",
    returnAfter: returnAfter * 1000,
    slow: native ? slow : "warn",
  };
}

/** Equal for equal values, whatever the order of the names in their sets. */
function keyOf(what: unknown): string {
  const canonical = JSON.stringify(what, (_key, value: unknown) => (value instanceof Set ? [...value].sort() : value));
  return digestOf(canonical).slice(0, 16);
}

/** Hexadecimal SHA-256. */
export function digestOf(bytes: string | Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Sets cannot be frozen; their type is read-only. */
function freezeRule<T>(value: T): T {
  if (typeof value !== "object" || value === null || value instanceof Set) return value;
  for (const inner of Object.values(value)) freezeRule(inner);
  return Object.freeze(value);
}

/** Faults and doubts that the schema cannot express. */
export function remarksOn(rule: RuleText, given: RuleCircumstances): readonly RuleRemark[] {
  return [
    ...(given.native ? [] : withoutNative(rule, given)),
    ...stepBackContradictions(rule, given),
    ...promotionContradictions(rule),
    ...guardContradictions(rule, given),
    ...CONDITIONS.flatMap((condition) => condition.remarks?.(rule, given) ?? []),
    ...headerContradictions(rule),
    ...brownoutRemarks(rule, given),
    ...rehearsalRemarks(rule, given),
    ...withoutEffect(rule, given),
  ];
}

const NO_NATIVE = "needs the platform's own v1, and upstream.v1.url is not set";

function withoutNative(rule: RuleText, { saysSample, given }: RuleCircumstances): readonly RuleRemark[] {
  const found: RuleRemark[] = [];
  if (rule.mode === "native" || rule.mode === "shadow") {
    found.push({ path: ["mode"], what: `${rule.mode} ${NO_NATIVE}`, remedy: "set upstream.v1.url, or translate" });
  }
  if (rule.mode === "translate" && rule.stepBack !== undefined) {
    found.push({ path: ["stepBack"], what: `stepping back ${NO_NATIVE}`, remedy: "set upstream.v1.url, or remove it" });
  }
  if (rule.onFailure !== undefined) {
    found.push({
      path: ["onFailure"],
      what: `serving a read ${NO_NATIVE}`,
      remedy: "set upstream.v1.url, or remove it",
    });
  }
  if (rule.mode === "translate" && (saysGuard(rule, given, "action") || saysGuard(rule, given, "slow"))) {
    found.push({
      path: ["guard"],
      what: `stepping back ${NO_NATIVE}`,
      remedy: "set upstream.v1.url, or say guard: warn",
    });
  }
  if (rule.mode === "translate" && saysSample && rule.shadow.sample > 0) {
    found.push({ path: ["shadow"], what: `comparing ${NO_NATIVE}`, remedy: "set upstream.v1.url, or remove it" });
  }
  return found;
}

function stepBackContradictions(
  { stepBack, mode, promoteWhen, shadow }: RuleText,
  { reads }: RuleCircumstances,
): readonly RuleRemark[] {
  // A rule may go back to native, and forward again, by this one word.
  if (stepBack === undefined || mode === "native" || mode === "brownout") return [];
  const at = (what: string, remedy: string, ...path: string[]): readonly RuleRemark[] => [
    { path: ["stepBack", ...path], what, remedy },
  ];
  if (mode === "shadow" && promoteWhen === undefined) {
    return at("has no effect: the rule never translates", "remove it, or add promoteWhen");
  }
  if (stepBack.failures === undefined && stepBack.differences === undefined) {
    return at("says nothing on which to step back", "add failures, differences or both");
  }
  for (const key of ["failures", "differences"] as const) {
    if (stepBack[key] === 1) return at("has no effect: there is no more than all", "name a share below 1", key);
  }
  if (stepBack.differences === undefined) return [];
  if (shadow.sample === 0) {
    return at("is never measured: shadow.sample is 0", "raise shadow.sample, or remove it", "differences");
  }
  if (mode === "translate" && reads === false) {
    return at("is never measured: a translate rule compares reads, and takes none here", "use failures", "differences");
  }
  return [];
}

function promotionContradictions({ promoteWhen, mode, shadow }: RuleText): readonly RuleRemark[] {
  // A rule may go forward, and back again, by this one word.
  if (promoteWhen === undefined || mode !== "shadow" || shadow.sample > 0) return [];
  return [
    {
      path: ["promoteWhen"],
      what: "is never reached: shadow.sample is 0",
      remedy: "raise shadow.sample, or remove it",
    },
  ];
}

/** Whether the file itself asks for a step back. */
function saysGuard({ guard }: RuleText, given: unknown, key: "action" | "slow"): boolean {
  const said = member(given, "guard");
  return guard[key] === "stepBack" && (typeof said === "string" ? key === "action" : member(said, key) !== undefined);
}

function guardContradictions(
  { guard, onFailure, mode, promoteWhen }: RuleText,
  { given, reads }: RuleCircumstances,
): readonly RuleRemark[] {
  const found: RuleRemark[] = [];
  const neverTranslates = mode === "shadow" && promoteWhen === undefined;
  const remove = (key: string, what: string): void => {
    found.push({ path: [key], what: `has no effect: ${what}`, remedy: "remove it" });
  };
  if (neverTranslates && member(given, "guard") !== undefined) remove("guard", "the rule never translates");
  if (neverTranslates && onFailure !== undefined) remove("onFailure", "the rule never translates");
  else if (onFailure !== undefined && reads === false)
    remove("onFailure", "only reads are served so, and the rule takes none");
  if (guard.action !== "stepBack" && guard.slow === "stepBack") {
    const what = `contradicts guard.action: ${guard.action}`;
    found.push({ path: ["guard", "slow"], what, remedy: "remove it, or say action: stepBack" });
  }
  return found;
}

function headerContradictions({ headers }: RuleText): readonly RuleRemark[] {
  const { deprecation, sunset } = headers ?? {};
  if (deprecation === undefined || sunset === undefined || sunset >= deprecation) return [];
  return [
    {
      path: ["headers", "sunset"],
      what: "is before headers.deprecation",
      remedy: "let v1 be deprecated before it ends",
    },
  ];
}

function withoutEffect({ mode }: RuleText, { given }: RuleCircumstances): readonly RuleRemark[] {
  if (mode !== "native" || member(given, "shadow") === undefined) return [];
  return [
    { path: ["shadow"], what: "has no effect: a native rule compares nothing", remedy: "remove it", kind: "doubtful" },
  ];
}
