/** How does carryover begin to serve v1 clients? */

import { createApp } from "./app.ts";
import { announcement, type ListenPort, openPorts } from "./commands/listening.ts";
import { type ConfigInput, loadConfigWithCatalogue } from "./config/config.ts";

/** The process, as far as serving needs it. */
interface ServeIo {
  readonly env: ConfigInput["env"];
  readonly readFile: ConfigInput["readFile"];
  warn(text: string): void;
  onStop(stop: (graceMs?: number) => Promise<void>, options: StopOptions): void;
  onReload(reload: () => Promise<void>): void;
  onExit(run: () => void): void;
}

interface StopOptions {
  readonly withinMs: number;
  readonly failed: (error: unknown) => void;
}

/** For what is closed after the last request. */
const REST_MS = 5_000;

/** Listens and says where. Throws ConfigError; a port that cannot be had is told, and ends the command with 1. */
export async function serveClients(
  flags: Record<string, unknown>,
  io: ServeIo,
  outcome: { code: number | undefined },
): Promise<void> {
  const { config, catalogue, warnings } = await loadConfigWithCatalogue({ flags, env: io.env, readFile: io.readFile });
  for (const warning of warnings) io.warn(`warning: ${warning}`);
  const app = createApp(config, catalogue);
  io.onExit(() => app.settle());
  const { listen, admin } = config;
  const places: ListenPort[] = [
    {
      what: "the client side",
      port: listen.port,
      option: "--listen-port",
      host: { address: listen.host, option: "--listen-host" },
    },
    {
      what: "the admin side",
      port: admin.port,
      option: "--admin-port",
      host: { address: admin.host, option: "--admin-host" },
    },
  ];
  await openPorts(places, io, outcome, async () => {
    const addresses = await app.listen();
    // Before `onStop`, which would else take a hang-up for the end.
    io.onReload(() => app.reload());
    const stop = async (graceMs?: number): Promise<void> => {
      if ((await app.close(graceMs)) > 0) throw new Error("requests were cut off");
    };
    io.onStop(stop, { withinMs: app.graceMs + REST_MS, failed: app.failed });
    io.warn(announcement(config, catalogue, addresses));
  });
}
