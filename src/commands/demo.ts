/** `carryover demo`: a sandbox platform, carryover in front of it, and calls to try. */
import { createSandbox, type Sandbox } from "#sandbox";
import { createApp } from "../app.ts";
import { loadCatalogue } from "../catalogue.ts";
import { loadConfig } from "../config/config.ts";
import { OurHeader } from "../model/http.ts";
import { createLog } from "../telemetry/log.ts";
import type { CommandIo } from "./command.ts";

/** Where to listen; 0 takes any free port. */
export interface DemoPorts {
  readonly listen: number;
  readonly admin: number;
  readonly sandbox: number;
}

/** Starts both, and prints what to try and how to stop. */
export async function runDemo(ports: DemoPorts, io: Pick<CommandIo, "print" | "onStop">): Promise<void> {
  const demo = await startDemo(ports);
  // Before anything is printed: its reader may stop the process at once.
  io.onStop(demo.close);
  io.print(introduction(demo));
  io.print(`# Paste this first: a ready token of the sandbox\nTOKEN=${demo.token}\n`);
  for (const call of demoCalls(demo)) io.print(`# ${call.title}\n${toCurl(call)}\n`);
  io.print(
    `# Or see them all made, with the v2 calls of each: npm start -- --tour\n\n${OUTLOOK}\n\nCtrl-C stops both.`,
  );
}

/** Makes the calls, and prints for each the v1 request, the v2 calls and the response. Gives the exit code. */
export async function runTour(io: Pick<CommandIo, "print">): Promise<number> {
  const demo = await startDemo({ listen: 0, admin: 0, sandbox: 0 });
  try {
    io.print(introduction(demo));
    let failed = 0;
    for (const call of demoCalls(demo)) {
      const { text, ok } = await makeCall(call, demo);
      io.print(text);
      if (!ok) failed += 1;
    }
    io.print(OUTLOOK);
    return failed === 0 ? 0 : 1;
  } finally {
    await demo.close(1_000);
  }
}

interface Demo {
  readonly sandbox: Sandbox;
  readonly token: string;
  readonly url: string;
  readonly adminUrl: string;
  readonly sandboxUrl: string;
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
        cutoverMode: "translate",
        // Whoever stops it is waiting at the keyboard.
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
    const close = async (graceMs?: number) => {
      await app.close(graceMs);
      await sandbox.close();
    };
    return { sandbox, token: sandbox.token("admin"), url, adminUrl, sandboxUrl, close };
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}

function introduction({ url, adminUrl, sandboxUrl }: Demo): string {
  return `carryover demo. The platform is a sandbox: made-up records in this process, gone when it stops.

  carryover  ${url}   v1 clients point here
  platform   ${sandboxUrl}   the sandbox: v2, native v1, token exchange
  admin      ${adminUrl}   /healthz /readyz /metrics
`;
}

const OUTLOOK = `To put carryover in front of a real platform:
  npx carryover serve --upstream-v2-url https://PLATFORM --upstream-v1-url https://PLATFORM --cutover-mode native
Then every v1 client stays on native v1 until a rule moves it (docs/runbook.md).`;

/** One call, made by the tour or pasted as a curl line. It succeeds with status 200. */
interface DemoCall {
  readonly title: string;
  readonly method: "GET" | "PUT";
  readonly url: string;
  readonly body?: string;
  readonly token: boolean;
  /** Only the lines of the response that begin with this are shown. */
  readonly only?: string;
  /** The response is long: only its beginning is shown, with its header fields. */
  readonly long?: true;
}

function demoCalls({ url, adminUrl, sandboxUrl, sandbox }: Demo): readonly DemoCall[] {
  const group = sandbox.wellKnown.someGroup;
  const read = { method: "GET", token: true } as const;
  return [
    {
      ...read,
      title: "A v1 list: every group in one response, though v2 sends at most 200 a page",
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
      title: "What an operator sees of it",
      url: `${adminUrl}/metrics`,
      only: "carryover_requests_total",
    },
  ];
}

/** The call as a line for a shell in which TOKEN is set. */
function toCurl({ method, url, body, token, only, long }: DemoCall): string {
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
async function makeCall(
  call: DemoCall,
  { token, sandbox }: Demo,
): Promise<{ readonly text: string; readonly ok: boolean }> {
  const before = sandbox.requests.length;
  const response = await fetch(call.url, {
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
    `  answer: ${response.status}${list === null ? "" : `, ${body.length} bytes, carryover-list: ${list}`}`,
    `    ${excerpt(call, body)}`,
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
