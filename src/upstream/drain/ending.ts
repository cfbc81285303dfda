/** What is left to do when a drain is over, whatever became of it? */
import type { ListFacts, Witness } from "../../model/exchange.ts";
import { Problem, type ProblemReason } from "../../model/problem.ts";
import type { Run } from "./run.ts";
import { isMiscounted, witnessOf } from "./witness.ts";

/** The first call counts: it stops what is still being fetched, gives the slot back, and reports. */
export interface Ending {
  complete(witness: Witness): void;
  refused(): void;
  failed(thrown: unknown): void;
  /** Nobody waits for the list any more. */
  left(): void;
  /** Tells what is known when the list begins to go out. */
  begun(): void;
}

const OUTCOMES: ReadonlyMap<ProblemReason, ListFacts["outcome"]> = new Map([
  ["DRAIN_TOO_LARGE", "too-large"],
  ["LIST_UNPROVEN", "unproven"],
  ["UPSTREAM_TIMEOUT", "too-slow"],
  ["OVERLOADED", "overloaded"],
]);

/** Made once: a stack of its own would cost every list more than all else that its end does. */
export const OVER = new Error("the list is over");

/** Ends `run` with the request's own signal, too. */
export function createEnding(run: Run): Ending {
  const { parts, stopper } = run;
  let over = false;
  const facts = (outcome: ListFacts["outcome"], witness: Witness): ListFacts => {
    return { pages: run.pages, records: run.merged.shown, witness, outcome };
  };
  const end = (outcome: ListFacts["outcome"], witness: Witness = "none"): void => {
    if (over) return;
    over = true;
    parts.signal.removeEventListener("abort", onAbort);
    stopper.abort(OVER);
    run.release?.();
    parts.report(facts(outcome, witness), notesOf(run));
  };
  const onAbort = (): void => {
    stopper.abort(parts.signal.reason);
    // Now, not when somebody hears of it: the request is reported at once, and the rest of a list may never be asked for.
    end("aborted");
  };
  parts.signal.addEventListener("abort", onAbort, { once: true });
  if (parts.signal.aborted) onAbort();
  return {
    complete: (witness) => end("complete", witness),
    refused: () => end("refused"),
    failed: (thrown) => {
      end(OUTCOMES.get(thrown instanceof Problem ? thrown.reason : "INTERNAL") ?? "incomplete", witnessBy(thrown, run));
    },
    left: () => end("aborted"),
    begun: () => parts.report(facts("aborted", "none"), []),
  };
}

/** What was proved, but was not enough. */
function witnessBy(thrown: unknown, { merged }: Run): Witness {
  return thrown instanceof Problem && thrown.reason === "LIST_UNPROVEN" ? witnessOf(merged) : "none";
}

function notesOf({ plan, merged, notes }: Run): readonly Parameters<Run["parts"]["report"]>[1][number][] {
  if (plan.keyOrder && !merged.ascending) notes.add("list-order");
  if (merged.repeated) notes.add("list-duplicate");
  if (merged.ended && isMiscounted(merged)) notes.add("list-total");
  return [...notes];
}
