/**
 * The end of a call whose client still sends. A reset that overtakes the trailers hides the status; one that comes right after them breaks
 * the next call of a proxy that takes the connection for free. So the stream stays open for a while, and what comes is thrown away.
 */
import { constants, type ServerHttp2Stream } from "node:http2";
import { createSweep } from "./sweep.ts";

interface Ended {
  readonly stream: ServerHttp2Stream;
  readonly since: number;
}

/** For the client to end its side, or to reset the stream itself. */
const LINGER_MS = 2_000;
/** Thrown away for one call at most, where each piece counts for `PIECE_BYTES` more. */
const REST_BYTES = 1024 * 1024;
const PIECE_BYTES = 64;

/** Closes streams whose response is sent, once their clients had time to end them. At most `most` streams are given that time. */
export function createLingering(now: () => number, most: number): (stream: ServerHttp2Stream) => void {
  const close = ({ stream }: Ended): void => {
    stream.close(constants.NGHTTP2_NO_ERROR);
  };
  const ended = createSweep<Ended>(now, ({ since }) => since + LINGER_MS, close);
  return (stream) => {
    if (stream.destroyed || stream.closed) return;
    const one = { stream, since: now() };
    ended.add(one);
    stream.once("close", () => ended.delete(one));
    const [first] = ended.all;
    if (first !== undefined && ended.all.size > most) close(first);
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
