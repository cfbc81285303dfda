/** How is a request turned away at the least expense? */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createExchange, type Exchange } from "../model/exchange.ts";
import { Problem, problemBody } from "../model/problem.ts";
import { problemHeaders } from "./errors.ts";
import { isRequestId } from "./trace.ts";
import { noteProblem } from "./visit.ts";

/** Why a request is turned away, as metrics say it: too many are here, or it would wait too long. */
export type Shed = "shed-in-flight" | "shed-wait";

export interface ShedOptions {
  readonly observe: (exchange: Exchange) => void;
  readonly newRequestId: () => string;
  readonly now: () => number;
  readonly limits: { readonly requestSeconds: number };
}

/** What a request may say that needs more care than is spent here. */
const SPECIAL: ReadonlySet<string> = new Set(["content-length", "expect", "transfer-encoding", "upgrade"]);
const LENGTHS: ReadonlySet<number> = new Set([...SPECIAL, "x-request-id"].map((name) => name.length));

const PROBLEMS: Readonly<Record<Shed, Problem>> = {
  "shed-in-flight": new Problem("OVERLOADED", "too many requests at a time", { retryAfter: 1 }),
  "shed-wait": new Problem("OVERLOADED", "more requests are waiting than can be served in time", { retryAfter: 1 }),
};

/** What is said to a request that is turned away for `why`. */
export function problemOf(why: Shed): Problem {
  return PROBLEMS[why];
}

/** The id that a plain request brings, or an empty one. Undefined: something in its head, or behind it, matters to a refusal. */
export function idOfPlain({ rawHeaders }: IncomingMessage): string | undefined {
  let id = "";
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (!LENGTHS.has(name.length)) continue;
    const lower = name.toLowerCase();
    if (SPECIAL.has(lower)) return undefined;
    if (lower !== "x-request-id") continue;
    if (id !== "") return undefined;
    id = rawHeaders[i + 1] ?? "";
  }
  return id;
}

export interface Shedding {
  /** Answers a plain request, which gave `id`, with 503. */
  refuse(req: IncomingMessage, res: ServerResponse, why: Shed, id: string): void;
  /** Reports what was not reported yet. */
  settle(): void;
}

/** Requests that are turned away within this are reported together. */
const TOGETHER_MS = 100;

/**
 * Under overload this is most of the work: no head is read as a whole, no timer set, no list entered, one report made for many, and
 * head and body are one text, so that one system call sends them.
 */
export function createShedding({ observe, newRequestId, now, limits }: ShedOptions): Shedding {
  const ready = { "shed-in-flight": readyFor("shed-in-flight"), "shed-wait": readyFor("shed-wait") };
  const pending = new Map<Shed, Exchange>();
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
  return {
    refuse(req, res, why, id) {
      const { headers, body } = ready[why];
      const requestId = isRequestId(id) ? id : newRequestId();
      res.writeHead(503, [...headers, "x-request-id", requestId]);
      res.end(body, "latin1");
      // Nobody else ends a connection whose client does not take this. Node sets the time anew once it has been taken.
      if (req.socket.writableLength > 0) req.socket.setTimeout(limits.requestSeconds * 1_000);
      count(why, requestId, req, req.method === "HEAD" ? 0 : body.length);
    },
    settle,
  };
}

/** Nothing in the body is beyond ASCII. */
function readyFor(why: Shed): { readonly headers: readonly string[]; readonly body: string } {
  const body = problemBody(PROBLEMS[why]);
  return { headers: [...problemHeaders(PROBLEMS[why]), "content-length", String(body.length)], body };
}
