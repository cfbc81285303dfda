/** Where do log lines wait while nobody reads them, and for how long? */
import { type DestinationStream, destination as openDestination } from "pino";

/** Takes lines without ever making anybody wait. */
export interface Sink {
  readonly stream: DestinationStream;
  /** Lines lost so far. */
  dropped(): number;
  /** Writes out what is held, waiting for at most `ms` milliseconds. */
  flush(ms: number): Promise<void>;
}

/** Most bytes that wait for a blocked sink; further lines are dropped and counted. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;

/**
 * Asynchronous and with the least length there is: a quiet process logs at once, a busy one in batches while a write is
 * under way (a length of 0 would do the same, but its flush does not wait).
 */
export function createSink(fd: number, maxBytes: number = MAX_BUFFERED_BYTES): Sink {
  const stream = openDestination({ fd, sync: false, minLength: 1, maxLength: maxBytes });
  let dropped = 0;
  stream.on("drop", () => {
    dropped++;
  });
  // A sink that went away (a closed pipe) must not end the process: there is nowhere left to say so.
  stream.on("error", () => {
    dropped++;
  });
  return {
    stream,
    dropped: () => dropped,
    flush: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        stream.flush(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}
