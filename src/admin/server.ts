/** What does carryover tell its operators, over which port? */

import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { Problem, problemBody } from "../model/problem.ts";

export interface AdminOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** What views ask for (a function gives what is in force); without it they answer to this machine only. */
  readonly token?: string | (() => string) | undefined;
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
  /** Configured, listening and not stopping: nothing about the platform. */
  readonly ready: () => boolean;
  /** Further GETs by name: `unknown-fields` is served as JSON at `/unknown-fields`. */
  readonly views: ReadonlyMap<string, AdminView>;
  /** The same for people, by name with its ending: `clients.txt` is served at `/clients.txt`. */
  readonly texts?: ReadonlyMap<string, AdminTextView>;
  /** Hears of what a view or the metrics threw; the client does not. */
  readonly log?: (message: string, cause: unknown) => void;
}

/**
 * Gives what is shown; `query` is that of the request, at most as long as a request's head. It changes nothing. A `Problem`
 * that it throws is the answer.
 */
export type AdminView = (query: URLSearchParams) => unknown;

/** As `View`, but what is shown is the text itself; `.md` is Markdown, anything else plain. */
export type AdminTextView = (query: URLSearchParams) => string | Promise<string>;

export interface AdminServer {
  /** Rejects when the port cannot be had. */
  listen(): Promise<{ readonly url: string }>;
  /** Cuts what is still open. */
  close(): Promise<void>;
}

/** A head within 5 s and a body within 10; looked at every second. Nobody sends more than a few fields and a query. */
const HTTP = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16 * 1024,
};
const IDLE_MS = 30_000;
/** Longer than most scrape intervals would only hold connections. */
const KEEP_ALIVE_MS = 20_000;

/** No route has a schema: what would compile them takes a while to load, and is not. */
const noSchemas = (): never => {
  throw new Error("no route has a schema");
};

/** The operators' side (design section 10): `/healthz`, `/readyz`, `/metrics` open to all, views to whom they may be shown. */
export function createAdminServer(options: AdminOptions): AdminServer {
  const server = fastify({
    logger: false,
    forceCloseConnections: true,
    http: HTTP,
    // Also for those that do not read.
    connectionTimeout: IDLE_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    exposeHeadRoutes: true,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    frameworkErrors: (error, _request, reply) => {
      replyProblem(reply, new Problem("INVALID_PATH", "the path cannot be read", { cause: error }));
    },
  });
  boundConnections(server.server);
  server.addHook("onRequest", refuseWriting);
  addOpen(server, options);
  addViews(server, options);
  const shown = [...options.views.keys(), ...(options.texts?.keys() ?? [])].map((name) => `/${name}`);
  const paths = ["/healthz", "/readyz", "/metrics", ...shown];
  server.setNotFoundHandler((_request, reply) =>
    replyProblem(reply, new Problem("UNKNOWN_PATH", `there is nothing here; GET one of ${paths.join(", ")}`)),
  );
  server.setErrorHandler((error, _request, reply) => {
    const problem = Problem.from(error);
    if (problem.reason === "INTERNAL") options.log?.("an answer to an operator failed", error);
    return replyProblem(reply, problem);
  });
  return {
    listen: async () => ({ url: await server.listen({ host: options.host, port: options.port }) }),
    close: () => server.close(),
  };
}

/** Nothing can be changed here, and no body is read. */
function refuseWriting(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (request.method === "GET" || request.method === "HEAD") {
    done();
    return;
  }
  reply.header("allow", "GET, HEAD").header("connection", "close");
  replyProblem(reply, new Problem("METHOD_NOT_ALLOWED", "only GET and HEAD are answered here"), 405);
}

function addOpen(server: FastifyInstance, { ready, metrics }: AdminOptions): void {
  server.get("/healthz", (_request, reply) => reply.header("cache-control", "no-store").send({ status: "ok" }));
  server.get("/readyz", (_request, reply) => {
    const is = ready();
    return reply
      .code(is ? 200 : 503)
      .header("cache-control", "no-store")
      .send({ status: is ? "ready" : "not ready" });
  });
  server.get("/metrics", async (_request, reply) => {
    const text = await metrics.text();
    return reply.header("content-type", metrics.contentType).header("cache-control", "no-store").send(text);
  });
}

