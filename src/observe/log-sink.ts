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
export const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;
/** Longest time that a line waits for others, in milliseconds: nobody who reads along notices it. */
const GATHER_MS = 10;
/** So many bytes are written without waiting for more, and so many at most in one go. */
const GATHER_BYTES = 64 * 1024;
const MAX_WRITE_BYTES = 512 * 1024;
const NEW_LINE = 0x0a;

/**
 * Asynchronous, a few lines at a time: each write costs a busy process several times what making a line costs, most of
 * it in a thread that competes with the event loop. What is held at the process's end is still written by then.
 */
export function createSink(fd: number, maxBytes: number = MAX_BUFFERED_BYTES): Sink {
  const sonic = openDestination({
    fd,
    sync: false,
    minLength: GATHER_BYTES,
    maxWrite: MAX_WRITE_BYTES,
    maxLength: maxBytes,
    // As text it would measure everything that is held again with every line.
    contentMode: "buffer",
  });
  let dropped = 0;
  sonic.on("drop", (lines: Uint8Array) => {
    for (const byte of lines) if (byte === NEW_LINE) dropped++;
  });
  // A sink that went away (a closed pipe) must not end the process: there is nowhere left to say so.
  sonic.on("error", () => {
    dropped++;
  });
  let gathering = false;
  const writeOut = () => {
    gathering = false;
    sonic.flush();
  };
  return {
    stream: {
      write: (lines) => {
        // Its type knows only text; in this mode it takes only bytes.
        sonic.write(Buffer.from(lines) as never);
        if (gathering) return;
        gathering = true;
        setTimeout(writeOut, GATHER_MS);
      },
    },
    dropped: () => dropped,
    flush: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        sonic.flush(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}
