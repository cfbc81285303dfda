/** One rule of a rules file: its checks, its names, and the rule built from it. */
import { createHash } from "node:crypto";
import type { StepBackSettings } from "../model/rules.ts";
import { didYouMean, nearest } from "../model/text.ts";
import { everHolds, NEVER } from "../rules/match.ts";
import { EVERY_REQUEST, type Rule, type RuleMatch, type TimeWindow } from "../rules/rule.ts";
import { endOf } from "../rules/unreachable.ts";
import { DAYS, type RuleText } from "./rules-schema.ts";

/** Facts about a rule beside its text. */
export interface RuleFileFacts {
  readonly line: number;
  /** Catalogue names; undefined: all. */
  readonly resources: ReadonlySet<string> | undefined;
  /** Whether there is a native v1 to compare with. */
  readonly native: boolean;
  /** The file sets `shadow.sample`. */
  readonly saysSample: boolean;
}

/** The rule, complete and frozen. */
export function buildRule(text: RuleText, facts: RuleFileFacts): Rule {
  const { line, resources } = facts;
  const match = matchOf(text, resources);
  const most = match.clients?.size ?? Number.POSITIVE_INFINITY;
  const { promoteWhen, headers } = text;
  const rule: Omit<Rule, "line" | "identity" | "evidenceKey"> = {
    name: text.name,
    match,
    mode: text.mode,
    expires: text.expires,
    shadow: comparesAtAll(text, facts) ? text.shadow : { ...text.shadow, sample: 0 },
    stepBack: text.stepBack && stepBackOf(text.stepBack, most),
    promoteWhen: promoteWhen && { ...promoteWhen, minClients: Math.min(promoteWhen.minClients, most) },
    headers: headers && {
      deprecation: headers.deprecation,
      sunset: headers.sunset,
      documentation: headers.documentation,
      successor: headers.successor,
    },
  };
  return freezeRule({ ...rule, line, identity: keyOf(rule), evidenceKey: keyOf(subjectOf(match)) });
}

/** A translating rule calls native only where it sets a sample or needs differences: v1 is to be relieved. Without native v1 nothing is compared. */
function comparesAtAll({ mode, stepBack }: RuleText, { native, saysSample }: RuleFileFacts): boolean {
  return native && (mode !== "translate" || saysSample || stepBack?.differences !== undefined);
}

function matchOf({ match }: RuleText, resources: ReadonlySet<string> | undefined): RuleMatch {
  const setOf = (names: readonly string[] | undefined) => names && new Set(names);
  const { header } = match;
  return {
    resources,
    operations: setOf(match.operation),
    clients: setOf(match.client),
    time: match.time && timeOf(match.time),
    header: header && { ...header, name: header.name.toLowerCase() },
    cookie: match.cookie,
    percent: match.percent,
  };
}

/** The time window of the model. */
export function timeOf({ from, until, days, hours }: NonNullable<RuleText["match"]["time"]>): TimeWindow {
  return { from, until, days: days && new Set(days.map((day) => DAYS.indexOf(day))), hours };
}

/** `minClients` is at most the number of clients that the rule names. */
function stepBackOf(text: NonNullable<RuleText["stepBack"]>, most: number): StepBackSettings {
  return {
    failures: text.failures,
    differences: text.differences,
    minRequests: text.minRequests,
    minComparisons: text.minComparisons,
    minClients: Math.min(text.minClients, most),
    window: text.window * 1000,
    returnAfter: text.returnAfter === undefined ? undefined : text.returnAfter * 1000,
  };
}

