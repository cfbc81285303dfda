/** `carryover check` of `state.dir`: would each rule know its state? Reads only, so it can run while a carryover uses the directory. */
import { constants } from "node:fs";
import { access, statfs } from "node:fs/promises";
import type { Config } from "../../config/config.ts";
import { createRollout } from "../../rollout/rollout.ts";
import { ALL_LOST, readSavedRollout } from "../../rollout/saved-rollout.ts";
import type { Rules } from "../../rules/rule.ts";
import { createFolderReader } from "../../state/store.ts";
import { type Finding, findingsOf, type Judgement, listed, ok, skipped, warn } from "./finding.ts";

/** The questions about the file system of the directory. */
interface Storage {
  access(path: string, mode: number): Promise<void>;
  statfs(path: string): Promise<{ readonly blocks: number; readonly bavail: number }>;
}

/** Nothing where no state was kept on this machine. `now`: milliseconds since 1970. */
export async function checkState(
  { state: { dir }, upstream, cutover }: Config,
  rules: Rules | undefined,
  now: number,
  storage: Storage = { access, statfs },
): Promise<readonly Finding[]> {
  if (dir === undefined) return [];
  const reader = createFolderReader(dir);
  try {
    const { used } = await reader.use();
    if (!used) return [];
  } catch (error) {
    return findingsOf("state", unreadable(dir, error));
  }
  const { found, fault } = await readRollout(dir);
  if (fault !== undefined && isDenied(fault)) return findingsOf("state", unreadable(dir, fault));
  const rollout = createRollout({
    rules: undefined,
    mode: cutover.mode,
    native: upstream.v1 !== undefined,
    bucketOf: () => 0,
    wall: () => now,
    onEvent: () => {},
  });
  rollout.restore(found);
  if (rules !== undefined) rollout.replace(rules);
  const unknown = rollout.states().flatMap(({ name, unknown }) => (unknown === true ? [name] : []));
  const serves = upstream.v1 === undefined ? "translated all the same, without a native v1" : "served by native v1";
  const problems: Judgement[] = [
    ...(unknown.length === 0
      ? []
      : [
          warn(
            `the saved state of ${listed(unknown)} cannot be read: ${serves}`,
            "see the log and /rules of the instance, then carryover confirm RULE",
          ),
        ]),
    ...(found.force.lost === true && upstream.v1 !== undefined
      ? [
          warn(
            "what carryover force said cannot be read: everything is served by native v1",
            "carryover force none, unless a person forced it",
          ),
        ]
      : []),
    ...(found.force.command === "native" && upstream.v1 === undefined
      ? [
          warn(
            "carryover force native is kept, and has no effect without upstream.v1.url",
            "carryover force none, unless native v1 comes back",
          ),
        ]
      : []),
  ];
  const unwritten = await whyNotWritten(dir, storage);
  if (unwritten !== undefined)
    problems.push(
      warn(
        `${dir} ${unwritten}: carryover would go on in memory, and write nothing there until it is restarted`,
        "repair the storage before you start it",
      ),
    );
  return findingsOf("state", ...(problems.length > 0 ? problems : [ok(`${dir} can be read`)]));
}

/** Undefined: it can be written, or this user cannot tell. */
async function whyNotWritten(dir: string, { access, statfs }: Storage): Promise<string | undefined> {
  const error: unknown = await access(dir, constants.W_OK).catch((caught: unknown) => caught);
  if (error instanceof Error && "code" in error && error.code === "EROFS") return "is read-only";
  // Some file systems count no blocks.
  const space = await statfs(dir).catch(() => undefined);
  return space !== undefined && space.blocks > 0 && space.bavail === 0 ? "is on a full disk" : undefined;
}

async function readRollout(dir: string) {
  try {
    const text = await createFolderReader(dir).read("rollout");
    return {
      found: text === undefined ? ALL_LOST : readSavedRollout(JSON.parse(text), (name) => name),
      fault: undefined,
    };
  } catch (fault) {
    return { found: ALL_LOST, fault };
  }
}

function isDenied(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM");
}

function unreadable(dir: string, error: unknown): Judgement {
  const why = error instanceof Error ? error.message : String(error);
  return skipped(`state.dir: ${dir} cannot be read (${why})`, "check as the user that carryover runs as");
}
