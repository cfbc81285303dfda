/** Starts carryover in front of a platform. */
import { readFileSync } from "node:fs";
import type { Catalogue } from "../../src/catalogue/catalogue.ts";
import { loadConfig } from "../../src/config/config.ts";
import { type AppOptions, createApp } from "../../src/runtime/app.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { sharedCatalogue, sharedTranslations } from "./shared.ts";

export interface CarryoverOptions
  extends Pick<AppOptions, "onExchange" | "onComparison" | "clock" | "reloadMs" | "grpcTimeouts" | "store"> {
  readonly v2Url: string;
  readonly v1Url?: string;
  readonly stsUrl?: string;
  /** Further options as flags: `{ updatesMismatch: "fail" }`. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Takes every log line; without it the log is silent. */
  readonly logLine?: (line: string) => void;
  /** Default: the one of the configuration. */
  readonly catalogue?: Catalogue | undefined;
}

export interface Carryover {
  readonly url: string;
  readonly adminUrl: string;
  readonly grpcUrl?: string | undefined;
  /** Looks at the rules file now. */
  reload(): Promise<void>;
  close(): Promise<void>;
  /** As a signal stops it, with its time for draining; gives how many requests were cut off. */
  stop(): Promise<number>;
}

/** Starts the real thing on free loopback ports. */
export async function startCarryover({
  v2Url,
  v1Url,
  stsUrl,
  flags,
  logLine,
  catalogue,
  ...options
}: CarryoverOptions): Promise<Carryover> {
  const { config } = loadConfig({
    flags: {
      listenHost: "127.0.0.1",
      listenPort: "0",
      adminPort: "0",
      listenShutdownDelaySeconds: "0",
      upstreamV2Url: v2Url,
      cutoverMode: "translate",
      ...(v1Url === undefined ? {} : { upstreamV1Url: v1Url }),
      ...(stsUrl === undefined ? {} : { upstreamStsUrl: stsUrl }),
      ...flags,
    },
    env: {},
    readFile: (path) => readFileSync(path),
  });
  const log = createLog(
    logLine === undefined ? { level: "silent" } : { level: config.log.level, destination: { write: logLine } },
  );
  const app = createApp(config, catalogue ?? (await sharedCatalogue(config.upstream.v2.version)), {
    log,
    translate: sharedTranslations,
    ...options,
  });
  const { url, adminUrl, grpcUrl } = await app.listen();
  return {
    url,
    adminUrl: adminUrl ?? "",
    grpcUrl,
    reload: app.reload,
    close: async () => void (await app.close(1_000)),
    stop: () => app.close(),
  };
}