function addViews(server: FastifyInstance, { views, texts, token }: AdminOptions): void {
  const add = (name: string, type: string, show: (query: URLSearchParams) => Promise<string>) => {
    server.get(`/${name}`, async (request, reply) => {
      const problem = accessRefusal(request.raw, typeof token === "function" ? token() : token);
      if (problem !== undefined) return replyProblem(reply, problem);
      const url = request.raw.url ?? "";
      const mark = url.indexOf("?");
      const text = await show(new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1)));
      return reply
        .header("content-type", `${type}; charset=utf-8`)
        .header("cache-control", "no-store")
        .header("x-content-type-options", "nosniff")
        .send(text);
    });
  };
  for (const [name, view] of views) add(name, "application/json", async (query) => JSON.stringify(await view(query)));
  for (const [name, text] of texts ?? []) {
    add(name, name.endsWith(".md") ? "text/markdown" : "text/plain", async (query) => text(query));
  }
}

/** The same shape as on the clients' side. */
function replyProblem(reply: FastifyReply, problem: Problem, status: number = problem.http): FastifyReply {
  if (problem.reason === "UNAUTHENTICATED") reply.header("www-authenticate", "Bearer");
  return reply
    .code(status)
    .header("content-type", "application/json; charset=utf-8")
    .header("cache-control", "no-store")
    .send(problemBody(problem));
}

/** Who may read what carryover knows? */

/**
 * Undefined when the request may see views, else why not (design section 10): with a token, it must be shown; without
 * one, only this machine may ask, directly and by a name of its own.
 */
export function accessRefusal(request: IncomingMessage, token: string | undefined): Problem | undefined {
  if (token !== undefined) {
    return isSingle(request, "authorization") && sameText(bearerOf(request.headers.authorization), token)
      ? undefined
      : new Problem("UNAUTHENTICATED", "this needs `Authorization: Bearer` with the token of admin.tokenFile");
  }
  if (isLocal(request)) return undefined;
  return new Problem("UNAUTHENTICATED", "without admin.tokenFile this is answered to the same machine only");
}

/** Of several fields of one name Node shows the first, and what stands in front may have looked at another. */
function isSingle({ rawHeaders }: IncomingMessage, name: string): boolean {
  return rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length === 1;
}

function bearerOf(authorization: string | undefined): string {
  return /^bearer +(\S+)$/i.exec(authorization ?? "")?.[1] ?? "";
}

/** Takes the same time whatever differs, lengths included. */
function sameText(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected)) && given !== "";
}

/** What proxies add to a request. */
const FROM_A_PROXY = /^(?:via|forwarded|x-real-ip|x-forwarded-.*)$/;

function isLocal(request: IncomingMessage): boolean {
  // A proxy on this machine makes everybody a local peer; what it adds gives it away.
  if (Object.keys(request.headers).some((name) => FROM_A_PROXY.test(name))) return false;
  if (!isSingle(request, "host")) return false;
  // A page in a local browser can reach a local port under a name of its own (DNS rebinding): its Host tells.
  const host = (request.headers.host ?? "").replace(/:\d+$/, "").toLowerCase();
  return isLoopback(request.socket.remoteAddress ?? "") && (host === "localhost" || isLoopback(host));
}

/** True for loopback addresses, also those of IPv4 in IPv6. */
function isLoopback(address: string): boolean {
  return /^(\[?::1\]?|(::ffff:)?127(\.\d{1,3}){3})$/.test(address);
}

/** How many connections may operators' programs have, and who has to go when there are more? */

/** Probes, scrapes and people need a handful. */
const MOST_CONNECTIONS = 64;

/**
 * Keeps at most `most` connections to `server`: one more ends the one that is open the longest. Turning the newest away instead
 * would let those who hold connections and send nothing shut out the probes, and an instance whose probes fail is restarted.
 */
export function boundConnections(server: Server, most: number = MOST_CONNECTIONS): void {
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    const [oldest] = open;
    if (open.size >= most && oldest !== undefined) {
      open.delete(oldest);
      oldest.destroy();
    }
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
}
