/** How is the body of a request read? */
import { Readable } from "node:stream";
import { Problem } from "../model/problem.ts";
import { isAnswered, type Visit } from "./visit.ts";

const NO_BYTES = new Uint8Array(0);

/**
 * The whole body of a request that has one, at most `limit` bytes of it. Rejects with BODY_TOO_LARGE, before reading when
 * the client says its length; with an Error when the client leaves midway.
 */
export async function readBody(visit: Visit, limit: number): Promise<Uint8Array> {
  if (Number(visit.head.watched.get("content-length")?.[0] ?? 0) > limit) throw tooLarge(limit);
  const gathered = createGathered(limit);
  await new Promise<void>((resolve, reject) => {
    const { req } = visit;
    req.on("data", (chunk: Uint8Array) => {
      if (gathered.length() + chunk.length <= limit) gathered.add(chunk);
      else reject(tooLarge(limit));
    });
    req.once("end", resolve);
    req.once("close", () => reject(new Error("the client left while it was sending")));
    invite(visit);
  });
  visit.exchange.requestBytes = gathered.length();
  return gathered.take();
}

/** So much of a body, or all of a shorter one, has to be here before a connection to an upstream is taken for it. */
export const GATHERED_BYTES = 64 * 1024;
/** How long a client may send nothing of a body that an upstream waits for. */
export const SEND_STALL_MS = 5_000;

/** What becomes of a body that is passed on. */
export interface Relaying {
  /** Called once, when enough of the body is here for a call to begin; not when the request has been answered by then. */
  readonly begin: (body: Readable) => void;
  /** The upstream wants more, and the client has sent nothing for `stallMs`. */
  readonly stalled: () => void;
  readonly stallMs: number;
}

/**
 * The body of a request that has one, as a stream of its own. Whoever destroys it leaves the client's connection alone: the
 * rest is read and forgotten, so that an early answer can still be delivered.
 */
export function relayBody(visit: Visit, relaying: Relaying): void {
  const { req, exchange } = visit;
  const gathered = createGathered(GATHERED_BYTES);
  const stall = createStall(visit, relaying);
  let begun = false;
  const relay = new Readable({
    highWaterMark: GATHERED_BYTES,
    read: () => {
      if (begun) stall.wants();
      req.resume();
    },
    destroy: (error, done) => {
      stall.over();
      req.resume();
      done(error);
    },
  });
  // Nobody listens while the call waits for a connection, and an error that nobody hears ends the process.
  relay.on("error", () => {});
  const begin = (whole: boolean): boolean => {
    if (isAnswered(visit)) {
      relay.destroy();
      return true;
    }
    const ready = gathered.length() === 0 || relay.push(gathered.take());
    // Its length is known then, and sent, whatever framing the client chose.
    if (whole) relay.push(null);
    begun = true;
    relaying.begin(relay);
    return ready;
  };
  const take = (chunk: Uint8Array): boolean => {
    if (begun) return relay.push(chunk);
    gathered.add(chunk);
    return gathered.length() < GATHERED_BYTES || begin(false);
  };
  req.on("data", (chunk: Uint8Array) => {
    if (!begun && isAnswered(visit)) relay.destroy();
    if (relay.destroyed) return;
    exchange.requestBytes += chunk.length;
    visit.watch?.sent(chunk);
    stall.came();
    if (take(chunk) || relay.destroyed) return;
    stall.full();
    req.pause();
  });
  req.once("end", () => {
    stall.over();
    if (!begun) begin(true);
    else if (!relay.destroyed) relay.push(null);
  });
  req.once("close", () => {
    if (!req.complete) relay.destroy(new Error("the client left while it was sending"));
  });
  invite(visit);
}

/** Watches a client that sends: `wants` more and nothing `came`. */
function createStall(visit: Visit, { stalled, stallMs }: Relaying) {
  let timer: NodeJS.Timeout | undefined;
  let waiting = false;
  let over = false;
  const run = () => {
    // Who gets his answer already need not send the rest.
    if (waiting && !over && !isAnswered(visit)) stalled();
  };
  return {
    wants: () => {
      if (over || waiting) return;
      waiting = true;
      if (timer === undefined) timer = setTimeout(run, stallMs);
      else timer.refresh();
    },
    came: () => {
      if (waiting) timer?.refresh();
    },
    full: () => {
      waiting = false;
    },
    over: () => {
      over = true;
      clearTimeout(timer);
    },
  };
}

/** Bytes that come piece by piece. A list of pieces could cost a hundred times what they hold, where each holds a byte. */
function createGathered(most: number) {
  let store: Uint8Array = NO_BYTES;
  let length = 0;
  return {
    length: () => length,
    add: (piece: Uint8Array) => {
      const needed = length + piece.length;
      if (length === 0) store = piece;
      else {
        if (needed > store.length) {
          const larger = Buffer.allocUnsafe(Math.max(needed, Math.min(2 * store.length, most)));
          larger.set(store.subarray(0, length));
          store = larger;
        }
        store.set(piece, length);
      }
      length = needed;
    },
    /** Gives what there is, and keeps nothing of it. */
    take: () => {
      const given = store.length === length ? store : store.subarray(0, length);
      store = NO_BYTES;
      length = 0;
      return given;
    },
  };
}

/** Tells a client that asked with `Expect: 100-continue` to go on. */
function invite(visit: Visit): void {
  if (!visit.expects) return;
  visit.expects = false;
  visit.res.writeContinue();
}

/** For a body of more than `limit` bytes. */
export function tooLarge(limit: number): Problem {
  return new Problem("BODY_TOO_LARGE", `the request body is longer than ${limit} bytes`, {
    metadata: { limit: String(limit) },
  });
}
