/** An explanation as text for a terminal, or as curl lines. */

import type { Config } from "../../config/config.ts";
import { type Cell, column, type Paint, table } from "../terminal.ts";
import type {
  AnswerMember,
  ExplainedCall,
  ExplainedCutover,
  ExplainedField,
  ExplainedParameter,
  ExplainedRisk,
  Explanation,
} from "./explanation.ts";
import { MASKED } from "./secrets.ts";

/** For each upstream an address without a slash at its end, or a shell variable in its place. */
export interface UpstreamAddresses {
  readonly v1: string;
  readonly v2: string;
  readonly sts: string;
}

/** `known`: whether the address of v2 was configured; without it, it is `$V2`. */
export function upstreamAddresses({ upstream }: Pick<Config, "upstream">, known: boolean): UpstreamAddresses {
  const { v1, v2, sts } = upstream;
  const bare = (url: string) => url.replace(/\/+$/, "");
  return {
    v1: v1 === undefined ? "$V1" : bare(v1.url),
    v2: known ? bare(v2.url) : "$V2",
    sts: sts === undefined ? "$STS" : bare(sts.url),
  };
}

export function explanationText(explanation: Explanation, addresses: UpstreamAddresses, paint: Paint): string {
  const { request, summary, refusal, mode, cutover, calls, translated } = explanation;
  const heading = [
    paint("bold", `${request.method} ${request.target}`),
    paint(mode === "refused" ? "red" : "green", summary),
    ...(refusal === null ? [] : [`${refusal.status} ${refusal.reason}, code ${refusal.code}: ${refusal.message}`]),
  ];
  const then = isElsewhere(explanation) ? ", if it were translated" : "";
  const linesOf = (made: readonly ExplainedCall[]) =>
    made.flatMap((call, index) => callLines(call, index + 1, addresses, paint));
  const sections: readonly (readonly [title: string, lines: readonly string[]])[] = [
    ["Rules", cutover === null ? [] : ruleLines(cutover, paint)],
    ["Calls", linesOf(calls)],
    ["Calls, if it were translated", linesOf(translated)],
    [`Query${then}`, table(parameterCells(explanation.parameters), paint)],
    [`Body${then}`, table(fieldCells(explanation.fields), paint)],
    [`Answer${then}`, answerLines(explanation, paint)],
    [`What can go wrong${then}`, table(explanation.risks.map(riskCells), paint)],
    ["Notes", explanation.notes.map((note) => `  ${note}`)],
  ];
  const texts = sections.filter(([, lines]) => lines.length > 0);
  return [heading, ...texts.map(([title, lines]) => [paint("bold", title), ...lines])]
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

/** Native v1 serves what could be translated: the rules say so. */
function isElsewhere({ cutover }: Explanation): boolean {
  return cutover !== null && cutover.mode !== "translate";
}

function ruleLines({ client, bucket, at, says, rules }: ExplainedCutover, paint: Paint): string[] {
  const cells = rules.map(({ name, line, mode, matched, why }) => [
    column(name),
    column(mode),
    matched ? ({ text: "takes it", style: "green" } as const) : ({ text: "passed over", style: "dim" } as const),
    column(why),
    { text: `line ${line}`, style: "dim" } as const,
  ]);
  return [`  client ${client}, bucket ${bucket.toFixed(1)}, at ${at}`, ...table(cells, paint), `  ${says}`];
}

function callLines(call: ExplainedCall, number: number, addresses: UpstreamAddresses, paint: Paint): string[] {
  const indent = "     ";
  return [
    `  ${number}  ${paint("cyan", call.method)} ${addresses[call.upstream]}${call.target}`,
    ...(call.body === null ? [] : [`${indent}${call.body}`]),
    `${indent}${call.purpose}`,
    ...call.also.map((also) => `${indent}${also}`),
    ...(call.assuming === "" ? [] : [paint("dim", `${indent}assuming: ${call.assuming}`)]),
  ];
}

const NOTEWORTHY: ReadonlySet<string> = new Set(["set-to-zero", "left-alone", "dropped", "kept", "ignored", "cut"]);

function outcomeCell(becomes: string): Cell {
  const style = becomes === "refused" ? "red" : NOTEWORTHY.has(becomes) ? "yellow" : "green";
  return { text: becomes.replaceAll("-", " "), style };
}

function fieldCells(fields: readonly ExplainedField[]): Cell[][] {
  return fields.map(({ v1, v2, becomes, given, sent, why }) => {
    const before = given === null ? "" : `${shortened(given)} -> `;
    const value = sent === null || sent === given ? "" : before + shortened(sent);
    return [column(v1), column(v2 ?? "–"), outcomeCell(becomes), column(value), column(why)];
  });
}

function parameterCells(parameters: readonly ExplainedParameter[]): Cell[][] {
  return parameters.map(({ v1, given, sent, becomes, why }) => {
    return [column(given === null ? v1 : `${v1}=${given}`), column(sent ?? "–"), outcomeCell(becomes), column(why)];
  });
}

function answerLines(explanation: Explanation, paint: Paint): string[] {
  const { answer, mode, refusal } = explanation;
  const elsewhere = isElsewhere(explanation);
  if (refusal !== null || (mode !== "translate" && !elsewhere)) return [];
  const calls = elsewhere ? explanation.translated : explanation.calls;
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
    outcomeCell(becomes),
    column(becomes === "moved" && isWhole ? "–" : (absent ?? (isWhole ? "–" : "absent"))),
    column(why),
  ];
}

