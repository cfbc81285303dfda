/** How does an answer go out? */

import { STATUS_CODES } from "node:http";
import type { Exchange } from "../model/exchange.ts";
import { type HeaderField, type HeaderList, OurHeader, writeHeaders } from "../model/http.ts";
import { type Problem, problemBody } from "../model/problem.ts";
import { hasBody, isAnswered, type RequestContext, recordProblem } from "./request-context.ts";

/** How long a client that still sends may go on after its answer, and how often that is looked at. */
const LINGER_MS = 500;

/** Writes a response that is whole; `headers`: without length and connection. Adds to `headers`. */
export function writeWhole(visit: RequestContext, status: number, headers: HeaderField[], body: Uint8Array): void {
  const { res, exchange } = visit;
  visit.whole = true;
  if (status !== 204 && status !== 304) headers.push(["content-length", String(body.length)]);
  writeHead(visit, status, undefined, headers);
  if (isBodyless(visit, status)) {
    res.end();
    return;
  }
  exchange.responseBytes = body.length;
  if (isRequestComplete(visit)) res.end(body);
  else endAfterRequest(visit, body);
}

/**
 * True when the client has nothing left to send. (Node calls a request complete only after it has told us of it: one that is
 * refused at once would else cost its connection, and many that are refused for load a storm of new ones.)
 */
function isRequestComplete(visit: RequestContext): boolean {
  return visit.req.complete || !hasBody(visit);
}

/** True when no body may follow the head. */
export function isBodyless({ req }: RequestContext, status: number): boolean {
  return status === 204 || status === 304 || req.method === "HEAD";
}

/** Writes the head of a response. Adds to `headers`. */
export function writeHead(
  visit: RequestContext,
  status: number,
  statusText: string | undefined,
  headers: HeaderField[],
): void {
  const { res, exchange, server: house } = visit;
  exchange.status = status;
  // What the client has not sent yet is not read any more, so no further request could begin behind it.
  if (visit.last || (house.closing && !visit.followed) || !isRequestComplete(visit)) {
    visit.last = true;
    headers.push(["connection", "close"]);
  }
  const flat = writeHeaders(headers);
  if (statusText === undefined) res.writeHead(status, flat);
  else res.writeHead(status, /^[\t\x20-\x7e]*$/.test(statusText) ? statusText : "", flat);
}

/**
 * The answer is complete by its length; the connection ends when the client has stopped sending, or soon after. Ending it at
 * once would reset it, and the client might never read the answer.
 */
function endAfterRequest({ req, res }: RequestContext, body: Uint8Array): void {
  const end = () => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  res.write(body);
  req.once("end", end);
  res.once("close", end);
  req.resume();
}

/** How does a Problem become a reply? (The only place.) */

/** After these nothing on the connection can be trusted to begin where it seems to. */
const CONNECTION_ENDING: ReadonlySet<string> = new Set([
  "INVALID_REQUEST",
  "REQUEST_TIMEOUT",
  "HEADERS_TOO_LARGE",
  "UPGRADE_REFUSED",
]);

/**
 * Answers `visit` with `problem` (design: carryover's own errors). An answer that has begun is cut off instead, so that it
 * cannot be taken for a whole one. `status` only where HTTP has one of its own for the case.
 */
export function sendProblem(visit: RequestContext, problem: Problem, status: number = problem.http): void {
  recordProblem(visit.exchange, problem);
  if (isAnswered(visit)) {
    cutOff(visit);
    return;
  }
  if (CONNECTION_ENDING.has(problem.reason)) visit.last = true;
  const headers = [...problemHeaders(problem), ...modeHeader(visit.exchange)];
  headers.push(["x-request-id", visit.exchange.requestId]);
  writeWhole(visit, status, headers, Buffer.from(problemBody(problem)));
}

/** Who was to serve a v1 request, as answers say it too. */
function modeHeader({ apiVersion, mode }: Exchange): HeaderList {
  return apiVersion === "v1" && mode !== "refused" && mode !== "pass" ? [[OurHeader.MODE, mode]] : [];
}

/** Ends an answer that has begun so that nobody takes it for complete. */
export function cutOff(visit: RequestContext): void {
  const { req, res } = visit;
  if (res.writableFinished) return;
  visit.cut = true;
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

function problemHeaders(problem: Problem): HeaderField[] {
  const headers: HeaderField[] = [
    ["content-type", "application/json"],
    ["cache-control", "private, no-store"],
    ["vary", "Authorization"],
  ];
  if (problem.http === 401) headers.push(["www-authenticate", "Bearer"]);
  if (problem.retryAfter !== undefined) headers.push(["retry-after", String(Math.ceil(problem.retryAfter))]);
  return headers;
}
