/** Admission: decided as soon as the head of a request has come, before anything is made for it; and the cheapest refusal. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { createExchange, type Exchange } from "../model/exchange.ts";
import { Problem, problemBody } from "../model/problem.ts";
import type { CallQueue } from "../upstream/call-queue.ts";
import type { ListQueue } from "../upstream/list-queue.ts";
import { isRequestId } from "./headers.ts";
import { recordProblem } from "./incoming-request.ts";
import { rawHead } from "./response.ts";

/** Why not, as metrics say it. */
export type AdmissionRefusal = "shed-in-flight" | "shed-wait";

export interface AdmissionOptions {
  /** Requests in the process, those that wait included (`limits.inFlight`): the bound of their memory. */
  readonly inFlight: number;
  /** What a request has in all (`limits.requestSeconds`). */
  readonly requestSeconds: number;
  /** The queues of the upstreams that requests may be for. */
  readonly calls: readonly CallQueue[];
  readonly lists: Pick<ListQueue, "usedBy" | "overloaded">;
  /** Whether the platform has accepted a credential. */
  readonly accepted: (credential: string) => boolean;
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
}

/** `here`: requests in the process; `credentialOf` is asked for only where it matters. Undefined: let it in. */
export type Admit = (here: number, credentialOf: () => string) => AdmissionRefusal | undefined;

/** Beyond this part of the memory there is more than a crowd. */
const PRESSURE = 0.5;
/** What credentials may use that the platform has not accepted: the rest is left to the others. */
const UNACCEPTED_SHARE = 0.75;
/** One credential may hold so many times what is free (dynamic thresholds, Choudhury and Hahne): alone 8/9 of all. */
const CREDENTIAL_SHARE = 8;
/** Longest wait of new requests under overload (as CoDel's target, RFC 8289). */
const TARGET_MS = 100;
/** Overload ends after this time without a refusal. */
const OVERLOAD_MS = 1_000;

/**
 * A crowd waits: it is refused only what would wait beyond its deadline. When half of the memory is in use, and more comes than is
 * done, that is overload: what is let in waits for a moment only, so that its client is still there when it is served, and all else
 * is refused at once, which costs least of all.
 */
export function createAdmission({ inFlight, requestSeconds, calls, lists, accepted, now }: AdmissionOptions): Admit {
  const leftMs = requestSeconds * 1_000;
  let overloadedAt = Number.NEGATIVE_INFINITY;
  const refuse = (why: AdmissionRefusal, overloaded: boolean): AdmissionRefusal => {
    if (overloaded) {
      overloadedAt = now();
      lists.overloaded();
    }
    for (const queue of calls) queue.turnedAway(overloaded);
    return why;
  };
  return (here, credentialOf) => {
    if (here >= inFlight) return refuse("shed-in-flight", true);
    const isPressed = here >= inFlight * PRESSURE;
    const isLong = calls.some((queue) => queue.isLong());
    if (!isPressed && !isLong) return undefined;
    const credential = credentialOf();
    if (isPressed) {
      const isKnown = accepted(credential);
      const used = calls.reduce((sum, queue) => sum + queue.usedBy(credential), lists.usedBy(credential));
      const isFull = here >= inFlight * UNACCEPTED_SHARE && !isKnown;
      if (isFull || used > (inFlight - here) * CREDENTIAL_SHARE) return refuse("shed-in-flight", false);
    }
    // Which upstream it is for is not known yet.
    const waits = calls.map((queue) => queue.predictedMs(credential));
    const isOverload = isPressed || now() - overloadedAt < OVERLOAD_MS;
    if (isLong && isOverload && Math.max(...waits) > TARGET_MS) return refuse("shed-wait", true);
    return Math.min(...waits) > leftMs ? refuse("shed-wait", false) : undefined;
  };
}

/** Why a request is turned away, as metrics say it: too many are here, or it would wait too long. */
export type ShedReason = "shed-in-flight" | "shed-wait";

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

const PROBLEMS: Readonly<Record<ShedReason, Problem>> = {
  "shed-in-flight": new Problem("OVERLOADED", "too many requests at a time", {
    retryAfter: 1,
    options: ["limits.inFlight"],
  }),
  "shed-wait": new Problem("OVERLOADED", "more requests are waiting than can be served in time", {
    retryAfter: 1,
    options: ["upstream.*.connections"],
  }),
};

/** What is said to a request that is turned away for `why`. */
export function shedProblem(why: ShedReason): Problem {
  return PROBLEMS[why];
}

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

export interface LoadShedder {
  /** Responds to a plain request, which gave `id`, with 503, within a few milliseconds. */
  refuse(req: IncomingMessage, res: ServerResponse, why: ShedReason, id: string): void;
  /** Sends what was not sent yet. */
  flush(): void;
  /** Reports what was not reported yet. */
  settle(): void;
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
export function createLoadShedder({
  observe,
  newRequestId,
  now,
  limits,
  keepAliveMs,
}: LoadShedderOptions): LoadShedder {
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
      recordProblem(exchange, PROBLEMS[why]);
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
    refuse(req, res, why, id) {
      if (batch.length === 0) setTimeout(flush, BATCH_MS);
      batch.push({ req, res, why, id });
    },
    flush,
    settle,
  };
}

/** All of a response but its id and what follows from the time. Nothing in the body is beyond ASCII. */
function prebuiltResponse(why: ShedReason): { readonly head: string; readonly body: string } {
  const body = problemBody(PROBLEMS[why]);
  return { head: `${rawHead(PROBLEMS[why], body)}x-request-id: `, body };
}
