/** In which ways is a list read, and when is one left for the next? */
import type { DrainRefused } from "../../model/list.ts";
import { Problem } from "../../model/problem.ts";
import { incomplete, readByCursor, sizeOf, takeInTurn } from "./cursor.ts";
import { canSeek, cutOf } from "./cut.ts";
import { guess, guessedCount, targetOf, usable } from "./guess.ts";
import { checkAfterPage, checkAnnounced } from "./limits.ts";
import { emptyMerged, type Merged, plausible, startOver } from "./merged.ts";
import { fetchPage, type Page } from "./page.ts";
import { createQueue, type Queue } from "./queue.ts";
import type { Run } from "./run.ts";
import type { Lost } from "./seek.ts";
import { readBySegments } from "./segments.ts";

/** Bytes of some taken records, and the reading that they belong to: one that was begun anew is not `run.merged` any more. */
export interface Taken {
  readonly of: Merged;
  readonly bytes: Uint8Array;
}

/** Taken records in order; ends with the platform's refusal, or with undefined when the list is whole. */
export type Reading = AsyncGenerator<Taken, DrainRefused | undefined>;

/** Repairs that any list may take; longer ones may take as many more as they have pages. */
export const REPAIRS = 16;

/**
 * Reads the list, and once more from page one when its pages contradict each other or cannot be read. While nothing has been
 * sent to the client, the second reading stands for itself: that needs neither an order nor a working `skip`. What has been
 * sent is kept, and only what is new is taken.
 */
export async function* readList(run: Run): Reading {
  try {
    return yield* readOnce(run);
  } catch (thrown) {
    if (!mayPass(thrown) || !mayBeginAnew(run)) throw thrown;
    run.notes.add("list-read-again");
    if (run.announced === undefined) run.merged = emptyMerged(run.plan.keyOrder);
    else startOver(run.merged);
    return yield* readOnce(run);
  }
}

/** An expired token, a page cut short, a confused replica: a second reading may well not meet them. */
function mayPass(thrown: unknown): boolean {
  return thrown instanceof Problem && (thrown.reason === "DRAIN_INCOMPLETE" || thrown.reason === "UPSTREAM_INVALID");
}

/** Behind what was sent as proved, a second reading goes on by its tokens: they must prove as much. */
function mayBeginAnew({ announced, parts }: Run): boolean {
  return announced !== "cover" || parts.tokens === "keyset";
}

async function* readOnce(run: Run): Reading {
  const count = guessedCount(run);
  if (count !== undefined) await hold(run);
  // The first page first: what it says decides about the rest.
  const asked = fetchPage(run, {});
  const guessed = count === undefined ? undefined : guess(run, count);
  let queue: Queue | undefined;
  try {
    const first = await asked;
    if (first.kind !== "page") return refusalOf(first);
    run.repairs = REPAIRS + Math.ceil((plausible(first.totalCount) ?? 0) / run.parts.limits.pageSize);
    const bytes = takeInTurn(run, first);
    // A front, or a replica that is ill, may answer nothing at all.
    if (first.bare === true && run.plan.bareMeans === "nothing") run.merged.proved = false;
    checkAfterPage(run.plan.resource, sizeOf(run.merged), run.parts.limits);
    run.merged.ended = first.nextPageToken === "";
    if (!run.merged.ended) {
      checkAnnounced(run.plan.resource, run.merged.latestTotal, run.parts.limits);
      await hold(run);
      queue = chooseWay(run, first, guessed);
      checkProvable(run);
    }
    if (bytes !== undefined) yield { of: run.merged, bytes };
    if (run.merged.ended) {
      if (guessed !== undefined) run.parts.memory.learnCount(targetOf(run), run.merged.distinct);
      return undefined;
    }
    return yield* readRest(run, first, queue);
  } finally {
    guessed?.close();
    queue?.close();
  }
}

