/** How do the pages of a v2 list become one v1 list, or else an error, but never a part of it? */
import type { ListFacts, Witness } from "../../model/exchange.ts";
import type { Drain, DrainedList, DrainRefused, ListPlan } from "../../model/list.ts";
import type { ApiResponse, Send } from "../../model/message.ts";
import { Problem, type ProblemReason } from "../../model/problem.ts";
import type { Signal } from "../../model/signal.ts";
import { emptyGathered, type Gathered, isMiscounted, witnessOf } from "./gather.ts";
import type { DrainLimits } from "./limits.ts";
import { type Reading, readByCursor } from "./sequential.ts";

/**
 * What was odd about a list that is nevertheless whole, for `Exchange.notes`: read twice; keys out of the declared order;
 * a key that came twice; a count that changed or was not met.
 */
export type DrainNote = "list-read-again" | "list-order" | "list-duplicate" | "list-total";

/** Everything a drain may use. Made once per request. */
export interface DrainParts {
  /** Retry and budget are layers of it: an answer that comes out of it is final. */
  readonly send: Send;
  readonly signal: Signal;
  readonly limits: DrainLimits;
  /** The weakest witness that will do for a resource (`lists.require`). */
  require(resource: string): Witness;
  /** Milliseconds on a clock that never goes back (`performance.now()`). */
  now(): number;
  /**
   * Takes a slot for this request's credential and returns how to give it back. Throws `Problem` OVERLOADED. Asked for when
   * a second page is needed: a list of one page costs the platform no more than a Get, and must not wait for long ones.
   */
  claim(): () => void;
  /** Called once per drain, whatever became of it. `pages` counts every page fetched, for whichever reading. */
  report(facts: ListFacts, notes: readonly DrainNote[]): void;
}

/** A drain on its way: what the report tells even when it fails. */
interface Run {
  readonly notes: Set<DrainNote>;
  gathered: Gathered;
  /** Answers with status 200, those of a first reading that was given up and pages that made no sense included. */
  pages: number;
  /** Gives the slot back; undefined while none is held. */
  release: (() => void) | undefined;
}

const RANK: Readonly<Record<Witness, number>> = { none: 0, count: 1, cover: 2 };

/**
 * Drains lists whole into memory (design section 5). Throws `Problem`: DRAIN_INCOMPLETE, DRAIN_TOO_LARGE, LIST_UNPROVEN,
 * OVERLOADED, UPSTREAM_*; or the signal's reason when it aborts.
 */
export function createDrain(parts: DrainParts): Drain {
  return async (plan) => {
    const run: Run = { notes: new Set(), gathered: emptyGathered(), pages: 0, release: undefined };
    let outcome: ListFacts["outcome"] = "incomplete";
    let witness: Witness = "none";
    try {
      const refusal = await readWhole(plan, parts, run);
      if (refusal !== undefined) {
        outcome = "refused";
        return { kind: "refused", response: refusal } satisfies DrainRefused;
      }
      if (isMiscounted(run.gathered)) run.notes.add("list-total");
      witness = witnessOf(run.gathered, plan.keyOrder);
      checkWitness(plan.resource, witness, parts.require(plan.resource));
      outcome = "complete";
      return listOf(run, witness);
    } catch (thrown) {
      outcome = OUTCOMES.get(thrown instanceof Problem ? thrown.reason : "INTERNAL") ?? "incomplete";
      throw thrown;
    } finally {
      run.release?.();
      noteOddities(run, plan.keyOrder);
      parts.report({ pages: run.pages, records: run.gathered.shown, witness, outcome }, [...run.notes]);
    }
  };
}

const OUTCOMES: ReadonlyMap<ProblemReason, ListFacts["outcome"]> = new Map([
  ["DRAIN_TOO_LARGE", "too-large"],
  ["LIST_UNPROVEN", "unproven"],
]);

/**
 * Reads the list, and once more from page one when its pages contradict each other or cannot be read: nothing has been sent
 * to the client yet, and beginning anew needs neither an order nor a working `skip`, which seeking to the last good record would.
 */
async function readWhole(plan: ListPlan, parts: DrainParts, run: Run): Promise<ApiResponse | undefined> {
  const start = parts.now();
  const reading: Reading = {
    send: async (request, options) => {
      const response = await parts.send(request, options);
      if (response.status === 200) run.pages += 1;
      return response;
    },
    signal: parts.signal,
    limits: parts.limits,
    seconds: () => (parts.now() - start) / 1000,
    longer: () => {
      run.release ??= parts.claim();
    },
  };
  try {
    return await readByCursor(plan, reading, run.gathered);
  } catch (thrown) {
    if (!mayPass(thrown)) throw thrown;
    run.notes.add("list-read-again");
    run.gathered = emptyGathered();
    return await readByCursor(plan, reading, run.gathered);
  }
}

/** An expired token, a page cut short, a confused replica: a second reading may well not meet them. */
function mayPass(thrown: unknown): boolean {
  return thrown instanceof Problem && (thrown.reason === "DRAIN_INCOMPLETE" || thrown.reason === "UPSTREAM_INVALID");
}

function checkWitness(resource: string, witness: Witness, required: Witness): void {
  if (RANK[witness] >= RANK[required]) return;
  throw new Problem(
    "LIST_UNPROVEN",
    `the list of ${resource} could not be proved complete: "${required}" is required, "${witness}" was reached`,
    { metadata: { required, witness } },
  );
}

function noteOddities(run: Run, keyOrder: boolean): void {
  const { gathered, notes } = run;
  if (keyOrder && !gathered.ascending) notes.add("list-order");
  if (gathered.repeated) notes.add("list-duplicate");
}

function listOf(run: Run, witness: Witness): DrainedList {
  return { kind: "list", chunks: run.gathered.chunks, records: run.gathered.shown, pages: run.pages, witness };
}
