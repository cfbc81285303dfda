/** HTTP requests from the edge to their handlers and back, and the requests open on each connection. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ShedReason } from "../edge/admission.ts";
import { createEdge, type EdgeOptions } from "../edge/edge.ts";
import { recordProblem } from "../edge/record.ts";
import { createExchange } from "../model/exchange.ts";
import { header, isSafe, readHeaders } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import { type IncomingRequest, type ServerContext, stopRequest } from "./incoming-request.ts";
import { createLoadShedder, plainRequestId } from "./load-shedder.ts";
import { endWithProblem, rawProblem, sendProblem } from "./response.ts";
import { createResponseBatch } from "./response-batch.ts";

export interface RequestLifecycleOptions extends EdgeOptions {
  readonly basePath: string;
  /** How long Node keeps a connection without a request. */
  readonly keepAliveMs: number;
}

/** What the client said with `Expect`. */
export type Expectation = "none" | "continue" | "unknown";

export type RequestLifecycle = ReturnType<typeof createRequestLifecycle>;

/** Translates between the edge and HTTP. */
export function createRequestLifecycle(options: RequestLifecycleOptions) {
  const { now, basePath, credentialOf = () => "" } = options;
  const peers = createConnections();
  const edge = createEdge<IncomingRequest>(options, endWithProblem);
  const server: ServerContext = { closing: false, batch: createResponseBatch(), now };
  const shed = createLoadShedder({ ...options, observe: edge.report });
  const createRequest = (
    req: IncomingMessage,
    res: ServerResponse,
    expects: boolean,
    why: ShedReason | undefined,
    isLocal: boolean,
  ): IncomingRequest => {
    const { method = "", url = "", httpVersion } = req;
    const received = readHeaders(req.rawHeaders, true);
    const peer = req.socket.remoteAddress ?? "";
    const arrival = edge.arrive({ method, target: url, httpVersion, received, peer, isLocal }, why);
    const request: IncomingRequest = {
      method,
      target: withoutBase(url, basePath),
      headers: arrival.headers,
      httpVersion,
      credential: arrival.credential,
      deadline: arrival.deadline,
      exchange: arrival.exchange,
      methodOverride: method === "POST" ? header(received, "x-http-method-override") : undefined,
      route: undefined,
      arrival,
      req,
      res,
      received,
      server,
      expects,
      // Node drops what follows an upgrade offer in the same packet: refuse further requests rather than ignore one.
      last: header(received, "upgrade") !== undefined,
      followed: false,
      whole: false,
      cut: false,
      pass: undefined,
      watch: undefined,
      passedAt: undefined,
      call: undefined,
      controller: undefined,
    };
    arrival.request = request;
    return request;
  };
  return {
    /** Lets a request in, or responds to it and returns undefined. `isLocal`: it came by the Unix socket. */
    accept(
      req: IncomingMessage,
      res: ServerResponse,
      expectation: Expectation,
      isLocal: boolean = false,
    ): IncomingRequest | undefined {
      const why = edge.admits(() => credentialOf(authorizationOf(req.rawHeaders)));
      // A pipelined response has no socket yet. Closing the connection has to wait for its turn.
      if (why !== undefined && expectation === "none" && !server.closing && res.socket !== null) {
        const id = plainRequestId(req);
        if (id !== undefined) {
          shed.refuse(req, res, why, id);
          return undefined;
        }
      }
      const request = createRequest(req, res, expectation === "continue", why, isLocal);
      const first = peers.add(request, () => responseClosed(request));
      if (first && isRefused(request, expectation)) return undefined;
      if (first && peers.admits(request)) return request;
      // Its connection ends before it: who sent it must be able to rely on nothing having been done (RFC 9112 section 9.6).
      sendProblem(request, new Problem("OVERLOADED", "the connection is ending", { retryAfter: 1, options: [] }));
      return undefined;
    },
    /** A connection could not be read any further. */
    broken(error: NodeJS.ErrnoException, socket: Socket): void {
      shed.flush();
      const problem = peers.fail(error, socket);
      if (problem === undefined) return;
      const exchange = createExchange(options.newRequestId(), now(), "", "");
      exchange.status = problem.http;
      recordProblem(exchange, problem);
      edge.report(exchange);
    },
    /** Hands `exchange` to the observer: for connections that no request could be read from. */
    report: edge.report,
    /** From now on every response is the last of its connection. */
    beginShutdown(): void {
      server.closing = true;
      peers.beginShutdown();
      shed.flush();
    },
    /** Ends the connections that have had a request and have none. */
    endIdle: peers.endIdle,
    /** `whenEmpty` is called now or later, each time nothing is in flight any more. */
    close(whenEmpty: () => void): void {
      shed.settle();
      edge.whenEmpty(whenEmpty);
    },
    /** Ends what is in flight so that no client takes its response for whole; returns the number of requests. */
    cut: edge.cut,
    inFlight: edge.inFlight,
  };
}

