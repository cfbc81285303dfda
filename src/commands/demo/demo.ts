/** `carryover demo`: a sandbox platform, carryover in front of it, and calls to try. */
import { createLog } from "../../telemetry/log.ts";
import type { CommandIo } from "../command.ts";
import { demoCalls, toCurl } from "./calls.ts";
import { type Demo, type DemoPorts, startDemo } from "./stage.ts";

/** Starts both, and prints what to try and how to stop. */
export async function runDemo(ports: DemoPorts, io: Pick<CommandIo, "print" | "onStop">): Promise<void> {
  const demo = await startDemo(ports, createLog({ level: "warn" }));
  // Before anything is printed: its reader may stop the process at once.
  io.onStop(demo.close);
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
  admin      ${adminUrl}   /healthz /readyz /metrics
`;
}

export const OUTLOOK = `To put carryover in front of a real platform:
  npx carryover serve --upstream-v2-url https://PLATFORM --upstream-v1-url https://PLATFORM --cutover-mode native
Then every v1 client stays on native v1 until a rule moves it (docs/runbook.md).`;
