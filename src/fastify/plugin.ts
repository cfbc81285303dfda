/** The entry `carryover/fastify`: carryover inside a Fastify app (docs/embedding.md). */
import { randomUUID } from "node:crypto";
import { accessSync, constants } from "node:fs";
import { rmdir } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { MOST_SOCKET_BYTES } from "../config/checks.ts";
import { isPathPrefix } from "../config/values.ts";
import {
  type Carryover,
  type CarryoverConfig,
  type CarryoverOptions,
  type CarryoverStatus,
  ConfigError,
  createCarryover,
} from "../index.ts";
import { Problem, problemBody } from "../model/problem.ts";
import { DOMAINS } from "../router/router.ts";
import { type HttpProxy, loadProxy, requireFastify } from "./peers.ts";
import { createTransport, HOP, type HopHeaders, type Transport, type TransportAddress } from "./transport.ts";

export type { CarryoverConfig, CarryoverStatus } from "../index.ts";
export { ConfigError } from "../index.ts";

export interface CarryoverPluginOptions extends CarryoverOptions {
  /** Everything below it goes to carryover. Without it only the API's own paths do. */
  readonly prefix?: string;
  /** As of `createCarryover`. `listen.port` and `admin.port` are `none` unless they are set. */
  readonly config: CarryoverConfig;
  /** The name of the decorator, for a second carryover in the same context. Default: `carryover`. */
  readonly name?: string | undefined;
}

/** `app.carryover`. */
export interface FastifyCarryover {
  /** Reads the rules file now. Resolves when its rules are in force, or refused and logged. */
  reload(): Promise<void>;
  status(): CarryoverStatus;
}

declare module "fastify" {
  interface FastifyInstance {
    carryover: FastifyCarryover;
  }
}

/** The proxy wants a URL, and the transport has the address. */
const UPSTREAM = "http://carryover.invalid";

/** Registers carryover below a prefix of the app. It starts when the app is ready, and closes with it. */
async function carryoverPlugin(app: FastifyInstance, options: CarryoverPluginOptions): Promise<void> {
  requireFastify(app);
  const httpProxy = loadProxy(import.meta.url);
  const { prefix: givenPrefix = "", config, name = "carryover", log, ...others } = options;
  const prefix = readPrefix(app.prefix, givenPrefix);
  const place = placeOf(app, config);
  const carryover = await createCarryover(configFor(config, prefix, place), {
    ...carryoverOptions(others),
    log: log ?? ((line) => logWith(app, line)),
  });
  for (const warning of carryover.warnings) app.log.warn(`carryover: ${warning}`);
  const state: { address?: TransportAddress } = {};
  const transport = createTransport(() => {
    if (state.address === undefined) throw new Error("carryover does not listen yet");
    return state.address;
  });
  app.decorate(name, { reload: () => carryover.reload(), status: () => carryover.status() } satisfies FastifyCarryover);
  app.addHook("onReady", async () => {
    const { url } = await carryover.listen();
    state.address = "socket" in place ? { socketPath: place.socket } : addressOf(url);
  });
  app.addHook("onClose", () => close(carryover, place));
  await forward(app, httpProxy, { transport, prefix, own: givenPrefix, extra: config?.listen?.extraPrefixes ?? [] });
}

// As fastify-plugin marks a plugin whose decorators and hooks are for the context that registers it.
const plugin: typeof carryoverPlugin = Object.assign(carryoverPlugin, {
  [Symbol.for("skip-override")]: true,
  [Symbol.for("fastify.display-name")]: "carryover",
  [Symbol.for("plugin-meta")]: { name: "carryover" },
});

// biome-ignore lint/style/noDefaultExport: plugins of Fastify are default exports.
export default plugin;

function readPrefix(outer: string, given: unknown): string {
  const whole = typeof given === "string" ? outer.replace(/\/$/, "") + given : undefined;
  if (whole === "" || (whole !== undefined && isPathPrefix(whole))) return whole;
  const what = `got ${JSON.stringify(typeof given === "string" ? outer + given : given)}`;
  const remedy = "expected a path such as /gateway, without parameters and without a slash at its end, or nothing";
  throw new ConfigError([{ where: "prefix", what, remedy }]);
}

/** Where carryover listens for the app: on a Unix socket, else on a port of this machine. */
type Place = { readonly socket: string; readonly isOwn: boolean } | { readonly port: number };

function placeOf(app: FastifyInstance, config: CarryoverConfig | undefined): Place {
  const given = config?.listen?.socket;
  if (given !== undefined) return { socket: given, isOwn: false };
  const socket = join(tmpdir(), `carryover-${randomUUID()}`, "app");
  const reason = process.platform === "win32" ? "not on Windows" : unusable(socket);
  if (reason === undefined) return { socket, isOwn: true };
  app.log.warn(
    `carryover: no Unix socket (${reason}): it listens on a port of this machine, and trusts every program that connects`,
  );
  return { port: 0 };
}