/** A list that nothing in its way of being read can prove is refused now, not after all of it was read: LIST_UNPROVEN. */
function checkProvable({ plan, parts, provable, merged }: Run): void {
  if (provable && merged.proved) return;
  const required = parts.require(plan.resource);
  if (required !== "cover") return;
  const why = "the platform's page tokens are not known to be positions in its order, or it has none";
  throw new Problem("LIST_UNPROVEN", `the list of ${plan.resource} cannot be proved complete: ${why}`, {
    metadata: { required, witness: "none" },
  });
}

/** Parallel where this very list shows that it can be: the parts are being fetched from here on. Undefined: by its cursor. */
function chooseWay(run: Run, first: Page, guessed: Queue | undefined): Queue | undefined {
  const parallel = !run.merged.catchingUp && canSeek(run, first);
  const queue = parallel ? usable(run, guessed, first) : undefined;
  // What was guessed wrong must not be read beside what is right.
  if (queue === undefined) guessed?.close();
  run.trying = parallel && run.parts.memory.heedsSkip(run.plan.resource) === undefined;
  if (parallel) return queue ?? cutFor(run, first, run.merged.latestTotal);
  run.provable = run.parts.tokens === "keyset";
  return undefined;
}

function cutFor(run: Run, first: Page, total: number): Queue {
  const cut = cutOf(run, { records: first.keys.length, bytes: first.bytes.length }, total);
  run.provable = cut.pages === 1 || run.parts.tokens === "keyset";
  return createQueue(run, cut, total);
}

async function* readRest(run: Run, first: Page, queue: Queue | undefined): Reading {
  const { merged, parts } = run;
  if (queue !== undefined) {
    const cutAgain = (total: number): Queue => cutFor(run, first, total);
    const left = yield* tagged(merged, readBySegments(run, queue, cutAgain));
    if (left === undefined) parts.memory.learnCount(targetOf(run), merged.distinct);
    if (left === undefined || left.kind === "refused") return left;
    leave(run, left);
    // Some page said that the list ends, which was not believed: no token leads on from there.
    if (merged.token === "") throw incomplete(run.plan.resource, "it ends by its tokens, and goes on by its count");
    run.trying = false;
    run.provable = parts.tokens === "keyset";
    checkProvable(run);
  }
  return yield* tagged(merged, readByCursor(run));
}

/** The next way goes on where this one stops. What was announced as proved cannot go on by one that proves less. */
function leave(run: Run, { why }: Lost): void {
  const { parts, plan } = run;
  if (why === "skip") {
    run.notes.add("list-skip-ignored");
    parts.memory.sawSkip(plan.resource, false);
  } else run.notes.add("list-way-left");
  if (run.announced === "cover" && (why === "order" || parts.tokens !== "keyset")) {
    throw incomplete(plan.resource, WHY[why]);
  }
}

const WHY: Readonly<Record<Lost["why"], string>> = {
  skip: "skip is not heeded any more",
  order: "its records left their order",
  repairs: "it changes faster than it can be read",
};

/** Takes a slot, unless the list has one. */
async function hold(run: Run): Promise<void> {
  if (run.release !== undefined) return;
  const release = await run.parts.claim();
  run.release = release;
  // Over before it came to wait no longer: nobody else would give it back.
  if (run.stopper.signal.aborted) release();
  run.stopper.signal.throwIfAborted();
}

function refusalOf(answer: DrainRefused | { readonly kind: "unskipped" }): DrainRefused {
  if (answer.kind === "refused") return answer;
  throw new Problem("INTERNAL", "internal error");
}

/** Adds to each chunk which reading it belongs to. */
async function* tagged<R>(of: Merged, chunks: AsyncGenerator<Uint8Array, R>): AsyncGenerator<Taken, R> {
  try {
    for (;;) {
      const next = await chunks.next();
      if (next.done === true) return next.value;
      yield { of, bytes: next.value };
    }
  } finally {
    await chunks.return(undefined as R);
  }
}
