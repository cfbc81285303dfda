/** `--resume`: the progress of a replay in a file. */
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { Config } from "../../config/config.ts";
import { ArgumentError } from "../../config/faults.ts";
import { later } from "../../model/clock.ts";
import { openProgressFile, type ProgressFile, ProgressFileError } from "../../replay/progress-file.ts";
import { VERSION } from "../../version.ts";
import type { CommandIo } from "../command.ts";

/** The flags that say which requests are replayed, and where to. */
export interface KeyFlags {
  readonly sample: number;
  readonly client?: string;
  readonly tokenFile?: readonly string[];
  readonly writesTo?: string;
}

export async function openResumed(file: string | undefined): Promise<ProgressFile | undefined> {
  if (file === undefined) return undefined;
  const isAlive = (pid: number): boolean => {
    try {
      process.kill(pid, 0);
      return true;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "EPERM";
    }
  };
  try {
    return await openProgressFile(file, { pid: process.pid, isAlive });
  } catch (error) {
    if (!(error instanceof ProgressFileError)) throw error;
    throw new ArgumentError({ where: `--resume ${file}`, what: "it cannot be used", remedy: error.message });
  }
}

const HEAD_BYTES = 64 * 1024;

/** Equal for the same replay: a recording may have grown, but begins as before. */
export async function keyOf(files: readonly string[], flags: KeyFlags, config: Config): Promise<string> {
  const hash = createHash("sha256");
  const { upstream, shadow, lists, unknownFields, v1 } = config;
  const { sample, client, tokenFile, writesTo } = flags;
  const clients = (tokenFile ?? []).flatMap((given) => (given.includes("=") ? given.split("=", 1) : []));
  const facts = {
    VERSION,
    files,
    sample,
    client,
    clients,
    writesTo,
    shadow,
    lists,
    unknownFields,
    v1,
    urls: [upstream.v1?.url, upstream.v2.url],
  };
  hash.update(JSON.stringify(facts));
  for (const file of files) {
    const handle = await open(file);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
      // A short file may grow: its first line is enough to know it.
      const end = bytesRead < HEAD_BYTES ? buffer.subarray(0, bytesRead).indexOf(0x0a) : bytesRead;
      hash.update(buffer.subarray(0, end < 0 ? bytesRead : end));
    } finally {
      await handle.close();
    }
  }
  return hash.digest("base64url");
}

const SAVE_MS = 1_000;

export interface Saving {
  /** Something more is done. */
  changed(): void;
  close(): Promise<void>;
}

/** Saves at most once a second, and at the end. */
export function saving(
  progress: ProgressFile | undefined,
  snapshot: () => Parameters<ProgressFile["save"]>[0],
  { resume }: { readonly resume?: string },
  io: CommandIo,
): Saving {
  let cancel: (() => void) | undefined;
  let work: Promise<void> = Promise.resolve();
  let warned = false;
  const save = (): void => {
    cancel = undefined;
    work = work
      .then(() => progress?.save(snapshot()))
      .catch((error: unknown) => {
        if (!warned)
          io.warn(`warning: ${resume} cannot be written (${error instanceof Error ? error.message : String(error)})`);
        warned = true;
      });
  };
  return {
    changed: () => {
      if (progress !== undefined) cancel ??= later(SAVE_MS, save);
    },
    close: () => {
      cancel?.();
      save();
      return work;
    },
  };
}
