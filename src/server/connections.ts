/** The requests that are open on each connection, and what becomes of them when it breaks. */
import type { Socket } from "node:net";
import { isSafe } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import { type IncomingRequest, stopRequest } from "./incoming-request.ts";
import { rawProblem, sendProblem } from "./response.ts";

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
  /** What could not be read behind the requests that are still open. */
  broken: Problem | undefined;
  /** A client was told that there is no further request. */
  ending: boolean;
  /** Neighbours: a list that leaves nothing behind. The tables of a busy set would carry requests into the old generation. */
  next: ClientConnection | undefined;
  previous: ClientConnection | undefined;
}

/** The connections that have requests on them. */
export interface Connections {
  /**
   * A request has begun. `gone` is called when its answer has been sent, or its client has left: once. False when it came behind
   * a request that was told to be the last of its connection.
   */
  add(request: IncomingRequest, gone: () => void): boolean;
  /**
   * False when `request`, the newest of its connection, may not be served beside the one before it: only requests that change
   * nothing may be under way at the same time (RFC 9112 section 9.3.2). The connection then ends with the one before.
   */
  admits(request: IncomingRequest): boolean;
  /** Those that are here now. */
  requests(): readonly IncomingRequest[];
  /** Ends the connections that have had a request and have none. */
  endIdle(): void;
  /** Node's parser gave up on a connection, or waited too long. Returns what is said to the client when no open request is to blame. */
  fail(error: NodeJS.ErrnoException, socket: Socket): Problem | undefined;
}

/** Under this key a socket carries its peer: weak maps cost the collector more than everything else here together. */
const CONNECTION = Symbol("peer");
type ConnectionSocket = Socket & { [CONNECTION]?: ClientConnection };

/** Keeps what it knows with the sockets, so nothing outlives a connection. */
export function createConnections(): Connections {
  const all: ConnectionList = { first: undefined };
  return {
    add(request, gone) {
      const socket: ConnectionSocket = request.req.socket;
      const peer = socket[CONNECTION] ?? addConnection(socket, all);
      const entry: OpenRequest = { request, gone };
      const before = peer.open.at(-1)?.request;
      const ending = peer.ending || before?.last === true;
      if (ending) request.last = true;
      else if (before !== undefined) before.followed = true;
      peer.open.push(entry);
      request.res.once("close", () => {
        removeRequest(peer, entry);
        if (peer.broken !== undefined && peer.open.length === 0) endConnection(socket, peer.broken);
      });
      return !ending;
    },
    admits(request) {
      const { [CONNECTION]: peer } = request.req.socket as ConnectionSocket;
      if (peer === undefined || peer.open.length < 2) return true;
      const before = peer.open.at(-2)?.request;
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
    requests() {
      const requests: IncomingRequest[] = [];
      for (let peer = all.first; peer !== undefined; peer = peer.next) {
        for (const { request } of peer.open) requests.push(request);
      }
      return requests;
    },
    endIdle() {
      for (let peer = all.first; peer !== undefined; peer = peer.next) {
        if (peer.open.length > 0) continue;
        peer.ending = true;
        peer.socket.destroySoon();
      }
    },
    fail(error, socket) {
      const problem = parserProblem(error);
      const { [CONNECTION]: peer } = socket as ConnectionSocket;
      const last = peer?.open.at(-1)?.request;
      if (problem === undefined || !socket.writable || isUnused(error, socket)) {
        socket.destroy();
        return undefined;
      }
      if (peer !== undefined && last !== undefined) {
        if (last.req.complete) {
          peer.broken = problem;
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
  const peer: ClientConnection = {
    socket,
    open: [],
    broken: undefined,
    ending: false,
    next: all.first,
    previous: undefined,
  };
  if (all.first !== undefined) all.first.previous = peer;
  all.first = peer;
  socket[CONNECTION] = peer;
  // An answer that waits for its turn in a pipeline does not hear that the connection has closed.
  socket.once("close", () => {
    unlink(peer, all);
    for (const entry of [...peer.open]) removeRequest(peer, entry);
  });
  return peer;
}

function unlink(peer: ClientConnection, all: ConnectionList): void {
  const { next, previous } = peer;
  if (next !== undefined) next.previous = previous;
  if (previous !== undefined) previous.next = next;
  else all.first = next;
  peer.next = undefined;
  peer.previous = undefined;
}

function removeRequest(peer: ClientConnection, entry: OpenRequest): void {
  const at = peer.open.indexOf(entry);
  if (at < 0) return;
  peer.open.splice(at, 1);
  if (entry.request.last) peer.ending = true;
  entry.gone();
}

/** The request whose body could not be read gets the answer, unless it has one. */
function failRequest(request: IncomingRequest, problem: Problem): void {
  if (request.whole) {
    request.res.end();
    return;
  }
  stopRequest(request, problem);
  sendProblem(request, problem);
}

function endConnection(socket: Socket, problem: Problem): void {
  if (!socket.writable) return;
  // A client that reads nothing would keep its connection for ever: nobody else looks at it any more.
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
      return new Problem("REQUEST_TIMEOUT", "the request did not arrive in time");
    case "HPE_HEADER_OVERFLOW":
      return new Problem("HEADERS_TOO_LARGE", "the request's head is too long");
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return new Problem("BODY_TOO_LARGE", "chunk extensions are too long");
    default:
      // Node's error holds the bytes that it could not read, and they may hold a credential.
      return new Problem("INVALID_REQUEST", "the request is not valid HTTP/1.1", { cause: new Error(error.code) });
  }
}
