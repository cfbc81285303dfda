/** Which requests are open on a connection, and what becomes of them when it breaks? */
import type { Socket } from "node:net";
import { isSafe } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import { rawProblem, sendProblem } from "./errors.ts";
import { stop, type Visit } from "./visit.ts";

/** How long a client may take for the last that is said to it. */
const LAST_WORDS_MS = 1_000;

interface Entry {
  readonly visit: Visit;
  readonly gone: () => void;
}

/** One connection from a client. */
interface Peer {
  readonly socket: Socket;
  /** In the order in which they came; several when the client pipelines. */
  readonly open: Entry[];
  /** What could not be read behind the requests that are still open. */
  broken: Problem | undefined;
  /** A client was told that there is no further request. */
  ending: boolean;
  /** Neighbours: a list that leaves nothing behind. The tables of a busy set would carry requests into the old generation. */
  next: Peer | undefined;
  previous: Peer | undefined;
}

/** The connections that have requests on them. */
export interface Peers {
  /**
   * A request has begun. `gone` is called when its answer has been sent, or its client has left: once. False when it came behind
   * a request that was told to be the last of its connection.
   */
  add(visit: Visit, gone: () => void): boolean;
  /**
   * False when `visit`, the newest of its connection, may not be served beside the one before it: only requests that change
   * nothing may be under way at the same time (RFC 9112 section 9.3.2). The connection then ends with the one before.
   */
  admits(visit: Visit): boolean;
  /** Those that are here now. */
  visits(): readonly Visit[];
  /** Ends the connections that have had a request and have none. */
  endIdle(): void;
  /** Node's parser gave up on a connection, or waited too long. Returns what is said to the client when no open request is to blame. */
  fail(error: NodeJS.ErrnoException, socket: Socket): Problem | undefined;
}

/** Under this key a socket carries its peer: weak maps cost the collector more than everything else here together. */
const PEER = Symbol("peer");
type Carrier = Socket & { [PEER]?: Peer };

/** Keeps what it knows with the sockets, so nothing outlives a connection. */
export function createPeers(): Peers {
  const all: All = { first: undefined };
  return {
    add(visit, gone) {
      const socket: Carrier = visit.req.socket;
      const peer = socket[PEER] ?? enter(socket, all);
      const entry: Entry = { visit, gone };
      const before = peer.open.at(-1)?.visit;
      const ending = peer.ending || before?.last === true;
      if (ending) visit.last = true;
      else if (before !== undefined) before.followed = true;
      peer.open.push(entry);
      visit.res.once("close", () => {
        leave(peer, entry);
        if (peer.broken !== undefined && peer.open.length === 0) finish(socket, peer.broken);
      });
      return !ending;
    },
    admits(visit) {
      const { [PEER]: peer } = visit.req.socket as Carrier;
      if (peer === undefined || peer.open.length < 2) return true;
      const before = peer.open.at(-2)?.visit;
      if (
        before === undefined ||
        before.res.headersSent ||
        (isSafe(before.exchange.method) && isSafe(visit.exchange.method))
      )
        return true;
      before.last = true;
      visit.last = true;
      return false;
    },
    visits() {
      const visits: Visit[] = [];
      for (let peer = all.first; peer !== undefined; peer = peer.next) {
        for (const { visit } of peer.open) visits.push(visit);
      }
      return visits;
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
      const { [PEER]: peer } = socket as Carrier;
      const last = peer?.open.at(-1)?.visit;
      if (problem === undefined || !socket.writable || isUnused(error, socket)) {
        socket.destroy();
        return undefined;
      }
      if (peer !== undefined && last !== undefined) {
        if (last.req.complete) {
          peer.broken = problem;
          return problem;
        }
        blame(last, problem);
        return undefined;
      }
      finish(socket, problem);
      return problem;
    },
  };
}

/** A client that keeps connections at hand would take a 408 that waits there for the answer to the request that it sends next. */
function isUnused(error: NodeJS.ErrnoException, socket: Socket): boolean {
  return error.code === "ERR_HTTP_REQUEST_TIMEOUT" && socket.bytesRead === 0;
}

/** Where the list of connections begins. */
interface All {
  first: Peer | undefined;
}

function enter(socket: Carrier, all: All): Peer {
  const peer: Peer = { socket, open: [], broken: undefined, ending: false, next: all.first, previous: undefined };
  if (all.first !== undefined) all.first.previous = peer;
  all.first = peer;
  socket[PEER] = peer;
  // An answer that waits for its turn in a pipeline does not hear that the connection has closed.
  socket.once("close", () => {
    unlink(peer, all);
    for (const entry of [...peer.open]) leave(peer, entry);
  });
  return peer;
}

function unlink(peer: Peer, all: All): void {
  const { next, previous } = peer;
  if (next !== undefined) next.previous = previous;
  if (previous !== undefined) previous.next = next;
  else all.first = next;
  peer.next = undefined;
  peer.previous = undefined;
}

function leave(peer: Peer, entry: Entry): void {
  const at = peer.open.indexOf(entry);
  if (at < 0) return;
  peer.open.splice(at, 1);
  if (entry.visit.last) peer.ending = true;
  entry.gone();
}

/** The request whose body could not be read gets the answer, unless it has one. */
function blame(visit: Visit, problem: Problem): void {
  if (visit.whole) {
    visit.res.end();
    return;
  }
  stop(visit, problem);
  sendProblem(visit, problem);
}

function finish(socket: Socket, problem: Problem): void {
  if (!socket.writable) return;
  // A client that reads nothing would keep its connection for ever: nobody else looks at it any more.
  const timer = setTimeout(() => socket.destroy(), LAST_WORDS_MS);
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
