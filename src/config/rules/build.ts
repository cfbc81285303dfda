/** What becomes of a rule that was read and found right? */
import { createHash } from "node:crypto";
import type { Rule, RuleMatch, StepBackSettings, TimeWindow } from "../../model/rules.ts";
import { DAYS, type RuleText } from "./schema.ts";

/** What is known of a rule beside its text. */
export interface RuleFacts {
  readonly line: number;
  /** Catalogue names; undefined: all. */
  readonly resources: ReadonlySet<string> | undefined;
  /** Whether there is a native v1 to compare with. */
  readonly native: boolean;
  /** Whether the file itself says how much is compared. */
  readonly saysSample: boolean;
}

/** The rule, complete and frozen. */
export function buildRule(text: RuleText, facts: RuleFacts): Rule {
  const { line, resources } = facts;
  const match = matchOf(text, resources);
  const most = match.clients?.size ?? Number.POSITIVE_INFINITY;
  const { promoteWhen, headers } = text;
  const rule: Omit<Rule, "line" | "identity"> = {
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
  return freeze({ ...rule, line, identity: identityOf(rule) });
}

/**
 * Without native v1 there is nothing to compare with, whatever the default says. A rule that translates asks native only
 * where it says so, or has to know of differences: the platform is to be relieved of v1.
 */
function comparesAtAll({ mode, stepBack }: RuleText, { native, saysSample }: RuleFacts): boolean {
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

/** The model's window of a file's. */
export function timeOf({ from, until, days, hours }: NonNullable<RuleText["match"]["time"]>): TimeWindow {
  return { from, until, days: days && new Set(days.map((day) => DAYS.indexOf(day))), hours };
}

/** No more clients are asked for than the rule can have. */
function stepBackOf(text: NonNullable<RuleText["stepBack"]>, most: number): StepBackSettings {
  return {
    failures: text.failures,
    differences: text.differences,
    minRequests: text.minRequests,
    minClients: Math.min(text.minClients, most),
    window: text.window * 1000,
    returnAfter: text.returnAfter === undefined ? undefined : text.returnAfter * 1000,
  };
}

/** The same for the same rule, wherever it stands in its file and in whatever order it names things. */
function identityOf(rule: Omit<Rule, "line" | "identity">): string {
  const canonical = JSON.stringify(rule, (_key, value: unknown) => (value instanceof Set ? [...value].sort() : value));
  return digestOf(canonical).slice(0, 16);
}

/** Hexadecimal SHA-256. */
export function digestOf(bytes: string | Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Sets have no frozen form: they are read-only by type. */
function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || value instanceof Set) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
}
