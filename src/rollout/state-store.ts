/** Where everything is kept that must survive a restart: the folder `state.dir`, or nowhere. */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Sections of text by name, each replaced as a whole. */
export interface StateStore {
  /** Rejects when sections cannot be written here. */
  prepare(): Promise<void>;
  /** Undefined when nothing was saved. Rejects for any other reason. */
  read(section: string): Promise<string | undefined>;
  /** Another one after each write, by whatever process; undefined when nothing was saved. Rejects for any other reason. */
  mark(section: string): Promise<string | undefined>;
  /**
   * Durable when it resolves, to the mark of what was written. When it rejects, or the process is killed meanwhile, the old text is
   * unchanged. Other work goes on between two pieces.
   */
  write(section: string, pieces: Iterable<string>): Promise<string>;
  /** Keeps an unusable section under another name, and resolves to its place. */
  setAside(section: string): Promise<string>;
  /** Where a section is, for messages. */
  placeOf(section: string): string;
}

/** One file for each section. `folder` is created if its parent exists. */
export function createFolderStore(folder: string): StateStore {
  const placeOf = (section: string): string => join(folder, `${section}.json`);
  return {
    placeOf,
    prepare: async () => {
      await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
        if (codeOf(error) !== "EEXIST") throw error;
      });
      if (!(await stat(folder)).isDirectory()) throw new Error("it is no directory");
      // Left by processes that were killed while they wrote.
      const left = (await readdir(folder)).filter((name) => TEMPORARY.test(name));
      for (const name of left) await rm(join(folder, name), { force: true });
      const probe = join(folder, "probe.json");
      await writeWhole(probe, []);
      await rm(probe, { force: true });
    },
    read: (section) => reading(placeOf(section), (file) => file.readFile("utf8")),
    mark: (section) => reading(placeOf(section), markOf),
    write: (section, pieces) => writeWhole(placeOf(section), pieces),
    setAside: async (section) => {
      const taken = new Set(await readdir(folder));
      let name = `${section}.damaged`;
      for (let n = 2; taken.has(name); n++) name = `${section}.damaged-${n}`;
      await rename(placeOf(section), join(folder, name));
      return join(folder, name);
    },
  };
}

/** Files of `writeWhole`. Others of the folder may belong to somebody else. */
const TEMPORARY = /^[a-z]+\.json\.[0-9a-f-]+\.tmp$/;
/** For the owner only: sections hold names of clients. */
const PRIVATE = 0o600;
/** Larger than any ledger. */
const MAX_BYTES = 512 * 1024 ** 2;

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** Undefined without a file. Opens without blocking: a pipe would wait for a writer, and carryover would not start. */
async function reading<T>(path: string, read: (file: FileHandle) => Promise<T>): Promise<T | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
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
async function markOf(file: FileHandle): Promise<string> {
  const { ino, mtimeNs, size } = await file.stat({ bigint: true });
  return `${ino} ${mtimeNs} ${size}`;
}

async function writeWhole(path: string, pieces: Iterable<string>): Promise<string> {
  let mark: string;
  // In the same folder, so that the rename is atomic. Processes in two containers may have the same number.
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx", PRIVATE);
    try {
      for (const piece of pieces) await file.writeFile(piece);
      await file.sync();
      mark = await markOf(file);
    } finally {
      await file.close();
    }
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
