/** How does a Problem become a reply? (The only place.) */
import { STATUS_CODES } from "node:http";
import type { Exchange } from "../model/exchange.ts";
import { OurHeader } from "../model/http.ts";
import { type Problem, problemBody } from "../model/problem.ts";
import { writeWhole } from "./reply.ts";
import { isAnswered, noteProblem, type Visit } from "./visit.ts";

/** After these nothing on the connection can be trusted to begin where it seems to. */
const UNSAFE: ReadonlySet<string> = new Set([
  "INVALID_REQUEST",
  "REQUEST_TIMEOUT",
  "HEADERS_TOO_LARGE",
  "UPGRADE_REFUSED",
]);

/**
 * Answers `visit` with `problem` (design: carryover's own errors). An answer that has begun is cut off instead, so that it
 * cannot be taken for a whole one. `status` only where HTTP has one of its own for the case.
 */
export function sendProblem(visit: Visit, problem: Problem, status: number = problem.http): void {
  noteProblem(visit.exchange, problem);
  if (isAnswered(visit)) {
    cutOff(visit);
    return;
  }
  if (UNSAFE.has(problem.reason)) visit.last = true;
  const headers = [...problemHeaders(problem), ...modeHeader(visit.exchange), "x-request-id", visit.exchange.requestId];
  writeWhole(visit, status, headers, Buffer.from(problemBody(problem)));
}

/** Who was to serve a v1 request, as answers say it too. */
function modeHeader({ apiVersion, mode }: Exchange): readonly string[] {
  return apiVersion === "v1" && mode !== "refused" && mode !== "pass" ? [OurHeader.MODE, mode] : [];
}

/** Ends an answer that has begun so that nobody takes it for complete. */
export function cutOff(visit: Visit): void {
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
  return `${rawHead(problem, body, ["connection", "close"])}\r\n${body}`;
}

/** Status line and headers of a reply with `body` as text, each with its line end; `first`: headers to begin with, flat. */
export function rawHead(problem: Problem, body: string, first: readonly string[] = []): string {
  const headers = [...first, ...problemHeaders(problem), "content-length", String(Buffer.byteLength(body))];
  let text = `HTTP/1.1 ${problem.http} ${STATUS_CODES[problem.http] ?? ""}\r\n`;
  for (let i = 0; i + 1 < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return text;
}

/** What stands before the body of every such reply, flat. */
function problemHeaders(problem: Problem): string[] {
  const headers = ["content-type", "application/json", "cache-control", "private, no-store", "vary", "Authorization"];
  if (problem.http === 401) headers.push("www-authenticate", "Bearer");
  if (problem.retryAfter !== undefined) headers.push("retry-after", String(Math.ceil(problem.retryAfter)));
  return headers;
}
