/** How does carryover begin to serve v1 clients? */
import { announcement } from "./announce.ts";
import { createApp } from "./app.ts";
import { type Catalogue, catalogueVersions, loadCatalogue } from "./catalogue.ts";
import { ConfigError } from "./config/fault.ts";
import { type ConfigInput, loadConfig } from "./config.ts";
import { opening, type Place } from "./listen-fault.ts";

/** The process, as far as serving needs it. */
interface ServeIo {
  readonly env: ConfigInput["env"];
  readonly readFile: ConfigInput["readFile"];
  warn(text: string): void;
  onStop(stop: (graceMs: number) => Promise<void>): void;
  onReload(reload: () => Promise<void>): void;
  onExit(run: () => void): void;
}

/** Listens and says where. Throws ConfigError; a port that cannot be had is told, and ends the command with 1. */
export async function serveClients(
  flags: Record<string, unknown>,
  io: ServeIo,
  outcome: { code: number | undefined },
): Promise<void> {
  const { config, warnings, requireKnown } = loadConfig({ flags, env: io.env, readFile: io.readFile });
  for (const warning of warnings) io.warn(`warning: ${warning}`);
  const catalogue = await catalogueFor(config.upstream.v2.version);
  requireKnown(catalogue.resources.map(({ name }) => name));
  const app = createApp(config, catalogue);
  io.onExit(() => app.settle());
  const { listen, admin } = config;
  const places: Place[] = [
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
  await opening(places, io, outcome, async () => {
    const addresses = await app.listen();
    // Before `onStop`, which would else take a hang-up for the end.
    io.onReload(() => app.reload());
    io.onStop((graceMs) => app.close(graceMs));
    io.warn(announcement(config, catalogue, addresses));
  });
}

/** A version that nobody wrote a catalogue for is a fault of the configuration, not of the program. */
async function catalogueFor(version: string): Promise<Catalogue> {
  const known = await catalogueVersions();
  if (known.includes(version)) return loadCatalogue(version);
  const what = `there is no catalogue for ${JSON.stringify(version)}`;
  throw new ConfigError([{ where: "upstream.v2.version", what, remedy: `known versions: ${known.join(", ")}` }]);
}
