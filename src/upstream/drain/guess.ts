/** What can be asked for before the first page of a list is known? */
import { cutOf } from "./cut.ts";
import type { Page } from "./page.ts";
import { createQueue, type Queue } from "./queue.ts";
import type { Run } from "./run.ts";

/** For planning before the first page is known. */
const GUESSED_RECORD_BYTES = 400;

/** How many records the list had the last time, where that is reason enough to ask for several pages at once. */
export function guessedCount(run: Run): number | undefined {
  const { parts, plan, merged } = run;
  const { pageSize, windowRecords } = parts.limits;
  if (merged.catchingUp || !plan.keyOrder || parts.memory.heedsSkip(plan.resource) !== true) return undefined;
  const count = parts.memory.countOf(targetOf(run));
  return count !== undefined && count > pageSize && count <= windowRecords ? count : undefined;
}

/**
 * A list that was long the last time is asked for in parallel together with its first page, which then says whether that was
 * right.
 */
export function guess(run: Run, count: number): Queue {
  const { pageSize, overlap } = run.parts.limits;
  const cut = cutOf(run, { records: pageSize, bytes: pageSize * GUESSED_RECORD_BYTES }, count);
  run.provable = true;
  return createQueue(run, { ...cut, from: pageSize - overlap }, count);
}

/** What was asked for on a guess, when the first page is as long as it was taken to be. */
export function usable(run: Run, guessed: Queue | undefined, first: Page): Queue | undefined {
  const { pageSize, windowRecords } = run.parts.limits;
  if (guessed === undefined) return undefined;
  if (first.keys.length === pageSize && run.merged.latestTotal <= windowRecords) {
    guessed.until(run.merged.latestTotal);
    return guessed;
  }
  return undefined;
}

/** What identifies a list for one credential. */
export function targetOf({ plan, parts }: Run): string {
  return plan.request({ size: parts.limits.pageSize }).target;
}