/** Which requests a rule is about, whenever and for however many clients. */
function subjectOf({ percent: _percent, time: _time, ...subject }: RuleMatch): unknown {
  return subject;
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

/** One fault about the value at `path` of a rule. `aged`: it was valid when written, and has expired. */
export interface RuleRemark {
  readonly path: readonly PropertyKey[];
  readonly what: string;
  readonly remedy: string;
  readonly aged?: true;
}

/** What else the checks of a rule depend on. */
export interface RuleCircumstances {
  readonly native: boolean;
  readonly now: number;
  /** The rule matches reads; undefined when its names are unknown. */
  readonly reads: boolean | undefined;
  /** Whether the file itself says how much is compared. */
  readonly saysSample: boolean;
}

/** Faults that make a rule unusable. */
export function contradictionsOf(rule: RuleText, given: RuleCircumstances): readonly RuleRemark[] {
  return [
    ...(given.native ? [] : withoutNative(rule, given)),
    ...stepBackContradictions(rule, given),
    ...promotionContradictions(rule),
    ...timeContradictions(rule, given.now),
    ...selectorContradictions(rule),
    ...headerContradictions(rule),
  ];
}

const NO_NATIVE = "needs the platform's own v1, and upstream.v1.url is not set";

function withoutNative(rule: RuleText, { saysSample }: RuleCircumstances): readonly RuleRemark[] {
  const found: RuleRemark[] = [];
  if (rule.mode !== "translate") {
    found.push({ path: ["mode"], what: `${rule.mode} ${NO_NATIVE}`, remedy: "set upstream.v1.url, or translate" });
  }
  if (rule.mode === "translate" && rule.stepBack !== undefined) {
    found.push({ path: ["stepBack"], what: `stepping back ${NO_NATIVE}`, remedy: "set upstream.v1.url, or remove it" });
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
  if (stepBack === undefined) return [];
  const at = (what: string, remedy: string, ...path: string[]): readonly RuleRemark[] => [
    { path: ["stepBack", ...path], what, remedy },
  ];
  if (mode === "native") return at("has no effect: the rule never translates", "remove it, or translate");
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
  if (promoteWhen === undefined) return [];
  if (mode !== "shadow") {
    return [
      { path: ["promoteWhen"], what: `has no effect on a ${mode} rule`, remedy: "remove it, or use mode shadow" },
    ];
  }
  if (shadow.sample > 0) return [];
  return [
    {
      path: ["promoteWhen"],
      what: "is never reached: shadow.sample is 0",
      remedy: "raise shadow.sample, or remove it",
    },
  ];
}

function timeContradictions({ match, expires }: RuleText, now: number): readonly RuleRemark[] {
  const time = match.time && timeOf(match.time);
  if (time !== undefined && !everHolds(time)) {
    return [
      {
        path: ["match", "time"],
        what: "there is no such moment",
        remedy: "let until be after from, and hours and days lie between them",
      },
    ];
  }
  if (expires !== undefined && time?.from !== undefined && expires <= time.from) {
    return [
      { path: ["expires"], what: "is not after match.time.from: the rule never holds", remedy: "let it expire later" },
    ];
  }
  const path = expires !== undefined && expires <= (time?.until ?? expires) ? ["expires"] : ["match", "time", "until"];
  const end = endOf({ match: { ...EVERY_REQUEST, time }, expires });
  if (end > now) return [];
  const date = new Date(end).toISOString();
  return [
    {
      path,
      what: `${date} is over: the rule takes nothing`,
      remedy: "remove the rule, or name a later date",
      aged: true,
    },
  ];
}

/** Their values are secrets, and a rules file is not a secret. */
const CREDENTIALS: readonly string[] = ["authorization", "proxy-authorization"];

function selectorContradictions({ match }: RuleText): readonly RuleRemark[] {
  const found: RuleRemark[] = [];
  for (const kind of ["header", "cookie"] as const) {
    if (match[kind]?.value === NEVER) {
      found.push({
        path: ["match", kind],
        what: `${NEVER} always deselects`,
        remedy: "name another value, such as always",
      });
    }
  }
  const name = match.header?.name.toLowerCase() ?? "";
  if (CREDENTIALS.includes(name)) {
    found.push({
      path: ["match", "header"],
      what: `${name} holds credentials`,
      remedy: "use client:, or another header",
    });
  }
  if (name === "cookie")
    found.push({ path: ["match", "header"], what: "cookie holds many", remedy: "use cookie: { name: value }" });
  match.client?.forEach((client) => {
    if (!client.endsWith("*")) return;
    const what = `${JSON.stringify(client)} is taken literally: rules name clients exactly`;
    found.push({ path: ["match", "client"], what, remedy: "name each client" });
  });
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

/** A resource as rules may name it. */
export interface ResourceNames {
  readonly name: string;
  /** Collection segments of its v1 and v2 paths. */
  readonly aliases: readonly string[];
  readonly operations: readonly { readonly name: string; readonly write: boolean; readonly guessed?: boolean }[];
}

interface FaultWords {
  readonly what: string;
  readonly remedy: string;
}

/** Evaluated only for the faults that are shown: finding the most similar name takes time. */
export type LazyFaultWords = () => FaultWords;

/** The resource called `text`, by name before alias; or what is wrong with the name. */
export function resourceNamed(text: string, all: readonly ResourceNames[]): ResourceNames | LazyFaultWords {
  const exact = all.find(({ name }) => name === text);
  const found = exact === undefined ? all.filter(({ aliases }) => aliases.includes(text)) : [exact];
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  return () => (only === undefined ? unknownResource(text, all) : ambiguousResource(text, found));
}

function ambiguousResource(text: string, found: readonly ResourceNames[]): FaultWords {
  const names = found.map(({ name }) => name);
  return { what: `${text} may be ${names.join(" or ")}`, remedy: "write the name that is meant" };
}

function unknownResource(text: string, all: readonly ResourceNames[]): FaultWords {
  const near = nearest(
    text,
    all.flatMap(({ name, aliases }) => [name, ...aliases]),
  );
  return {
    what: `there is no resource ${JSON.stringify(text)}`,
    remedy: near === undefined ? `name one of ${all.map(({ name }) => name).join(", ")}` : didYouMean(near),
  };
}

/** Faults for each of `texts` that is no operation or group of `resources`. */
export function operationFaults(
  texts: Iterable<string>,
  resources: readonly ResourceNames[],
): readonly LazyFaultWords[] {
  const operations = resources.flatMap((resource) => resource.operations);
  const known = new Set(operations.map(({ name }) => name));
  const groups = new Set(operations.map(({ write }) => (write ? "writes" : "reads")));
  const isKnown = (text: string) => (text === "reads" || text === "writes" ? groups.has(text) : known.has(text));
  const whose = resources.length === 1 ? `${resources[0]?.name} has` : "these resources have";
  return [...texts]
    .filter((text) => !isKnown(text))
    .map((text) => () => {
      const near = nearest(
        text,
        [...known, "reads", "writes"].filter((name) => name !== text),
      );
      return {
        what: `${whose} no operation ${JSON.stringify(text)}`,
        remedy: near === undefined ? `name one of ${[...known].join(", ")}` : didYouMean(near),
      };
    });
}
