/** What is known of one drain while it is under way? */
import type { ListFacts, Witness } from "../../model/exchange.ts";
import type { ListPlan } from "../../model/list.ts";
import type { HeaderList, Send } from "../../model/message.ts";
import type { Signal, Stopper } from "../../model/signal.ts";
import type { Calls } from "./calls.ts";
import type { DrainLimits } from "./limits.ts";
import type { Merged } from "./merged.ts";

/**
 * What was odd about a list that is nevertheless whole, for `Exchange.notes`: begun anew; a gap that was closed; a page read
 * twice; keys out of the declared order; a key that came twice; a count that changed or was not met; `skip` without effect;
 * a way of reading that was left for the next.
 */
export type DrainNote =
  | "list-read-again"
  | "list-repaired"
  | "list-page-again"
  | "list-order"
  | "list-duplicate"
  | "list-total"
  | "list-skip-ignored"
  | "list-token-restarted"
  | "list-way-left";

/** What is remembered from one list to the next, for one credential: nobody's habits, counts or tricks are another's. */
export interface DrainMemory {
  /** Whether this resource's lists were lately seen to heed `skip`; undefined: it was not seen yet. */
  heedsSkip(resource: string): boolean | undefined;
  sawSkip(resource: string, heeded: boolean): void;
  /** True when this resource's lists were lately seen to count more records than there are for this credential. */
  miscounts(resource: string): boolean;
  sawMiscount(resource: string): void;
  /** Records of the list whose first page is at `target`, when it was last read in parallel; only a guess for planning. */
  countOf(target: string): number | undefined;
  learnCount(target: string, count: number): void;
}

/** Everything a drain may use. Made once per request. */
export interface DrainParts {
  /** For first pages. Retry and budget are layers of it: an answer that comes out of it is final. */
  readonly send: Send;
  /** The same for all further pages, which wait for their turn among all readers of the upstream. */
  readonly reads: Send;
  readonly signal: Signal;
  readonly limits: DrainLimits;
  /** What the platform's page tokens are: positions in the order, row numbers, or not known (`upstream.v2.tokens`). */
  readonly tokens: "keyset" | "offset" | "unknown";
  readonly memory: DrainMemory;
  /** The weakest witness that will do for a resource (`lists.require`). */
  require(resource: string): Witness;
  /** Milliseconds on a clock that never goes back (`performance.now()`). */
  now(): number;
  /** Waits until a page behind the first may be made (design section 5: short requests must not wait for long lists). */
  turn(): Promise<void>;
  /**
   * Waits for a slot for this request's credential and gives how to give it back. Rejects with `Problem` OVERLOADED, or the
   * signal's reason. Asked for when a second page is needed: a list of one page costs the platform no more than a Get, and
   * must not wait for long ones.
   */
  claim(): Promise<() => void>;
  /**
   * Called when a list begins to go out before it is whole (then with outcome `aborted`, which stays if the client leaves),
   * and once when the drain is over, whatever became of it. `pages` counts every page fetched.
   */
  report(facts: ListFacts, notes: readonly DrainNote[]): void;
}

/** A drain on its way. */
export interface Run {
  readonly plan: ListPlan;
  readonly parts: DrainParts;
  /** Stops what is being fetched; follows the request's own signal. */
  readonly stopper: Stopper;
  readonly startedAt: number;
  readonly notes: Set<DrainNote>;
  merged: Merged;
  /** Fields of the first page's answer. */
  headers: HeaderList;
  /** Answers with status 200, those that made no sense included. */
  pages: number;
  /** The greatest last key of any page that was fetched, taken or not. */
  greatest: string | undefined;
  /** It is not known yet whether `skip` is heeded, and the list is read in the hope that it is. */
  trying: boolean;
  /** Requests that may still be repeated, or made to close a gap, before the list is given up. */
  repairs: number;
  /** Bounds what is under way for this list. */
  readonly calls: Calls;
  /** The way in which the rest is being read can prove it. */
  provable: boolean;
  /** Set when a part of the list has gone out: what its head announced, `none` included. */
  announced: Witness | undefined;
  /** Gives the slot back; undefined while none is held. */
  release: (() => void) | undefined;
}
