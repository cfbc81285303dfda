/** How is a request turned away at the least expense? */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createExchange, type Exchange } from "../model/exchange.ts";
import { Problem, problemBody } from "../model/problem.ts";
import { rawHead } from "./errors.ts";
import { isRequestId } from "./trace.ts";
import { noteProblem } from "./visit.ts";

/** Why a request is turned away, as metrics say it: too many are here, or it would wait too long. */
export type Shed = "shed-in-flight" | "shed-wait";

export interface ShedOptions {
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

const PROBLEMS: Readonly<Record<Shed, Problem>> = {
  "shed-in-flight": new Problem("OVERLOADED", "too many requests at a time", { retryAfter: 1 }),
  "shed-wait": new Problem("OVERLOADED", "more requests are waiting than can be served in time", { retryAfter: 1 }),
};

/** What is said to a request that is turned away for `why`. */
export function problemOf(why: Shed): Problem {
  return PROBLEMS[why];
}

/** The id that a plain request brings, or an empty one. Undefined: something in its head, or behind it, matters to a refusal. */
export function idOfPlain({ rawHeaders, httpVersion, method }: IncomingMessage): string | undefined {
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

export interface Shedding {
  /** Responds to a plain request, which gave `id`, with 503, within a few milliseconds. */
  refuse(req: IncomingMessage, res: ServerResponse, why: Shed, id: string): void;
  /** Sends what was not sent yet. */
  flush(): void;
  /** Reports what was not reported yet. */
  settle(): void;
}

interface Refused {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly why: Shed;
  readonly id: string;
}

/** Refusals within this are sent one after another: each by itself would wake the client's side and take twice the time. */
const BATCH_MS = 5;
/** Requests that are turned away within this are reported together. */
const TOGETHER_MS = 100;

/**
 * Under overload this is most of the work: no head is read as a whole, no timer set, no list entered, one report made for many.
 * A refusal is one text and one system call.
 */
export function createShedding({ observe, newRequestId, now, limits, keepAliveMs }: ShedOptions): Shedding {
  const keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1_000)}\r\n\r\n`;
  const ready = { "shed-in-flight": readyFor("shed-in-flight"), "shed-wait": readyFor("shed-wait") };
  const pending = new Map<Shed, Exchange>();
  let batch: Refused[] = [];
  const settle = (): void => {
    const all = [...pending.values()];
    pending.clear();
    for (const exchange of all) observe(exchange);
  };
  const count = (why: Shed, requestId: string, { method = "", url = "" }: IncomingMessage, bytes: number): void => {
    let exchange = pending.get(why);
    if (exchange === undefined) {
      const query = url.indexOf("?");
      exchange = createExchange(requestId, now(), method, query < 0 ? url : url.slice(0, query));
      exchange.status = 503;
      exchange.notes.push(why);
      noteProblem(exchange, PROBLEMS[why]);
      if (pending.size === 0) setTimeout(settle, TOGETHER_MS).unref();
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
      // Nobody else ends a connection whose client does not take this. Node sets the time anew once it has been taken.
      if (socket.writableLength > 0) socket.setTimeout(limits.requestSeconds * 1_000);
    }
  };
  return {
    refuse(req, res, why, id) {
      if (batch.length === 0) setTimeout(flush, BATCH_MS);
      batch.push({ req, res, why, id });
    },
    flush,
    settle,
  };
}

/** All of a response but its id and what follows from the time. Nothing in the body is beyond ASCII. */
function readyFor(why: Shed): { readonly head: string; readonly body: string } {
  const body = problemBody(PROBLEMS[why]);
  return { head: `${rawHead(PROBLEMS[why], body)}x-request-id: `, body };
}
