/** `carryover check --rules`: whether the rules file is right, and what it says. */
import type { Catalogue } from "../../catalogue/catalogue.ts";
import type { Config, ConfigInput } from "../../config/config.ts";
import { ConfigError } from "../../config/faults.ts";
import { requestedOperations } from "../../config/rules.ts";
import type { BrownoutSettings, CutoverMode, ScheduleSettings, TimeSpan } from "../../model/rules.ts";
import { givenRulesFile, readGivenRules, resourceNames } from "../../rollout/rules-file.ts";
import { shareWords } from "../../rules/conditions/canary.ts";
import type { RequestedOperation } from "../../rules/conditions/condition.ts";
import { isAbout } from "../../rules/conditions/subject.ts";
import { covers, EVERY_REQUEST, matchWords, type Rule, type Rules, rehearsalOf } from "../../rules/rule.ts";
import { createSchedule, windowWords } from "../../rules/schedule.ts";
import { findUnreachable } from "../../rules/unreachable.ts";
import {
  counted,
  expiryWords,
  fallbackWords,
  guardWords,
  modeWords,
  onFailureWords,
  promoteWords,
  shareOf,
  shownName,
  stepBackWords,
} from "../../rules/words.ts";
import { type Finding, fail, findingsOf, type Judgement, note, ok, warn } from "./finding.ts";

/** What a rules file says, for people and programs. */
export interface CheckRulesReport {
  readonly file: string;
  /** As `/rules` of a running carryover shows it; null when the file is wrong. */
  readonly digest: string | null;
  /** In the order of the file: the first that matches decides. Empty when the file is wrong. */
  readonly rules: readonly RuleRow[];
  /** The rules themselves; undefined when the file is wrong. */
  readonly given: Rules | undefined;
  /** What serves everybody whom no rule takes: `cutover.mode`. Null where it is not known. */
  readonly default: CutoverMode | null;
  readonly findings: readonly Finding[];
}

interface CheckRulesInput {
  /** The file that `--rules` names; undefined: `cutover.rulesFile`. */
  readonly file: string | undefined;
  readonly config: Config;
  /** Whether `cutover.mode` is known (`AssumedConfig`). */
  readonly modeKnown: boolean;
  /** Undefined when there is none for the configured version: then nothing can be judged. */
  readonly catalogue: Catalogue | undefined;
  readonly readFile: ConfigInput["readFile"];
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Whether native v1 is there; undefined: as in the configuration. */
  readonly native?: boolean | undefined;
}

