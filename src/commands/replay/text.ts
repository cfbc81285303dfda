/** The report of a replay for a terminal. */

import type { ReplayReport } from "../../replay/report.ts";
import type { CountedReason, ReplayCause } from "../../replay/tally.ts";
import { counted, percent } from "../../rules/words.ts";
import { cutLine, type Paint } from "../terminal.ts";

/** More of one kind are only counted. */
const MOST = 50;
const WIDEST = 200;
const VERDICT_COLOURS = { equal: "green", different: "red", unknown: "yellow" } as const;

/** `12 of 10000 compared requests differ, in 3 ways`. */
export function verdictLine({ verdict, compared, differing, differences, undecided, stopped }: ReplayReport): string {
  const all = counted(compared, "compared request");
  if (verdict === "different") {
    return `DIFFERENT: ${differing} of ${all} ${differing === 1 ? "differs" : "differ"}, in ${counted(differences.length, "way")}`;
  }
  if (verdict === "equal") {
    return `EQUAL: none of ${all} differs${undecided.length === 0 ? "" : ", as far as noise lets it be seen"}`;
  }
  const why =
    stopped === undefined
      ? compared === 0
        ? "nothing was compared"
        : "too much could not be compared"
      : "it stopped early";
  return `NOT KNOWN: ${why}; ${all}, none of which differs`;
}

/** What was replayed, and where. */
export function subjectLine({ files, v1, v2 }: Pick<ReplayReport, "files" | "v1" | "v2">): string {
  return `replay of ${files.join(", ")}: v1 at ${v1}, v2 at ${v2}`;
}

export function replayText(report: ReplayReport, paint: Paint): string {
  const { differences, undecided, noise, notCompared, notReplayed, notRead, stopped } = report;
  const sections: readonly (readonly [title: string, lines: readonly string[]])[] = [
    ["Differences, the worst first", some(differences, (cause, at) => causeLines(cause, at + 1, paint))],
    ["Cannot be told from noise", some(undecided, (cause) => [`  ${placeOf(cause)}: ${undecidedWords(cause)}`])],
    [
      "Noise: native v1 differs from itself",
      some(noise, ({ resource, operation, path, requests }) => [
        `  ${resource} ${operation}, ${cutLine(path, WIDEST)}: ${counted(requests, "request")}`,
      ]),
    ],
    ["Not compared", reasonLines(notCompared)],
    ["Not replayed", reasonLines(notReplayed)],
    ["Not readable", reasonLines(notRead)],
    ["Notes", notesOf(report).map((note) => `  ${note}`)],
  ];
  return [
    [`carryover ${subjectLine(report)}`],
    ...sections.filter(([, lines]) => lines.length > 0).map(([title, lines]) => [paint("bold", title), ...lines]),
    [
      ...(stopped === undefined ? [] : [paint("yellow", `stopped: ${cutLine(stopped, 4 * WIDEST)}`)]),
      paint(VERDICT_COLOURS[report.verdict], verdictLine(report)),
    ],
  ]
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

/** Lines of the first of them, and how many there are besides. */
function some<T>(all: readonly T[], lines: (one: T, index: number) => readonly string[]): readonly string[] {
  const shown = all.slice(0, MOST).flatMap(lines);
  return all.length > MOST ? [...shown, `  and ${all.length - MOST} more`] : shown;
}

export function placeOf({ resource, operation, class: what, path }: ReplayCause): string {
  return cutLine(`${resource} ${operation}, ${what} ${path}`, WIDEST);
}

/** `8 requests of ci, bot; 12 records`. */
export function frequencyOf({ requests, records, clients }: ReplayCause): string {
  const of = clients.length === 0 ? "" : ` of ${cutLine(clients.join(", "), WIDEST)}`;
  const inRecords = records > requests ? `; ${counted(records, "record")}` : "";
  return `${counted(requests, "request")}${of}${inRecords}`;
}

/** The values of both sides. */
export function valuesOf({ example }: ReplayCause): string {
  const side = (value: string | undefined): string => (value === undefined ? "nothing" : cutLine(value, WIDEST));
  return `native ${side(example?.native)}, translated ${side(example?.translated)}`;
}

function undecidedWords({ requests, unstable }: ReplayCause): string {
  return `the translation differs alone in ${counted(requests, "request")}, native's second response in ${unstable}`;
}

function causeLines(cause: ReplayCause, number: number, paint: Paint): readonly string[] {
  const { example, set, trap } = cause;
  const id = example?.id === undefined ? "" : ` in ${cutLine(example.id, WIDEST)}`;
  return [
    `  ${number}  ${paint("red", placeOf(cause))}: ${frequencyOf(cause)}`,
    `     ${valuesOf(cause)}${id}`,
    ...(example === undefined
      ? []
      : [`     ${example.method} ${cutLine(example.target, WIDEST)} (${cutLine(example.at, WIDEST)})`]),
    ...(set === undefined ? [] : [`     set ${set}`]),
    ...(trap === undefined ? [] : [`     ${trap}`]),
  ];
}

function reasonLines(reasons: readonly CountedReason[]): readonly string[] {
  const most = reasons.toSorted((a, b) => b.count - a.count);
  return some(most, ({ why, count, first }) => [`  ${count}  ${cutLine(why, WIDEST)} (${cutLine(first, WIDEST)})`]);
}

/** Facts that a reader needs to judge the result. */
export function notesOf({ recorded, compared, passing, refused, slowed }: ReplayReport): readonly string[] {
  const { requests, selected, left, formats } = recorded;
  return [
    ...(requests > 0
      ? [`${selected} of ${counted(requests, "recorded request")} are for the replay (${percent(selected / requests)})`]
      : []),
    ...(left > 0 ? [`the recording lacks ${counted(left, "request")}: record.perSecond, or a disk that was full`] : []),
    ...(formats.includes("carryover log")
      ? ["carryover's log has no queries: lists were read without their filters"]
      : []),
    ...(passing > 0 ? [`${counted(passing, "request")} differed once and not again: data changed meanwhile`] : []),
    ...(refused > 0 && refused * 2 > compared
      ? [`native v1 refused ${refused} of the compared requests: an equal refusal says little about the translation`]
      : []),
    ...(slowed > 0 ? [`the platform asked ${counted(slowed, "time")} for fewer requests`] : []),
  ];
}
