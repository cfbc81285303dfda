/** Processes that differ from the others: another version of carryover, or a clock that is an hour ahead. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "vitest";
import type { How, Process } from "./processes.ts";
import { BETWEEN, failuresOf, type Rig } from "./rig.ts";

const MOST_MS = 2_000;
/** A replica is gone if it was not heard for 5 s. */
const HEARD_MS = 5_000;

export const AHEAD: How = {
  env: { NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, "ahead.mjs"))}` },
};

/** Stops these processes as an operator would, and starts them in another way. No request fails meanwhile. */
export async function replace(rig: Rig, at: readonly number[], how: How, phase: string): Promise<void> {
  rig.load.begin(phase);
  for (const one of at.map(rig.process)) {
    await one.stop("SIGTERM");
    await one.start(how);
    const { back } = await one.following();
    expect(rig.back.filter((name) => !back.has(name))).toEqual([]);
  }
  rig.load.begin(BETWEEN);
  expect(failuresOf(rig, phase)).toEqual([]);
}

/** Decisions of each of two processes hold everywhere. */
export async function decideAt(rig: Rig, [one, other]: readonly [Process, Process]): Promise<string> {
  const { load, msUntil, processes } = rig;
  const times: number[] = [];
  for (const from of [one, other]) {
    const name = await rig.stepBackAt(from);
    times.push(await msUntil(async (process) => (await process.following()).back.has(name), MOST_MS));
    for (const { url } of processes) expect(await load.ask(url, name)).toBe("shadow");
    for (const command of ["native", "none"]) {
      const reason = `${command} from process ${from.at}`;
      const { code, out } = await from.command("force", command, "--reason", reason, "--by", "operator");
      expect(code, out).toBe(0);
      const isForced = async (process: Process): Promise<boolean> => {
        const seen = await process.following();
        return seen.force === command && seen.reason === reason;
      };
      times.push(await msUntil(isForced, MOST_MS));
    }
  }
  return times.map((ms) => `${ms.toFixed(0)} ms`).join(", ");
}

/** The replicas that are there, as `process` lists them. Times are relative to its own clock. */
export async function replicasSeenBy(process: Process) {
  const { at, shared } = await process.view("/progress");
  interface Seen {
    readonly version: string;
    readonly heardAt: number;
    readonly startedAt: number;
    readonly goneSince?: number;
  }
  const there = (shared.replicas as Seen[]).filter(({ goneSince }) => goneSince === undefined);
  return there.map(({ version, heardAt, startedAt }) => ({
    version,
    isJustHeard: Math.abs(at - heardAt) < HEARD_MS,
    startedAgoMs: at - startedAt,
  }));
}
