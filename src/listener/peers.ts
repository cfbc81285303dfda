/** Which requests are open on a connection, and what becomes of them when it breaks? */
import type { Socket } from "node:net";
import { Problem } from "../model/problem.ts";
import { rawProblem, sendProblem } from "./errors.ts";
import { stop, type Visit } from "./visit.ts";

interface Entry {
  readonly visit: Visit;
  readonly gone: () => void;
}

/** One connection from a client. */
interface Peer {
  /** In the order in which they came; several when the client pipelines. */
  readonly open: Entry[];
  /** What could not be read behind the requests that are still open. */
  broken: Problem | undefined;
}

/** The connections that have requests on them. */
export interface Peers {
  /** A request has begun. `gone` is called when its answer has been sent, or its client has left: once. */
  add(visit: Visit, gone: () => void): void;
  /** Node's parser gave up on a connection, or waited too long. Returns what is said to the client when no open request is to blame. */
  fail(error: NodeJS.ErrnoException, socket: Socket): Problem | undefined;
}

/** Under this key a socket carries its peer: weak maps cost the collector more than everything else here together. */
const PEER = Symbol("peer");
type Carrier = Socket & { [PEER]?: Peer };

/** Keeps what it knows with the sockets, so nothing outlives a connection. */
export function createPeers(): Peers {
  return {
    add(visit, gone) {
      const socket: Carrier = visit.req.socket;
      const peer = socket[PEER] ?? enter(socket);
      const entry: Entry = { visit, gone };
      peer.open.push(entry);
      visit.res.once("close", () => {
        leave(peer, entry);
        if (peer.broken !== undefined && peer.open.length === 0) finish(socket, peer.broken);
      });
    },
    fail(error, socket) {
      const problem = parserProblem(error);
      const { [PEER]: peer } = socket as Carrier;
      const last = peer?.open.at(-1)?.visit;
      if (problem === undefined || !socket.writable) {
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

function enter(socket: Carrier): Peer {
  const peer: Peer = { open: [], broken: undefined };
  socket[PEER] = peer;
  // An answer that waits for its turn in a pipeline does not hear that the connection has closed.
  socket.once("close", () => {
    for (const entry of [...peer.open]) leave(peer, entry);
  });
  return peer;
}

function leave(peer: Peer, entry: Entry): void {
  const at = peer.open.indexOf(entry);
  if (at < 0) return;
  peer.open.splice(at, 1);
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
  if (socket.writable) socket.end(rawProblem(problem), () => socket.destroy());
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
