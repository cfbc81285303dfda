/** The rules and their tests as data. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT, RULES } from "./programs.ts";

export interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface RulesFile {
  readonly groups: readonly { readonly name: string; readonly interval?: string; readonly rules: readonly Rule[] }[];
}

export interface PromtoolTest {
  readonly name: string;
  readonly promql_expr_test: readonly {
    readonly expr: string;
    readonly eval_time: string;
    readonly exp_samples: readonly { readonly labels: string; readonly value: number }[];
  }[];
}

export const rulesFile = (): RulesFile => parse(readFileSync(RULES, "utf8")) as RulesFile;
export const allRules = (): readonly Rule[] => rulesFile().groups.flatMap(({ rules }) => rules);

const TESTS = join(ROOT, "test/real/monitoring/rules");
export const testFiles = (): readonly string[] => readdirSync(TESTS).map((name) => join(TESTS, name));
export const testsOf = (file: string): readonly PromtoolTest[] =>
  (parse(readFileSync(file, "utf8")) as { tests: readonly PromtoolTest[] }).tests;
