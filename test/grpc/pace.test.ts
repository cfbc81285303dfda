import { expect, it } from "vitest";
import { createMessagePlace } from "../../src/grpc/messages.ts";
import { framed } from "./support/rpc.ts";

it("a message lasts from the first byte of its prefix to its last byte, whatever the size of the pieces", () => {
  const whole = Buffer.concat([framed(Buffer.alloc(300)), framed(Buffer.alloc(0)), framed(Buffer.from([1]))]);
  const ends = [305, 310, 316];
  for (const size of [1, 2, 3, 7, 304, 305, 316]) {
    const place = createMessagePlace();
    for (let at = 0; at < whole.length; at += size) {
      const to = Math.min(at + size, whole.length);
      expect([size, to, place.after(whole.subarray(at, to))]).toEqual([size, to, !ends.includes(to)]);
    }
  }
});
