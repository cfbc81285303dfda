/** How can carryover be tried without a platform? A sandbox, carryover in front of it, and calls to paste. */

import { createSandbox, type Sandbox } from "#sandbox";
import { createApp } from "../app.ts";
import { loadCatalogue } from "../catalogue.ts";
import { loadConfig } from "../config/config.ts";
import { OurHeader } from "../model/http.ts";
import { createLog } from "../telemetry/log.ts";

/** Where to listen; 0 takes a free port. */
export interface DemoPorts {
  readonly listen: number;
  readonly admin: number;
  readonly sandbox: number;
}

interface DemoOutput {
  print(text: string): void;
}

interface DemoStopping {
  onStop(stop: (graceMs?: number) => Promise<void>): void;
}

interface Demo {
  readonly sandbox: Sandbox;
  readonly token: string;
  readonly url: string;
  readonly adminUrl: string;
  readonly sandboxUrl: string;
  readonly calls: readonly DemoCall[];
  close(graceMs?: number): Promise<void>;
}

async function startDemo(ports: DemoPorts): Promise<Demo> {
  const sandbox = createSandbox();
  const { url: sandboxUrl } = await sandbox.listen(ports.sandbox);
  try {
    const { config } = loadConfig({
      flags: {
        listenHost: "127.0.0.1",
        listenPort: String(ports.listen),
        adminPort: String(ports.admin),
        upstreamV2Url: sandboxUrl,
        upstreamV1Url: sandboxUrl,
        upstreamStsUrl: sandboxUrl,
        // Who stops it waits at the keyboard.
        listenShutdownDelaySeconds: "0",
        logLevel: "warn",
      },
      env: {},
      readFile: () => new Uint8Array(),
    });
    const app = createApp(config, await loadCatalogue(config.upstream.v2.version), {
      log: createLog({ level: "warn" }),
    });
    const { url, adminUrl } = await app.listen();
    const calls = demoCalls({ url, adminUrl, sandboxUrl, group: sandbox.wellKnown.someGroup });
    const close = async (graceMs?: number) => {
      await app.close(graceMs);
      await sandbox.close();
    };
    return { sandbox, token: sandbox.token("admin"), url, adminUrl, sandboxUrl, calls, close };
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}

/** Starts both, says how they are stopped, and prints what to try. */
export async function runDemo(ports: DemoPorts, output: DemoOutput & DemoStopping): Promise<void> {
  const demo = await startDemo(ports);
  // Before anything is printed: whoever reads it may stop us at once.
  output.onStop(demo.close);
  output.print(introduction(demo));
  output.print(`# Paste this first: a ready token of the sandbox\nTOKEN=${demo.token}\n`);
  for (const call of demo.calls) output.print(`# ${call.title}\n${toCurl(call)}\n`);
  output.print(
    `# Or see them all made, with the v2 calls behind each: npm start -- --tour\n\n${outlook()}\n\nCtrl-C stops both.`,
  );
}

/** Makes the calls, shows for each the v1 request, the v2 calls made and the answer; gives the exit code. */
export async function runTour(output: DemoOutput): Promise<number> {
  const demo = await startDemo({ listen: 0, admin: 0, sandbox: 0 });
  try {
    output.print(introduction(demo));
    let failed = 0;
    for (const call of demo.calls) {
      const { text, ok } = await showCall(call, demo.token, demo.sandbox);
      output.print(text);
      if (!ok) failed += 1;
    }
    output.print(outlook());
    return failed === 0 ? 0 : 1;
  } finally {
    await demo.close(1_000);
  }
}

function introduction({ url, adminUrl, sandboxUrl }: Demo): string {
  return `carryover demo. The platform behind it is a sandbox: made-up records, in this process, gone when it stops.

  carryover  ${url}   v1 clients point here
  platform   ${sandboxUrl}   the sandbox: v2, native v1, token exchange
  admin      ${adminUrl}   /healthz /readyz /metrics
`;
}

function outlook(): string {
  return `To put carryover in front of a real platform:
  npx carryover serve --upstream-v2-url https://PLATFORM --upstream-v1-url https://PLATFORM`;
}

/** Which calls show what carryover does? */

/** One call, made by the tour or pasted as a curl line. */
export interface DemoCall {
  readonly title: string;
  readonly method: "GET" | "PUT";
  readonly url: string;
  readonly body?: string;
  readonly token: boolean;
  /** Status of a call that went well. */
  readonly expect: number;
  /** Only lines of the answer that begin with this are shown. */
  readonly only?: string;
  /** Its answer is long: only the beginning is shown, with its header fields. */
  readonly long?: true;
}

export interface DemoAddresses {
  readonly url: string;
  readonly adminUrl: string;
  readonly sandboxUrl: string;
  /** Uid of a group to read and change. */
  readonly group: string;
}

/** A handful, from a long list to the metrics. */
export function demoCalls({ url, adminUrl, sandboxUrl, group }: DemoAddresses): readonly DemoCall[] {
  const read = { method: "GET", token: true, expect: 200 } as const;
  return [
    {
      ...read,
      title: "A v1 list: every group in one answer, though v2 gives at most 200 a page",
      url: `${url}/iam/v1/groups`,
      long: true,
    },
    { ...read, title: "A v1 get of one group", url: `${url}/iam/v1/groups/${group}` },
    {
      title: "A v1 PUT replaces everything: the description that it leaves out is cleared by a PATCH that names it",
      method: "PUT",
      url: `${url}/iam/v1/groups/${group}`,
      body: '{"name":"renamed by the tour"}',
      token: true,
      expect: 200,
    },
    {
      ...read,
      title: "The same record from the platform's native v1",
      url: `${sandboxUrl}/iam/v1/groups?id=${encodeURIComponent(group)}`,
    },
    { ...read, title: "A v2 call passes through untouched", url: `${url}/iam/v2beta1/groups?page_size=1` },
    {
      method: "GET",
      token: false,
      expect: 200,
      title: "What an operator sees of it",
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
  // The answer's own header fields say what was proved of a list; its body is too long for a terminal.
  return long === true ? `${words.join(" ")} -D - | head -c 1200; echo` : `${words.join(" ")}; echo`;
}

/** What happens when a call of the demo is made? */

/** Longest part of an answer that is shown. */
const MAX_SHOWN = 420;

/** Makes the call and tells of it: request, calls that reached the platform, answer. `ok`: it went as it should. */
export async function showCall(
  call: DemoCall,
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

function excerpt({ only }: DemoCall, answer: string): string {
  if (only !== undefined) {
    return answer
      .split("\n")
      .filter((line) => line.startsWith(only))
      .join("\n    ");
  }
  return answer.length <= MAX_SHOWN ? answer : `${answer.slice(0, MAX_SHOWN)} …`;
}
