/** The package's only entry: carryover inside another program (docs/embedding.md). */
import { readFileSync } from "node:fs";
import type { CarryoverConfig } from "./config/embedded-config.ts";
import { ConfigError } from "./config/faults.ts";
import { optionFaults } from "./config/sources.ts";
import type { Exchange } from "./model/exchange.ts";
import { scrub, scrubPath } from "./model/secrets.ts";
import { type App, createApp } from "./runtime/app.ts";
import { loadConfigWithCatalogue } from "./runtime/configuration.ts";
import type { MetricsRegistry } from "./telemetry/foreign-registry.ts";
import { createLog } from "./telemetry/log.ts";
import type { Progress } from "./telemetry/progress.ts";

export type { CarryoverConfig } from "./config/embedded-config.ts";
export type { ConfigFault } from "./config/faults.ts";
export { ConfigError } from "./config/faults.ts";
export type { MetricsRegistry } from "./telemetry/foreign-registry.ts";

/** One carryover: a port for clients, and one for operators. Several in one process share nothing. */
export interface Carryover {
  /** Options that work but are probably not intended, one sentence each. */
  readonly warnings: readonly string[];
  /**
   * Reads the rules, then opens both ports. Rejects with `ConfigError` for wrong rules, with Node's own error
   * (`code: "EADDRINUSE"`) for a port that cannot be opened, and with an `Error` that names the other process while one uses `state.dir`; then
   * neither port is open. Waits up to 15 s when the last process there crashed. Rejects also when `close()` was
   * called before the ports were open, which ends that wait. To be called once.
   */
  listen(): Promise<{
    /** With `listen.port: none`, `unix:` and the path of the socket. */
    readonly url: string;
    /** Undefined with `admin.port: none`. */
    readonly adminUrl: string | undefined;
    /** Only with `listen.grpc.port`. */
    readonly grpcUrl?: string | undefined;
  }>;
  /** Reads the rules file now. Resolves when its rules are in force, or refused and logged. */
  reload(): Promise<void>;
  /** Its state now. */
  status(): CarryoverStatus;
  /**
   * Reports unready and keeps serving for `listen.shutdownDelaySeconds`. Then it accepts no more requests, finishes those
   * in flight, and closes both ports. All that takes at most `graceMs` milliseconds (default: the sum of
   * `listen.shutdownDelaySeconds`, `limits.requestSeconds` and 5 s); requests that are not done by then are cut off.
   * Further calls wait for the first.
   */
  close(graceMs?: number): Promise<void>;
}

/** The state of a carryover. */
export interface CarryoverStatus {
  /** Listening, and not stopping. An outage of the platform does not make it unready. */
  readonly ready: boolean;
  /** `cutover.mode`. */
  readonly mode: "native" | "shadow" | "translate";
  /** `native`: an operator has forced it, and no rule counts. */
  readonly force: "none" | "native";
  /** False: the rules file is invalid, and the rules before it are in force. */
  readonly lastReloadSuccessful: boolean;
  /** Upstreams whose circuit breaker is open. */
  readonly openBreakers: readonly string[];
  /** In the order of the file. */
  readonly rules: readonly {
    readonly name: string;
    /** As the file says. */
    readonly mode: "native" | "shadow" | "translate" | "brownout";
    /** `nothing`: it has expired, or it is a brownout outside of its windows. */
    readonly doing: "native" | "shadow" | "translate" | "brownout" | "nothing";
    readonly state: "as-written" | "stepped-back" | "returning" | "could-move" | "promoted" | "expired";
    /** One sentence: why, and what would change it; may be empty. */
    readonly detail: string;
  }[];
}

/** Where log lines go: a function, or a stream such as `process.stdout`. A stream without a reader costs lines, never requests. */
export type LogDestination = ((line: string) => void) | { write(line: string): unknown };

/** What a configuration file cannot hold. */
export interface CarryoverOptions {
  /** Receives one JSON line after another, each with its line feed. Without it nothing is logged. */
  readonly log?: LogDestination | undefined;
  /** Called once for each request when it is over. An error that it throws is logged and has no other effect. */
  readonly onRequest?: ((request: ServedRequest) => void) | undefined;
  /**
   * A `Registry` of prom-client that shows carryover's metrics as well, except process metrics (`carryover_process_…`,
   * `carryover_nodejs_…`). `close()` takes them out. It can show one carryover.
   */
  readonly metrics?: MetricsRegistry | undefined;
}

/** One finished request, without tokens, query and bodies. */
export interface ServedRequest {
  readonly requestId: string;
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  /** `none`: under no prefix of the API. */
  readonly apiVersion: "v1" | "v2" | "sts" | "none";
  /** `group`, `role-binding`; `unknown` where it is none. */
  readonly resource: string;
  /** `list`, `get`, `create`, `update`, `delete`, or a verb; `unknown` where it is none. */
  readonly operation: string;
  /** What served it. `pass`: passed through untouched; `refused`: never left carryover. */
  readonly mode: "native" | "shadow" | "translate" | "pass" | "refused";
  /** As the ledger names it; `unknown` when nothing identifies it. */
  readonly client: string;
  /** Name of the rule that decided. */
  readonly rule: string | undefined;
  /** The status that the client got. */
  readonly status: number;
  /** Reason of carryover's own error, when that was the response (docs/errors.md). */
  readonly reason: string | undefined;
  readonly durationMs: number;
  /** Time spent waiting for upstreams, the sum of all calls. */
  readonly upstreamMs: number;
  readonly upstreamCalls: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** The client left before its response was complete. */
  readonly aborted: boolean;
  /** Of a list that was read page by page: what was proved of it, and how it ended (docs/lists.md). */
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
 * Creates a carryover that does not listen yet. Rejects with `ConfigError`, which names everything that is wrong in `config`
 * or `options`. It reads the files that `config` names, and leaves the process alone: no signals, no environment, no exit
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
  const onExchange = (exchange: Exchange) => {
    try {
      onRequest?.(servedRequest(exchange));
    } catch (error) {
      log.error("onRequest failed", error);
    }
  };
  const app = createWithRegistry(options.metrics, (registry) =>
    createApp(complete, catalogue, { log, registry, ...(onRequest === undefined ? {} : { onExchange }) }),
  );
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
    status: () => statusOf(app.status()),
    close: (graceMs?: number) => {
      closing ??= (async () => {
        app.endWait();
        // A listen() that failed has closed everything itself.
        const failed = await listening?.then(
          () => false,
          () => true,
        );
        if (failed !== true) await app.close(graceMs);
      })();
      return closing;
    },
  });
}

/** Throws ConfigError if the registry has carryover's metrics. */
function createWithRegistry(registry: MetricsRegistry | undefined, create: (registry?: MetricsRegistry) => App): App {
  try {
    return create(registry);
  } catch (error) {
    if (registry?.getSingleMetric("carryover_requests_total") === undefined) throw error;
    const what = "the registry shows another carryover already";
    throw new ConfigError([{ where: "options.metrics", what, remedy: "give each carryover a registry of its own" }]);
  }
}

function statusOf({ ready = false, mode, force, lastReloadSuccessful, openBreakers = [], rules }: Progress) {
  return {
    ...{ ready, mode, force: force === "native" ? force : "none", lastReloadSuccessful, openBreakers },
    rules: rules.map(({ name, mode, doing, state, detail }) => ({ name, mode, doing, state, detail })),
  } satisfies CarryoverStatus;
}

function servedRequest(exchange: Exchange): ServedRequest {
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
