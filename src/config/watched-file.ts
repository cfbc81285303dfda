/** Watches a file that operators change while carryover runs. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** One thing that is wrong with the file, and where: the configuration's own words for it. */
export interface FileFault {
  /** `file:line:column path`, or the file's name. */
  readonly where: string;
  readonly what: string;
  readonly remedy: string;
}

/** `Content`: what is made of the file's bytes. */
export interface WatchedFileOptions<Content> {
  readonly path: string;
  /** Rejects when the file cannot be read (`readBounded`). */
  readonly read: (path: string) => Promise<Uint8Array>;
  /** Throws for what is wrong; `faults` of what it throws, where there are any, say where. `first`: nothing is in force yet. */
  readonly parse: (bytes: Uint8Array, first: boolean) => Content;
  /** Between two looks. */
  readonly everyMs: number;
  readonly later: RunLater;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Takes the content of `bytes` into force, at once. */
  readonly apply: (content: Content, taken: { readonly bytes: Uint8Array; readonly isSpare: boolean }) => void;
  /** Bytes of an earlier process, taken when the file is invalid at the first look. A file that cannot be read is an error all the same. */
  readonly spare?: (() => Uint8Array | undefined) | undefined;
  /** Hears of each content that is refused, once, not at every look. What is in force stays. */
  readonly failed: (error: Error, faults: readonly FileFault[]) => void;
  /** Hears that the file holds again what is in force, after `failed`. */
  readonly recovered?: (() => void) | undefined;
  /** Bytes whose content is in force already: `start` does not look then. */
  readonly begin?: Uint8Array;
  /** What cannot be read, said with what to do. */
  readonly unreadable: (path: string, cause: Error) => Error;
}

export interface WatchedState<Content> {
  /** What is in force; undefined before the first look, and while it is what the file held at the beginning (`begin`). */
  readonly content: Content | undefined;
  /** When it came into force, milliseconds since 1970. */
  readonly loadedAt: number | undefined;
  /** What is wrong with what the file holds now, and since when; undefined when that is in force. */
  readonly failing:
    | { readonly at: number; readonly message: string; readonly faults: readonly FileFault[] }
    | undefined;
  /** How often other content came into force, the first one not counted. */
  readonly reloads: number;
}

export interface WatchedFile<Content> {
  /** The first look, and from then on one every `everyMs`. Rejects when it sees nothing right and has no `spare`, and then looks no more. */
  start(): Promise<void>;
  /** Looks now (SIGHUP). Resolves when what the file holds is in force or refused; at once when it is closed. */
  check(): Promise<void>;
  state(): WatchedState<Content>;
  /** Looks no more, and takes nothing that is still being read. */
  close(): void;
}

/** Milliseconds until a changed file is read again to see that it is stable: after a poll, and after SIGHUP. */
const SETTLE_MS = 1_000;
const ASKED_SETTLE_MS = 100;
/** Looks of one `check` at a file that is another one each time; then it is left to the timer. */
const MOST_LOOKS = 20;

/**
 * What is made of a file, kept up to date. The file is read again and again, and its bytes decide. Neither its time nor its inode
 * says enough: a mounted ConfigMap is a link to a file behind a second link, and an update swaps the second one. What
 * `fs.watch` follows is then the removed file. It is also silent on network file systems, and under some container runtimes.
 * What is new is taken when two looks in a row saw the same, so that a file which is being written is not taken half.
 */
export function createWatchedFile<Content>(options: WatchedFileOptions<Content>): WatchedFile<Content> {
  const { everyMs, later } = options;
  const reading = createFileReader(options);
  const judge = createJudge(options);
  /** Seen once. */
  let fresh: string | undefined;
  let closed = false;
  let callOff: () => void = () => {};
  /** The look under way: they never overlap. */
  let busy: Promise<unknown> = Promise.resolve();
  let pendingCheck: Promise<void> | undefined;

  /** True when what the file holds is judged; false when it is new and has to be seen again. */
  const lookOnce = async (): Promise<boolean> => {
    const seen = await reading.look();
    if (closed || seen.key === judge.last()) {
      fresh = undefined;
      return true;
    }
    const again = seen.key === fresh;
    fresh = again ? undefined : seen.key;
    if (again) judge.take(seen, false);
    return again;
  };
  const plan = (ms: number): void => {
    if (closed) return;
    callOff = later(ms, () => {
      busy = lookOnce().then((settled) => plan(settled ? everyMs : Math.min(everyMs, SETTLE_MS)));
    });
  };
  const settle = async (): Promise<void> => {
    for (let looks = 0; looks < MOST_LOOKS && !closed && !(await lookOnce()); looks++) {
      await new Promise<void>((resolve) => {
        const stop = later(ASKED_SETTLE_MS, resolve);
        callOff = () => {
          stop();
          resolve();
        };
      });
    }
    plan(everyMs);
  };
  return {
    start: async () => {
      if (options.begin !== undefined) return plan(everyMs);
      const first = reading.look();
      busy = first;
      const seen = await first;
      if (closed) return;
      judge.take(seen, true);
      plan(everyMs);
    },
    check: () => {
      // Callers that ask while a check waits for its turn share that check.
      pendingCheck ??= busy.then(() => {
        pendingCheck = undefined;
        if (closed) return;
        callOff();
        const settling = settle();
        busy = settling;
        return settling;
      });
      return pendingCheck;
    },
    state: judge.state,
    close: () => {
      closed = true;
      callOff();
      reading.close();
    },
  };
}

