/** What happens when a call of the demo is made? */

import type { Sandbox } from "#sandbox";
import { OurHeader } from "../model/http.ts";
import { type Call, toCurl } from "./calls.ts";

/** Longest part of an answer that is shown. */
const SHOWN = 420;

/** Makes the call and tells of it: request, calls that reached the platform, answer. `ok`: it went as it should. */
export async function showCall(
  call: Call,
  token: string,
  sandbox: Sandbox,
): Promise<{ readonly text: string; readonly ok: boolean }> {
  const before = sandbox.requests.length;
  const response = await fetch(call.url, {
    method: call.method,
    ...(call.token ? { headers: { authorization: `Bearer ${token}` } } : {}),
    ...(call.body === undefined ? {} : { body: call.body }),
  });
  const answer = await response.text();
  const upstream = sandbox.requests
    .slice(before)
    .map(({ method, target, status }) => `    ${method} ${shortTokens(target)} -> ${status}`);
  const lines = [
    `== ${call.title}`,
    `  $ ${toCurl(call)}`,
    `  calls that reached the platform: ${upstream.length}`,
    ...shorten(upstream),
    `  answer: ${response.status}${listFacts(response, answer)}`,
    `    ${excerpt(call, answer)}`,
    "",
  ];
  return { text: lines.join("\n"), ok: response.status === call.expect };
}

/** Page tokens are opaque: their first characters are enough to tell them apart from each other's absence. */
function shortTokens(target: string): string {
  return target.replace(/(page_token=[^&]{8})[^&]+/, "$1…");
}

/** The first calls and the last: pages in between look alike. */
function shorten(lines: readonly string[]): readonly string[] {
  if (lines.length <= 4) return lines;
  return [...lines.slice(0, 2), `    … ${lines.length - 3} more …`, ...lines.slice(-1)];
}

function listFacts(response: Response, answer: string): string {
  const facts = response.headers.get(OurHeader.LIST);
  return facts === null ? "" : `, ${answer.length} bytes, carryover-list: ${facts}`;
}

function excerpt({ only }: Call, answer: string): string {
  if (only !== undefined) {
    return answer
      .split("\n")
      .filter((line) => line.startsWith(only))
      .join("\n    ");
  }
  return answer.length <= SHOWN ? answer : `${answer.slice(0, SHOWN)} …`;
}
