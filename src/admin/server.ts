/** The HTTP server for operators: probes, metrics, and views that need the admin token or the same machine. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { isJsonObject, parsedJson } from "../model/json.ts";
import { Problem, problemBody } from "../model/problem.ts";
import { isPrintable, plainName } from "../model/text.ts";
import { type ForceCommand, ForceCommands, type ForceNote, LONGEST_BY, LONGEST_REASON } from "../rules/status.ts";

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
const CHANGES: ReadonlySet<string | undefined> = new Set([FORCE, CONFIRM, FORGET]);
const NEEDS_TOKEN = "this needs a token: set admin.tokenFile, or state.dir and run the command where carryover runs";
const UNWRITTEN_TOKEN =
  "this needs the token of the file change-token in state.dir, which cannot be written: see the log, or set admin.tokenFile";
/** Where an operator finds the token. */
const OF_TOKEN_FILE = "the token of admin.tokenFile";
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
  boundConnections(server.server);
  server.addHook("onRequest", refuseWriting);
  addOpen(server, options);
  addViews(server, options);
  addChanges(server, options);
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
    close: (): Promise<void> => server.close(),
  };
}

/** Only `CHANGES` change anything. No other body is read. */
function refuseWriting({ method, routeOptions }: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (method === "GET" || method === "HEAD" || (method === "POST" && CHANGES.has(routeOptions.url))) {
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

/** The members of a body that has no others than `names`; empty for any other body. */
function membersOf(body: unknown, names: readonly string[]): Readonly<Record<string, unknown>> {
  const value = typeof body === "string" ? parsedJson(body) : undefined;
  return isJsonObject(value) && Object.keys(value).every((name) => names.includes(name)) ? value : {};
}

function confirmedRuleOf(body: unknown): string {
  const { rule } = membersOf(body, ["rule"]);
  if (typeof rule === "string") return rule;
  throw new Problem("INVALID_BODY", 'this takes {"rule":"NAME"}', { options: [] });
}

function forceOf(body: unknown): { readonly command: ForceCommand; readonly note: ForceNote } {
  const { force, reason, by } = membersOf(body, ["force", "reason", "by"]);
  const command = ForceCommands.options.find((one) => one === force);
  if (command === undefined) {
    const what = 'this takes {"force":"native"} or {"force":"none"}, and where you like "reason" and "by"';
    throw new Problem("INVALID_BODY", what, { options: [] });
  }
  return {
    command,
    note: {
      ...(reason === undefined ? {} : { reason: noteOf("reason", reason, LONGEST_REASON) }),
      ...(by === undefined ? {} : { by: noteOf("by", by, LONGEST_BY) }),
    },
  };
}

function noteOf(name: string, text: unknown, most: number): string {
  if (typeof text === "string" && text !== "" && text.length <= most && isPrintable(text)) return text;
  throw new Problem("INVALID_BODY", `${name}: expected one printable line of 1 to ${most} characters`, { options: [] });
}

function forgottenClientOf(body: unknown): string {
  const client = membersOf(body, ["client"])["client"];
  if (typeof client === "string" && plainName(client) === client) return client;
  throw new Problem("INVALID_BODY", 'this takes {"client":"NAME"}, a name as /clients shows it', { options: [] });
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

/**
 * Why the request may not read views; undefined if it may. With a token, the request must have it; without one, it must come from
 * this machine, directly and under a name of this machine.
 */
export function accessRefusal(
  request: IncomingMessage,
  token: string | undefined,
  which = OF_TOKEN_FILE,
): Problem | undefined {
  if (token !== undefined) {
    return isSingle(request, "authorization") && sameText(bearerOf(request.headers.authorization), token)
      ? undefined
      : new Problem("UNAUTHENTICATED", `this needs \`Authorization: Bearer\` with ${which}`);
  }
  if (isLocal(request)) return undefined;
  return new Problem("UNAUTHENTICATED", "without admin.tokenFile this is answered to the same machine only");
}

/** Node returns the first of several headers of a name, but a proxy may have checked another. */
function isSingle({ rawHeaders }: IncomingMessage, name: string): boolean {
  return rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length === 1;
}

function bearerOf(authorization: string | undefined): string {
  return /^bearer +(\S+)$/i.exec(authorization ?? "")?.[1] ?? "";
}

/** Takes the same time for all texts, whatever their lengths. */
function sameText(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected)) && given !== "";
}

/** Headers that proxies add. */
const FROM_A_PROXY = /^(?:via|forwarded|x-real-ip|x-forwarded-.*)$/;

function isLocal(request: IncomingMessage): boolean {
  // Behind a proxy on this machine every client looks local; its headers reveal it.
  if (Object.keys(request.headers).some((name) => FROM_A_PROXY.test(name))) return false;
  if (!isSingle(request, "host")) return false;
  // A page in a local browser can reach a local port under its own name (DNS rebinding): the Host header reveals it.
  const host = (request.headers.host ?? "").replace(/:\d+$/, "").toLowerCase();
  return isLoopback(request.socket.remoteAddress ?? "") && (host === "localhost" || isLoopback(host));
}

/** True for loopback addresses, including IPv4 in IPv6. */
function isLoopback(address: string): boolean {
  return /^(\[?::1\]?|(::ffff:)?127(\.\d{1,3}){3})$/.test(address);
}

/** Probes, scrapes and people need a handful of connections. */
const MOST_CONNECTIONS = 64;

/**
 * Limits the connections: one more ends the oldest. Rejecting the newest instead would let idle connections shut out the probes,
 * and an instance whose probes fail is restarted.
 */
function boundConnections(server: Server): void {
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
}
