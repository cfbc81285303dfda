/** How does an explanation read at a terminal? */

import type {
  AnswerMember,
  ExplainedCall,
  ExplainedField,
  ExplainedParameter,
  Explanation,
  Risk,
} from "./explanation.ts";
import { type Cell, column, type Paint, table } from "./table.ts";
import type { Bases } from "./upstream-addresses.ts";

/** The explanation as text; `bases`: what stands before v2's paths. */
export function textOf(explanation: Explanation, bases: Bases, paint: Paint): string {
  const { request, summary, refusal, mode } = explanation;
  const heading = [
    paint("bold", `${request.method} ${request.target}`),
    paint(mode === "refused" ? "red" : "green", summary),
    ...(refusal === null ? [] : [`${refusal.status} ${refusal.reason}, code ${refusal.code}: ${refusal.message}`]),
  ];
  const parts = [
    section(
      "Calls",
      explanation.calls.flatMap((call, index) => callLines(call, index + 1, bases, paint)),
      paint,
    ),
    section("Query", table(parameterCells(explanation.parameters), paint), paint),
    section("Body", table(fieldCells(explanation.fields), paint), paint),
    section("Answer", answerLines(explanation, paint), paint),
    section("What can go wrong", table(explanation.risks.map(riskCells), paint), paint),
    section(
      "Notes",
      explanation.notes.map((note) => `  ${note}`),
      paint,
    ),
  ];
  return [heading.join("\n"), ...parts.filter((part) => part !== "")].join("\n\n");
}

function section(title: string, lines: readonly string[], paint: Paint): string {
  return lines.length === 0 ? "" : [paint("bold", title), ...lines].join("\n");
}

function callLines(call: ExplainedCall, number: number, bases: Bases, paint: Paint): string[] {
  const indent = "     ";
  return [
    `  ${number}  ${paint("cyan", call.method)} ${bases[call.upstream]}${call.target}`,
    ...(call.body === null ? [] : [`${indent}${call.body}`]),
    `${indent}${call.purpose}`,
    ...call.also.map((also) => `${indent}${also}`),
    ...(call.assuming === "" ? [] : [paint("dim", `${indent}assuming: ${call.assuming}`)]),
  ];
}

const FATES = {
  "set-to-zero": "yellow",
  "left-alone": "yellow",
  dropped: "yellow",
  kept: "yellow",
  refused: "red",
  ignored: "yellow",
  cut: "yellow",
} as const satisfies Record<string, string>;

function fate(becomes: string): Cell {
  return { text: becomes.replaceAll("-", " "), style: new Map(Object.entries(FATES)).get(becomes) ?? "green" };
}

function fieldCells(fields: readonly ExplainedField[]): Cell[][] {
  return fields.map(({ v1, v2, becomes, given, sent, why }) => {
    const value =
      sent === null || sent === given ? "" : given === null ? short(sent) : `${short(given)} -> ${short(sent)}`;
    return [column(v1), column(v2 ?? "–"), fate(becomes), column(value), column(why)];
  });
}

function parameterCells(parameters: readonly ExplainedParameter[]): Cell[][] {
  return parameters.map(({ v1, given, sent, becomes, why }) => {
    return [column(given === null ? v1 : `${v1}=${given}`), column(sent ?? "–"), fate(becomes), column(why)];
  });
}

function answerLines({ answer, mode, refusal, calls }: Explanation, paint: Paint): string[] {
  if (refusal !== null || mode !== "translate") return [];
  if (answer.length === 0) return calls.some(({ method }) => method === "DELETE") ? ["  {}"] : [];
  const shown = answer.filter(({ becomes }) => becomes !== "cut");
  const cut = answer.flatMap(({ becomes, v2 }) => (becomes === "cut" ? v2 : []));
  const heading = ["v1", "v2", "", "when v2 leaves it out"].map((text): Cell => ({ text, style: "dim" }));
  return [
    ...table([heading, ...shown.map(answerCells)], paint),
    ...(cut.length === 0 ? [] : [`  not shown, as in v1: ${cut.join(", ")}`]),
  ];
}

function answerCells({ v1, v2, becomes, why, absent }: AnswerMember): Cell[] {
  const from = v2.length === 0 ? "–" : v2.join(" or ");
  // Put together: each of its members has a line of its own.
  const isWhole = becomes === "joined" || (becomes === "moved" && v2.length === 0);
  return [
    column(v1 ?? ""),
    column(from),
    fate(becomes),
    column(becomes === "moved" && isWhole ? "–" : (absent ?? (isWhole ? "–" : "absent"))),
    column(why),
  ];
}

function riskCells({ status, reason, when }: Risk): Cell[] {
  const error = status === null ? "" : `${status} ${reason ?? ""}`;
  return [{ text: error, style: "red" }, column(when)];
}

/** Long values are in the call's body anyway. */
function short(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 39)}…`;
}
