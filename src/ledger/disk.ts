/** Replaces a file so that every reader finds the old one or the new one, whole. */
import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

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
