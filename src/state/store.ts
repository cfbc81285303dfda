/** Where everything is kept that must survive a restart: the folder `state.dir`, or nowhere. */
import { randomUUID } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, link, lstat, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beatOf, codeOf, createStateLock, StateInUse, type StateLockOptions, StateWaitEnded } from "./lock.ts";

/** Sections of text by name, each replaced as a whole. */
export interface StateStore extends StateReader {
  /**
   * Takes the store for this process alone, and tells what was kept here. Rejects when there can be no folder at this place, with `StateInUse`
   * while another process has it, and with `StateWaitEnded` after `endWait`.
   */
  prepare(): Promise<PreparedStore>;
  /** Ends a `prepare` that waits for another process. */
  endWait(): void;
  /** Rejects unless this process has the store. */
  requireHeld(): Promise<void>;
  /** To be called once all sections were written: a missing one is lost from then on. */
  markUsed(): Promise<void>;
  /** Another one after each write, by whatever process; undefined when nothing was saved. Rejects for any other reason. */
  mark(section: string): Promise<string | undefined>;
  /**
   * Durable when it resolves, to the mark of what was written. When it rejects, or the process is killed meanwhile, the old text is
   * unchanged. It rejects when another process took the store over. Other work goes on between two pieces.
   */
  write(section: string, pieces: Iterable<string>): Promise<string>;
  /** Keeps an unusable section under another name, where possible until it is written, too. Resolves to that place. */
  setAside(section: string): Promise<string>;
  /** Lets the next process in. Never rejects. */
  release(): Promise<void>;
  /** Where a section is, for messages. */
  placeOf(section: string): string;
}

/** `used`: something was kept here. `marked`: every section was. Neither: the folder is new, or all of it was removed. */
export interface StoreUse {
  readonly used: boolean;
  readonly marked: boolean;
}

/** `fault`: why sections cannot be written now. If the store could not be taken either, `write` rejects until the process ends. */
export interface PreparedStore extends StoreUse {
  readonly fault?: unknown;
  /** When a process that did not stop properly was last heard of, in milliseconds since 1970. */
  readonly heardAt?: number | undefined;
}

/** One file for each section. `folder` is created if its parent exists. */
export function createFolderStore(folder: string, lockOptions: Omit<StateLockOptions, "folder">): StateStore {
  const placeOf = (section: string): string => join(folder, `${section}.json`);
  const marker = join(folder, MARKER);
  const lock = createStateLock({ ...lockOptions, folder });
  const { requireHeld, endWait } = lock;
  const reader = createFolderReader(folder);
  const take = async (): Promise<void> => {
    await lock.claim();
    // Left by processes that were killed while they wrote. A paused one that wakes up can no longer put its file into place.
    for (const name of await readdir(folder)) {
      if (TEMPORARY.test(name)) await rm(join(folder, name), { force: true });
    }
    const probe = join(folder, "probe.json");
    await writeWhole(probe, [PROBE_TEXT], requireHeld);
    await rm(probe, { force: true });
  };
  return {
    ...reader,
    placeOf,
    requireHeld,
    endWait,
    prepare: async () => {
      const misplaced = await makeFolder(folder);
      const heardAt = await beatOf(folder);
      const fault = misplaced ?? (await faultOf(take()));
      // What cannot be looked at may have been used.
      const use = await reader.use().catch(() => ({ used: true, marked: true }));
      return { ...use, ...(fault === undefined ? {} : { fault }), heardAt };
    },
    markUsed: async () => {
      if ((await nodeAt(marker)) === undefined) await writeWhole(marker, [MARKER_TEXT], requireHeld);
    },
    mark: async (section) => {
      const found = await nodeAt(placeOf(section));
      return found && markOf(found);
    },
    write: async (section, pieces) => {
      // Leaves no trace where another process, or none, has the store.
      await requireHeld();
      return writeWhole(placeOf(section), pieces, requireHeld);
    },
    setAside: async (section) => {
      const place = placeOf(section);
      await requireHeld();
      const taken = new Set(await readdir(folder));
      let name = `${section}.damaged`;
      for (let n = 2; taken.has(name); n++) name = `${section}.damaged-${n}`;
      const aside = join(folder, name);
      // The section stays until another one replaces it. Folders, and some file systems, have no second name.
      await link(place, aside).catch(() => rename(place, aside));
      return aside;
    },
    release: () => lock.release(),
  };
}

