/** How do findings read, for a person and for a program? */
import { styleText } from "node:util";
import { type Finding, type Level, type Verdict, verdictOf } from "./finding.ts";
import type { RulesReport } from "./rules.ts";
import { rulesLines } from "./rules-table.ts";
import { HOW_TO_GIVE } from "./token.ts";

/** What the report is about. */
export interface Heading {
  /** Undefined when only rules were looked at. */
  readonly platform: { readonly url: string; readonly version: string } | undefined;
  /** Undefined without a rules file. */
  readonly rules: RulesReport | undefined;
}

const COLOURS = { ok: "green", note: "cyan", warn: "yellow", fail: "red", skipped: "dim" } as const;
/** In words for a person. */
export const WORDS: Readonly<Record<Verdict, string>> = {
  ok: "right",
  incomplete: "nothing wrong found",
  warn: "usable",
  unjudged: "NOT JUDGED",
  fail: "NOT RIGHT",
};
const COLOUR_OF = { ok: "ok", incomplete: "skipped", warn: "warn", unjudged: "fail", fail: "fail" } as const;

/** One line a finding, what to do below it, the verdict last. */
export function textOf(findings: readonly Finding[], { platform, rules }: Heading, colour: boolean): string {
  // Whether a terminal reads it was decided by the caller.
  const paint = (level: Level, text: string) =>
    colour ? styleText(COLOURS[level], text, { validateStream: false }) : text;
  const width = Math.max(...findings.map(({ probe }) => probe.length), 0);
  const lines = findings.flatMap(({ probe, level, what, remedy, set }) => {
    const indent = " ".repeat(11 + width);
    return [
      `${paint(level, level.padEnd(7))}  ${probe.padEnd(width)}  ${what}`,
      ...(remedy === "" ? [] : [`${indent}${remedy}`]),
      ...(set === undefined ? [] : [`${indent}set ${set.path}: ${set.value}`]),
    ];
  });
  const table = rulesLines(rules?.rules ?? []);
  const subject = platform === undefined ? rules?.file : `${platform.url}, ${platform.version}`;
  return [
    `carryover check of ${subject}`,
    "",
    ...lines,
    "",
    ...(table.length === 0 ? [] : ["The first that matches decides:", ...table, ""]),
    paint(COLOUR_OF[verdictOf(findings)], verdictLine(findings)),
  ].join("\n");
}

/** The same as one JSON document. */
export function jsonOf(findings: readonly Finding[], { platform, rules }: Heading): string {
  const about = {
    ...(platform === undefined ? {} : { upstream: platform.url, version: platform.version }),
    ...(rules === undefined ? {} : { rules: { file: rules.file, digest: rules.digest, rules: rules.rules } }),
  };
  return JSON.stringify({ ...about, verdict: verdictOf(findings), findings }, null, 2);
}

/** `usable: 2 warnings, 1 not judged`. */
function verdictLine(findings: readonly Finding[]): string {
  const count = (level: Level) => findings.filter((finding) => finding.level === level).length;
  const counts = [
    [count("fail"), "failure"],
    [count("warn"), "warning"],
    [count("skipped"), "not judged"],
    [findings.filter(({ set }) => set !== undefined).length, "option"],
  ] as const;
  const words = counts
    .filter(([number]) => number > 0)
    .map(([number, word]) => {
      const many = number === 1 || word === "not judged" ? word : `${word}s`;
      return `${number} ${many}${word === "option" ? " to set" : ""}`;
    });
  const verdict = verdictOf(findings);
  const word = WORDS[verdict];
  const line = words.length === 0 ? word : `${word}: ${words.join(", ")}`;
  return verdict === "unjudged" ? `${line}; no list was read: give a token that may read them, ${HOW_TO_GIVE}` : line;
}
