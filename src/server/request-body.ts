import { Readable } from "node:stream";
import { type BodyLimits, callerOf, createBodyMemory, GATHERED_BYTES } from "../edge/body-limits.ts";
import { createByteBuffer } from "../edge/byte-buffer.ts";
import { slowSender } from "../edge/send-rate.ts";
import { header, isSafe } from "../model/http.ts";
import type { MemoryReservation } from "../model/memory-budget.ts";
import { type Problem, tooLarge } from "../model/problem.ts";
import type { Signal } from "../model/signal.ts";
import { type IncomingRequest, isAnswered } from "./incoming-request.ts";
import type { UploadSlots } from "./upload-slots.ts";

/** A body that is here, until `release` is called. */
export interface WholeBody {
  readonly bytes: Uint8Array;
  readonly release: () => void;
}

/**
 * The whole body of a request that has one, at most `limit` bytes of it. Waits for memory as a long one comes.
 * Rejects with what `tooLong` makes (BODY_TOO_LARGE), before reading when the client says its length; with REQUEST_TIMEOUT when the client is too slow; with an
 * Error when it leaves midway.
 */
export async function readBody(
  request: IncomingRequest,
  limit: number,
  parts: BodyLimits,
  signal: Signal,
  tooLong: () => Problem = () => tooLarge(limit),
): Promise<WholeBody> {
  const stated = statedLength(request);
  if ((stated ?? 0) > limit) throw tooLong();
  const gathered = createByteBuffer(limit);
  const memory = createBodyMemory(callerOf(request, parts.callers), stated ?? limit, parts, signal);
  let over = false;
  const release = (): void => {
    over = true;
    memory.keep(0);
  };
  try {
    await new Promise<void>((resolve, reject) => {
      const { req } = request;
      const pace = request.arrival.waitFor(parts, (what) => reject(slowSender(what, true)));
      req.on("data", (chunk: Uint8Array) => {
        if (over) return;
        pace.came(chunk.length);
        if (gathered.length() + chunk.length > limit) return reject(tooLong());
        gathered.add(chunk);
        const room = memory.came(gathered.length());
        if (room === undefined) return;
        req.pause();
        pace.rests();
        room.then(() => {
          if (over) return release();
          pace.waits(true);
          req.resume();
        }, reject);
      });
      req.once("end", () => {
        pace.over();
        resolve();
      });
      req.once("close", () => {
        pace.over();
        reject(new Error("the client left while it was sending"));
      });
      pace.waits(false);
      writeContinue(request);
    });
  } catch (error) {
    release();
    throw error;
  }
  memory.keep(gathered.length());
  request.exchange.requestBytes = gathered.length();
  return { bytes: gathered.take(), release };
}

/** What becomes of a body that is passed on. */
export interface RelayCallbacks {
  /** Called once, when enough of the body is here for a call to begin; not when the request has been answered by then. */
  readonly begin: (body: Readable) => void;
  /** The client does not send fast enough. */
  readonly tooSlow: (problem: Problem) => void;
  /** Connections of the upstream that it goes to. */
  readonly uploads: UploadSlots;
}

/**
 * The body of a request that has one, as a stream of its own: begun when all of it is here, or, of one that is long or for which memory
 * has no room, when its caller may hold a connection for it. Whoever destroys it leaves the client's connection alone: the rest is
 * read and forgotten, so that an early answer can still be delivered.
 */
export function relayBody(request: IncomingRequest, parts: BodyLimits, relaying: RelayCallbacks): void {
  const { req, exchange } = request;
  const stated = statedLength(request);
  const wanted = Math.min(stated ?? parts.heldBytes, parts.heldBytes);
  const gathered = createByteBuffer(Math.max(wanted, GATHERED_BYTES));
  let room = GATHERED_BYTES;
  let hold: MemoryReservation | undefined;
  /** Gives up the place among bodies that hold a connection, or the wait for one. */
  let leave: (() => void) | undefined;
  let hasAskedForRoom = false;
  let begun = false;
  const pace = request.arrival.waitFor(parts, (what) => {
    // The client that has its answer already need not send the rest.
    if (isAnswered(request)) return;
    relaying.tooSlow(slowSender(what, !begun || isSafe(exchange.method)));
    relay.destroy();
  });
  const relay = new Readable({
    highWaterMark: GATHERED_BYTES,
    read: () => {
      if (begun) pace.waits(true);
      req.resume();
    },
    destroy: (error, done) => {
      pace.over();
      leave?.();
      hold?.resize(0);
      req.resume();
      done(error);
    },
  });
  // Without a listener an error would end the process while the call waits for a connection.
  relay.on("error", () => {});
  const begin = (whole: boolean): boolean => {
    if (isAnswered(request)) {
      relay.destroy();
      leave?.();
      return true;
    }
    const ready = gathered.length() === 0 || relay.push(gathered.take());
    // Its length is known then, and sent, whatever framing the client chose.
    if (whole) relay.push(null);
    else hold?.resize(GATHERED_BYTES);
    begun = true;
    relaying.begin(relay);
    return ready;
  };
  /** True when more of the body may be gathered. */
  const hasRoom = (): boolean => {
    if (gathered.length() < room || room === stated) return true;
    hold ??= parts.memory.tryReserve(callerOf(request, parts.callers), wanted);
    room = hold === undefined ? GATHERED_BYTES : wanted;
    return gathered.length() < room || room === stated;
  };
  /** False when the client has to wait. */
  const take = (chunk: Uint8Array): boolean => {
    if (begun) return relay.push(chunk);
    gathered.add(chunk);
    if (hasAskedForRoom || hasRoom()) return !hasAskedForRoom;
    hasAskedForRoom = true;
    const giveUp = relaying.uploads.enter(callerOf(request, parts.callers), (given) => {
      leave = given;
      begin(false);
    });
    leave ??= giveUp;
    return false;
  };
  req.on("data", (chunk: Uint8Array) => {
    if (!begun && isAnswered(request)) relay.destroy();
    if (relay.destroyed) return;
    exchange.requestBytes += chunk.length;
    request.watch?.sent(chunk);
    pace.came(chunk.length);
    if (take(chunk) || relay.destroyed) return;
    pace.rests();
    req.pause();
  });
  req.once("end", () => {
    pace.over();
    // From here on it is the platform's time.
    if (begun) leave?.();
    if (!begun) begin(true);
    else if (!relay.destroyed) relay.push(null);
  });
  req.once("close", () => {
    if (!req.complete) relay.destroy(new Error("the client left while it was sending"));
  });
  pace.waits(false);
  writeContinue(request);
}

function statedLength({ received }: IncomingRequest): number | undefined {
  const length = header(received, "content-length");
  return length === undefined ? undefined : Number(length);
}

/** Counts what was written to a client and not taken by it, until its response is over. */
export function holdUnsent(request: IncomingRequest, { memory, callers }: BodyLimits): void {
  const { res } = request;
  // Most responses are with the kernel by now.
  if (res.writableLength === 0 || res.destroyed) return;
  const hold = memory.open(callerOf(request, callers));
  hold.resize(res.writableLength);
  res.once("close", () => hold.resize(0));
}

/** Tells a client that asked with `Expect: 100-continue` to go on. */
function writeContinue(request: IncomingRequest): void {
  if (!request.expects) return;
  request.expects = false;
  request.res.writeContinue();
}