/** True when the request is not let in, and has been answered. */
function isRefused(request: IncomingRequest, expectation: Expectation): boolean {
  const { arrival, target } = request;
  const problem =
    arrival.problem ??
    (target === "" ? new Problem("UNKNOWN_PATH", "no such path", { options: ["listen.basePath"] }) : undefined);
  if (problem !== undefined) sendProblem(request, problem);
  else if (expectation === "unknown") sendProblem(request, new Problem("INVALID_REQUEST", "Expect: unknown"), 417);
  else return false;
  return true;
}

/** The answer has been sent, or never will be. */
function responseClosed(request: IncomingRequest): void {
  const isWhole = request.res.writableFinished;
  if (!isWhole) stopRequest(request, new Error("the client left"));
  request.arrival.end(isWhole ? "whole" : request.cut ? "cut" : "left");
}

/** The first one: whether there are more is for the gate to say. */
function authorizationOf(rawHeaders: readonly string[]): string {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (name.length === 13 && name.toLowerCase() === "authorization") return rawHeaders[i + 1] ?? "";
  }
  return "";
}

/** The target below our base path, or empty when it is not below it. */
function withoutBase(url: string, basePath: string): string {
  if (basePath === "") return url;
  if (!url.startsWith(basePath)) return "";
  const rest = url.slice(basePath.length);
  if (rest === "" || rest.startsWith("?")) return `/${rest}`;
  return rest.startsWith("/") ? rest : "";
}

/** How long a client may take for the last that is said to it. */
const LAST_RESPONSE_MS = 1_000;

interface OpenRequest {
  readonly request: IncomingRequest;
  readonly gone: () => void;
}

/** One connection from a client. */
interface ClientConnection {
  readonly socket: Socket;
  /** In the order in which they came; several when the client pipelines. */
  readonly open: OpenRequest[];
  /** The error of a request that could not be parsed, while earlier ones are open. */
  broken: Problem | undefined;
  /** The client has been sent `Connection: close`. */
  ending: boolean;
  /** Its last response began before the shutdown and ended in it: the client was not told, and may be sending its next request. */
  expectsMore: boolean;
  /** Neighbours: a list that leaves nothing behind. The tables of a busy set would carry requests into the old generation. */
  next: ClientConnection | undefined;
  previous: ClientConnection | undefined;
}

/** Under this key a socket carries its connection: weak maps cost the collector more than everything else here together. */
const CONNECTION = Symbol("connection");
type ConnectionSocket = Socket & { [CONNECTION]?: ClientConnection };

/** Its state is kept on the sockets, so nothing outlives a connection. */
function createConnections() {
  const all: ConnectionList = { first: undefined };
  let isStopping = false;
  return {
    /**
     * A request has begun. `gone` is called once, when its response has been sent or its client has left. False when it came after
     * a request whose response announced that the connection closes.
     */
    add(request: IncomingRequest, gone: () => void): boolean {
      const socket: ConnectionSocket = request.req.socket;
      const connection = socket[CONNECTION] ?? addConnection(socket, all);
      const entry: OpenRequest = { request, gone };
      const before = connection.open.at(-1)?.request;
      const ending = connection.ending || before?.last === true;
      if (ending) request.last = true;
      else if (before !== undefined) before.followed = true;
      connection.open.push(entry);
      request.res.once("close", () => {
        removeRequest(connection, entry);
        connection.expectsMore = isStopping && !request.last;
        if (connection.broken !== undefined && connection.open.length === 0) endConnection(socket, connection.broken);
      });
      return !ending;
    },
    /**
     * False when `request`, the newest of its connection, may not be served beside the one before it: only requests that change
     * nothing may be under way at the same time (RFC 9112 section 9.3.2). The connection then ends with the one before.
     */
    admits(request: IncomingRequest): boolean {
      const { [CONNECTION]: connection } = request.req.socket as ConnectionSocket;
      if (connection === undefined || connection.open.length < 2) return true;
      const before = connection.open.at(-2)?.request;
      if (
        before === undefined ||
        before.res.headersSent ||
        (isSafe(before.exchange.method) && isSafe(request.exchange.method))
      )
        return true;
      before.last = true;
      request.last = true;
      return false;
    },
    /** From now on responses are the last of their connections, unless their head is out already. */
    beginShutdown(): void {
      isStopping = true;
    },
    /** Ends the connections that have had a request and have none. One that expects a further request has Node's keep-alive time. */
    endIdle(): void {
      for (let connection = all.first; connection !== undefined; connection = connection.next) {
        if (connection.open.length > 0 || connection.expectsMore) continue;
        connection.ending = true;
        connection.socket.destroySoon();
      }
    },
    /** Node's parser gave up on a connection, or waited too long. Returns what is said to the client when no open request is to blame. */
    fail(error: NodeJS.ErrnoException, socket: Socket): Problem | undefined {
      const problem = parserProblem(error);
      const { [CONNECTION]: connection } = socket as ConnectionSocket;
      const last = connection?.open.at(-1)?.request;
      // The last response is out: what cannot be read now belongs to its request.
      if (connection?.ending === true && last === undefined) {
        socket.destroy();
        return undefined;
      }
      if (problem === undefined || !socket.writable || isUnused(error, socket)) {
        socket.destroy();
        return undefined;
      }
      if (connection !== undefined && last !== undefined) {
        if (last.req.complete) {
          connection.broken = problem;
          return problem;
        }
        failRequest(last, problem);
        return undefined;
      }
      endConnection(socket, problem);
      return problem;
    },
  };
}

