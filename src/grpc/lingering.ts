/**
 * The end of a call whose client still sends. A reset that overtakes the trailers hides the status; one that comes right after them breaks
 * the next call of a proxy that takes the connection for free. So the stream stays open for a while, and what comes is thrown away.
 */
import { constants, type ServerHttp2Stream } from "node:http2";
import { createSweep } from "../edge/deadlines.ts";

interface Waiting {
  readonly since: number;
  readonly run: () => void;
}

/** Thrown away for one call at most, where each piece counts for `PIECE_BYTES` more. */
const REST_BYTES = 1024 * 1024;
const PIECE_BYTES = 64;

/** Milliseconds. */
export interface LingeringTimes {
  /** For the rest of a request that is refused before it is whole. */
  readonly holdMs: number;
  /** For a client to end its side, or to reset the stream itself, once it was sent the response. */
  readonly lingerMs: number;
}

/** At most `most` streams are given either time. */
export function createLingering(now: () => number, most: number, { holdMs, lingerMs }: LingeringTimes) {
  const [held, ended] = [createDelay(now, holdMs, most), createDelay(now, lingerMs, most)];
  return {
    /**
     * Calls `then` when the client has ended its request, or soon. Proxies reset calls whose response comes earlier, and a connection takes
     * few resets (nghttp2: 1,000, then 33 a second) for all who share it.
     */
    hold: (stream: ServerHttp2Stream, then: () => void) => stream.once("end", held(stream, then)),
    /** Closes a stream whose response is sent, once its client had time to end it. */
    close: (stream: ServerHttp2Stream): void => {
      // Most clients have ended theirs: then it closes by itself.
      if (!stream.readableEnded) ended(stream, () => stream.close(constants.NGHTTP2_NO_ERROR));
    },
  };
}

/** Runs what it is given after `ms`, or earlier: when what it returns is called, or when more than `most` wait. Never for a stream that is closed. */
function createDelay(now: () => number, ms: number, most: number) {
  const waiting = createSweep<Waiting>(
    now,
    ({ since }) => since + ms,
    ({ run }) => run(),
  );
  return (stream: ServerHttp2Stream, then: () => void): (() => void) => {
    const run = (): void => {
      if (!waiting.all.has(one)) return;
      waiting.delete(one);
      then();
    };
    const one = { since: now(), run };
    if (stream.destroyed || stream.closed) return run;
    waiting.add(one);
    stream.once("close", () => waiting.delete(one));
    const [first] = waiting.all;
    if (waiting.all.size > most) first?.run();
    return run;
  };
}

/** Reads on, so that the end of the request is seen, and keeps nothing. */
export function throwAwayRest(stream: ServerHttp2Stream): void {
  const { push } = stream;
  let left = REST_BYTES;
  stream.push = (piece: Uint8Array | null) => {
    if (piece === null) return push.call(stream, piece);
    left -= piece.length + PIECE_BYTES;
    // Otherwise the client gets no more window.
    return left >= 0;
  };
  stream.removeAllListeners("data");
  stream.resume();
}
