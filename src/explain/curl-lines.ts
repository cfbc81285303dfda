/** Which curl lines make the calls of an explanation? */

import type { ExplainedCall, Explanation } from "./explanation.ts";
import { MASKED } from "./secrets.ts";
import type { Bases } from "./upstream-addresses.ts";

/** Lines to paste into a shell in which TOKEN is set (and V2, where no address is known); what is to know of each before it. */
export function curlLines({ calls, translated, refusal }: Explanation, bases: Bases): string {
  if (refusal !== null) return comment(`nothing is sent: ${refusal.status} ${refusal.reason}: ${refusal.message}`);
  const made = linesOf(calls, bases);
  return translated.length === 0
    ? made
    : [made, comment("if it were translated:"), linesOf(translated, bases)].join("\n\n");
}

function linesOf(calls: readonly ExplainedCall[], bases: Bases): string {
  return calls.map((call, index) => [...remarks(call, index + 1), curlOf(call, bases)].join("\n")).join("\n\n");
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

function curlOf({ method, target, headers, body, upstream }: ExplainedCall, bases: Bases): string {
  const lines = [`curl -sS${method === "GET" ? "" : ` -X ${method}`} ${address(bases[upstream], target)}`];
  if (upstream !== "sts") lines.push('-H "Authorization: Bearer $TOKEN"');
  for (const [name, value] of headers) {
    if (name !== "authorization" && !value.includes(MASKED)) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  }
  if (body !== null) lines.push(`--data-raw ${quoted(body)}`);
  return lines.join(" \\\n  ");
}

/** A variable must be seen by the shell, and nothing else may. */
function address(base: string, target: string): string {
  return base.startsWith("$") ? `"${base}"${quoted(target)}` : quoted(base + target);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