interface Judge<Content> {
  /** Key of what was judged last. */
  last(): string | undefined;
  /** Takes what was seen into force, or refuses it. Throws only for the `first`. */
  take(seen: FileSnapshot, first: boolean): void;
  state(): WatchedState<Content>;
}

/** Remembers what is in force, and what is wrong with what is not. */
function createJudge<Content>(options: WatchedFileOptions<Content>): Judge<Content> {
  const { path, parse, wall, apply, failed, recovered, begin, spare, unreadable } = options;
  let last = begin && keyOf(begin);
  let inForce = last;
  let state: WatchedState<Content> = { content: undefined, loadedAt: undefined, failing: undefined, reloads: 0 };
  const bring = ({ key, what }: FileSnapshot, first: boolean, isSpare = false): void => {
    if (what instanceof Error) throw unreadable(path, what);
    const content = parse(what, first);
    apply(content, { bytes: what, isSpare });
    inForce = key;
    state = { content, loadedAt: wall(), failing: undefined, reloads: state.reloads + (first ? 0 : 1) };
  };
  /** False if there is nothing to take instead of what was seen. */
  const bringSpare = ({ what: seen }: FileSnapshot): boolean => {
    const what = seen instanceof Error ? undefined : spare?.();
    if (what === undefined) return false;
    try {
      bring({ key: keyOf(what), what }, true, true);
      return true;
    } catch {
      // Of another configuration: the file's own faults are reported.
      return false;
    }
  };
  const take = (seen: FileSnapshot, first: boolean): void => {
    last = seen.key;
    if (seen.key === inForce) {
      state = { ...state, failing: undefined };
      recovered?.();
      return;
    }
    try {
      bring(seen, first);
    } catch (thrown) {
      if (first && !bringSpare(seen)) throw thrown;
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      const faults = faultsOf(error);
      state = { ...state, failing: { at: wall(), message: error.message, faults } };
      failed(error, faults);
    }
  };
  return { last: () => last, take, state: () => state };
}

/** What is wrong, one by one, where `error` says so. */
export function faultsOf(error: Error): readonly FileFault[] {
  return "faults" in error && Array.isArray(error.faults) ? error.faults : [];
}

/** What one look saw. Two with the same `key` saw the same. */
export interface FileSnapshot {
  readonly key: string;
  /** The file's bytes, or why there are none. */
  readonly what: Uint8Array | Error;
}

/** How something happens later, unless it is called off (as `upstream/later.ts` has it). */
export type RunLater = (ms: number, run: () => void) => () => void;

export interface FileReaderOptions {
  readonly path: string;
  /** Rejects when the file cannot be read. */
  readonly read: (path: string) => Promise<Uint8Array>;
  readonly later: RunLater;
}

/** A read that takes longer is given up: a file server that is away may answer in hours. */
const READ_MS = 10_000;
const TOO_SLOW = `reading it takes longer than ${READ_MS / 1000} s`;
/**
 * Reads that were given up and still hang. Nobody can end them, and each holds one of the four threads that read files and
 * look names up: with a third one lost the rest of the process would begin to starve.
 */
const MOST_HANGING = 2;

export interface FileReader {
  /** Never rejects. To be called one at a time. */
  look(): Promise<FileSnapshot>;
  /** Waits no longer for a look that is under way. */
  close(): void;
}

/** Looks at a file. */
export function createFileReader({ path, read, later }: FileReaderOptions): FileReader {
  let hanging = 0;
  let giveUp: (why: string) => void = () => {};
  const look = (): Promise<FileSnapshot> => {
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
      const done = (seen: FileSnapshot): void => {
        // What comes after it was given up is old: a later look may have seen something newer.
        if (given) {
          hanging -= 1;
          return;
        }
        giveUp = () => {};
        stop();
        resolve(seen);
      };
      readAsync(read, path).then(
        (bytes) => done({ key: keyOf(bytes), what: bytes }),
        (error: unknown) => done(unread(error instanceof Error ? error : new Error(String(error)))),
      );
    });
  };
  return { look, close: () => giveUp("it is no longer needed") };
}

/** Of a look that saw `bytes`. */
export function keyOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** What throws at once rejects like everything else. */
async function readAsync(read: FileReaderOptions["read"], path: string): Promise<Uint8Array> {
  return read(path);
}

function unread(error: Error): FileSnapshot {
  return { key: `unread: ${error.message}`, what: error };
}

/** Larger than any rules file that people write. */
const MAX_FILE_BYTES = 1024 ** 2;

/**
 * The bytes of the file at `path`, links followed. Rejects when it cannot be read, is no file, or has more than `maxBytes`:
 * of such a one no more than that is read.
 */
export async function readBounded(path: string, maxBytes: number = MAX_FILE_BYTES): Promise<Uint8Array> {
  // A pipe would otherwise wait for somebody to write into it, in one of the few threads that read files.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new Error(stat.isDirectory() ? "it is a directory" : "it is no file");
    return await readAll(handle, maxBytes);
  } finally {
    await handle.close();
  }
}

/** What counts is what comes: some files have no size (those of /proc), and others grow while they are read. */
async function readAll(handle: FileHandle, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const piece = Buffer.alloc(PIECE_BYTES);
    const { bytesRead } = await handle.read(piece, 0, PIECE_BYTES);
    if (bytesRead === 0) return Buffer.concat(pieces, length);
    pieces.push(piece.subarray(0, bytesRead));
    length += bytesRead;
    if (length > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
  }
}

const PIECE_BYTES = 64 * 1024;
