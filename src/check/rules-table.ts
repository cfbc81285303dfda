/** How does a rules file read as a table? */
import type { Rule } from "../model/rules.ts";
import { expiryWords, matchWords, modeWords, promoteWords, shareWords, stepBackWords } from "./rules-words.ts";

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
  readonly promoteWhen: string | null;
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
    promoteWhen: promoteWords(rule.promoteWhen),
  };
}

/** A table, what moves a rule by itself below it. */
export function rulesLines(rules: readonly RuleRow[]): readonly string[] {
  const cells = rules.map(({ name, mode, matches, share, expires }, at) => {
    return [`${at + 1}`, name, mode, matches, share, expires];
  });
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return rules.flatMap(({ stepBack, promoteWhen }, at) => {
    const row = cells[at] ?? [];
    const indent = " ".repeat((widths[0] ?? 0) + 4);
    const moves = [stepBack, promoteWhen].flatMap((words) => (words === null ? [] : [`${indent}${words}`]));
    return [`  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd(), ...moves];
  });
}