/** Why there can be no socket at `path`, in a folder that is yet to be made. */
function unusable(path: string): string | undefined {
  if (Buffer.byteLength(path) > MOST_SOCKET_BYTES) return `the path ${path} is too long`;
  try {
    accessSync(dirname(dirname(path)), constants.W_OK);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function configFor(config: CarryoverConfig, prefix: string, place: Place): CarryoverConfig {
  const { listen, admin, log } = config ?? {};
  if (listen?.basePath !== undefined && listen.basePath !== prefix) {
    const what = `got ${JSON.stringify(listen.basePath)}, and the plugin's prefix is ${JSON.stringify(prefix)}`;
    throw new ConfigError([{ where: "listen.basePath", what, remedy: "leave it out" }]);
  }
  if (listen?.reusePort === true) {
    const what = "the plugin is reached through the port of its app";
    const remedy = "leave it out, and share the app's port: app.listen({ port, reusePort: true })";
    throw new ConfigError([{ where: "listen.reusePort", what, remedy }]);
  }
  const way =
    "socket" in place
      ? { socket: place.socket, port: listen?.port ?? ("none" as const) }
      : {
          host: listen?.host ?? "127.0.0.1",
          port: listen?.port === "none" ? place.port : (listen?.port ?? place.port),
          trustedProxies: [...(listen?.trustedProxies ?? []), "127.0.0.1"],
        };
  return {
    ...config,
    listen: { shutdownDelaySeconds: 0, ...listen, ...way, basePath: prefix },
    admin: { port: "none", ...admin },
    // The app logs requests.
    log: { level: "warn", ...log },
  };
}

/** Without what Fastify itself has added. */
function carryoverOptions({ onRequest, metrics }: CarryoverOptions): CarryoverOptions {
  return { onRequest, metrics };
}

function addressOf(url: string): TransportAddress {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}

/** One line of carryover's log as one of the app's. */
function logWith(app: FastifyInstance, line: string): void {
  const { level, time: _, msg, ...facts } = JSON.parse(line) as Record<string, unknown>;
  const write = level === "error" || level === "warn" || level === "debug" ? level : "info";
  app.log[write](facts, `carryover: ${String(msg)}`);
}

async function close(carryover: Carryover, place: Place): Promise<void> {
  await carryover.close();
  // It is not there if carryover never listened.
  if ("socket" in place && place.isOwn) await rmdir(dirname(place.socket)).catch(() => {});
}

interface Forwarding {
  readonly transport: Transport;
  /** The whole prefix, and the part that the plugin adds. */
  readonly prefix: string;
  readonly own: string;
  readonly extra: readonly string[];
}

async function forward(app: FastifyInstance, httpProxy: HttpProxy, { transport, prefix, own, extra }: Forwarding) {
  const paths = [...DOMAINS.map((domain) => `/${domain}`), "/sts", ...extra.map((path) => path.replace(/^v1:/, ""))];
  const routes = prefix === "" ? [...new Set(paths)].map((path) => `${path}/*`) : ["/*"];
  try {
    await app.register(async (scope) => {
      // A body passes unread, whatever its media type and whatever the app does with others.
      scope.removeAllContentTypeParsers();
      scope.addHook("preParsing", hideInvalidType);
      await scope.register(httpProxy, {
        upstream: UPSTREAM,
        prefix: own,
        rewritePrefix: prefix === "" ? "/" : prefix,
        routes,
        // The proxy would repeat a GET up to ten times within milliseconds.
        retryMethods: [],
        disableRequestLogging: true,
        undici: transport as never,
        handler: (request, reply, dest, options) =>
          reply.from(dest, {
            ...options,
            rewriteRequestHeaders: (_, headers) => headersFor(request, reply, headers) as IncomingHttpHeaders,
            onError: (_, { error }) => replyUnreachable(reply, error),
          }),
      });
    });
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "FST_ERR_DUPLICATED_ROUTE")) throw cause;
    const [, route = prefix] = /route '([^']+)'/.exec(cause.message) ?? [];
    throw new Error(`carryover/fastify: the app already has a route ${route}; choose another prefix`, { cause });
  }
}

const TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;
const INVALID_TYPE = Symbol("content-type");
type TypedRequest = FastifyRequest & { [INVALID_TYPE]?: string };

/** Fastify refuses a body whose media type it cannot read; that is for the platform to say. */
function hideInvalidType(
  request: TypedRequest,
  _reply: unknown,
  payload: unknown,
  done: (error: null, payload: never) => void,
) {
  const type = request.raw.headers["content-type"];
  if (type !== undefined && !TYPE.test(type)) {
    request[INVALID_TYPE] = type;
    request.raw.headers["content-type"] = "application/octet-stream";
  }
  done(null, payload as never);
}

/** The fields of a request for carryover: `given` are those that hooks of the app have left, merged by Node. */
function headersFor(request: TypedRequest, reply: FastifyReply, given: IncomingHttpHeaders): HopHeaders {
  const headers: HopHeaders = {
    ...given,
    host: request.raw.headers.host ?? request.raw.headers[":authority"] ?? "localhost",
  };
  if (request[INVALID_TYPE] !== undefined) headers["content-type"] = request[INVALID_TYPE];
  forwardedFields(request, headers);
  headers[HOP] = { incoming: request.raw, outgoing: reply.raw };
  return headers;
}

/** carryover believes the app, so the app has to say what it believes: its `trustProxy` decides. */
function forwardedFields({ ip, ips, protocol, host }: FastifyRequest, headers: HopHeaders): void {
  const isBehindProxy = ips !== undefined && ips.length > 1;
  for (const name of Object.keys(headers)) {
    if (!isBehindProxy && (name.startsWith("x-forwarded-") || name === "x-real-ip")) delete headers[name];
  }
  const chain = ips === undefined ? [ip] : [...ips].reverse();
  headers["x-forwarded-for"] = chain.filter((address) => address).join(", ") || undefined;
  headers["x-forwarded-proto"] = protocol;
  headers["x-forwarded-host"] = host || undefined;
}

/** carryover is closing, or broke: it has not responded, and may have done a part. */
function replyUnreachable(reply: FastifyReply, error: Error): void {
  const metadata = reply.request.method === "GET" || reply.request.method === "HEAD" ? {} : { state: "unknown" };
  const problem = new Problem("UPSTREAM_UNREACHABLE", "carryover does not respond", {
    metadata,
    options: [],
    cause: error,
  });
  reply.code(problem.http).header("content-type", "application/json").send(problemBody(problem));
}
