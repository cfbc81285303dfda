import { once } from "node:events";
import { chmod, lstat, mkdir, stat, unlink } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect, type Socket, type Server as SocketServer } from "node:net";
import { dirname } from "node:path";
import { ConfigError } from "../config/faults.ts";
import { type BodyLimits, createBodyLimits } from "../edge/body-limits.ts";
import { acceptWaiting, BACKLOG, openClientPort } from "../edge/client-port.ts";
import type { EdgeOptions } from "../edge/edge.ts";
import type { ProcessorShare } from "../edge/processor-share.ts";
import type { CredentialShares } from "../model/credential-shares.ts";
import type { Upstream } from "../model/exchange.ts";
import type { StreamSend } from "../model/http.ts";
import type { MemoryBudget } from "../model/memory-budget.ts";
import { Problem, problemBody } from "../model/problem.ts";
import type { Decide, DeferredPlan, SettledPlan } from "../model/request.ts";
import { createSignalController } from "../model/signal.ts";
import { createHttp2Refusal } from "./http2-refusal.ts";
import { hasBody, type IncomingRequest, isAnswered } from "./incoming-request.ts";
import { passThrough } from "./passthrough.ts";
import { readBody } from "./request-body.ts";
import { createRequestLifecycle, type Expectation, type RequestLifecycle } from "./request-lifecycle.ts";
import { respond } from "./respond.ts";
import { sendProblem } from "./response.ts";
import { createUploadSlots } from "./upload-slots.ts";

export interface HttpServerLimits {
  /** Longest body of a request that carryover answers itself. */
  readonly bodyBytes: number;
  /** Longest head of a request. */
  readonly headerBytes: number;
  readonly uriBytes: number;
  /** Requests at a time. */
  readonly inFlight: number;
  /** Longest life of a request, its answer included. */
  readonly requestSeconds: number;
  /** Bytes a second that a client has to send of a body, after ten seconds (1 KiB); 0: any. */
  readonly minBodyRate?: number | undefined;
  /** A body that passes through is here as a whole, up to so many bytes, before a connection is taken for it (1 MiB). */
  readonly heldBytes?: number | undefined;
}

/** Milliseconds that a client may take; the defaults suit an ingress with 60 s. */
export interface HttpServerTimeouts {
  /** For the head of a request. */
  readonly headersMs: number;
  /** For head and body. */
  readonly requestMs: number;
  /** Between two requests of a connection. */
  readonly keepAliveMs: number;
  /** How often the first two are looked at. */
  readonly checkMs: number;
  /** For taking something of its answer (half a minute). */
  readonly stallMs?: number | undefined;
  /** For sending something of a body that the platform waits for (5 s). */
  readonly sendStallMs?: number | undefined;
  /** Before its `limits.minBodyRate` is looked at, and from then on between two looks (10 s). */
  readonly sendGraceMs?: number | undefined;
}

export interface HttpServerOptions extends EdgeOptions {
  readonly host: string;
  /** 0: any free one. Undefined: none. */
  readonly port: number | undefined;
  /** Other processes may listen at the port as well. */
  readonly reusePort?: boolean | undefined;
  /** Path of a Unix socket that serves as well. */
  readonly socket?: string | undefined;
  /** Stands before every path; empty, or begins with `/` and does not end with one. */
  readonly basePath: string;
  readonly limits: HttpServerLimits;
  readonly timeouts?: Partial<HttpServerTimeouts> | undefined;
  readonly decide: Decide;
  readonly upstreams: Partial<Readonly<Record<Upstream, StreamSend>>>;
  /** How many connections there may be to each (128). */
  readonly connections?: Partial<Readonly<Record<Upstream, number>>> | undefined;
  /** What may be held for clients; without it nothing waits for memory. */
  readonly memory?: MemoryBudget | undefined;
  /** Who counts as one caller; without it all do. */
  readonly callers?: CredentialShares | undefined;
  /** The turns of callers that the platform has not accepted, of other ports as well; without it, turns of its own. */
  readonly processorShare?: ProcessorShare | undefined;
}

const TIMEOUTS: HttpServerTimeouts = { headersMs: 10_000, requestMs: 30_000, keepAliveMs: 75_000, checkMs: 1_000 };

const CONNECTIONS = 128;

const INTERNAL = problemBody(new Problem("INTERNAL", "internal error"));

export type HttpServer = ReturnType<typeof createHttpServer>;

