/**
 * At most one live process for each state directory: the file `owner.json` changes every few seconds while its process lives. It names a host
 * and a process for people only. Another process watches whether the file changes, by its own clock, so neither clocks nor process ids of two
 * hosts are ever compared.
 */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, link, open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Timer } from "../model/clock.ts";
import { member, parsedJson } from "../model/json.ts";

/** Milliseconds between two changes of the file. */
const BEAT_MS = 3_000;
/** A file that stays the same for this many looks has no live process. Looks are counted, since this process may be paused between two. */
const LOOKS = 30;
const LOOK_MS = 500;
const EXPIRY_SECONDS = (LOOKS * LOOK_MS) / 1_000;

/** Another live process has the directory. Its message names that process. */
export class StateInUse extends Error {}

/** `endWait` was called while the process waited for the directory. */
export class StateWaitEnded extends Error {}

export interface StateLockOptions {
  readonly folder: string;
  /** Name of this machine, for people. */
  readonly host: string;
  /** Process id, for people. */
  readonly process: number;
  readonly later: Timer;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Logs one line for the operator. */
  readonly warn: (message: string, cause: unknown) => void;
  /** Whether the sections on disk are those that this process wrote: only then may it claim a removed file again. */
  readonly isUnchanged: () => Promise<boolean>;
  /** The directory was claimed again, and its files may be missing. */
  readonly reclaimed: () => void;
}

/** Who has, or last had, the directory; for people. */
export async function holderOf(folder: string): Promise<string | undefined> {
  const text = await textOf(join(folder, FILE)).catch(() => undefined);
  return text === undefined ? undefined : holderText(text);
}

/** When that process last changed the file, in milliseconds since 1970; undefined without one. Never rejects. */
export async function beatOf(folder: string): Promise<number | undefined> {
  const found = await stat(join(folder, FILE)).catch(() => undefined);
  return found?.mtimeMs;
}

const FILE = "owner.json";
/** For the owner only, as all files of the directory. */
const PRIVATE = 0o600;
/** Beats have one length, so that no reader sees the rest of an older one. */
const BEAT_DIGITS = 12;
const MOST_BYTES = 4_096;

export type StateLock = ReturnType<typeof createStateLock>;

