/** The calls that the demo prints and the tour makes. */
import { OurHeader } from "../../model/http.ts";
import type { CommandIo } from "../command.ts";
import type { Demo } from "./stage.ts";

/** One call, made by the tour or pasted as a curl line. It succeeds with status 200. */
export interface DemoCall {
  /** What happens, in one sentence. */
  readonly title: string;
  readonly means: string;
  readonly method: "GET" | "PUT";
  readonly url: string;
  readonly body?: string;
  readonly token: boolean;
  /** Only the lines of the response that begin with this are shown. */
  readonly only?: string;
  /** The response is long: only its beginning is shown, with its header fields. */
  readonly long?: true;
}

export function demoCalls({ url, adminUrl, sandboxUrl, sandbox }: Demo): readonly DemoCall[] {
  const group = sandbox.wellKnown.someGroup;
  const read = { method: "GET", token: true } as const;
  return [
    {
      ...read,
      title: "A v1 list: every group in one response, though v2 sends at most 200 a page",
      means: "witness=cover: the pages are proved to form the whole list. A list known to be incomplete is an error.",
      url: `${url}/iam/v1/groups`,
      long: true,
    },
    {
      ...read,
      title: "A v1 get of one group",
      means: "One v2 call. The record has v1's names: id and createdAt, where v2 has uid and createTime.",
      url: `${url}/iam/v1/groups/${group}`,
    },
    {
      title: "A v1 PUT replaces everything: the description that it leaves out is cleared by a PATCH that names it",
      means: "v2 can only patch, so the mask names every field that a v1 PUT replaces.",
      method: "PUT",
      url: `${url}/iam/v1/groups/${group}`,
      body: '{"name":"renamed by the tour"}',
      token: true,
    },
    {
      ...read,
      title: "The same record from the platform's native v1",
      means: "Both faces of the platform show what the PUT stored.",
      url: `${sandboxUrl}/iam/v1/groups?id=${encodeURIComponent(group)}`,
    },
    {
      ...read,
      title: "A v2 call passes through untouched",
      means: "Clients that have moved need no other address.",
      url: `${url}/iam/v2beta1/groups?page_size=1`,
    },
    {
      method: "GET",
      token: false,
      title: "What an operator sees of it",
      means: "Each v1 request is counted by what served it.",
      url: `${adminUrl}/metrics`,
      only: "carryover_requests_total",
    },
  ];
}

/** The call as a line for a shell in which TOKEN is set. */
export function toCurl({ method, url, body, token, only, long }: DemoCall): string {
  const words = ["curl", "-s"];
  if (method !== "GET") words.push("-X", method);
  if (token) words.push("-H", '"Authorization: Bearer $TOKEN"');
  if (body !== undefined) words.push("-d", `'${body}'`);
  words.push(`'${url}'`);
  if (only !== undefined) return `${words.join(" ")} | grep '^${only}'`;
  // The header fields say what was proved of a list; its body is too long for a terminal.
  return long === true ? `${words.join(" ")} -D - | head -c 1200; echo` : `${words.join(" ")}; echo`;
}

/** Longest part of a response that is shown. */
const MAX_SHOWN = 420;

/** Makes the call and describes the request, the calls that reached the platform, and the response. */
export async function makeCall(
  call: DemoCall,
  { token, sandbox }: Demo,
  io: Pick<CommandIo, "fetch">,
): Promise<{ readonly text: string; readonly ok: boolean }> {
  const before = sandbox.requests.length;
  const response = await io.fetch(call.url, {
    method: call.method,
    ...(call.token ? { headers: { authorization: `Bearer ${token}` } } : {}),
    ...(call.body === undefined ? {} : { body: call.body }),
  });
  const body = await response.text();
  const upstream = sandbox.requests
    .slice(before)
    .map(({ method, target, status }) => `    ${method} ${shortenToken(target)} -> ${status}`);
  const list = response.headers.get(OurHeader.LIST);
  const lines = [
    `== ${call.title}`,
    `  $ ${toCurl(call)}`,
    `  calls that reached the platform: ${upstream.length}`,
    ...firstAndLast(upstream),
    `  response: ${response.status}${list === null ? "" : `, ${body.length} bytes, carryover-list: ${list}`}`,
    `    ${excerpt(call, body)}`,
    `  => ${call.means}`,
    "",
  ];
  return { text: lines.join("\n"), ok: response.status === 200 };
}

/** The beginning of a page token says enough: tokens are opaque. */
function shortenToken(target: string): string {
  return target.replace(/(page_token=[^&]{8})[^&]+/, "$1…");
}

/** Calls for the pages in between look alike. */
function firstAndLast(lines: readonly string[]): readonly string[] {
  if (lines.length <= 4) return lines;
  return [...lines.slice(0, 2), `    … ${lines.length - 3} more …`, ...lines.slice(-1)];
}

function excerpt({ only }: DemoCall, body: string): string {
  if (only === undefined) return body.length <= MAX_SHOWN ? body : `${body.slice(0, MAX_SHOWN)} …`;
  return body
    .split("\n")
    .filter((line) => line.startsWith(only))
    .join("\n    ");
}
