/** The report of a replay as Markdown and as JUnit's XML. */

import type { ReplayReport } from "../../replay/report.ts";
import type { ReplayCause } from "../../replay/tally.ts";
import { counted } from "../../rules/words.ts";
import { escapeMarkdown } from "../report/formats.ts";
import { cutLine } from "../terminal.ts";
import { type ReplayTable, tablesOf } from "./tables.ts";
import { frequencyOf, notesOf, placeOf, subjectLine, valuesOf, verdictLine } from "./text.ts";

const WIDEST = 200;

export function replayMarkdown(report: ReplayReport): string {
  const parts = [
    `# ${escapeMarkdown(verdictLine(report))}`,
    ...(report.stopped === undefined ? [] : [escapeMarkdown(`Stopped: ${report.stopped}`)]),
    escapeMarkdown(subjectLine(report)),
    ...tablesOf(report).map(markdownTable),
    notesOf(report)
      .map((note) => `- ${escapeMarkdown(note)}`)
      .join("\n"),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function markdownTable({ title, columns, rows, more }: ReplayTable): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const shown = rows.map((row) => line(row.map((cell) => escapeMarkdown(cutLine(cell, WIDEST)))));
  const rest = more > 0 ? [`\n${escapeMarkdown(`and ${more} more`)}`] : [];
  return [`## ${title}\n`, line(columns), line(columns.map(() => "---")), ...shown, ...rest].join("\n");
}

/** One test case per operation, which fails with its differences; requests without a result are an error of a case of their own. */
export function replayJunit(report: ReplayReport): string {
  const cases = report.operations.map(({ resource, operation, compared }) => {
    const own = report.differences.filter((cause) => cause.resource === resource && cause.operation === operation);
    const name = `${operation}: ${counted(compared, "compared request")}`;
    const failures =
      own.length === 0
        ? ""
        : failure("difference", `${counted(own.length, "difference")}`, own.map(causeText).join("\n\n"));
    return testCase(resource, name, failures);
  });
  const unknown = [
    ...(report.stopped === undefined ? [] : [report.stopped]),
    ...report.notCompared.map(({ why, count, first }) => `${count}: ${why} (${first})`),
    ...(report.compared === 0 ? ["nothing was compared"] : []),
  ];
  const rest =
    report.verdict === "unknown"
      ? `<error message="${xml(verdictLine(report))}">${xml(unknown.join("\n"))}</error>`
      : "";
  cases.push(testCase("replay", "all requests have a result", rest));
  const failing = report.operations.filter((one) =>
    report.differences.some((cause) => cause.resource === one.resource && cause.operation === one.operation),
  ).length;
  const attributes = `name="carryover replay" tests="${cases.length}" failures="${failing}" errors="${rest === "" ? 0 : 1}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${attributes}>`,
    `  <testsuite ${attributes}>`,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
  ].join("\n");
}

function testCase(group: string, name: string, content: string): string {
  const head = `    <testcase classname="${xml(group)}" name="${xml(name)}"`;
  return content === "" ? `${head}/>` : `${head}>${content}</testcase>`;
}

function failure(type: string, message: string, text: string): string {
  return `<failure type="${xml(type)}" message="${xml(message)}">${xml(text)}</failure>`;
}

function causeText(cause: ReplayCause): string {
  const { example, set, trap } = cause;
  return [
    `${placeOf(cause)}: ${frequencyOf(cause)}`,
    valuesOf(cause),
    ...(example === undefined ? [] : [`${example.method} ${cutLine(example.target, WIDEST)} (${example.at})`]),
    ...(set === undefined ? [] : [`set ${set}`]),
    ...(trap === undefined ? [] : [trap]),
  ].join("\n");
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
]);

/** Without what XML cannot hold. */
function xml(text: string): string {
  return text
    .replaceAll(/[^\t\n\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD")
    .replaceAll(/[&<>"]/g, (character) => ENTITIES.get(character) ?? "");
}
