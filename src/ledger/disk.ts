/** How is a file replaced so that whoever reads it finds the old one or the new one, whole? */
import { open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** What the ledger's file needs of a file system. */
export interface Disk {
  /** Undefined when there is no such file. Rejects for any other reason. */
  read(path: string): Promise<string | undefined>;
  /** Replaces the file. Rejects when it could not; then the old one is as it was. */
  write(path: string, text: string): Promise<void>;
  /** Gives the file another name, over one that has it. */
  move(from: string, to: string): Promise<void>;
}

export const disk: Disk = {
  read: async (path) => {
    try {
      return await readFile(path, "utf8");
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  },
  write: async (path, text) => {
    // Of this process alone, in the same folder, so that the rename is one step.
    const temporary = `${path}.${process.pid}.tmp`;
    try {
      const file = await open(temporary, "w", PRIVATE);
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

/** Names of clients are nobody else's. */
const PRIVATE = 0o600;

/** Keeps the rename over a power cut, where folders can be synced. The file itself is whole either way. */
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

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
