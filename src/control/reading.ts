/** What does a file hold at this moment, in a form that two looks can be compared by? */
import { createHash } from "node:crypto";

/** What one look saw. Two with the same `key` saw the same. */
export interface Seen {
  readonly key: string;
  /** The file's bytes, or why there are none. */
  readonly what: Uint8Array | Error;
}

/** How something happens later, unless it is called off (as `upstream/later.ts` has it). */
export type Later = (ms: number, run: () => void) => () => void;

export interface ReadingParts {
  readonly path: string;
  /** Rejects when the file cannot be read. */
  readonly read: (path: string) => Promise<Uint8Array>;
  readonly later: Later;
}

/** A read that takes longer is given up: a file server that is away may answer in hours. */
const READ_MS = 10_000;
const TOO_SLOW = `reading it takes longer than ${READ_MS / 1000} s`;
/**
 * Reads that were given up and still hang. Nobody can end them, and each holds one of the four threads that read files and
 * look names up: with a third one lost the rest of the process would begin to starve.
 */
const MOST_HANGING = 2;

export interface Reading {
  /** Never rejects. To be called one at a time. */
  look(): Promise<Seen>;
  /** Waits no longer for a look that is under way. */
  close(): void;
}

/** Looks at a file. */
export function createReading({ path, read, later }: ReadingParts): Reading {
  let hanging = 0;
  let giveUp: (why: string) => void = () => {};
  const look = (): Promise<Seen> => {
    if (hanging >= MOST_HANGING) return Promise.resolve(unread(new Error(TOO_SLOW)));
    return new Promise((resolve) => {
      let given = false;
      giveUp = (why) => {
        giveUp = () => {};
        given = true;
        hanging += 1;
        stop();
        resolve(unread(new Error(why)));
      };
      const stop = later(READ_MS, () => giveUp(TOO_SLOW));
      const done = (seen: Seen): void => {
        // What comes after it was given up is old: a later look may have seen something newer.
        if (given) {
          hanging -= 1;
          return;
        }
        giveUp = () => {};
        stop();
        resolve(seen);
      };
      start(read, path).then(
        (bytes) => done({ key: keyOf(bytes), what: bytes }),
        (error: unknown) => done(unread(error instanceof Error ? error : new Error(String(error)))),
      );
    });
  };
  return { look, close: () => giveUp("nobody waits for it any more") };
}

/** Of a look that saw `bytes`. */
export function keyOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** What throws at once rejects like everything else. */
async function start(read: ReadingParts["read"], path: string): Promise<Uint8Array> {
  return read(path);
}

function unread(error: Error): Seen {
  return { key: `unread: ${error.message}`, what: error };
}
