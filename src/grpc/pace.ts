/** How fast a client has to send a call that passes through: a message keeps coming once it has begun. */
import { PREFIX } from "./messages.ts";

/** Reads prefixes only. */
export function createMessagePlace() {
  /** Bytes of the prefix that have come, and its length so far. */
  let seen = 0;
  let length = 0;
  /** Bytes of the message that are missing. */
  let missing = 0;
  return {
    /** True when a message has begun and is not whole after `chunk`. */
    after(chunk: Uint8Array): boolean {
      for (let at = 0; at < chunk.length; ) {
        if (missing > 0) {
          const some = Math.min(missing, chunk.length - at);
          missing -= some;
          at += some;
          continue;
        }
        if (seen > 0) length = length * 256 + (chunk[at] ?? 0);
        at += 1;
        seen += 1;
        if (seen < PREFIX) continue;
        missing = length;
        seen = 0;
        length = 0;
      }
      return missing > 0 || seen > 0;
    },
  };
}