/**
 * One server for everything that clients send. Throws RangeError for a proxy network that is none.
 * A client that closes its sending side has left: an answer to it is given up (no half-open connections).
 */
export function createHttpServer(options: HttpServerOptions) {
  const { limits, log = () => {} } = options;
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const lifecycle = createRequestLifecycle({ ...options, keepAliveMs: timeouts.keepAliveMs });
  const serve = createServe(options);
  const refuseHttp2 = createHttp2Refusal({
    ...{ headerBytes: limits.headerBytes, lifeMs: timeouts.headersMs, report: lifecycle.report },
    ...{ newRequestId: options.newRequestId, now: options.now },
  });
  const create = (isLocal: boolean): Server => {
    const server = createServer({
      maxHeaderSize: limits.headerBytes,
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      keepAliveTimeout: timeouts.keepAliveMs,
      connectionsCheckingInterval: timeouts.checkMs,
      // The request checks report it in the right form, and HTTP/1.0 needs no Host.
      requireHostHeader: false,
    });
    // Node's own, which closing calls before it closes the port, takes an answer that a slow client has not had yet for one that is over.
    server.closeIdleConnections = () => {};
    const on = (expectation: Expectation) => (req: IncomingMessage, res: ServerResponse) => {
      try {
        const request = lifecycle.accept(req, res, expectation, isLocal);
        if (request !== undefined) serve(request);
      } catch (cause) {
        log("a request could not be taken in", cause);
        sendInternalError(res);
      }
    };
    server.on("request", on("none"));
    server.on("checkContinue", on("continue"));
    server.on("checkExpectation", on("unknown"));
    server.on("clientError", (error, socket: Socket) => {
      if (!refuseHttp2(error, socket)) lifecycle.broken(error, socket);
    });
    return server;
  };
  const { host, port, reusePort, socket } = options;
  const servers = {
    port: port === undefined ? undefined : create(false),
    socket: socket === undefined ? undefined : create(true),
  };
  const all = [servers.port, servers.socket].filter((server) => server !== undefined);
  return {
    /** Rejects when the port or the socket cannot be opened. Without a port, `url` is `unix:` and the path. */
    listen: async (): Promise<{ readonly url: string }> => {
      if (servers.socket !== undefined && socket !== undefined) await listenPrivately(servers.socket, socket, BACKLOG);
      if (servers.port === undefined || port === undefined) return { url: `unix:${socket}` };
      return { url: await openClientPort(servers.port, { host, port, reusePort }) };
    },
    /** From now on every response is the last of its connection; requests are still accepted and served. */
    beginShutdown: (): void => beginShutdown(all, lifecycle),
    /**
     * Takes no more connections, lets what is in flight finish for `graceMs` (Infinity: 24 days), then cuts it off. What still arrives on a connection
     * that is open is served. Returns how many requests were cut off.
     */
    close: (graceMs: number): Promise<number> => close(all, lifecycle, graceMs),
    /** Requests that are here now. */
    inFlight: lifecycle.inFlight,
  };
}

/** The response to a request that could not be parsed. */
function sendInternalError(res: ServerResponse): void {
  if (res.headersSent) res.destroy();
  else res.writeHead(500, { "content-type": "application/json", connection: "close" }).end(INTERNAL);
}

/** Decides on a request, then does it. */
function createServe(options: HttpServerOptions): (request: IncomingRequest) => void {
  const { limits, timeouts, basePath, connections = {} } = options;
  const bodies = createBodyLimits(options);
  const slots = (upstream: Upstream) => createUploadSlots(connections[upstream] ?? CONNECTIONS);
  const uploads = { v1: slots("v1"), v2: slots("v2"), sts: slots("sts") };
  const respondOptions = { bodyBytes: limits.bodyBytes, basePath, stallMs: timeouts?.stallMs, bodies };
  const passOptions = { ...options, bodies, uploads };
  const carryOut = (request: IncomingRequest, plan: SettledPlan, isRead: boolean): void => {
    if (plan.kind === "answer") void respond(request, plan, respondOptions, isRead);
    else passThrough(request, plan, passOptions);
  };
  return (request) => {
    try {
      const plan = options.decide(request);
      if (plan.kind === "deferred") void settle(request, plan, bodies, carryOut);
      else carryOut(request, plan, !hasBody(request));
    } catch (error) {
      sendProblem(request, Problem.from(error));
    }
  };
}

