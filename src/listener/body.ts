/** How is the body of a request read? */
import { Readable } from "node:stream";
import { Problem } from "../model/problem.ts";
import { hasBody, type Visit } from "./visit.ts";

/**
 * The whole body of a request that has one, at most `limit` bytes of it. Rejects with BODY_TOO_LARGE, before reading when
 * the client says its length; with an Error when the client leaves midway.
 */
export async function readBody(visit: Visit, limit: number): Promise<Uint8Array> {
  if (Number(visit.head.watched.get("content-length")?.[0] ?? 0) > limit) throw tooLarge(limit);
  const chunks: Uint8Array[] = [];
  let length = 0;
  await new Promise<void>((resolve, reject) => {
    const { req } = visit;
    req.on("data", (chunk: Uint8Array) => {
      length += chunk.length;
      if (length <= limit) chunks.push(chunk);
      else reject(tooLarge(limit));
    });
    req.once("end", resolve);
    req.once("close", () => reject(new Error("the client left while it was sending")));
    invite(visit);
  });
  visit.exchange.requestBytes = length;
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, length);
}

/**
 * The body as a stream of its own, or undefined when there is none. Whoever destroys it leaves the client's connection
 * alone: the rest is read and forgotten, so that an early answer can still be delivered.
 */
export function relayBody(visit: Visit): Readable | undefined {
  if (!hasBody(visit)) return undefined;
  const { req, exchange } = visit;
  const relay = new Readable({
    read: () => {
      req.resume();
    },
    destroy: (error, done) => {
      req.resume();
      done(error);
    },
  });
  // Nobody listens while the call waits for a connection, and an error that nobody hears ends the process.
  relay.on("error", () => {});
  req.on("data", (chunk: Uint8Array) => {
    if (relay.destroyed) return;
    exchange.requestBytes += chunk.length;
    visit.watch?.sent(chunk);
    if (!relay.push(chunk)) req.pause();
  });
  req.once("end", () => {
    if (!relay.destroyed) relay.push(null);
  });
  req.once("close", () => {
    if (!req.complete) relay.destroy(new Error("the client left while it was sending"));
  });
  invite(visit);
  return relay;
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