/** Undefined when no file is named. Never throws for what is wrong with it: each fault is a finding. */
export function checkRules(input: CheckRulesInput): CheckRulesReport | undefined {
  const { catalogue, config, now } = input;
  const file = givenRulesFile(input)?.name;
  if (file === undefined) return undefined;
  const otherwise = input.modeKnown ? config.cutover.mode : null;
  const wrong = (...findings: readonly Judgement[]): CheckRulesReport => {
    return {
      file,
      digest: null,
      rules: [],
      given: undefined,
      default: otherwise,
      findings: findingsOf("rules", ...findings),
    };
  };
  if (catalogue === undefined) {
    const what = `there is no catalogue for ${JSON.stringify(config.upstream.v2.version)}`;
    return wrong(fail(what, "correct upstream.v2.version: rules speak of its resources"));
  }
  try {
    const given = readGivenRules({ ...input, catalogue, expired: "refuse" });
    if (given === undefined) return undefined;
    const { rules, warnings } = given;
    const findings = [
      ok(`${counted(rules.rules.length, "rule")}, digest ${rules.digest}`),
      ...topLevelNotes(rules),
      ...guessedNotes(rules, catalogue, input),
      ...(otherwise === "translate" ? percentWarnings(rules, catalogue, input) : []),
      ...warnings.map((warning) => warn(warning, "")),
    ];
    return {
      file,
      digest: rules.digest,
      rules: rules.rules.map((rule) => rowOf(rule, now)),
      given: rules,
      default: otherwise,
      findings: findingsOf("rules", ...findings),
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return wrong(...error.faults.map(({ where, what, remedy }) => fail(`${where}: ${what}`, remedy)));
  }
}

/** The members at the top of the file override every rule in the table. */
function topLevelNotes({ force, fallback }: Rules): readonly Judgement[] {
  return [
    ...(force === "none" ? [] : [note(`force: ${force} overrides every rule below, and cutover.mode`)]),
    ...(fallback === undefined ? [] : [note(`fallback: ${fallback} overrides the option of that name`)]),
  ];
}

/** Operations that no rule takes without naming them. */
function guessedNotes(
  { fallback }: Rules,
  { resources }: Catalogue,
  { config, native }: CheckRulesInput,
): readonly Judgement[] {
  const configured = config.upstream.v1 === undefined ? undefined : config.fallback;
  const served = (native ?? configured !== undefined) && (fallback ?? configured) !== "refuse";
  const guessed = resources.flatMap(({ name, operations }) =>
    operations.flatMap((operation) => (operation.guessed === true ? [`${name} ${operation.name}`] : [])),
  );
  if (!served || guessed.length === 0) return [];
  return [note(`${guessed.join(", ")}: guessed (docs/coverage.md), so native v1 serves it unless a rule names it`)];
}

/** A percentage holds nobody back where the others are translated as well: 10 % then moves 100 %. */
function percentWarnings(
  { rules }: Rules,
  catalogue: Catalogue,
  { config, native = config.upstream.v1 !== undefined }: CheckRulesInput,
): readonly Judgement[] {
  const open = rules.filter((rule, at) => {
    const { percent = 100 } = rule.match;
    return (
      rule.mode !== "native" &&
      rule.mode !== "brownout" &&
      percent < 100 &&
      !takesTheRest(rule, rules.slice(at + 1), catalogue, native)
    );
  });
  if (open.length === 0) return [];
  const names = open.map(({ name, match }) => `${name} (${match.percent} %)`).join(", ");
  const remedy = native
    ? "set cutover.mode: native, so that the others stay on native v1 until a rule takes them"
    : "remove the percentage: without upstream.v1.url everybody is translated";
  return [warn(`${names}: the other clients are translated too, by cutover.mode: translate`, remedy)];
}

/** Whether later rules take every request that the percentage of `rule` leaves. */
function takesTheRest(rule: Rule, later: readonly Rule[], catalogue: Catalogue, native: boolean): boolean {
  const rest: Rule = { ...rule, match: { ...rule.match, percent: 100 } };
  const operations = requestedOperations(resourceNames(catalogue.resources), native);
  return findUnreachable([...later, rest], operations).some((found) => found.rule === rest);
}

/**
 * What serves an operation by the rules (undefined: there are none, or no valid ones): `translate` if it does so for any
 * client, else `shadow` if that does. `mode`: `cutover.mode`. `force: native` is for a while, and not counted.
 */
export function servingMode(rules: Rules | undefined, mode: CutoverMode, asked: RequestedOperation): CutoverMode {
  const about = (rules?.rules ?? []).filter((rule) => rule.mode !== "brownout" && isAbout(rule.match, asked));
  const last = about.findIndex((rule) => covers(rule, { match: EVERY_REQUEST }, asked));
  const otherwise = asked.guessed === true ? "native" : mode;
  const modes =
    last < 0 ? [...about.map((rule) => rule.mode), otherwise] : about.slice(0, last + 1).map((rule) => rule.mode);
  if (rules?.force === "translate" || modes.includes("translate")) return "translate";
  return modes.includes("shadow") ? "shadow" : "native";
}

/** One line of the table of rules. */
export interface RuleRow {
  readonly name: string;
  readonly line: number;
  /** With the share that is compared. */
  readonly mode: string;
  readonly matches: string;
  readonly share: string;
  /** `expires in 41 days`; empty without an end. */
  readonly expires: string;
  readonly stepBack: string | null;
  readonly guard: string | null;
  readonly onFailure: string | null;
  readonly fallback: string | null;
  readonly promoteWhen: string | null;
  /** What a brownout does; null for a rule of another mode. */
  readonly brownout: string | null;
  /** Its next windows, in UTC and in its time zone. */
  readonly windows: readonly string[];
}

/** `now`: milliseconds since 1970. */
export function rowOf(rule: Rule, now: number): RuleRow {
  return {
    name: rule.name,
    line: rule.line,
    mode: modeWords(rule),
    matches: matchWords(rule.match),
    share: shareWords(rule.match),
    expires: expiryWords(rule.expires, now),
    stepBack: stepBackWords(rule.stepBack),
    guard: guardWords(rule),
    onFailure: onFailureWords(rule.onFailure),
    fallback: fallbackWords(rehearsalOf(rule)),
    promoteWhen: rule.mode === "shadow" ? promoteWords(rule.promoteWhen) : null,
    brownout: brownoutWords(rule.brownout),
    windows: rule.brownout === undefined ? [] : nextWindows(rule.brownout.schedule, now),
  };
}

/** Windows of a brownout that are shown. */
const SHOWN_WINDOWS = 5;

function brownoutWords(settings: BrownoutSettings | undefined): string | null {
  if (settings === undefined) return null;
  const { status, exempt, stopAbove, minRequests } = settings;
  const but = exempt.size === 0 ? "" : `, but not ${[...exempt].map(shownName).join(", ")}`;
  const stops =
    stopAbove === 1
      ? "never stops by itself"
      : `stops above ${shareOf(stopAbove)} refused of at least ${counted(minRequests, "v1 request")}`;
  return `refuses v1 with ${status} in its windows${but}; ${stops}`;
}

/** The present one is among them. */
function nextWindows(settings: ScheduleSettings, now: number): readonly string[] {
  const schedule = createSchedule(settings);
  const open = schedule.open(now);
  const next = schedule.after(open?.end ?? now, SHOWN_WINDOWS);
  const words = (window: TimeSpan) => windowWords(window, settings.zone);
  return [...(open === undefined ? [] : [`now: ${words(open)}`]), ...next.map((window) => `next: ${words(window)}`)];
}

/** What serves whom, in the order in which it is decided. */
export function decisionLines({ given, rules, default: mode }: CheckRulesReport): readonly string[] {
  if (given === undefined) return [];
  const { force } = given;
  // Only rules have a guard.
  const unwatched = mode === "translate" ? ", watched by no guard" : "";
  const otherwise = mode === null ? "not known without cutover.mode" : `${mode} (cutover.mode)${unwatched}`;
  return [
    ...(force === "none" ? [] : [`everyone, whatever follows: ${force} (force)`]),
    ...(rules.length === 0 ? [] : ["The first that matches decides:", ...rulesLines(rules)]),
    `${rules.length === 0 ? "everyone" : "everyone else"}: ${otherwise}`,
  ];
}

/** A table, with what a rule does by itself below its line. */
export function rulesLines(rules: readonly RuleRow[]): readonly string[] {
  const cells = rules.map(({ name, mode, matches, share, expires }, at) => {
    return [`${at + 1}`, name, mode, matches, share, expires];
  });
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return rules.flatMap(({ stepBack, guard, onFailure, fallback, promoteWhen, brownout, windows }, at) => {
    const row = cells[at] ?? [];
    const indent = " ".repeat((widths[0] ?? 0) + 4);
    const more = [stepBack, guard, onFailure, fallback, promoteWhen, brownout, ...windows].flatMap((words) =>
      words === null ? [] : [`${indent}${words}`],
    );
    return [`  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd(), ...more];
  });
}
