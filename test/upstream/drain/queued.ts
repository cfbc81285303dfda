/** How does a test hold the calls of a queue of parts, and take what they bring? */
import type { Step } from "../../../src/upstream/drain/part.ts";
import { type Cut, createQueue, type Queue } from "../../../src/upstream/drain/queue.ts";
import type { DrainParts } from "../../../src/upstream/drain/run.ts";
import { keysOf, type Platform, quiet } from "./simulator.ts";
import { holding, knowing, runOf, SMALL } from "./stage.ts";

export const KEYS = keysOf(200);
export const SEGMENTS: Cut = { overlap: 0, from: 8, step: 28, pages: 3, ahead: 4, readers: 4, aheadBytes: 2 ** 22 };

/** A queue over `platform` whose calls wait for the test. */
export function queued(
  cut: Cut,
  total: number,
  platform: Platform = quiet(KEYS),
  parts: Partial<DrainParts> = knowing(true),
) {
  const calls = holding(platform);
  const run = runOf(calls.served, { limits: SMALL, parts });
  const queue = createQueue(run, cut, total);
  const asked = () => calls.open.map((call) => call.selector.skip ?? call.selector.token);
  return { ...calls, run, queue, asked };
}

export const firstOf = (step: Step | undefined) => (step?.kind === "page" ? step.keys[0] : step?.kind);

/** Takes whatever the part in front brings, as its first keys. */
export async function taken(queue: Queue): Promise<unknown[]> {
  const all: unknown[] = [];
  for (let step = await queue.step(); step !== undefined; step = await queue.step()) all.push(firstOf(step));
  return all;
}
