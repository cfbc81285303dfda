/** Exams as Markdown: one in full, or a table of all by owner. */
import { type Exam, restsOn, verdictText } from "../../fleet/exam.ts";
import { type ExamOperation, nameOf } from "../../fleet/exam-operations.ts";
import { ownerText, utcMinute } from "../../ledger/clients-view.ts";
import { compareText } from "../../ledger/record.ts";
import { block, code, codes, markdownTable } from "../../ledger/way-out-names.ts";
import { escapeMarkdown } from "../report/formats.ts";
import { type RehearsalPlan, refusalText, rehearsalRule, startText } from "./rehearsal.ts";

/** `plan`: a rehearsal to propose. */
export function examMarkdown(exam: Exam, plan: RehearsalPlan | undefined): string {
  const { client, at, changes, operations, leftOut, against, open } = exam;
  const owner = ownerText({ owner: exam.owner ?? undefined, contact: exam.contact ?? undefined });
  return [
    `# Exam of ${code(client)}: ${verdictText(exam)}`,
    "",
    `${meaning(exam)} Judged on ${utcMinute(Date.parse(at))}.${owner === "" ? "" : ` Owner: ${escapeMarkdown(owner)}.`}`,
    "",
    `It rests on ${restsOn(exam)}.`,
    "",
    ...list("What speaks against it", against),
    ...list("What nobody knows yet", open),
    ...list("What its team has to change before native v1 is switched off", changes.beforeV1),
    ...list(`What its team has to change before carryover is removed`, changes.beforeCarryover, [
      `carryover way-out ${client}`,
    ]),
    ...(operations.length === 0 ? [] : ["## Operations", ""]),
    ...markdownTable(OPERATION_HEAD, operations.map(operationRow)),
    ...(leftOut.length === 0 ? [] : [`Not called lately, and left out: ${codes(leftOut)}.`, ""]),
    ...(exam.differences.length === 0 ? [] : ["## Differences", ""]),
    ...markdownTable(
      ["operation", "what", "path", "how often", "setting"],
      exam.differences.map((one) => [
        code(nameOf(one)),
        one.what,
        code(one.path),
        String(one.count),
        one.set === null ? "" : code(one.set),
      ]),
    ),
    ...rehearsalPart(exam, plan),
  ]
    .join("\n")
    .trimEnd()
    .concat("\n");
}

function meaning({ verdict, holdsUntil }: Exam): string {
  if (verdict === "fail") return "Without native v1 this client would fail.";
  if (verdict === "unknown") return "Nothing speaks against it, but too little is known.";
  const until = holdsUntil === null ? "" : ` until ${utcMinute(Date.parse(holdsUntil))}`;
  return `Native v1 may be switched off for it. That holds${until}, or until it calls something new.`;
}

function list(title: string, texts: readonly string[], more: readonly string[] = []): readonly string[] {
  if (texts.length === 0) return [];
  const see = more.length === 0 ? [] : [`In detail: ${codes(more)}.`, ""];
  return [`## ${title}`, "", ...texts.map((text) => `- ${escapeMarkdown(text)}`), "", ...see];
}

const OPERATION_HEAD = ["operation", "requests", "compared", "replayed", "translated", "differ or failed", "result"];

function operationRow(one: ExamOperation): readonly string[] {
  const { requests, compared, differing, replayed, replayDiffering, translated, failed, verdict, why } = one;
  const word = { good: "looks good", bad: "fails", unseen: "not known" }[verdict];
  return [
    code(nameOf(one)),
    ...[requests, compared, replayed, translated, differing + replayDiffering + failed].map(String),
    why === null ? word : `${word}: ${escapeMarkdown(why)}`,
  ];
}

function rehearsalPart(exam: Exam, plan: RehearsalPlan | undefined): readonly string[] {
  const { rehearsal } = exam;
  const words = { running: "is running", stopped: "stopped", guarded: "stopped because v2 failed", over: "is over" };
  const past =
    rehearsal === null
      ? []
      : [
          `Rehearsal ${code(rehearsal.rule)} ${words[rehearsal.state]} (until ${utcMinute(Date.parse(rehearsal.until))}): ${rehearsal.failures} of ${rehearsal.requests} requests were refused or failed.`,
          "",
        ];
  const next =
    plan === undefined
      ? []
      : [refusalText(exam, plan), "", startText(exam, plan), "", ...block("yaml", rehearsalRule(exam, plan))];
  return past.length + next.length === 0 ? [] : ["## Rehearsal", "", ...past, ...next];
}

/** Clients without an owner come last. */
export function examsMarkdown(exams: readonly Exam[], at: number): string {
  const owners = [...new Set(exams.map(({ owner }) => owner ?? ""))].sort(
    (a, b) => Number(a === "") - Number(b === "") || compareText(a, b),
  );
  const passed = exams.filter(({ verdict }) => verdict === "pass").length;
  return [
    "# Exams, by owner",
    "",
    exams.length === 0
      ? "No client that is known has called v1."
      : `Native v1 may be switched off for ${passed} of ${exams.length} clients. Judged on ${utcMinute(at)}.`,
    "",
    ...owners.flatMap((owner) => [
      `## ${owner === "" ? "Nobody named" : code(owner)}`,
      "",
      ...markdownTable(
        ["client", "result", "requests", "rests on", "why", "holds until"],
        exams.filter((exam) => (exam.owner ?? "") === owner).map(examRow),
      ),
    ]),
  ]
    .join("\n")
    .trimEnd()
    .concat("\n");
}

function examRow(exam: Exam): readonly string[] {
  const { client, requests, looks, against, open, holdsUntil } = exam;
  const [first = "", ...more] = [...against, ...open];
  return [
    code(client),
    verdictText(exam),
    String(requests),
    String(looks),
    escapeMarkdown(`${first}${more.length === 0 ? "" : `, and ${more.length} more`}`),
    holdsUntil === null ? "" : utcMinute(Date.parse(holdsUntil)),
  ];
}
