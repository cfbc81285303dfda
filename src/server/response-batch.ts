/** Small responses on their way out: head and body in one write, and the writes of one turn of the event loop together. */
import type { ServerResponse } from "node:http";

/** Longer bodies go out at once and by themselves: to join them to their head costs more than it saves. */
const BATCHED_BYTES = 8 * 1024;
/** The first of a batch waits for at most so many others. */
const BATCH_SIZE = 16;

interface WaitingResponse {
  readonly res: ServerResponse;
  readonly body: string;
  readonly ended: (() => void) | undefined;
}

export type ResponseBatch = ReturnType<typeof createResponseBatch>;

/**
 * A write wakes the process that reads it, which costs more than the write. One that is awake already, since another response came a moment
 * before, is not woken again.
 */
export function createResponseBatch() {
  let waiting: WaitingResponse[] = [];
  const flush = (): void => {
    const all = waiting;
    waiting = [];
    for (const { res, body, ended } of all) {
      write(res, body);
      ended?.();
    }
  };
  return {
    /** Ends `res`, whose head has been made and not sent, with `body`, at the end of this turn of the event loop. Then calls `ended`. */
    end(res: ServerResponse, body: Uint8Array, ended?: () => void): void {
      if (body.length > BATCHED_BYTES) {
        res.end(body);
        ended?.();
        return;
      }
      const added = waiting.push({ res, body: bytesText(body), ended });
      if (added === 1) setImmediate(flush);
      else if (added >= BATCH_SIZE) flush();
    },
  };
}

/** Each byte as one character: Node joins a text, and no bytes, to the head. */
function bytesText({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString("latin1");
}

function write(res: ServerResponse, body: string): void {
  const { socket } = res;
  // It waits for its turn in a pipeline, or the connection has ended: then nothing may be finished.
  if (socket === null || !socket.writable) {
    res.end(body, "latin1");
    return;
  }
  // `end` by itself would add an empty text to what waits, and so make several writes of one.
  socket.cork();
  res.write(body, "latin1");
  socket.uncork();
  res.end();
}
