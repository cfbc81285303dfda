/** How can carryover be tried without a platform? A sandbox, carryover in front of it, and calls to paste. */

import { createSandbox, type Sandbox } from "#sandbox";
import { createApp } from "./app.ts";
import { loadCatalogue } from "./catalogue.ts";
import { loadConfig } from "./config.ts";
import { type Call, demoCalls, toCurl } from "./demo/calls.ts";
import { showCall } from "./demo/tour.ts";
import { createLog } from "./observe/log.ts";

/** Where to listen; 0 takes a free port. */
export interface DemoPorts {
  readonly listen: number;
  readonly admin: number;
  readonly sandbox: number;
}

interface Output {
  print(text: string): void;
}

interface Stopping {
  onStop(stop: (graceMs?: number) => Promise<void>): void;
}

interface Demo {
  readonly sandbox: Sandbox;
  readonly token: string;
  readonly url: string;
  readonly adminUrl: string;
  readonly sandboxUrl: string;
  readonly calls: readonly Call[];
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
        listenDrainSeconds: "0",
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
export async function runDemo(ports: DemoPorts, output: Output & Stopping): Promise<void> {
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
export async function runTour(output: Output): Promise<number> {
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
