/** Writes the pages of `carryover way-out --all` into a directory, and removes those of earlier runs that are no longer needed. */
import { randomUUID } from "node:crypto";
import { lstat, mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "../../config/faults.ts";
import { WAY_OUT_MARK, type WayOutPage } from "../../ledger/way-out-pages.ts";

export interface WrittenPages {
  readonly written: number;
  /** Names of files of earlier runs. */
  readonly removed: readonly string[];
}

/** Throws ConfigError before anything is written, if a file that is not carryover's would be replaced. */
export async function writePages(dir: string, pages: readonly WayOutPage[]): Promise<WrittenPages> {
  const before = await filesIn(dir);
  // Some file systems do not tell upper from lower case.
  const others = new Set([...before].flatMap(([file, whose]) => (whose === "foreign" ? [file.toLowerCase()] : [])));
  const foreign = pages.filter(({ file }) => others.has(file));
  if (foreign.length > 0) {
    const what = `${foreign.map(({ file }) => file).join(", ")} in ${dir} was not written by carryover way-out, and is not replaced`;
    throw new ConfigError([{ where: "--all", what, remedy: "move it, or name another directory" }]);
  }
  for (const { file, text } of pages) await replaceFile(join(dir, file), text);
  const wanted = new Set(pages.map(({ file }) => file));
  const removed = [...before].flatMap(([file, whose]) => (whose === "own" && !wanted.has(file) ? [file] : []));
  for (const file of removed) await rm(join(dir, file));
  return { written: pages.length, removed };
}

/** The files, and whether an earlier run wrote them. Whatever is no plain file is foreign. */
async function filesIn(dir: string): Promise<ReadonlyMap<string, "own" | "foreign">> {
  try {
    await mkdir(dir, { recursive: true });
    const names = await readdir(dir);
    const found = await Promise.all(
      names.map(async (name) => [name, (await isOwn(join(dir, name))) ? "own" : "foreign"] as const),
    );
    return new Map(found);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const remedy = "name a directory that this user can read and write";
    throw new ConfigError([{ where: "--all", what: `${dir} cannot be used (${why})`, remedy }]);
  }
}

async function isOwn(path: string): Promise<boolean> {
  if (!path.endsWith(".md") || !(await lstat(path)).isFile()) return false;
  const file = await open(path);
  try {
    const mark = Buffer.from(`${WAY_OUT_MARK}\n`);
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(mark.length), position: 0 });
    return bytesRead === mark.length && buffer.equals(mark);
  } finally {
    await file.close();
  }
}

/** At no time is there half a page. */
async function replaceFile(path: string, text: string): Promise<void> {
  const next = `${path}.${randomUUID()}`;
  await writeFile(next, text, { flag: "wx" });
  await rename(next, path);
}
