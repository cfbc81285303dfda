/** The file that lets a replay continue where it stopped. */
import { type FileHandle, open, readFile, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { isJsonObject, member, parsedJson } from "../model/json.ts";
import type { DoneRequests } from "./done.ts";
import type { ReplayTally } from "./tally.ts";

export interface SavedReplay {
  /** Digest of files, options and version: results with others do not count. */
  readonly key: string;
  readonly done: DoneRequests;
  readonly tally: ReplayTally;
}

export interface ProgressFile {
  /** The saved progress; undefined at the beginning. */
  readonly saved: SavedReplay | undefined;
  /** Replaces the file: it is the old or the new one, whatever happens meanwhile. */
  save(replay: SavedReplay): Promise<void>;
  /** Lets another replay have it. */
  close(): Promise<void>;
}

/** The file is in use, or is no such file. The message says it and what to do. */
export class ProgressFileError extends Error {}

const PRIVATE = 0o600;
const VERSION = 1;

/** `isAlive`: whether a process of this machine still runs. Rejects with ProgressFileError. */
export async function openProgressFile(
  file: string,
  { pid, isAlive }: { readonly pid: number; readonly isAlive: (pid: number) => boolean },
): Promise<ProgressFile> {
  const lock = `${file}.lock`;
  await claim(lock, pid, isAlive);
  try {
    const saved = await readSaved(file);
    return {
      saved,
      async save(replay) {
        const part = `${file}.part`;
        const handle = await open(part, "w", PRIVATE);
        try {
          await handle.writeFile(`${JSON.stringify({ version: VERSION, ...replay })}\n`);
          await handle.sync();
        } finally {
          await handle.close();
        }
        await rename(part, file);
      },
      close: () => rm(lock, { force: true }),
    };
  } catch (error) {
    await rm(lock, { force: true });
    throw error;
  }
}

async function claim(lock: string, pid: number, isAlive: (pid: number) => boolean): Promise<void> {
  for (let tries = 0; ; tries++) {
    const handle = await open(lock, "wx", PRIVATE).catch((error: unknown): FileHandle | undefined => {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
      throw new ProgressFileError(
        `${lock} cannot be written (${error instanceof Error ? error.message : String(error)})`,
      );
    });
    if (handle !== undefined) {
      await handle.writeFile(JSON.stringify({ pid, host: hostname() }));
      await handle.close();
      return;
    }
    const holder: unknown = parsedJson(await readFile(lock, "utf8").catch(() => ""));
    const owner = member(holder, "pid");
    const isGone = member(holder, "host") === hostname() && typeof owner === "number" && !isAlive(owner);
    if (!isGone || tries > 0) {
      const who =
        typeof owner === "number" ? `process ${owner} on ${String(member(holder, "host"))}` : "another process";
      throw new ProgressFileError(`${who} is using it; wait for it, or delete ${lock} if that process is gone`);
    }
    await rm(lock, { force: true });
  }
}

async function readSaved(file: string): Promise<SavedReplay | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new ProgressFileError(`it cannot be read (${error instanceof Error ? error.message : String(error)})`);
  }
  const value: unknown = parsedJson(text);
  if (!isJsonObject(value) || value["version"] !== VERSION || !isJsonObject(value["tally"] ?? null)) {
    throw new ProgressFileError("it is not the progress of a replay; name another file, or delete it");
  }
  return value as unknown as SavedReplay;
}