/** Reads the body that `plan` waits for, and carries out what it decides then. */
async function settle(
  request: IncomingRequest,
  plan: DeferredPlan,
  bodies: BodyLimits,
  carryOut: (request: IncomingRequest, plan: SettledPlan, isRead: boolean) => void,
): Promise<void> {
  const controller = createSignalController();
  request.controller = controller;
  try {
    let bytes: Uint8Array = new Uint8Array(0);
    if (hasBody(request)) {
      const body = await readBody(request, plan.limit, bodies, controller.signal, plan.tooLong);
      bytes = body.bytes;
      request.res.once("close", body.release);
    }
    if (!isAnswered(request)) carryOut(request, plan.decide(bytes), true);
  } catch (error) {
    if (!isAnswered(request)) sendProblem(request, Problem.from(error));
  }
}

const immediate = () => new Promise((resolve) => setImmediate(resolve));

/** How long a connection may stay without a request when carryover is stopping: a client may just have begun to send one. */
const LAST_IDLE_MS = 1_000;
/** How long answers that say that carryover is stopping may take. */
const LAST_WORDS_MS = 1_000;
/** A timer takes no more, and one that is given more ends at once. */
const LONGEST_MS = 2 ** 31 - 1 - LAST_WORDS_MS;

function beginShutdown(servers: readonly Server[], lifecycle: RequestLifecycle): void {
  lifecycle.beginShutdown();
  // For those whose answer did not say yet that it is the last.
  for (const server of servers) server.keepAliveTimeout = LAST_IDLE_MS;
}

async function close(servers: readonly Server[], lifecycle: RequestLifecycle, givenMs: number): Promise<number> {
  const graceMs = givenMs > 0 ? Math.min(givenMs, LONGEST_MS) : 0;
  let cut: number | undefined;
  const end = () => {
    for (const server of servers) server.closeAllConnections();
  };
  const deadline = setTimeout(() => {
    cut = lifecycle.cut();
  }, graceMs);
  const late = setTimeout(end, graceMs + LAST_WORDS_MS);
  let idle: NodeJS.Timeout | undefined;
  beginShutdown(servers, lifecycle);
  await acceptWaiting(servers, graceMs);
  const closed = Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  lifecycle.endIdle();
  // Connections that are left have no request; the head of one may be on its way.
  lifecycle.close(() => {
    clearTimeout(idle);
    const wait = cut === undefined ? Math.min(LAST_IDLE_MS, graceMs) : 0;
    idle = setTimeout(() => lifecycle.inFlight() === 0 && end(), wait);
  });
  await closed;
  // What was destroyed tells of it a moment later.
  for (let turns = 0; turns < 10 && lifecycle.inFlight() > 0; turns++) await immediate();
  for (const timer of [deadline, late, idle]) clearTimeout(timer);
  return cut ?? 0;
}

/** Permissions of everyone else. */
const OTHERS = 0o077;
const SOCKET_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Closing the server removes the file. Throws ConfigError for an unusable `path`. */
export async function listenPrivately(server: SocketServer, path: string, backlog: number): Promise<void> {
  try {
    await preparePrivateFolder(dirname(path));
    await removeStale(path);
    server.listen({ path, backlog });
    await once(server, "listening");
    // Until now the folder alone has kept others out.
    await chmod(path, SOCKET_MODE);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw fault(`${path} cannot be created (${reason})`, "name a file in a folder that this user may write to");
  }
}

async function preparePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: FOLDER_MODE }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  const { mode, uid } = await stat(folder);
  const remedy = "name a file in a folder that does not exist yet: carryover creates it";
  if (uid !== process.getuid?.()) throw fault(`the folder ${folder} belongs to another user`, remedy);
  if ((mode & OTHERS) !== 0)
    throw fault(`other users may open the folder ${folder}`, `set its mode to 0700, or ${remedy}`);
}

/** A process that was killed leaves its socket behind. */
async function removeStale(path: string): Promise<void> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (found === undefined) return;
  if (!found.isSocket()) throw fault(`${path} exists and is not a socket`, "name another file, or remove this one");
  if (await isServed(path)) throw fault(`another process listens at ${path}`, "stop it, or name another file");
  await unlink(path);
}

/** Only a refused connection proves that the server is gone: a busy one fails otherwise. */
function isServed(path: string): Promise<boolean> {
  const probe = connect(path);
  return new Promise((resolve) => {
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code !== "ECONNREFUSED"));
  });
}

function fault(what: string, remedy: string): ConfigError {
  return new ConfigError([{ where: "listen.socket", what, remedy }]);
}
