/** What the demo and its tour run on: a sandbox platform, and carryover in front of it, each in this process. */
import { createSandbox, type Sandbox, VENDOR_TYPES } from "#sandbox";
import { loadCatalogue } from "../../catalogue/catalogue.ts";
import { loadConfig } from "../../config/config.ts";
import { type App, type AppOptions, createApp } from "../../runtime/app.ts";
import type { Log } from "../../telemetry/log.ts";
import { announcement } from "../serve.ts";

/** Where to listen; 0 takes any free port. */
export interface DemoPorts {
  readonly listen: number;
  readonly admin: number;
  readonly sandbox: number;
}

export const FREE_PORTS: DemoPorts = { listen: 0, admin: 0, sandbox: 0 };

export interface Platform {
  readonly sandbox: Sandbox;
  readonly url: string;
}

export interface Front {
  readonly app: App;
  readonly url: string;
  readonly adminUrl: string;
  readonly grpcUrl?: string | undefined;
  /** The command that starts the same, and what it prints. */
  readonly command: string;
  readonly announcement: string;
}

export interface Demo {
  readonly sandbox: Sandbox;
  readonly token: string;
  readonly url: string;
  readonly adminUrl: string;
  readonly sandboxUrl: string;
  /** Where v1 is translated and v2 passes through over gRPC, and the full name of a v1 method to try there. */
  readonly grpcUrl: string;
  readonly grpcMethod: string;
  close(graceMs?: number): Promise<void>;
}

/** Options that fill the page of the demo. */
interface DemoShow extends Pick<AppOptions, "past"> {
  /** A rules file, as in the middle of a migration. */
  readonly rulesFile?: string;
  /** Text of a configuration file. */
  readonly config?: string;
  readonly sandbox?: Parameters<typeof createSandbox>[0];
}

/** Names the configuration file of the demo, which is in no folder. */
const CONFIG = "the demo's";

/** A platform, and carryover that translates every v1 request, but for those that rules take. */
export async function startDemo(ports: DemoPorts, log: Log, show: DemoShow = {}): Promise<Demo> {
  const platform = await startPlatform(createSandbox(show.sandbox), ports.sandbox);
  const { sandbox, url: sandboxUrl } = platform;
  try {
    const {
      app,
      url,
      adminUrl,
      grpcUrl = "",
    } = await startFront(
      platform,
      ports,
      {
        upstreamStsUrl: sandboxUrl,
        cutoverMode: "translate",
        listenGrpcPort: "0",
        grpcDescriptors: "the sandbox's",
        ...(show.rulesFile === undefined ? {} : { cutoverRulesFile: show.rulesFile }),
        ...(show.config === undefined ? {} : { config: CONFIG }),
      },
      { log, ...(show.past === undefined ? {} : { past: show.past }) },
      (path) => (path === CONFIG ? new TextEncoder().encode(show.config) : sandbox.descriptors()),
    );
    const close = async (graceMs?: number) => {
      await app.close(graceMs);
      await sandbox.close();
    };
    const grpcMethod = `${VENDOR_TYPES}.iam.Roles/List`;
    return { sandbox, token: sandbox.token("admin"), url, adminUrl, sandboxUrl, grpcUrl, grpcMethod, close };
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}

export async function startPlatform(sandbox: Sandbox, port: number): Promise<Platform> {
  const { url } = await sandbox.listen(port);
  return { sandbox, url };
}

/** Starts carryover with these flags, besides those that lead to the platform. */
export async function startFront(
  { url: platform }: Pick<Platform, "url">,
  ports: Omit<DemoPorts, "sandbox">,
  flags: Readonly<Record<string, string>>,
  options: Pick<AppOptions, "log" | "past">,
  readFile: (path: string) => Uint8Array = () => new Uint8Array(),
): Promise<Front> {
  const all = {
    listenHost: "127.0.0.1",
    listenPort: String(ports.listen),
    adminPort: String(ports.admin),
    // Whoever stops it is waiting at the keyboard.
    listenShutdownDelaySeconds: "0",
    upstreamV2Url: platform,
    upstreamV1Url: platform,
    ...flags,
  };
  const { config } = loadConfig({ flags: all, env: {}, readFile });
  const catalogue = await loadCatalogue(config.upstream.v2.version);
  const app = createApp(config, catalogue, options);
  const addresses = await app.listen();
  const words = Object.entries(all).map(([name, value]) => `--${kebabCase(name)} ${value}`);
  const command = `npx carryover serve ${words.join(" ")}`;
  return {
    app,
    ...addresses,
    adminUrl: addresses.adminUrl ?? "",
    command,
    announcement: announcement(config, catalogue, addresses),
  };
}

function kebabCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
