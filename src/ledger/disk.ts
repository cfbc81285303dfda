/** How is a file replaced so that whoever reads it finds the old one or the new one, whole? */
import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
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
      return await readWhole(path);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  },
  write: async (path, text) => {
    // Of this process alone, in the same folder, so that the rename is one step.
    const temporary = `${path}.${process.pid}.tmp`;
    try {
      // One that a killed process left, or a link that somebody put there: it is neither followed nor filled.
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

/** A pipe would be waited for until somebody writes into it, and nobody would be served meanwhile. */
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