/** Reads without taking the store: for commands. */
export type StateReader = ReturnType<typeof createFolderReader>;

export function createFolderReader(folder: string) {
  return {
    /** Undefined when nothing was saved. Rejects for any other reason: what was saved is not readable then. */
    read: (section: string): Promise<string | undefined> =>
      reading(join(folder, `${section}.json`), (file) => file.readFile("utf8")),
    use: async (): Promise<StoreUse> => {
      const names = await readdir(folder).catch((error: unknown) => {
        if (codeOf(error) === "ENOENT") return [];
        throw error;
      });
      return useOf(names);
    },
  };
}

/** Written at the start to see whether files can be. */
const PROBE_TEXT = "carryover can write here\n";

/** A folder cannot be here, whatever the storage does later. */
const MISPLACED: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "EINVAL"]);

/** Resolves to why the storage does not let it be made; undefined: it is there. Rejects when it cannot be here. */
async function makeFolder(path: string): Promise<unknown> {
  try {
    // On a read-only file system making it fails whether it is there or not.
    let found = await stat(path).catch(() => undefined);
    if (found === undefined) {
      await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
        if (codeOf(error) !== "EEXIST") throw error;
      });
      found = await stat(path);
    }
    if (!found.isDirectory()) throw Object.assign(new Error("it is no directory"), { code: "ENOTDIR" });
    return undefined;
  } catch (error) {
    if (MISPLACED.has(codeOf(error))) throw error;
    return error;
  }
}

/** Why `taken` rejected, unless the store must be left alone. */
async function faultOf(taken: Promise<void>): Promise<unknown> {
  try {
    await taken;
    return undefined;
  } catch (error) {
    if (error instanceof StateInUse || error instanceof StateWaitEnded) throw error;
    return error;
  }
}

/** Shows that sections were kept here, even when all of them were removed. */
const MARKER = "used.txt";
const MARKER_TEXT =
  "carryover keeps the states of its rules in this directory (state.dir). To start again, remove everything in it while carryover is stopped:\nwithout rollout.json alone, rules stay on native v1 until `carryover confirm RULE`.\n";

/** By the marker, and by sections whatever became of them. */
function useOf(names: readonly string[]): StoreUse {
  const marked = names.includes(MARKER);
  return { used: marked || names.some((name) => /^(?:rollout|counts)\./.test(name)), marked };
}

/** Files of `writeWhole`. Others of the folder may belong to somebody else. */
const TEMPORARY = /^[a-z-]+\.(?:json|txt)\.[0-9a-f-]+\.tmp$/;
/** For the owner only: sections hold names of clients. */
const PRIVATE = 0o600;
/** Larger than any ledger. */
const MAX_BYTES = 512 * 1024 ** 2;

/** The file, folder or link at `path`, without following a link. Undefined if there is none. */
function nodeAt(path: string): Promise<BigIntStats | undefined> {
  return lstat(path, { bigint: true }).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
}

/** Undefined without a file. Opens without blocking: a pipe would wait for a writer, and carryover would not start. */
async function reading<T>(path: string, read: (file: FileHandle) => Promise<T>): Promise<T | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(async (error: unknown) => {
    if (codeOf(error) === "ENOENT" && (await nodeAt(path)) === undefined) return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Error("it is no file");
    if (found.size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    return await read(file);
  } finally {
    await file.close();
  }
}

/** Every write makes a new file. */
function markOf({ ino, mtimeNs, size }: BigIntStats): string {
  return `${ino} ${mtimeNs} ${size}`;
}

/** `requireHeld` is asked last, when only the rename is left to do. */
async function writeWhole(path: string, pieces: Iterable<string>, requireHeld: () => Promise<void>): Promise<string> {
  let mark: string;
  // In the same folder, so that the rename is atomic. Processes in two containers may have the same number.
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx", PRIVATE);
    try {
      for (const piece of pieces) await file.writeFile(piece);
      await file.sync();
      mark = markOf(await file.stat({ bigint: true }));
    } finally {
      await file.close();
    }
    await requireHeld();
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
  await syncFolder(dirname(path));
  return mark;
}

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
