/** How are several parts of a list read at a time, and taken in their order? */
import { Problem } from "../../model/problem.ts";
import { createStopper, type Signal } from "../../model/signal.ts";
import { type Fetched, fetchPage, type Page } from "./page.ts";
import type { Run } from "./run.ts";

/** How a list is cut into parts, by rank. */
export interface Cut {
  /** Rank at which the first part begins. */
  readonly from: number;
  /** Ranks from one part to the next: less than a part holds, so that parts overlap. */
  readonly step: number;
  /** Pages of a part: one, or more behind each other's tokens. */
  readonly pages: number;
  /** Records at the end of a part that the next one repeats. */
  readonly overlap: number;
  /** Parts that may be read ahead of the one that is taken. */
  readonly ahead: number;
  /** Calls at a time. */
  readonly readers: number;
}

/** What a part brings: pages, or what ended it. */
export type Step = Fetched | { readonly kind: "failed"; readonly problem: unknown };

/** One part of the list while it is read. */
interface Part {
  readonly steps: Step[];
  /** First key of the part, once it is known. */
  head: string | undefined;
  /** Nothing more comes, or is wanted. */
  done: boolean;
}

export interface Queue {
  /** The next page of the part in front; undefined when that part has ended. */
  step(): Promise<Step | undefined>;
  /** Goes on to the next part; false when none is planned. */
  advance(): boolean;
  /** Records of the list, as far as is known now: how many parts there are follows from it. */
  until(total: number): void;
  /** The first part was what it should be: from now on as many as allowed are read at a time. */
  widen(): void;
  /** Forgets the rest of the part in front: it goes in a circle. */
  drop(): void;
  /** No further calls; those under way are stopped. */
  close(): void;
}

/** Reads parts in parallel, a bounded way ahead. Pages are fetched as soon as there is room, whether they are waited for or not. */
export function createQueue(run: Run, cut: Cut, total: number): Queue {
  const parts: Part[] = [];
  // Where it is not known whether `skip` is heeded, one call finds out.
  const narrow = run.parts.memory.heedsSkip(run.plan.resource) === undefined;
  const state = {
    readers: narrow ? 1 : cut.readers,
    total,
    next: 0,
    reading: 0,
    closed: false,
    wake: undefined as (() => void) | undefined,
  };
  const wake = (): void => {
    state.wake?.();
    state.wake = undefined;
  };
  const stopper = createStopper();
  const stop = (): void => stopper.abort(run.stopper.signal.reason);
  run.stopper.signal.addEventListener("abort", stop, { once: true });
  const isPlanned = (index: number): boolean => cut.from + index * cut.step + cut.overlap < state.total;

  const fill = (): void => {
    while (!state.closed && state.reading < state.readers && parts.length < cut.ahead && isPlanned(state.next)) {
      const part: Part = { steps: [], head: undefined, done: false };
      parts.push(part);
      const skip = cut.from + state.next * cut.step;
      state.next += 1;
      state.reading += 1;
      void readPart(run, part, skip, cut.pages, {
        wake,
        signal: stopper.signal,
        following: () => parts[parts.indexOf(part) + 1]?.head,
      }).finally(() => {
        part.done = true;
        state.reading -= 1;
        fill();
        wake();
      });
    }
  };
  fill();
  return {
    async step() {
      const [part] = parts;
      if (part === undefined) return undefined;
      while (part.steps.length === 0 && !part.done) {
        await new Promise<void>((resolve) => {
          state.wake = resolve;
        });
      }
      return part.steps.shift();
    },
    advance() {
      parts.shift();
      fill();
      return parts.length > 0;
    },
    until(count) {
      state.total = count;
      fill();
    },
    widen() {
      if (state.readers === cut.readers) return;
      state.readers = cut.readers;
      fill();
    },
    drop() {
      const [part] = parts;
      if (part === undefined) return;
      part.done = true;
      part.steps.length = 0;
    },
    close() {
      state.closed = true;
      run.stopper.signal.removeEventListener("abort", stop);
      stopper.abort(new Error("not needed any more"));
    },
  };
}

interface PartTools {
  wake(): void;
  /** First key of the part behind this one, when it is known. */
  following(): string | undefined;
  readonly signal: Signal;
}

/** Beyond its pages a part goes on until it meets the next one, for at most as many again: records were put into it meanwhile. */
async function readPart(run: Run, part: Part, skip: number, pages: number, tools: PartTools): Promise<void> {
  let last = "";
  let token: string | undefined;
  for (let read = 0; read < 2 * pages && !part.done; read += 1) {
    const step = await fetchPage(run, token === undefined ? { skip } : { token }, tools.signal).catch(failed);
    if (!part.done) part.steps.push(step);
    tools.wake();
    if (step.kind !== "page") return;
    part.head ??= step.keys[0];
    token = step.nextPageToken;
    last = lastOf(step) ?? last;
    const following = tools.following();
    const met = following !== undefined && following <= last;
    if (token === "" || met || (read + 1 >= pages && (pages === 1 || following === undefined))) return;
  }
}

function lastOf(page: Page): string | undefined {
  return page.keys.at(-1);
}

function failed(problem: unknown): Step {
  return { kind: "failed", problem };
}

/** Throws what made a part fail; gives a refusal back. */
export function pageOf(step: Step): Exclude<Step, { readonly kind: "failed" }> {
  if (step.kind !== "failed") return step;
  throw step.problem instanceof Error
    ? step.problem
    : new Problem("INTERNAL", "internal error", { cause: step.problem });
}
