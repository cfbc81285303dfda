/** HTTP/2 on the port for HTTP/1.1: every call gets an error at once. */
import { createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { endBetweenReads } from "../edge/http2-session.ts";
import { recordProblem } from "../edge/record.ts";
import { grpcUnsupported, isGrpc } from "../edge/request-checks.ts";
import { createExchange, type Exchange } from "../model/exchange.ts";
import { Problem, problemBody } from "../model/problem.ts";
import { problemHeaders } from "./response.ts";

export interface Http2RefusalOptions {
  readonly headerBytes: number;
  /** How long a connection may stay, in milliseconds. */
  readonly lifeMs: number;
  readonly newRequestId: () => string;
  readonly now: () => number;
  /** Called once per call. */
  readonly report: (exchange: Exchange) => void;
}

/** An error of the parser for HTTP/1.1. */
export interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

/** Takes the connection over when `error` says that it began with HTTP/2; false when it did not. */
export type RefuseHttp2 = (error: ParserError, socket: Socket) => boolean;

/** The first bytes of every connection with HTTP/2 (RFC 9113 section 3.4). */
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
/** Calls of one connection, at a time and in all. */
const MOST_CALLS = 100;
const MOST_FIELDS = 128;
/** For calls whose client does not end them. */
const LAST_CALLS_MS = 1_000;

/**
 * A gRPC client waits for the settings of its server. Without them it connects again, and many clients do so until their deadline. So it
 * gets them, and its calls are refused in words that it reports.
 */
export function createHttp2Refusal(options: Http2RefusalOptions): RefuseHttp2 {
  const taken = new WeakSet<Socket>();
  const server = createServer({
    maxSessionMemory: 1,
    maxHeaderListPairs: MOST_FIELDS,
    settings: { maxConcurrentStreams: MOST_CALLS, maxHeaderListSize: options.headerBytes },
  });
  server.on("session", (session) => {
    endBetweenReads(session);
    let calls = 0;
    const end = () => {
      clearTimeout(timer);
      session.close();
      timer = setTimeout(() => session.destroy(), LAST_CALLS_MS);
    };
    let timer = setTimeout(end, options.lifeMs);
    session.once("close", () => clearTimeout(timer));
    session.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      refuse(stream, headers, options);
      if (++calls === MOST_CALLS) end();
    });
  });
  return (error, socket) => {
    // The parser of HTTP/1.1 goes on to report what it cannot read, and that time is up.
    if (taken.has(socket)) return true;
    const { code, rawPacket = Buffer.of(), bytesParsed = 0 } = error;
    const rest = rawPacket.subarray(bytesParsed);
    // After a request with HTTP/1.1, its response would have to go out first.
    if (code !== "HPE_PAUSED_H2_UPGRADE" || socket.bytesRead !== PREFACE.length + rest.length) return false;
    taken.add(socket);
    socket.removeAllListeners("data");
    // Takes the bytes away from the parser.
    socket.on("data", ignore);
    socket.removeListener("data", ignore);
    socket.pause();
    socket.unshift(Buffer.concat([PREFACE, rest]));
    server.emit("connection", socket);
    return true;
  };
}

function ignore(): void {}

function refuse(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, options: Http2RefusalOptions): void {
  const exchange = createExchange(
    options.newRequestId(),
    options.now(),
    headers[":method"] ?? "",
    headers[":path"] ?? "",
  );
  const called = isGrpc(headers["content-type"]);
  const problem = called ? grpcUnsupported() : new Problem("INVALID_REQUEST", "HTTP version: expected 1.1 or 1.0");
  if (called) exchange.notes.push("grpc");
  exchange.status = problem.http;
  recordProblem(exchange, problem);
  stream.on("error", ignore);
  const id = { "x-request-id": exchange.requestId };
  if (called) {
    const status = { "grpc-status": String(problem.code), "grpc-message": problem.message };
    stream.respond({ "content-type": "application/grpc", ...status, ...id }, { endStream: true });
  } else {
    stream.respond({ ":status": problem.http, ...Object.fromEntries(problemHeaders(problem)), ...id });
    stream.end(problemBody(problem));
  }
  options.report(exchange);
}