export function createStateLock(options: StateLockOptions) {
  const { folder, host, process, later, wall, warn } = options;
  const path = join(folder, FILE);
  const token = randomUUID();
  const since = new Date(wall()).toISOString();
  let beats = 0;
  /** `lost`: another process had the directory meanwhile; this one never writes again. */
  let state: "none" | "held" | "lost" = "none";
  let failing = false;
  let cancel = (): void => {};
  let wake = (): void => {};
  let isWaitOver = false;
  let beating: Promise<void> = Promise.resolve();

  const content = (): string => {
    const beat = String(beats++).padStart(BEAT_DIGITS, "0");
    return `${JSON.stringify({ version: 1, host, process, since, token, beat })}\n`;
  };
  /** False when the file is there already. */
  const create = async (): Promise<boolean> => {
    const file = await open(path, "wx", PRIVATE).catch((error: unknown) => {
      if (codeOf(error) === "EEXIST") return undefined;
      throw error;
    });
    if (file === undefined) return false;
    try {
      await file.writeFile(content());
    } catch (error) {
      // Else the next process would wait for one that never was.
      await rm(path, { force: true }).catch(() => {});
      throw error;
    } finally {
      await file.close();
    }
    return true;
  };
  const look = async (): Promise<Signature | undefined> => {
    await new Promise<void>((resolve) => {
      const stop = later(LOOK_MS, resolve);
      wake = () => {
        stop();
        resolve();
      };
      if (isWaitOver) wake();
    });
    if (isWaitOver) throw new StateWaitEnded(`close() was called while carryover waited for ${folder}`);
    return signatureOf(path);
  };
  /** Names the process that has the file now. */
  const inUse = async (): Promise<StateInUse> => {
    let found = await signatureOf(path);
    // It was created this moment.
    if (found !== undefined && tokenOf(found.text) === undefined) found = await look();
    return new StateInUse(
      `${folder} is in use by ${holderText(found?.text ?? "")}: each process needs a directory of its own (state.dir), or stop that one first`,
    );
  };
  /** Resolves to the file of a process that no longer lives; undefined: there is none. Rejects with `StateInUse`. */
  const waitForExpiry = async (): Promise<Signature | undefined> => {
    let seen = await signatureOf(path);
    if (seen === undefined) return undefined;
    warn(
      `state.dir: ${folder} was left by ${holderText(seen.text)}, which did not stop properly or still runs; waiting up to ${EXPIRY_SECONDS} s to see whether it lives`,
      undefined,
    );
    for (let looks = 0; looks < LOOKS; looks++) {
      const now = await look();
      // It stopped properly.
      if (now === undefined) return undefined;
      if (now.whole !== seen.whole) throw await inUse();
      seen = now;
    }
    return seen;
  };
  /** Removes that file, and no other one that came into its place meanwhile. */
  const removeStale = async (stale: Signature): Promise<void> => {
    // The next file is another one: a paused process that wakes up writes into this one, which is gone.
    const aside = `${path}.${randomUUID()}.tmp`;
    try {
      await rename(path, aside);
    } catch (error) {
      // Another process that waited, too, was quicker.
      if (codeOf(error) === "ENOENT") return;
      throw error;
    }
    const found = await signatureOf(aside);
    const isSame = tokenOf(stale.text) === undefined ? found?.whole === stale.whole : found?.text === stale.text;
    // A file that was created since then stays.
    if (!isSame) await link(aside, path).catch(() => {});
    await rm(aside, { force: true });
    if (!isSame) throw await inUse();
    warn(
      `state.dir: ${holderText(stale.text)} has not been heard of for ${EXPIRY_SECONDS} s; this process takes over`,
      undefined,
    );
  };
  /** Changes the file if it is this process's. */
  const beat = async (): Promise<"held" | "gone" | "lost"> => {
    const file = await opened(path, constants.O_RDWR);
    if (file === undefined) return "gone";
    try {
      if (tokenOf(await boundedText(file)) !== token) return "lost";
      // Into the file that was looked at, whichever is at this place now.
      await file.write(content(), 0).catch(async () => {
        const now = new Date(wall());
        await file.utimes(now, now);
      });
      return "held";
    } finally {
      await file.close();
    }
  };
  const lose = (text: string): void => {
    if (state === "lost") return;
    state = "lost";
    warn(
      `state.dir: ${holderText(text)} has taken over ${folder}, since this process was paused or its storage was away: it serves on from memory and writes nothing there until it is restarted`,
      undefined,
    );
  };
  const keep = async (): Promise<void> => {
    const found = await beat();
    if (found === "lost") return lose((await textOf(path).catch(() => undefined)) ?? "");
    if (found === "held") return;
    if (!(await options.isUnchanged())) return lose("");
    if (!(await create())) return;
    warn(
      `state.dir: files of ${folder} were removed or replaced while this process ran; it writes them again`,
      undefined,
    );
    options.reclaimed();
  };
  const schedule = (): void => {
    cancel = later(BEAT_MS, () => {
      const inTime = later(EXPIRY_SECONDS * 1_000, () =>
        warn(
          `state.dir: ${path} could not be changed for ${EXPIRY_SECONDS} s: the storage does not respond, and another process could take the directory over`,
          undefined,
        ),
      );
      beating = keep().then(
        () => {
          failing = false;
        },
        (error: unknown) => {
          if (!failing)
            warn(`state.dir: ${path} cannot be written; another process could take the directory over`, error);
          failing = true;
        },
      );
      void beating.then(() => {
        inTime();
        if (state === "held") schedule();
      });
    });
  };
  return {
    /**
     * Resolves when this process has the directory; after a crash of the last one this takes 15 s. Rejects with `StateInUse`, with
     * `StateWaitEnded` after `endWait`, and with the error of the storage when no other process lives there but the file cannot be written.
     */
    claim: async (): Promise<void> => {
      let fault: unknown;
      const isNew = await create().catch((error: unknown) => {
        fault = error;
        return false;
      });
      if (!isNew) {
        const stale = await waitForExpiry();
        if (fault !== undefined) throw fault;
        if (stale !== undefined) await removeStale(stale);
        if (!(await create())) throw await inUse();
      }
      state = "held";
      schedule();
    },
    /** Ends a `claim` that waits: it rejects, and takes nothing over. */
    endWait: (): void => {
      isWaitOver = true;
      wake();
    },
    /** Rejects unless this process still has the directory: with `StateInUse` when another took over while this one was paused. */
    requireHeld: async (): Promise<void> => {
      if (state === "none") throw new Error("this process has not got the directory");
      const text = state === "lost" ? undefined : await textOf(path);
      if (text !== undefined && tokenOf(text) === token) return;
      if (text !== undefined) lose(text);
      if (state === "lost") throw new StateInUse(`another process has taken the directory over: ${folder}`);
      throw new Error(`${path} is gone: files of the directory were removed`);
    },
    /** Lets the next process in at once. Never rejects. */
    release: async (): Promise<void> => {
      if (state === "none") return;
      const wasHeld = state === "held";
      state = "none";
      cancel();
      await beating;
      if (!wasHeld) return;
      const text = await textOf(path).catch(() => undefined);
      if (text !== undefined && tokenOf(text) === token) await rm(path, { force: true }).catch(() => {});
    },
  };
}

/** Without waiting: a pipe would wait for a writer. Undefined without a file. */
async function opened(path: string, flags: number): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Undefined without a file. */
async function textOf(path: string): Promise<string | undefined> {
  const file = await opened(path, constants.O_RDONLY);
  if (file === undefined) return undefined;
  try {
    return await boundedText(file);
  } finally {
    await file.close();
  }
}

/** Empty for what is no file. */
async function boundedText(file: FileHandle): Promise<string> {
  if (!(await file.stat()).isFile()) return "";
  const { bytesRead, buffer } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
  return buffer.subarray(0, bytesRead).toString("utf8");
}

/** `whole` changes with each beat, also for a process that may not read the file. */
interface Signature {
  readonly text: string;
  readonly whole: string;
}

/** Undefined without a file. */
async function signatureOf(path: string): Promise<Signature | undefined> {
  const text = await textOf(path).catch((error: unknown) => `(${String(codeOf(error))})`);
  if (text === undefined) return undefined;
  const { ino, mtimeNs, size } = await stat(path, { bigint: true }).catch(() => ({ ino: 0, mtimeNs: 0, size: 0 }));
  return { text, whole: `${ino} ${mtimeNs} ${size} ${text}` };
}

function tokenOf(text: string): string | undefined {
  const token = member(parsedJson(text), "token");
  return typeof token === "string" ? token : undefined;
}

/** `host a, process 7, since 2026-11-27T10:00:00.000Z`. */
function holderText(text: string): string {
  const value = parsedJson(text);
  const [host, process, since] = ["host", "process", "since"].map((name) => member(value, name));
  if (typeof host !== "string" || typeof process !== "number" || typeof since !== "string") return "another process";
  return `host ${plain(host)}, process ${process}, since ${plain(since)}`;
}

/** The file may come from anywhere. */
function plain(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]/g, "?").slice(0, 253);
}

/** Of an error of the system. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
