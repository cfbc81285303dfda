/** How does a program of one's own run carryover inside its process? (The package's only entry; docs/embedding.md.) */
import { readFileSync } from "node:fs";
import { createApp } from "./app.ts";
import { loadConfigWithCatalogue } from "./config/config.ts";
import type { CarryoverConfig } from "./config/embedded-config.ts";
import { ConfigError } from "./config/faults.ts";
import { optionFaults } from "./config/sources.ts";
import type { Exchange } from "./model/exchange.ts";
import { createLog, type Log, type LogDestination } from "./telemetry/log.ts";
import { scrub, scrubPath } from "./telemetry/scrub.ts";

export type { CarryoverConfig } from "./config/embedded-config.ts";
export type { ConfigFault } from "./config/faults.ts";
export { ConfigError } from "./config/faults.ts";
export type { LogDestination } from "./telemetry/log.ts";

/** One carryover: a port for clients, and one for operators. It shares nothing with others in the process. */
export interface Carryover {
  /** What works and is probably not meant, one sentence each. */
  readonly warnings: readonly string[];
  /**
   * Reads the rules, then opens both ports. Rejects with `ConfigError` for rules that are wrong, and with Node's own error
   * (`code: "EADDRINUSE"`) for a port that cannot be had; then neither port is open. Rejects also when `close()` was called
   * before the ports were open. To be called once.
   */
  listen(): Promise<{ readonly url: string; readonly adminUrl: string }>;
  /** Looks at the rules file now; resolves when what it holds is in force, or refused and logged. */
  reload(): Promise<void>;
  /**
   * Is unready and serves on for `listen.shutdownDelaySeconds`, then takes no more requests, finishes those in flight, closes both ports.
   * At most `graceMs` milliseconds in all (default: `listen.shutdownDelaySeconds`, `limits.requestSeconds` and 5 s); what is not done by
   * then is cut off. Further calls wait for the first.
   */
  close(graceMs?: number): Promise<void>;
}

/** What is not configuration. */
export interface CarryoverOptions {
  /** Takes one JSON line after another, each with its line feed. Without it nothing is logged. */
  readonly log?: LogDestination | undefined;
  /** Called once for each request when it is over. What it throws is logged, and harms nobody. */
  readonly onRequest?: ((request: ServedRequest) => void) | undefined;
}

/** One request that is over. It holds no token, no query and nothing of a body. */
export interface ServedRequest {
  readonly requestId: string;
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  /** `none`: under none of the API's prefixes. */
  readonly apiVersion: "v1" | "v2" | "sts" | "none";
  /** `group`, `role-binding`; `unknown` where it is none. */
  readonly resource: string;
  /** `list`, `get`, `create`, `update`, `delete`, or a verb; `unknown` where it is none. */
  readonly operation: string;
  /** What served it; `pass` went through untouched, `refused` never left carryover. */
  readonly mode: "native" | "shadow" | "translate" | "pass" | "refused";
  /** As the ledger names it; `unknown` when nothing tells. */
  readonly client: string;
  /** Name of the rule that decided. */
  readonly rule: string | undefined;
  /** The status that went out. */
  readonly status: number;
  /** Reason of carryover's own error, when it answered with one (docs/errors.md). */
  readonly reason: string | undefined;
  readonly durationMs: number;
  /** Time spent waiting for upstreams, all calls added up. */
  readonly upstreamMs: number;
  readonly upstreamCalls: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** The client left before its answer was complete. */
  readonly aborted: boolean;
  /** Of a list that was read page by page: what is proved of it, and how it ended (docs/lists.md). */
  readonly list:
    | {
        readonly pages: number;
        readonly records: number;
        readonly witness: "cover" | "count" | "none";
        readonly outcome: string;
      }
    | undefined;
}

/**
 * A carryover that does not listen yet. Rejects with `ConfigError`, which names everything that is wrong in `config`, or in
 * `options`. It reads the files that `config` names, and leaves the process alone: no signals, no environment, no exit
 * code, no output.
 */
export async function createCarryover(config: CarryoverConfig, options: CarryoverOptions = {}): Promise<Carryover> {
  const faults = optionFaults(options);
  if (faults.length > 0) throw new ConfigError(faults);
  const read = { flags: {}, env: {}, readFile: (path: string) => readFileSync(path), object: { given: config } };
  const { config: complete, catalogue, warnings } = await loadConfigWithCatalogue(read);
  const log =
    options.log === undefined
      ? createLog({ level: "silent", destination: () => {} })
      : createLog({ level: complete.log.level, destination: options.log });
  const { onRequest } = options;
  const hooks = onRequest === undefined ? {} : { onExchange: telling(onRequest, log) };
  return lifeOf(createApp(complete, catalogue, { log, ...hooks }), warnings);
}

function lifeOf(app: ReturnType<typeof createApp>, warnings: readonly string[]): Carryover {
  let listening: ReturnType<Carryover["listen"]> | undefined;
  let closing: Promise<void> | undefined;
  return Object.freeze({
    warnings,
    listen: async () => {
      if (closing !== undefined) throw new Error("this carryover is closed; create another one");
      if (listening !== undefined) throw new Error("listen() was called already");
      listening = app.listen();
      const addresses = await listening;
      if (closing !== undefined) throw new Error("close() was called while listen() opened the ports");
      return addresses;
    },
    reload: () => app.reload(),
    close: (graceMs?: number) => {
      closing ??= closeAfter(listening, () => app.close(graceMs));
      return closing;
    },
  });
}

/** Opening that failed has closed everything by itself. */
async function closeAfter(opening: Promise<unknown> | undefined, close: () => Promise<unknown>): Promise<void> {
  const isOpen = await (opening?.then(() => true) ?? Promise.resolve(true)).catch(() => false);
  if (isOpen) await close();
}

function telling(onRequest: (request: ServedRequest) => void, log: Log): (exchange: Exchange) => void {
  return (exchange) => {
    try {
      onRequest(servedOf(exchange));
    } catch (error) {
      log.error("onRequest failed", error);
    }
  };
}

function servedOf(exchange: Exchange): ServedRequest {
  const { requestId, method, path, apiVersion, resource, operation, mode, client, rule, status, reason } = exchange;
  const { upstreamMs, calls, requestBytes, responseBytes, aborted, list } = exchange;
  return {
    requestId: scrub(requestId),
    method,
    path: scrubPath(path),
    apiVersion,
    resource,
    operation,
    mode,
    client,
    rule,
    status,
    reason,
    durationMs: performance.now() - exchange.startedAt,
    upstreamMs,
    upstreamCalls: calls.length,
    requestBytes,
    responseBytes,
    aborted,
    list: list === undefined ? undefined : { ...list },
  };
}
