/** How are several parts of a list read at a time, and taken in their order? */
import { Problem } from "../../model/problem.ts";
import { createStopper } from "../../model/signal.ts";
import { type Part, type PartTools, readPart, type Step } from "./part.ts";
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
  /** Bytes of pages that may lie ahead: beyond them only the part in front goes on. */
  readonly aheadBytes: number;
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
  const bell = createBell();
  // Where it is not known whether `skip` is heeded, one call finds out.
  const narrow = run.parts.memory.heedsSkip(run.plan.resource) === undefined;
  /** `bytes`: of pages that have come and were not taken. */
  const state = { readers: narrow ? 1 : cut.readers, total, next: 0, reading: 0, bytes: 0, closed: false };
  const stopper = createStopper();
  const stop = (): void => stopper.abort(run.stopper.signal.reason);
  run.stopper.signal.addEventListener("abort", stop, { once: true });
  const isPlanned = (index: number): boolean => cut.from + index * cut.step + cut.overlap < state.total;
  /** The part in front always goes on: the list waits for it. */
  const isRoomy = (part: Part | undefined): boolean => part === parts[0] || state.bytes < cut.aheadBytes;

  const begin = (): void => {
    const part: Part = { steps: [], head: undefined, done: false };
    parts.push(part);
    const skip = cut.from + state.next * cut.step;
    state.next += 1;
    state.reading += 1;
    const tools: PartTools = {
      signal: stopper.signal,
      following: () => parts[parts.indexOf(part) + 1]?.head,
      room: async () => {
        while (!isRoomy(part) && !part.done) await bell.heard();
      },
      came: (step) => {
        if (part.done) return;
        part.steps.push(step);
        state.bytes += bytesOf(step);
        bell.ring();
      },
    };
    void readPart(run, part, skip, cut.pages, tools).finally(() => {
      part.done = true;
      state.reading -= 1;
      fill();
    });
  };
  const fill = (): void => {
    const mayBegin = () => state.reading < state.readers && parts.length < cut.ahead && isPlanned(state.next);
    while (!state.closed && mayBegin() && isRoomy(undefined)) begin();
    bell.ring();
  };
  const forget = (part: Part | undefined): void => {
    if (part === undefined) return;
    part.done = true;
    for (const step of part.steps.splice(0)) state.bytes -= bytesOf(step);
  };
  fill();
  return {
    async step() {
      const [part] = parts;
      if (part === undefined) return undefined;
      while (part.steps.length === 0 && !part.done) await bell.heard();
      const step = part.steps.shift();
      if (step === undefined) return undefined;
      state.bytes -= bytesOf(step);
      fill();
      return step;
    },
    advance() {
      forget(parts.shift());
      fill();
      return parts.length > 0;
    },
    until(count) {
      state.total = count;
      fill();
    },
    widen() {
      state.readers = cut.readers;
      fill();
    },
    drop: () => forget(parts[0]),
    close() {
      state.closed = true;
      for (const part of parts) forget(part);
      bell.ring();
      run.stopper.signal.removeEventListener("abort", stop);
      stopper.abort(NOT_NEEDED);
    },
  };
}

const NOT_NEEDED = new Error("not needed any more");

/** Wakes everybody who waits for something to change; each looks for himself. */
function createBell(): { ring(): void; heard(): Promise<void> } {
  let waiting: (() => void)[] = [];
  return {
    ring() {
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
    heard: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
      }),
  };
}

function bytesOf(step: Step): number {
  return step.kind === "page" ? step.bytes.length : 0;
}

/** Throws what made a part fail; gives a refusal back. */
export function pageOf(step: Step): Exclude<Step, { readonly kind: "failed" }> {
  if (step.kind !== "failed") return step;
  throw step.problem instanceof Error
    ? step.problem
    : new Problem("INTERNAL", "internal error", { cause: step.problem });
}
