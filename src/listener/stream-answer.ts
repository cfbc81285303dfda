/** How does an answer go out that comes in pieces? */
import type { Hold } from "../model/memory-budget.ts";
import type { BodyStream } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { Signal } from "../model/signal.ts";
import { type BodyParts, callerOf } from "./body.ts";
import type { Encoding } from "./compress.ts";
import { compressPieces } from "./compress-pieces.ts";
import { sendProblem } from "./errors.ts";
import { createPatience, STALL_MS, stalled } from "./patience.ts";
import { type Pieces, takePieces } from "./pieces.ts";
import { isBodyless, writeHead } from "./reply.ts";
import type { Visit } from "./visit.ts";

/** An answer whose body is still being made. */
export interface StreamedReply {
  readonly status: number;
  /** Flat, without length and connection. */
  readonly headers: string[];
  readonly body: BodyStream;
  readonly encoding: Encoding | undefined;
}

export interface StreamOptions {
  /** How long a client may take nothing, milliseconds (half a minute). */
  readonly stallMs?: number | undefined;
  readonly bodies: BodyParts;
}

/** Ends the making of a body that nobody will take. */
export function discard(body: Uint8Array | BodyStream): void {
  if (!(body instanceof Uint8Array)) takePieces(body).stop();
}

/** True where `body` comes in pieces and the client speaks HTTP/1.0, which has none. `httpVersion` undefined: 1.1. */
export function isTooOld(httpVersion: string | undefined, body: Uint8Array | BodyStream): boolean {
  return !(body instanceof Uint8Array || httpVersion === undefined || httpVersion === "1.1");
}

/** Throws DRAIN_TOO_LARGE where the client's HTTP is too old for `body` (design: drains), and ends the making of it. */
function refuseOldHttp(httpVersion: string, body: Uint8Array | BodyStream): void {
  if (!isTooOld(httpVersion, body)) return;
  discard(body);
  throw new Problem(
    "DRAIN_TOO_LARGE",
    "the list is too long for HTTP/1.0, which cannot tell a cut answer from a whole one: use HTTP/1.1, or narrow it with a filter",
    // Any other client of the rule gets the list.
    { fault: "client" },
  );
}

/**
 * Writes `reply` in chunks, the next portion only when the client has taken the last. Rejects when there is no first portion,
 * before anything was written, so that the failure gets a reply of its own. Later a failure cuts the answer off, and so does a
 * client that takes nothing for `stallMs`: no final chunk, nothing that could be read as whole (design: drains).
 * When `signal` aborts, whatever makes the body is stopped at once.
 */
export async function writeStream(
  visit: Visit,
  reply: StreamedReply,
  signal: Signal,
  options: StreamOptions,
): Promise<void> {
  refuseOldHttp(visit.req.httpVersion, reply.body);
  if (isBodyless(visit, reply.status)) {
    discard(reply.body);
    writeHead(visit, reply.status, undefined, reply.headers);
    visit.res.end();
    return;
  }
  const taken = takePieces(reply.body);
  const pieces = reply.encoding === undefined ? taken : compressPieces(taken, reply.encoding);
  await relay(visit, reply, pieces, signal, options);
}

async function relay(
  visit: Visit,
  reply: StreamedReply,
  pieces: Pieces,
  signal: Signal,
  { stallMs = STALL_MS, bodies }: StreamOptions,
): Promise<void> {
  const { res } = visit;
  let hold: Hold | undefined;
  let over = false;
  const stop = () => {
    over = true;
    pieces.stop();
    patience.giveUp();
  };
  const fail = (error: unknown) => {
    if (over) return;
    stop();
    sendProblem(visit, Problem.from(error));
  };
  const patience = createPatience(visit.res, stallMs, () => fail(stalled(stallMs)));
  let begun = false;
  signal.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      const portion = await pieces.next();
      if (over) return;
      if (!begun) begin(visit, reply);
      begun = true;
      if (portion === undefined) break;
      if (write(visit, portion)) continue;
      hold ??= bodies.memory.open(callerOf(visit, bodies.callers));
      hold.set(res.writableLength);
      await patience.taken();
      hold.set(0);
    }
    visit.res.end();
  } catch (error) {
    if (!begun && !over) throw error;
    fail(error);
  } finally {
    hold?.set(0);
    signal.removeEventListener("abort", stop);
    pieces.stop();
  }
}

function begin(visit: Visit, { status, headers, encoding }: StreamedReply): void {
  if (encoding !== undefined) visit.exchange.notes.push(encoding);
  writeHead(visit, status, undefined, headers);
}

/** False when the client has to take something first. Node holds what is written within one tick and hands it over at once. */
function write({ res, exchange }: Visit, portion: readonly Uint8Array[]): boolean {
  let ready = true;
  for (const piece of portion) {
    exchange.responseBytes += piece.length;
    ready = res.write(piece);
  }
  return ready;
}
