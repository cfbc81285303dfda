/** The HTTP server for operators: probes, metrics, and views that need the admin token or the same machine. */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { Problem, problemBody } from "../model/problem.ts";
import type { AdminPage } from "../page/views.ts";
import type { ForceCommand, ForceNote } from "../rules/status.ts";
import { accessRefusal, OF_TOKEN_FILE } from "./access.ts";
import { confirmedRuleOf, forceOf, forgottenClientOf } from "./change-body.ts";
import { addPage, PAGE_CHANGES } from "./page.ts";

export interface AdminOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** The token for views, or a function that returns the one in force; without it only this machine may read them. */
  readonly token?: string | (() => string) | undefined;
  /** The token for `/force`, `/confirm` and `/forget` alone, used when there is no `token`. */
  readonly changeToken?: (() => string | undefined) | undefined;
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
  /** True while configured, listening and not stopping, whatever the state of the platform. */
  readonly ready: () => boolean;
  /** JSON views by name: `unknown-fields` is served at `/unknown-fields`. */
  readonly views: ReadonlyMap<string, AdminView>;
  /** Text views by name with extension: `clients.txt` is served at `/clients.txt`; `.md` is Markdown, others are plain text. */
  readonly texts?: ReadonlyMap<string, AdminTextView>;
  /** `POST /force`: carries it out, and returns what is in force then. Without it nothing can be changed here. */
  readonly force?: (command: ForceCommand, note: ForceNote) => unknown;
  /** `POST /confirm`: lets the rule of that name go on, and returns what it does then. */
  readonly confirm?: (rule: string) => unknown;
  /** `POST /forget`: drops the client of that name, and returns what was dropped. */
  readonly forget?: (client: string) => unknown;
  /** `GET /` for browsers. Without it there is no page. */
  readonly page?: AdminPage;
  /** Receives what a view or the metrics threw, which the client does not see. */
  readonly log?: (message: string, cause: unknown) => void;
}

/** JSON that a view made itself, in pieces between which other work goes on. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Returns what to show, and changes nothing. A `Problem` that it throws is the response. */
export type AdminView = (query: URLSearchParams) => unknown;

export type AdminTextView = (query: URLSearchParams) => string | Promise<string>;

/** A request has a few headers and a query. */
const HTTP = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16 * 1024,
};
const IDLE_MS = 30_000;
/** A longer time than most scrape intervals would only keep connections open. */
const KEEP_ALIVE_MS = 20_000;

/** No route has a schema, and loading fastify's compilers takes time. */
const noSchemas = (): never => {
  throw new Error("no route has a schema");
};

/** More than a reason and a name in any script. */
const MOST_BODY_BYTES = 8 * 1024;
const FORCE = "/force";
const CONFIRM = "/confirm";
const FORGET = "/forget";
const CHANGES: ReadonlySet<string> = new Set([FORCE, CONFIRM, FORGET]);
/** Paths that take a body. */
const POSTED: ReadonlySet<string | undefined> = new Set([...CHANGES, ...PAGE_CHANGES]);
const NEEDS_TOKEN = "this needs a token: set admin.tokenFile, or state.dir and run the command where carryover runs";
const UNWRITTEN_TOKEN =
  "this needs the token of the file change-token in state.dir, which cannot be written: see the log, or set admin.tokenFile";
/** Where an operator finds the token. */
const OF_CHANGE_TOKEN = "the token of the file change-token in state.dir (a new one at each start)";

export type AdminServer = ReturnType<typeof createAdminServer>;

/** `/healthz`, `/readyz` and `/metrics` are open to all, views are not. `/force`, `/confirm` and `/forget` are never open. */
export function createAdminServer(options: AdminOptions) {
  const server = fastify({
    logger: false,
    forceCloseConnections: true,
    http: HTTP,
    // Applies to clients that do not read as well.
    connectionTimeout: IDLE_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    exposeHeadRoutes: true,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    frameworkErrors: (error, _request, reply) => {
      replyProblem(reply, new Problem("INVALID_PATH", "the path cannot be read", { cause: error }));
    },
  });
  const exempt = boundConnections(server.server);
  server.addHook("onRequest", refuseWriting);
  addOpen(server, options);
  addViews(server, options);
  addChanges(server, options);
  const endPages = addPageOf(server, options, exempt);
  const names = ["healthz", "readyz", "metrics", ...options.views.keys(), ...(options.texts?.keys() ?? [])];
  const paths = names.map((name) => `/${name}`).join(", ");
  server.setNotFoundHandler((_request, reply) =>
    replyProblem(
      reply,
      new Problem("UNKNOWN_PATH", `there is nothing here; GET one of ${paths}, or POST ${[...CHANGES].join(", ")}`, {
        options: [],
      }),
    ),
  );
  server.setErrorHandler((error, _request, reply) => {
    const problem = bodyProblem(error) ?? Problem.from(error);
    if (problem.reason === "INTERNAL") options.log?.("a response to an operator failed", error);
    return replyProblem(reply, problem);
  });
  return {
    /** Rejects if the port is not available. */
    listen: async (): Promise<{ readonly url: string }> => ({
      url: await server.listen({ host: options.host, port: options.port }),
    }),
    /** Cuts open connections. */
    close: (): Promise<void> => {
      endPages();
      return server.close();
    },
  };
}