function riskCells({ status, reason, when }: ExplainedRisk): Cell[] {
  const error = status === null ? "" : `${status} ${reason ?? ""}`;
  return [{ text: error, style: "red" }, column(when)];
}

/** Long values are in the call's body anyway. */
function shortened(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 39)}…`;
}

/** Lines for a shell in which TOKEN is set (and V2, where no address is known), each after comments about its call. */
export function curlLines({ calls, translated, refusal }: Explanation, addresses: UpstreamAddresses): string {
  if (refusal !== null) return comment(`nothing is sent: ${refusal.status} ${refusal.reason}: ${refusal.message}`);
  const made = linesOf(calls, addresses);
  return translated.length === 0
    ? made
    : [made, comment("if it were translated:"), linesOf(translated, addresses)].join("\n\n");
}

function linesOf(calls: readonly ExplainedCall[], addresses: UpstreamAddresses): string {
  return calls.map((call, index) => [...remarks(call, index + 1), curlOf(call, addresses)].join("\n")).join("\n\n");
}

function remarks(call: ExplainedCall, number: number): string[] {
  const assuming = call.assuming === "" ? [] : [`assuming: ${call.assuming}`];
  const masked = JSON.stringify([call.target, call.body]).includes(MASKED);
  const secrets = masked ? [`secrets are not shown: put them where ${MASKED} stands`] : [];
  return [`${number}: ${call.purpose}`, ...call.also, ...assuming, ...secrets].map(comment);
}

/** A comment cannot be left by what stands in it. */
function comment(text: string): string {
  return `# ${text.replaceAll(/[\r\n]+/g, " ")}`;
}

function curlOf({ method, target, headers, body, upstream }: ExplainedCall, addresses: UpstreamAddresses): string {
  const lines = [`curl -sS${method === "GET" ? "" : ` -X ${method}`} ${address(addresses[upstream], target)}`];
  if (upstream !== "sts") lines.push('-H "Authorization: Bearer $TOKEN"');
  for (const [name, value] of headers) {
    if (name !== "authorization" && !value.includes(MASKED)) lines.push(`-H ${shellQuoted(`${name}: ${value}`)}`);
  }
  if (body !== null) lines.push(`--data-raw ${shellQuoted(body)}`);
  return lines.join(" \\\n  ");
}

/** A variable must be seen by the shell, and nothing else may. */
function address(base: string, target: string): string {
  return base.startsWith("$") ? `"${base}"${shellQuoted(target)}` : shellQuoted(base + target);
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
