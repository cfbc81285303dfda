import { type IncomingMessage, STATUS_CODES } from "node:http";
import { recordProblem } from "../edge/record.ts";
import type { Exchange } from "../model/exchange.ts";
import { type HeaderField, type HeaderList, OurHeader, writeHeaders } from "../model/http.ts";
import { type Problem, problemBody } from "../model/problem.ts";
import { hasBody, type IncomingRequest, isAnswered, stopRequest } from "./incoming-request.ts";

/** Writes a response that is whole, then calls `ended`; `headers`: without length and connection. Adds to `headers`. */
export function writeWhole(
  request: IncomingRequest,
  status: number,
  headers: HeaderField[],
  body: Uint8Array,
  ended?: () => void,
): void {
  const { res, exchange, server } = request;
  request.whole = true;
  if (status !== 204 && status !== 304) headers.push(["content-length", String(body.length)]);
  const isUnfinished = !isRequestComplete(request) && !isBodyless(request, status);
  writeHead(request, status, undefined, headers, !isUnfinished);
  if (isBodyless(request, status)) {
    res.end();
    return;
  }
  exchange.responseBytes = body.length;
  if (isUnfinished) {
    endAfterRequest(request, body);
    ended?.();
  } else server.batch.end(res, body, ended);
}

/** How long a refused request may go on: until then it counts as one. */
const REST_MS = 500;

/**
 * The response is complete by its length; it ends when the client has stopped sending, or soon after. Until then the request stays open, so
 * that what cannot be read of it belongs to it.
 */
function endAfterRequest({ req, res }: IncomingRequest, body: Uint8Array): void {
  const end = () => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(end, REST_MS);
  res.write(body);
  req.once("end", end);
  res.once("close", end);
  req.resume();
}

/**
 * True when the client has nothing left to send. (Node marks a request as complete only after it has emitted it: one that is
 * refused at once would else cost its connection, and many that are refused for load a storm of new ones.)
 */
function isRequestComplete(request: IncomingRequest): boolean {
  return request.req.complete || !hasBody(request);
}

/** True when no body may follow the head. */
export function isBodyless({ req }: IncomingRequest, status: number): boolean {
  return status === 204 || status === 304 || req.method === "HEAD";
}

/** Writes the head of a response. Adds to `headers`. `lingers`: the connection outlives the response of an unfinished request for a moment. */
export function writeHead(
  request: IncomingRequest,
  status: number,
  statusText: string | undefined,
  headers: HeaderField[],
  lingers = true,
): void {
  const { res, exchange, server } = request;
  exchange.status = status;
  // What the client has not sent yet is not read any more, so no further request could begin after it.
  const isComplete = isRequestComplete(request);
  if (!isComplete && lingers) lingerAfter(request.req);
  if (request.last || (server.closing && !request.followed) || !isComplete) {
    request.last = true;
    headers.push(["connection", "close"]);
  }
  const flat = writeHeaders(headers);
  if (statusText === undefined) res.writeHead(status, flat);
  else res.writeHead(status, /^[\t\x20-\x7e]*$/.test(statusText) ? statusText : "", flat);
}

/** After these nothing on the connection can be trusted to begin where it seems to. */
const CONNECTION_ENDING: ReadonlySet<string> = new Set([
  "INVALID_REQUEST",
  "REQUEST_TIMEOUT",
  "HEADERS_TOO_LARGE",
  "UPGRADE_REFUSED",
]);

/**
 * Answers `request` with `problem`. An answer that has begun is cut off instead, so that it
 * cannot be taken for a whole one. `status` only where HTTP has one of its own for the case.
 */
export function sendProblem(request: IncomingRequest, problem: Problem, status: number = problem.http): void {
  recordProblem(request.exchange, problem);
  if (isAnswered(request)) {
    cutOff(request);
    return;
  }
  if (CONNECTION_ENDING.has(problem.reason)) request.last = true;
  const headers = [...problemHeaders(problem), ...modeHeader(request.exchange)];
  headers.push(["x-request-id", request.exchange.requestId]);
  writeWhole(request, status, headers, Buffer.from(problemBody(problem)));
}

/** Stops what is under way for `request`, and responds with `problem`. */
export function endWithProblem(request: IncomingRequest, problem: Problem): void {
  stopRequest(request, problem);
  sendProblem(request, problem);
}

/** Who was to serve a v1 request, as answers say it too. */
function modeHeader({ apiVersion, mode }: Exchange): HeaderList {
  return apiVersion === "v1" && mode !== "refused" && mode !== "pass" ? [[OurHeader.MODE, mode]] : [];
}

/** Breaks a response that has started, so that the client does not take it for complete. */
export function cutOff(request: IncomingRequest): void {
  const { req, res } = request;
  if (res.writableFinished) return;
  request.cut = true;
  // HTTP/1.0 has no chunks: there the end of the connection may be the end of the body, and only a reset says that it is not.
  if (req.httpVersion === "1.1") res.destroy();
  else req.socket.resetAndDestroy();
}

/** A whole HTTP message for a connection on which no request could be read. */
export function rawProblem(problem: Problem): string {
  const body = problemBody(problem);
  return `${rawHead(problem, body, [["connection", "close"]])}\r\n${body}`;
}

/** Status line and headers of a reply with `body` as text, each with its line end; `first`: headers to begin with. */
export function rawHead(problem: Problem, body: string, first: HeaderList = []): string {
  const length: HeaderField = ["content-length", String(Buffer.byteLength(body))];
  let text = `HTTP/1.1 ${problem.http} ${STATUS_CODES[problem.http] ?? ""}\r\n`;
  for (const [name, value] of [...first, ...problemHeaders(problem), length]) text += `${name}: ${value}\r\n`;
  return text;
}

/** Of a response with the problem as its body. */
export function problemHeaders(problem: Problem): HeaderField[] {
  const headers: HeaderField[] = [
    ["content-type", "application/json"],
    ["cache-control", "private, no-store"],
    ["vary", "Authorization"],
  ];
  if (problem.http === 401) headers.push(["www-authenticate", "Bearer"]);
  if (problem.retryAfter !== undefined) headers.push(["retry-after", String(Math.ceil(problem.retryAfter))]);
  headers.push(...problem.headers);
  return headers;
}

/** How long a client that still sends may go on after its response, as on the gRPC port: a long upload takes its time to notice. */
const LINGER_MS = 2_000;

/**
 * The response is complete by its framing; the connection ends when the client has stopped sending, or soon after.
 * Ending it at once would reset it, and the client might never read the response.
 */
export function lingerAfter(req: IncomingMessage): void {
  const { socket } = req;
  // Once: a later request of the same connection would keep it open after the last response, with its own response out of turn.
  if (Object.hasOwn(socket, "destroySoon")) return;
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    socket.destroySoon = destroySoon;
    if (req.complete || socket.destroyed) return destroySoon();
    const timer = setTimeout(destroySoon, LINGER_MS);
    socket.once("close", () => clearTimeout(timer));
    req.once("end", destroySoon);
    req.resume();
  };
}
