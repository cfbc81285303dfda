/** `carryover check` of `listen.reusePort`: can this machine share a port between processes? */
import { createServer } from "node:net";
import type { Config } from "../../config/config.ts";
import { ConfigError } from "../../config/faults.ts";
import { openClientPort, requireReusePort } from "../../edge/client-port.ts";
import { type Finding, fail, findingsOf, ok } from "./finding.ts";

/** Empty unless the port is shared. `version`: of Node. */
export async function checkPort({ reusePort }: Config["listen"], version: string): Promise<readonly Finding[]> {
  if (!reusePort) return [];
  const server = createServer();
  try {
    requireReusePort(version);
    await openClientPort(server, { host: "127.0.0.1", port: 0, reusePort });
    return findingsOf("port", ok("processes on this machine can share listen.port"));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return findingsOf("port", ...error.faults.map(({ where, what, remedy }) => fail(`${where}: ${what}`, remedy)));
  } finally {
    server.close();
  }
}
