/** The report of a replay as Markdown and as JUnit's XML. */

import type { ReplayReport } from "../../replay/report.ts";
import type { CountedReason, ReplayCause } from "../../replay/tally.ts";
import { counted } from "../../rules/words.ts";
import { escapeMarkdown } from "../report/formats.ts";
import { cutLine } from "../terminal.ts";
import { frequencyOf, notesOf, placeOf, valuesOf, verdictLine } from "./text.ts";

const MOST = 100;
const WIDEST = 200;

export function replayMarkdown(report: ReplayReport): string {
  const { differences, undecided, noise, notCompared, notReplayed, notRead, stopped, operations } = report;
  const cause = (one: ReplayCause): readonly string[] => [
    placeOf(one),
    frequencyOf(one),
    valuesOf(one),
    one.example === undefined ? "" : `${one.example.method} ${one.example.target} (${one.example.at})`,
    one.set ?? one.trap ?? "",
  ];
  const reason = ({ why, count, first }: CountedReason): readonly string[] => [why, String(count), first];
  const causes = ["where", "how often", "values", "request", "setting or trap"];
  const reasons = ["why", "requests", "first"];
  const parts = [
    `# ${escapeMarkdown(verdictLine(report))}`,
    ...(stopped === undefined ? [] : [escapeMarkdown(`Stopped: ${stopped}`)]),
    escapeMarkdown(`Replay of ${report.files.join(", ")}: v1 at ${report.v1}, v2 at ${report.v2}.`),
    section("Differences, the worst first", causes, differences.map(cause)),
    section("Cannot be told from noise", causes, undecided.map(cause)),
    section(
      "Noise: native v1 differs from itself",
      ["operation", "path", "requests"],
      noise.map(({ resource, operation, path, requests }) => [`${resource} ${operation}`, path, String(requests)]),
    ),
    section(
      "Compared",
      ["operation", "requests", "different"],
      operations.map((one) => [`${one.resource} ${one.operation}`, String(one.compared), String(one.differing)]),
    ),
    section("Not compared", reasons, notCompared.map(reason)),
    section("Not replayed", reasons, notReplayed.map(reason)),
    section("Not readable", reasons, notRead.map(reason)),
    notesOf(report)
      .map((note) => `- ${escapeMarkdown(note)}`)
      .join("\n"),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function section(title: string, columns: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const shown = rows.slice(0, MOST).map((row) => line(row.map((cell) => escapeMarkdown(cutLine(cell, WIDEST)))));
  const more = rows.length > MOST ? [`\n${escapeMarkdown(`and ${rows.length - MOST} more`)}`] : [];
  return [`## ${title}\n`, line(columns), line(columns.map(() => "---")), ...shown, ...more].join("\n");
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
