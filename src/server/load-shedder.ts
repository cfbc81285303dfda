/** The cheapest refusal of a request that admission turns away. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type ShedReason, shedProblem } from "../edge/admission.ts";
import { isRequestId } from "../edge/headers.ts";
import { recordProblem } from "../edge/record.ts";
import { createExchange, type Exchange } from "../model/exchange.ts";
import { problemBody } from "../model/problem.ts";
import { rawHead } from "./response.ts";

export interface LoadShedderOptions {
  readonly observe: (exchange: Exchange) => void;
  readonly newRequestId: () => string;
  readonly now: () => number;
  readonly limits: { readonly requestSeconds: number };
  /** How long Node keeps a connection without a request. */
  readonly keepAliveMs: number;
}

/** What a request may say that needs more care than is spent here. */
const SPECIAL: ReadonlySet<string> = new Set(["content-length", "expect", "transfer-encoding", "upgrade"]);
const LENGTHS: ReadonlySet<number> = new Set([...SPECIAL, "connection", "x-request-id"].map((name) => name.length));

/** The request id of a plain request, or an empty one. Undefined if its head or body needs more than a prepared refusal. */
export function plainRequestId({ rawHeaders, httpVersion, method }: IncomingMessage): string | undefined {
  if (httpVersion !== "1.1" || method === "HEAD") return undefined;
  let id = "";
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (!LENGTHS.has(name.length)) continue;
    const lower = name.toLowerCase();
    if (SPECIAL.has(lower)) return undefined;
    if (lower === "connection" && rawHeaders[i + 1]?.toLowerCase() !== "keep-alive") return undefined;
    if (lower !== "x-request-id") continue;
    if (id !== "") return undefined;
    id = rawHeaders[i + 1] ?? "";
  }
  return id;
}

interface RefusedRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly why: ShedReason;
  readonly id: string;
}

/** Refusals within this are sent one after another: each by itself would wake the client's side and take twice the time. */
const BATCH_MS = 5;
/** Requests that are turned away within this are reported together. */
const REPORT_EVERY_MS = 100;

/**
 * Under overload this is most of the work: no head is read as a whole, no timer set, no list entered, one report made for many.
 * A refusal is one text and one system call.
 */
export function createLoadShedder({ observe, newRequestId, now, limits, keepAliveMs }: LoadShedderOptions) {
  const keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1_000)}\r\n\r\n`;
  const ready = { "shed-in-flight": prebuiltResponse("shed-in-flight"), "shed-wait": prebuiltResponse("shed-wait") };
  const pending = new Map<ShedReason, Exchange>();
  let batch: RefusedRequest[] = [];
  const settle = (): void => {
    const all = [...pending.values()];
    pending.clear();
    for (const exchange of all) observe(exchange);
  };
  const count = (
    why: ShedReason,
    requestId: string,
    { method = "", url = "" }: IncomingMessage,
    bytes: number,
  ): void => {
    let exchange = pending.get(why);
    if (exchange === undefined) {
      exchange = createExchange(requestId, now(), method, url);
      exchange.status = 503;
      exchange.notes.push(why);
      recordProblem(exchange, shedProblem(why));
      if (pending.size === 0) setTimeout(settle, REPORT_EVERY_MS).unref();
      pending.set(why, exchange);
    } else exchange.times = (exchange.times ?? 1) + 1;
    exchange.responseBytes += bytes;
  };
  const flush = (): void => {
    const all = batch;
    batch = [];
    const date = `\r\nDate: ${new Date().toUTCString()}\r\n${keepAlive}`;
    for (const { req, res, why, id } of all) {
      const { socket } = req;
      const { head, body } = ready[why];
      const requestId = isRequestId(id) ? id : newRequestId();
      count(why, requestId, req, body.length);
      if (!socket.writable) continue;
      // Node's own response would take as long again for its buffers. Its `finish` ends the request's turn on the connection.
      socket.write(`${head}${requestId}${date}${body}`, "latin1");
      res.emit("finish");
      // Nothing else ends a connection whose client does not read this. Node resets the timeout once it was read.
      if (socket.writableLength > 0) socket.setTimeout(limits.requestSeconds * 1_000);
    }
  };
  return {
    /** Responds to a plain request, which gave `id`, with 503, within a few milliseconds. */
    refuse(req: IncomingMessage, res: ServerResponse, why: ShedReason, id: string): void {
      if (batch.length === 0) setTimeout(flush, BATCH_MS);
      batch.push({ req, res, why, id });
    },
    /** Sends what was not sent yet. */
    flush,
    /** Reports what was not reported yet. */
    settle,
  };
}

/** All of a response but its id and what follows from the time. Nothing in the body is beyond ASCII. */
function prebuiltResponse(why: ShedReason): { readonly head: string; readonly body: string } {
  const problem = shedProblem(why);
  const body = problemBody(problem);
  return { head: `${rawHead(problem, body)}x-request-id: `, body };
}
