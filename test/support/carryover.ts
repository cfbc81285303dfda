/** How does a test get a running carryover in front of a platform? */
import { readFileSync } from "node:fs";
import { createApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config.ts";
import type { Exchange } from "../../src/model/exchange.ts";
import { createLog } from "../../src/observe/log.ts";
import { sharedCatalogue, sharedTranslations } from "./shared.ts";

export interface CarryoverOptions {
  readonly v2Url: string;
  readonly v1Url?: string;
  readonly stsUrl?: string;
  /** Further options as flags: `{ updatesMismatch: "fail" }`. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Takes every log line; without it the log is silent. */
  readonly logLine?: (line: string) => void;
  readonly onExchange?: (exchange: Exchange) => void;
}

export interface Carryover {
  readonly url: string;
  readonly adminUrl: string;
  close(): Promise<void>;
  /** As a signal stops it, with its time for draining; gives how many requests were cut off. */
  stop(): Promise<number>;
}

/** Starts the real thing on free loopback ports. */
export async function startCarryover(options: CarryoverOptions): Promise<Carryover> {
  const { config } = loadConfig({
    flags: {
      listenHost: "127.0.0.1",
      listenPort: "0",
      adminPort: "0",
      listenDrainSeconds: "0",
      upstreamV2Url: options.v2Url,
      ...(options.v1Url === undefined ? {} : { upstreamV1Url: options.v1Url }),
      ...(options.stsUrl === undefined ? {} : { upstreamStsUrl: options.stsUrl }),
      ...options.flags,
    },
    env: {},
    readFile: (path) => readFileSync(path),
  });
  const { logLine } = options;
  const log =
    logLine === undefined
      ? createLog({ level: "silent" })
      : createLog({ level: "info", destination: { write: logLine } });
  const app = createApp(config, await sharedCatalogue(config.upstream.v2.version), {
    log,
    translate: sharedTranslations,
    ...(options.onExchange === undefined ? {} : { onExchange: options.onExchange }),
  });
  const { url, adminUrl } = await app.listen();
  return { url, adminUrl, close: async () => void (await app.close(1_000)), stop: () => app.close() };
}
