/** `carryover check` of `record.file`: could carryover write it? Reads only. */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Config } from "../../config/config.ts";
import { type Finding, fail, findingsOf, note, ok } from "./finding.ts";

/** A file that changed later than this is being written. */
const RECENT_MS = 10_000;

/** Empty without `record.file`. `now`: milliseconds since 1970. */
export async function checkRecording({ record: { file } }: Config, now: number): Promise<readonly Finding[]> {
  if (file === undefined) return [];
  const folder = dirname(file);
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() === false) {
    return findingsOf("recording", fail(`record.file: ${file} is not a file`, "name a file"));
  }
  // Full files are renamed and compressed in the folder, so it has to be writable, too.
  const fault = (await faultOf(folder)) ?? (found === undefined ? undefined : await faultOf(file));
  if (fault !== undefined) {
    const remedy = "name a file in a folder that is there, and that the user that carryover runs as may write";
    return findingsOf("recording", fail(`record.file: ${fault}`, remedy));
  }
  const age = found === undefined ? undefined : now - found.mtimeMs;
  if (age === undefined || age > RECENT_MS) return findingsOf("recording", ok(`${file} can be written`));
  const remedy = "if that is another carryover than the one of this configuration, give this one a file of its own";
  return findingsOf("recording", note(`a process writes ${file} now`, remedy));
}

/** Undefined: it can be written. */
async function faultOf(path: string): Promise<string | undefined> {
  const error: unknown = await access(path, constants.W_OK).catch((caught: unknown) => caught);
  return error instanceof Error ? `${path} cannot be written (${error.message})` : undefined;
}
