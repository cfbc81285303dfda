/** How does an answer go out? */
import { hasBody, type Visit } from "./visit.ts";

/** How long a client that still sends may go on after its answer, and how often that is looked at. */
const LINGER_MS = 500;

/** Writes an answer that is whole: `headers` flat, without length and connection. */
export function writeWhole(visit: Visit, status: number, headers: string[], body: Uint8Array): void {
  const { res, exchange } = visit;
  visit.whole = true;
  if (status !== 204 && status !== 304) headers.push("content-length", String(body.length));
  writeHead(visit, status, undefined, headers);
  if (isBodyless(visit, status)) {
    res.end();
    return;
  }
  exchange.responseBytes = body.length;
  if (isSent(visit)) res.end(body);
  else linger(visit, body);
}

/**
 * True when the client has nothing left to send. (Node calls a request complete only after it has told us of it: one that is
 * refused at once would else cost its connection, and many that are refused for load a storm of new ones.)
 */
function isSent(visit: Visit): boolean {
  return visit.req.complete || !hasBody(visit);
}

/** True when no body may follow the head. */
export function isBodyless({ req }: Visit, status: number): boolean {
  return status === 204 || status === 304 || req.method === "HEAD";
}

/** Writes the head of an answer; `headers` flat, repeats in order. */
export function writeHead(visit: Visit, status: number, statusText: string | undefined, headers: string[]): void {
  const { res, exchange, house } = visit;
  exchange.status = status;
  // What the client has not sent yet is not read any more, so no further request could begin behind it.
  if (visit.last || (house.closing && !visit.followed) || !isSent(visit)) {
    visit.last = true;
    headers.push("connection", "close");
  }
  if (statusText === undefined) res.writeHead(status, headers);
  else res.writeHead(status, /^[\t\x20-\x7e]*$/.test(statusText) ? statusText : "", headers);
}

/**
 * The answer is complete by its length; the connection ends when the client has stopped sending, or soon after. Ending it at
 * once would reset it, and the client might never read the answer.
 */
function linger({ req, res }: Visit, body: Uint8Array): void {
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
