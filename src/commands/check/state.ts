/** `carryover check` of `state.dir`: would each rule know its state? Reads only, so it can run while a carryover uses the directory. */
import type { Config } from "../../config/config.ts";
import type { Rules } from "../../model/rules.ts";
import { createRollout } from "../../rollout/rollout.ts";
import { ALL_LOST, readSavedRollout } from "../../rollout/saved-state.ts";
import { createFolderReader } from "../../rollout/state-store.ts";
import { type Finding, findingsOf, type Judgement, listed, ok, skipped, warn } from "./finding.ts";

/** Nothing where no state was kept on this machine. `now`: milliseconds since 1970. */
export async function checkState(
  { state: { dir }, upstream, cutover }: Config,
  rules: Rules | undefined,
  now: number,
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
  const unknown = rollout.states().flatMap(({ name, state }) => (state === "unknown" ? [name] : []));
  const serves = upstream.v1 === undefined ? "translated all the same, without a native v1" : "served by native v1";
  const problems: readonly Judgement[] = [
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
  ];
  return findingsOf("state", ...(problems.length > 0 ? problems : [ok(`${dir} can be read`)]));
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
