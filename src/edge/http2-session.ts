/** Sessions of node:http2 that a peer cannot make abort the process. */
import type { Http2Session } from "node:http2";

/**
 * node:http2 ends a session while it still reads the frame that made it do so. nghttp2 before 1.68, which Node 20 has, then aborts the
 * process if the next frame has the wrong size. So `http2` ends between two reads. `ends` is called at once.
 */
export function endBetweenReads(http2: Http2Session, ends: () => void = () => {}): void {
  const { destroy } = http2;
  http2.destroy = (...why) => {
    ends();
    setImmediate(() => destroy.apply(http2, why));
  };
}