/** A client that keeps connections at hand would take a 408 that waits there for the answer to the request that it sends next. */
function isUnused(error: NodeJS.ErrnoException, socket: Socket): boolean {
  return error.code === "ERR_HTTP_REQUEST_TIMEOUT" && socket.bytesRead === 0;
}

/** Where the list of connections begins. */
interface ConnectionList {
  first: ClientConnection | undefined;
}

function addConnection(socket: ConnectionSocket, all: ConnectionList): ClientConnection {
  const connection: ClientConnection = {
    socket,
    open: [],
    broken: undefined,
    ending: false,
    expectsMore: false,
    next: all.first,
    previous: undefined,
  };
  if (all.first !== undefined) all.first.previous = connection;
  all.first = connection;
  socket[CONNECTION] = connection;
  // A response that waits in a pipeline gets no event when the connection closes.
  socket.once("close", () => {
    unlink(connection, all);
    for (const entry of [...connection.open]) removeRequest(connection, entry);
  });
  return connection;
}

function unlink(connection: ClientConnection, all: ConnectionList): void {
  const { next, previous } = connection;
  if (next !== undefined) next.previous = previous;
  if (previous !== undefined) previous.next = next;
  else all.first = next;
  connection.next = undefined;
  connection.previous = undefined;
}

function removeRequest(connection: ClientConnection, entry: OpenRequest): void {
  const at = connection.open.indexOf(entry);
  if (at < 0) return;
  connection.open.splice(at, 1);
  if (entry.request.last) connection.ending = true;
  entry.gone();
}

/** The request whose body could not be read gets the answer, unless it has one. */
function failRequest(request: IncomingRequest, problem: Problem): void {
  if (request.whole) request.res.end();
  else endWithProblem(request, problem);
}

function endConnection(socket: Socket, problem: Problem): void {
  if (!socket.writable) return;
  // Without this, a client that reads nothing would keep its connection forever.
  const timer = setTimeout(() => socket.destroy(), LAST_RESPONSE_MS);
  socket.once("close", () => clearTimeout(timer));
  socket.end(rawProblem(problem), () => socket.destroy());
}

/** What a parser's error means for the client; undefined: the client is gone. */
function parserProblem(error: NodeJS.ErrnoException): Problem | undefined {
  switch (error.code) {
    case "ECONNRESET":
    case "EPIPE":
    // The client stopped in the middle of a request.
    case "HPE_INVALID_EOF_STATE":
      return undefined;
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new Problem("REQUEST_TIMEOUT", "the request did not arrive in time", { options: [] });
    case "HPE_HEADER_OVERFLOW":
      return new Problem("HEADERS_TOO_LARGE", "the request's head is too long");
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return new Problem("BODY_TOO_LARGE", "chunk extensions are too long", { options: [] });
    default:
      // Node's error holds the bytes that it could not read, and they may hold a credential.
      return new Problem("INVALID_REQUEST", "the request is not valid HTTP/1.1", { cause: new Error(error.code) });
  }
}
