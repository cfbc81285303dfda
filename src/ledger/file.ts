/** Saves the ledger to the file `clients.file`, so that it survives a restart. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Timer } from "../model/clock.ts";
import type { Ledger } from "./ledger.ts";
import { readSnapshot } from "./snapshot.ts";

interface LedgerFileOptions {
  readonly path: string;
  readonly disk: Disk;
  readonly later: Timer;
  readonly ledger: Pick<Ledger, "snapshot" | "restore" | "revision">;
  /** Logs one line for the operator. */
  readonly warn: (message: string, cause: unknown) => void;
}

export interface LedgerFile {
  /**
   * Reads the file into the ledger, before the first request, and starts to save. Never rejects: without a file the ledger
   * is empty; a damaged one is moved to `.damaged`; one that cannot be read stays as it is, and nothing is saved. It warns of
   * the last two.
   */
  start(): Promise<void>;
  /** True if the file could not be read, or the last attempt to write it failed: a restart would lose data. */
  failing(): boolean;
  /** Saves changes and stops. Never rejects. */
  close(): Promise<void>;
}

/** Milliseconds between two checks for changes to save. */
const EVERY_MS = 30_000;
/** Checks without a change until the file is written all the same: it says until when the ledger was watching. */
const IDLE_CHECKS = 10;

interface LedgerFileState {
  /** Digest of the file's content as this process knows it; undefined: no file. */
  content: string | undefined;
  /** The ledger's revision that was saved last. */
  saved: number;
  /** Checks since then. */
  checks: number;
  /** The last write failed: logged once until a write succeeds. */
  failing: boolean;
  /** Another process wrote the file: logged once. */
  shared: boolean;
  stopped: boolean;
  /** Cancels the next check. */
  stop: () => void;
  writing: Promise<void>;
}

/**
 * Saves every 30 seconds if requests were counted, else every tenth time, and at the end. If two processes share a file, the
 * last writer wins and logs it: each needs a file of its own.
 */
export function createLedgerFile(options: LedgerFileOptions): LedgerFile {
  const state: LedgerFileState = {
    content: undefined,
    saved: options.ledger.revision(),
    checks: 0,
    failing: false,
    shared: false,
    stopped: false,
    stop: () => {},
    writing: Promise.resolve(),
  };
  const tick = (): void => {
    state.stop = options.later(EVERY_MS, () => {
      state.checks += 1;
      state.writing = save(options, state, state.checks >= IDLE_CHECKS).finally(() => {
        if (!state.stopped) tick();
      });
    });
  };
  return {
    start: async () => {
      const saves = await load(options, state);
      if (saves && !state.stopped) tick();
      else state.stopped = true;
      state.failing = !saves;
    },
    failing: () => state.failing,
    close: async () => {
      if (state.stopped) return;
      state.stopped = true;
      state.stop();
      await state.writing;
      await save(options, state, true);
    },
  };
}

/** False when nothing may be saved: the unknown content of the file must not be lost. */
async function load(options: LedgerFileOptions, state: LedgerFileState): Promise<boolean> {
  const { path, disk, ledger, warn } = options;
  let text: string | undefined;
  try {
    text = await disk.read(path);
  } catch (error) {
    warn(`clients.file: ${path} cannot be read; the ledger starts empty and is not saved`, error);
    return false;
  }
  state.content = digest(text);
  if (text === undefined) return true;
  try {
    ledger.restore(readSnapshot(JSON.parse(text)));
    return true;
  } catch (error) {
    return moveAside(options, state, error);
  }
}

async function moveAside(options: LedgerFileOptions, state: LedgerFileState, why: unknown): Promise<boolean> {
  const { path, disk, warn } = options;
  const aside = `${path}.damaged`;
  try {
    await disk.move(path, aside);
    state.content = undefined;
    warn(`clients.file: ${path} holds no ledger; it is now ${aside}, and the ledger starts empty`, why);
    return true;
  } catch (error) {
    warn(`clients.file: ${path} holds no ledger and cannot be moved aside; the ledger is not saved`, error);
    return false;
  }
}

/** `always`: also without changes, unless that would replace what another process counted. */
async function save(options: LedgerFileOptions, state: LedgerFileState, always: boolean): Promise<void> {
  const { path, disk, ledger, warn } = options;
  const now = ledger.revision();
  const isNew = now !== state.saved;
  if (!isNew && !always) return;
  state.checks = 0;
  try {
    const isForeign = digest(await disk.read(path)) !== state.content;
    if (isForeign && !isNew) return;
    if (isForeign) warnOfOthers(options, state);
    const text = JSON.stringify(ledger.snapshot());
    await disk.write(path, text);
    state.content = digest(text);
    state.saved = now;
    state.failing = false;
  } catch (error) {
    if (!state.failing) warn(`clients.file: ${path} cannot be written; the ledger goes on in memory`, error);
    state.failing = true;
  }
}

/** Another process wrote the file since this one read or wrote it: what that process counted is about to be lost. */
function warnOfOthers({ path, warn }: LedgerFileOptions, state: LedgerFileState): void {
  if (state.shared) return;
  state.shared = true;
  warn(
    `clients.file: another process writes ${path}; the last one wins. Give each replica a file of its own`,
    undefined,
  );
}

function digest(text: string | undefined): string | undefined {
  return text === undefined ? undefined : createHash("sha256").update(text).digest("hex");
}

/** What saving the ledger needs of a file system. */
export interface Disk {
  /** Undefined when there is no such file. Rejects for any other reason. */
  read(path: string): Promise<string | undefined>;
  /** Replaces the file. When it rejects, the old file is unchanged. */
  write(path: string, text: string): Promise<void>;
  /** Renames the file, replacing one of that name. */
  move(from: string, to: string): Promise<void>;
}

export const disk: Disk = {
  read: async (path) => {
    try {
      return await readWhole(path);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw error;
    }
  },
  write: async (path, text) => {
    // In the same folder, so that the rename is atomic.
    const temporary = `${path}.${process.pid}.tmp`;
    try {
      // A killed process may have left one, and a link that somebody put there must not be followed.
      await rm(temporary, { force: true });
      const file = await open(temporary, "wx", PRIVATE);
      try {
        await file.writeFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {});
      throw error;
    }
    await syncFolder(dirname(path));
  },
  move: rename,
};

/** Larger than any ledger. */
const MAX_BYTES = 512 * 1024 ** 2;

/** Opens without blocking: a pipe would wait for a writer, and carryover would not start. */
async function readWhole(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Error("it is no file");
    if (stat.size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/** For the owner only: the file holds names of clients. */
const PRIVATE = 0o600;

/** Makes the rename survive a power cut, where folders can be synced. The file itself is whole either way. */
async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch {
    // Some file systems refuse it.
  }
}
