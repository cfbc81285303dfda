/** How do findings read, for a person and for a program? */
import { styleText } from "node:util";
import { type Finding, type Level, type Verdict, verdictOf } from "./finding.ts";

/** What the report is about. */
export interface Heading {
  readonly url: string;
  readonly version: string;
}

const COLOURS = { ok: "green", note: "cyan", warn: "yellow", fail: "red", skipped: "dim" } as const;
const WORDS: Readonly<Record<Verdict, string>> = {
  fail: "NOT RIGHT",
  warn: "usable",
  incomplete: "nothing wrong found",
  ok: "right",
};

/** One line a finding, what to do below it, the verdict last. */
export function textOf(findings: readonly Finding[], { url, version }: Heading, colour: boolean): string {
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
  return [
    `carryover check of ${url}, ${version}`,
    "",
    ...lines,
    "",
    paint(levelOf(verdictOf(findings)), verdictLine(findings)),
  ].join("\n");
}

/** The same as one JSON document. */
export function jsonOf(findings: readonly Finding[], { url, version }: Heading): string {
  return JSON.stringify({ upstream: url, version, verdict: verdictOf(findings), findings }, null, 2);
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
  const verdict = WORDS[verdictOf(findings)];
  return words.length === 0 ? verdict : `${verdict}: ${words.join(", ")}`;
}

function levelOf(verdict: Verdict): Level {
  return verdict === "incomplete" ? "skipped" : verdict;
}
