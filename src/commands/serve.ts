/** `carryover serve`. */

import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Config } from "../config/config.ts";
import { configSource } from "../config/reloaded-config.ts";
import { createApp } from "../runtime/app.ts";
import { loadConfigWithCatalogue } from "../runtime/configuration.ts";
import { VERSION } from "../version.ts";
import type { CommandIo } from "./command.ts";
import { type ListenPort, openPorts } from "./listening.ts";

/** Milliseconds for what is closed after the last request. */
const REST_MS = 5_000;

/** Listens, and prints where. Throws ConfigError. Gives exit code 1 when a port cannot be opened. */
export async function serveClients(flags: Record<string, unknown>, io: CommandIo): Promise<number | undefined> {
  const input = { flags, env: io.env, readFile: io.readFile };
  const { config, catalogue, warnings } = await loadConfigWithCatalogue(input);
  for (const warning of warnings) io.warn(`warning: ${warning}`);
  const app = createApp(config, catalogue, { configSource: configSource(input) });
  io.onExit(() => app.settle());
  const { listen, admin } = config;
  const sides = [
    {
      what: "the client side",
      port: listen.port,
      option: "--listen-port",
      host: { address: listen.host, option: "--listen-host" },
      isShared: listen.reusePort,
    },
    {
      what: "the admin side",
      port: admin.port,
      option: "--admin-port",
      host: { address: admin.host, option: "--admin-host" },
    },
    { what: "the gRPC side", port: listen.grpc.port, option: "--listen-grpc-port", isShared: listen.reusePort },
  ];
  const ports = sides.flatMap((side): ListenPort[] => (side.port === undefined ? [] : [{ ...side, port: side.port }]));
  return openPorts(ports, io, async () => {
    const addresses = await app.listen();
    io.onReload(() => app.reload());
    const stop = async (graceMs?: number): Promise<void> => {
      if ((await app.close(graceMs)) > 0) throw new Error("requests were cut off");
    };
    io.onStop(stop, { withinMs: app.graceMs + REST_MS, failed: app.failed });
    const url = boundUrl(addresses.url, listen.host);
    const both = listen.socket !== undefined && listen.port !== undefined;
    const bound = {
      url: both ? `${url} and unix:${listen.socket}` : url,
      adminUrl: addresses.adminUrl && boundUrl(addresses.adminUrl, admin.host),
      grpcUrl: addresses.grpcUrl && boundUrl(addresses.grpcUrl, listen.host),
    };
    io.warn(announcement(config, catalogue, bound));
  });
}

/** `url` names one address to call; what listens on all of them says so. */
function boundUrl(url: string, host: string): string {
  if (url.startsWith("unix:")) return url;
  if (host === "0.0.0.0") return `http://0.0.0.0:${new URL(url).port}`;
  return host === "::" ? `http://[::]:${new URL(url).port}` : url;
}

/**
 * Which API is served from where, and, one line each, what v2 does not serve. It prints addresses: the configuration
 * accepts none that holds a credential.
 */
export function announcement(
  { upstream, cutover, fallback, grpc, record }: Config,
  catalogue: Catalogue,
  {
    url,
    adminUrl,
    grpcUrl,
  }: { readonly url: string; readonly adminUrl: string | undefined; readonly grpcUrl?: string | undefined },
): string {
  const { v1, v2, sts } = upstream;
  const requests =
    cutover.rulesFile === undefined
      ? `${cutover.mode} (cutover.mode)`
      : `by the rules of ${cutover.rulesFile}, else ${cutover.mode} (cutover.mode)`;
  const native = fallback === "native" ? `native v1 at ${v1?.url}` : "refused with 501 (fallback: refuse)";
  const onlyV1 = v1 === undefined ? "refused with 501 (upstream.v1.url is not set)" : native;
  const exchange =
    sts === undefined
      ? "none, /sts/exchange is answered with 404 (upstream.sts.url is not set)"
      : `/sts/exchange goes to ${sts.url}`;
  const rpcs =
    grpc.descriptors === undefined ? "not translated (grpc.descriptors is not set)" : "translated by grpc.descriptors";
  return [
    `carryover ${VERSION}: v1 clients at ${url}, v2 ${catalogue.version} at ${v2.url}, ${adminUrl === undefined ? "no admin port" : `admin at ${adminUrl}`}, ${catalogue.resources.length} resources`,
    `  v1 requests: ${requests}`,
    `  operations that only v1 has: ${onlyV1}`,
    `  token exchange: ${exchange}`,
    ...(record.file === undefined ? [] : [`  recording: v1 requests go to ${record.file} (record.file)`]),
    ...(grpcUrl === undefined ? [] : [`  gRPC clients at ${grpcUrl}: v2 passes through, v1 is ${rpcs}`]),
  ].join("\n");
}