/** No other body is read. */
function refuseWriting({ method, routeOptions }: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (method === "GET" || method === "HEAD" || (method === "POST" && POSTED.has(routeOptions.url))) {
    done();
    return;
  }
  reply.header("allow", "GET, HEAD").header("connection", "close");
  replyProblem(reply, new Problem("METHOD_NOT_ALLOWED", "only GET and HEAD are allowed here"), 405);
}

/**
 * A change needs a token, on this machine as well. It also keeps pages in a local browser out: they cannot send `Authorization`
 * or JSON elsewhere without asking first (CORS), and are told no.
 */
function addChanges(server: FastifyInstance, { force, confirm, forget, token, changeToken }: AdminOptions): void {
  // Any other type is refused.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/json", { parseAs: "string", bodyLimit: MOST_BODY_BYTES }, (_, body, done) =>
    done(null, body),
  );
  const refuse = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const ofFile = typeof token === "function" ? token() : token;
    const expected = ofFile ?? changeToken?.();
    const missing = changeToken === undefined ? NEEDS_TOKEN : UNWRITTEN_TOKEN;
    const problem =
      expected === undefined
        ? new Problem("UNAUTHENTICATED", missing)
        : accessRefusal(request.raw, expected, ofFile === undefined ? OF_CHANGE_TOKEN : OF_TOKEN_FILE);
    if (problem === undefined) done();
    // What follows was not read.
    else replyProblem(reply.header("connection", "close"), problem);
  };
  const add = (path: string, change: (body: unknown) => unknown): void => {
    server.post(path, { onRequest: refuse }, async ({ body }, reply) => {
      const state = await change(body);
      return reply
        .header("content-type", "application/json; charset=utf-8")
        .header("cache-control", "no-store")
        .send(JSON.stringify(state));
    });
  };
  if (force !== undefined) {
    add(FORCE, (body) => {
      const { command, note } = forceOf(body);
      return force(command, note);
    });
  }
  if (confirm !== undefined) add(CONFIRM, (body) => confirm(confirmedRuleOf(body)));
  if (forget !== undefined) add(FORGET, (body) => forget(forgottenClientOf(body)));
}

/** What fastify throws for a body that it does not take. */
function bodyProblem(error: unknown): Problem | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    return new Problem("BODY_TOO_LARGE", `the body is longer than ${MOST_BODY_BYTES} bytes`, { options: [] });
  }
  if (typeof code !== "string" || !code.startsWith("FST_ERR_CTP_")) return undefined;
  return new Problem("INVALID_BODY", "the body cannot be read as application/json", { cause: error, options: [] });
}

function addPageOf(
  server: FastifyInstance,
  { page, token, changeToken, force, log }: AdminOptions,
  exempt: (socket: Socket) => void,
): () => void {
  if (page === undefined) return () => {};
  return addPage(server, {
    page,
    token: () => (typeof token === "function" ? token() : token),
    changeToken: () => changeToken?.(),
    force,
    exempt: ({ raw }) => exempt(raw.socket),
    log: (message, cause) => log?.(message, cause),
  });
}

function addOpen(server: FastifyInstance, { ready, metrics }: AdminOptions): void {
  server.get("/healthz", (_request, reply) => reply.header("cache-control", "no-store").send({ status: "ok" }));
  server.get("/readyz", (_request, reply) => {
    const isReady = ready();
    return reply
      .code(isReady ? 200 : 503)
      .header("cache-control", "no-store")
      .send({ status: isReady ? "ready" : "not ready" });
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
  for (const [name, view] of views) {
    add(name, "application/json", async (query) => {
      const found = await view(query);
      return found instanceof JsonText ? found.text : JSON.stringify(found);
    });
  }
  for (const [name, text] of texts ?? []) {
    add(name, name.endsWith(".md") ? "text/markdown" : "text/plain", async (query) => text(query));
  }
}

/** In the same shape as for clients. */
function replyProblem(reply: FastifyReply, problem: Problem, status: number = problem.http): FastifyReply {
  if (problem.reason === "UNAUTHENTICATED") reply.header("www-authenticate", "Bearer");
  return reply
    .code(status)
    .header("content-type", "application/json; charset=utf-8")
    .header("cache-control", "no-store")
    .send(problemBody(problem));
}

/** Probes, scrapes and people need a handful of connections. */
const MOST_CONNECTIONS = 64;

/**
 * Limits the connections: one more ends the oldest. Rejecting the newest instead would let idle connections shut out the probes,
 * and an instance whose probes fail is restarted. Returns what takes a connection out of the limit: an open page has a limit of its own.
 */
function boundConnections(server: Server): (socket: Socket) => void {
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    const [oldest] = open;
    if (open.size >= MOST_CONNECTIONS && oldest !== undefined) {
      open.delete(oldest);
      oldest.destroy();
    }
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  return (socket) => void open.delete(socket);
}
