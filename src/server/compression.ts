/** In which encoding does a client get an answer? */
import { promisify } from "node:util";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from "node:zlib";
import type { BodyStream } from "../model/http.ts";

export type ContentEncoding = "br" | "gzip";

/** Shorter bodies are not worth it. */
const MIN_BYTES = 1024;
const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json(?:\s*;|\s*$)/i;

const compressors: Readonly<Record<ContentEncoding, (body: Uint8Array) => Promise<Uint8Array>>> = {
  // Quality 4 is faster than gzip's default and still smaller.
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (body) => promisify(gzip)(body),
};

/** True when an answer may come compressed to those who ask: then it varies with what they ask. */
export function isCompressible(contentType: string | undefined, bytes: number): boolean {
  return bytes >= MIN_BYTES && contentType !== undefined && JSON_TYPE.test(contentType);
}

/** The client's choice among ours by the values of its Accept-Encoding (RFC 9110 section 12.5.3); undefined: identity. */
export function chooseEncoding(accepted: readonly string[]): ContentEncoding | undefined {
  if (accepted.length === 0) return undefined;
  const weights = new Map<string, number>();
  for (const part of accepted.join(",").toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((piece) => piece.trim());
    const q = parameters.find((parameter) => parameter.startsWith("q="));
    const weight = q === undefined ? 1 : Number(q.slice(2));
    weights.set(name === "x-gzip" ? "gzip" : name, Number.isFinite(weight) ? weight : 0);
  }
  const of = (name: ContentEncoding) => weights.get(name) ?? weights.get("*") ?? 0;
  const best = of("br") >= of("gzip") ? "br" : "gzip";
  return of(best) > 0 && of(best) >= (weights.get("identity") ?? 0) ? best : undefined;
}

/** `body` in `encoding`, off the event loop. */
export function compress(body: Uint8Array, encoding: ContentEncoding): Promise<Uint8Array> {
  return compressors[encoding](body);
}

/** How is a body compressed that comes in pieces? */

/**
 * Every portion is flushed: a page goes out when it is there, for a thousandth of the size; brotli alone would wait for
 * megabytes. Levels and window are for lists of many pages: hardly larger than what a whole answer gets, and a third cheaper.
 */
const encoders = {
  br: () =>
    createBrotliCompress({
      flush: constants.BROTLI_OPERATION_FLUSH,
      params: { [constants.BROTLI_PARAM_QUALITY]: 3, [constants.BROTLI_PARAM_LGWIN]: 18 },
    }),
  gzip: () => createGzip({ flush: constants.Z_SYNC_FLUSH, level: 3 }),
};

/** `pieces` in `encoding`, off the event loop: as many portions, and one more that makes the whole readable. */
export function compressPortions(pieces: BodyPortions, encoding: ContentEncoding): BodyPortions {
  const encoder = encoders[encoding]();
  let made: Uint8Array[] = [];
  let fail: (error: Error) => void = () => {};
  let over = false;
  encoder.on("data", (bytes: Uint8Array) => made.push(bytes));
  encoder.on("error", (error) => fail(error));
  const run = async (start: (done: () => void) => void): Promise<readonly Uint8Array[]> => {
    await new Promise<void>((resolve, reject) => {
      fail = reject;
      start(resolve);
    });
    const portion = made;
    made = [];
    return portion;
  };
  return {
    next: async () => {
      const portion = over ? undefined : await pieces.next();
      if (over) return undefined;
      // Every write costs a trip to another thread, so a portion is one write.
      if (portion !== undefined) return run((done) => encoder.write(joinPortion(portion), () => done()));
      over = true;
      return run((done) => encoder.once("end", done).end());
    },
    stop: () => {
      over = true;
      pieces.stop();
      encoder.destroy();
    },
  };
}

function joinPortion(portion: readonly Uint8Array[]): Uint8Array {
  const [only] = portion;
  return portion.length === 1 && only !== undefined ? only : Buffer.concat(portion);
}

/** In which portions is a long body taken from what makes it? */

/** A portion has at least so many bytes: separators and brackets go out with what is beside them, in one write. */
const PORTION_BYTES = 1024;

/** The pieces of a body, taken one portion after another. */
export interface BodyPortions {
  /** The next portion, its pieces as they came and none empty; undefined at the end. Rejects as the body does. */
  next(): Promise<readonly Uint8Array[] | undefined>;
  /** Nothing more is wanted: ends the making at once, even while a portion is being waited for. Never throws; counts once. */
  stop(): void;
}

/** To be made once for a body; it asks for nothing before `next`, and for one piece at a time. */
export function readPortions(body: BodyStream): BodyPortions {
  const iterator = body[Symbol.asyncIterator]();
  let over = false;
  const take = async (): Promise<Uint8Array | undefined> => {
    try {
      const step = await iterator.next();
      if (step.done !== true) return step.value;
    } catch (error) {
      // An iteration that failed has ended: there is nothing left to stop.
      over = true;
      throw error;
    }
    over = true;
    return undefined;
  };
  return {
    next: async () => {
      const portion: Uint8Array[] = [];
      for (let bytes = 0; !over && bytes < PORTION_BYTES; ) {
        const piece = await take();
        if (piece === undefined || piece.length === 0) continue;
        portion.push(piece);
        bytes += piece.length;
      }
      return portion.length === 0 ? undefined : portion;
    },
    stop: () => {
      if (over) return;
      over = true;
      void endIteration(iterator);
    },
  };
}

async function endIteration(iterator: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    await iterator.return?.();
  } catch {
    // Nobody waits for these pieces any more, so nobody can be told how their making ended.
  }
}
