/** `carryover demo`: a sandbox platform, carryover in front of it, and calls to try. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TIME } from "../../model/clock.ts";
import { createLog } from "../../telemetry/log.ts";
import type { CommandIo } from "../command.ts";
import { demoCalls, makeCall, toCurl } from "./calls.ts";
import { showCutover } from "./cutover.ts";
import { madeUpPast } from "./past.ts";
import { type Demo, type DemoPorts, FREE_PORTS, startDemo } from "./stage.ts";
import { DEMO_CLIENTS, demoRules, rewordOneRole, startTraffic } from "./traffic.ts";

/** Starts both, and prints what to try and how to stop. */
export async function runDemo(ports: DemoPorts, io: Pick<CommandIo, "print" | "onStop" | "fetch">): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "carryover-demo-"));
  const rulesFile = join(folder, "rules.yaml");
  await writeFile(rulesFile, demoRules(TIME.wall()));
  const demo = await startDemo(ports, createLog({ level: "warn" }), {
    rulesFile,
    past: madeUpPast(TIME.wall()),
    config: DEMO_CLIENTS,
    sandbox: { faults: rewordOneRole },
  });
  const endTraffic = startTraffic(demo, io);
  // Before anything is printed: its reader may stop the process at once.
  io.onStop(async (graceMs) => {
    endTraffic();
    await demo.close(graceMs);
    await rm(folder, { recursive: true, force: true });
  });
  io.print(`The page of the demo: open ${demo.adminUrl}/ in a browser\n`);
  io.print(introduction(demo));
  io.print(`# Paste this first: a ready token of the sandbox\nTOKEN=${demo.token}\n`);
  for (const call of demoCalls(demo)) io.print(`# ${call.title}\n${toCurl(call)}\n`);
  io.print(`# The same over gRPC, when grpcurl is installed\n${grpcCall(demo)}\n`);
  io.print(`# Where the migration stands, on one screen\nnpx carryover status ${demo.adminUrl}\n`);
  io.print(
    `# Or see them all made, and a cutover with a rollback: npm start -- --tour\n\n${OUTLOOK}\n\nCtrl-C stops both.`,
  );
}

function grpcCall({ grpcUrl, grpcMethod }: Demo): string {
  const data = JSON.stringify({ name: "viewer" });
  return `grpcurl -plaintext -H "Authorization: Bearer $TOKEN" -d '${data}' ${new URL(grpcUrl).host} ${grpcMethod}`;
}

export function introduction({ url, adminUrl, sandboxUrl, grpcUrl }: Demo): string {
  return `carryover demo. The platform is a sandbox: made-up records in this process, gone when it stops.

  carryover  ${url}   v1 clients point here
  gRPC       ${grpcUrl}   the same for gRPC clients
  platform   ${sandboxUrl}   the sandbox: v2, native v1, token exchange; HTTP and gRPC
  admin      ${adminUrl}   the page for a browser; /healthz /readyz /metrics
`;
}

export const OUTLOOK = `To put carryover in front of a real platform:
  npx carryover serve --upstream-v2-url https://PLATFORM --upstream-v1-url https://PLATFORM --cutover-mode native
Then every v1 client stays on native v1 until a rule moves it (docs/runbook.md).`;

/** Returns the exit code: 1 if a scene did not happen as the tour tells it. */
export async function runTour(io: CommandIo): Promise<number> {
  const isTold = (await showCalls(io)) && (await showCutover(io));
  io.print(PAGE);
  io.print(OUTLOOK);
  io.print(READ_NEXT);
  return isTold ? 0 : 1;
}

/** Makes the calls, and prints for each the v1 request, the v2 calls and the response. */
async function showCalls(io: Pick<CommandIo, "print" | "fetch">): Promise<boolean> {
  const demo = await startDemo(FREE_PORTS, createLog({ level: "warn" }));
  try {
    io.print(introduction(demo));
    let isTold = true;
    for (const call of demoCalls(demo)) {
      const { text, ok } = await makeCall(call, demo, io);
      io.print(text);
      isTold &&= ok;
    }
    return isTold;
  } finally {
    await demo.close(1_000);
  }
}

const PAGE = `To see a migration at a glance: npm start, and open the address of the page that it prints first.
`;

const READ_NEXT = `
Read next:
  docs/concepts.md   the ideas, in ten minutes
  docs/runbook.md    from the first installation to the end of v1, step by step
  docs/cutover.md    rules, comparisons, rollback
  docs/status.md     carryover status, gate and force
  docs/page.md       the page of the admin port`;
