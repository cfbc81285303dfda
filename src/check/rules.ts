/** Is the rules file right, and what does it say? (`carryover check --rules`.) */
import type { Catalogue } from "../catalogue.ts";
import { ConfigError } from "../config/fault.ts";
import type { Config, ConfigInput } from "../config.ts";
import { rulesFileOf, rulesGiven } from "../migration/rules-given.ts";
import type { Rules } from "../model/rules.ts";
import { type Finding, sayFor } from "./finding.ts";
import { type RuleRow, rowOf } from "./rules-table.ts";

/** What a rules file says, for people and programs. */
export interface RulesReport {
  readonly file: string;
  /** As `/rules` of a running carryover shows it; null when the file is wrong. */
  readonly digest: string | null;
  /** In the order of the file: the first that matches decides. Empty when the file is wrong. */
  readonly rules: readonly RuleRow[];
  readonly findings: readonly Finding[];
}

export interface RulesInput {
  /** The file that `--rules` names; undefined: `cutover.rulesFile`. */
  readonly file: string | undefined;
  readonly config: Config;
  /** Undefined when there is none for the configured version: then nothing can be judged. */
  readonly catalogue: Catalogue | undefined;
  readonly readFile: ConfigInput["readFile"];
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Whether native v1 is there; undefined: as the configuration has it. */
  readonly native?: boolean | undefined;
}

const say = sayFor("rules");

/** Undefined when no file is named. Never throws for what is wrong with it: each fault is a finding. */
export function checkRules(input: RulesInput): RulesReport | undefined {
  const named = rulesFileOf(input);
  if (named === undefined) return undefined;
  const without = { file: named.name, digest: null, rules: [] };
  const { catalogue, now } = input;
  if (catalogue === undefined) {
    const version = input.config.upstream.v2.version;
    const what = `there is no catalogue for ${JSON.stringify(version)}`;
    return { ...without, findings: [say.fail(what, "correct upstream.v2.version: rules speak of its resources")] };
  }
  try {
    const given = rulesGiven({ ...input, catalogue, expired: "refuse" });
    if (given === undefined) return undefined;
    const { rules, warnings } = given;
    return {
      file: named.name,
      digest: rules.digest,
      rules: rules.rules.map((rule) => rowOf(rule, now)),
      findings: [
        say.ok(contentsOf(rules)),
        ...topsOf(rules),
        ...guessedOf(rules, catalogue, input),
        ...warnings.map((warning) => say.warn(warning, "")),
      ],
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return {
      ...without,
      findings: error.faults.map(({ where, what, remedy }) => say.fail(`${where}: ${what}`, remedy)),
    };
  }
}

function contentsOf({ rules, digest }: Rules): string {
  return `${rules.length === 1 ? "1 rule" : `${rules.length} rules`}, digest ${digest}`;
}

/** What stands at the top of the file counts before every rule: whoever reads the table must know. */
function topsOf({ force, fallback }: Rules): readonly Finding[] {
  return [
    ...(force === "none" ? [] : [say.note(`force: ${force} overrides every rule below, and cutover.mode`)]),
    ...(fallback === undefined ? [] : [say.note(`fallback: ${fallback} overrides the option of that name`)]),
  ];
}

/** What no rule takes without naming it. */
function guessedOf({ fallback }: Rules, { resources }: Catalogue, { config, native }: RulesInput): readonly Finding[] {
  const configured = config.upstream.v1 === undefined ? undefined : config.fallback;
  const served = (native ?? configured !== undefined) && (fallback ?? configured) !== "refuse";
  const guessed = resources.flatMap(({ name, operations }) =>
    operations.flatMap((operation) => (operation.guessed === true ? [`${name} ${operation.name}`] : [])),
  );
  if (!served || guessed.length === 0) return [];
  return [say.note(`${guessed.join(", ")}: guessed (docs/coverage.md), so native v1 serves it unless a rule names it`)];
}
