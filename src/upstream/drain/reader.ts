/** Does what the steps of one list ask for: makes its calls, hands out its records, and tells how it ended. */
import type { ListFacts, Witness } from "../../model/exchange.ts";
import type { DrainRefused, ListPlan } from "../../model/list.ts";
import type { HeaderList, Send } from "../../model/message.ts";
import { Problem, type ProblemReason } from "../../model/problem.ts";
import { createStopper, type Signal, type Stopper } from "../../model/signal.ts";
import type { Place } from "./ahead.ts";
import type { Totals } from "./end.ts";
import { checkTime, type DrainLimits } from "./limits.ts";
import { type Action, type DrainNote, type Got, type How, notesOf, type State, startOf } from "./state.ts";
import { next } from "./step.ts";

/** What is remembered from one list to the next, for one credential: nobody's habits, counts or tricks are another's. */
export interface DrainMemory {
  /** Whether this resource's lists were lately seen to heed `skip`; undefined: it was not seen yet. */
  heedsSkip(resource: string): boolean | undefined;
  sawSkip(resource: string, heeded: boolean): void;
  /** Records of the list whose first page is at `target`, when it was last read in parallel; only a guess for planning. */
  countOf(target: string): number | undefined;
  learnCount(target: string, count: number): void;
}

/** Everything a drain may use. Made once per request. */
export interface DrainParts {
  /** For first pages. Retry and budget are layers of it: a response that comes out of it is final. */
  readonly send: Send;
  /** The same for all further pages, which wait for their turn among all readers of the upstream. */
  readonly reads: Send;
  readonly signal: Signal;
  readonly limits: DrainLimits;
  /** What the platform's page tokens are: positions in the order, row numbers, or not known (`upstream.v2.tokens`). */
  readonly tokens: "keyset" | "offset" | "unknown";
  /** Whether a list that falls short of its count is an error (`upstream.v2.totals`); default: it is. */
  readonly totals?: Totals;
  readonly memory: DrainMemory;
  /** The weakest witness that will do for a resource (`lists.require`). */
  require(resource: string): Witness;
  /** Milliseconds on a clock that never goes back (`performance.now()`). */
  now(): number;
  /** Waits until a page behind the first may be made (design section 5: short requests must not wait for long lists). */
  turn(): Promise<void>;
  /**
   * Waits until this request's credential may read further pages and gives how to end that. Rejects with `Problem` OVERLOADED, or
   * the signal's reason. Asked for when a second page is needed: a list of one page costs the platform no more than a Get, and
   * must not wait for long ones.
   */
  claim(): Promise<() => void>;
  /**
   * Called when a list begins to go out before it is whole (then with outcome `aborted`, which stays if the client leaves),
   * and once when the drain is over, whatever became of it. `pages` counts every page fetched.
   */
  report(facts: ListFacts, notes: readonly DrainNote[]): void;
}

/** Some records of the list. A list that is begun anew before anything was announced has only those of its last `reading`. */
export interface Chunk {
  readonly reading: number;
  readonly bytes: Uint8Array;
}

/** Records in order; ends with the platform's refusal, or with undefined when the list is whole. */
export interface Chunks {
  next(): Promise<Next>;
  /** Nobody wants more. */
  return(value: undefined): Promise<unknown>;
}

export type Next = IteratorResult<Chunk, DrainRefused | undefined>;

export interface Reader {
  readonly chunks: Chunks;
  state(): State;
  /** Header fields of the first page's response, and how many pages came. */
  head(): { readonly headers: HeaderList; readonly pages: number };
  /** From here on the list goes out: its end must prove `witness`, or break it off. */
  announce(witness: Witness): void;
  /** Stops what is being fetched: no more chunks are wanted. */
  stop(): void;
  /** Stops, gives the slot back, and reports; the first call counts. */
  over(outcome: ListFacts["outcome"], witness?: Witness): void;
  failed(thrown: unknown): void;
}

/** Made once: a stack of its own would cost every list more than all else that its end does. */
const OVER = new Error("the list is over");

const OUTCOMES: ReadonlyMap<ProblemReason, ListFacts["outcome"]> = new Map([
  ["DRAIN_TOO_LARGE", "too-large"],
  ["LIST_UNPROVEN", "unproven"],
  ["UPSTREAM_TIMEOUT", "too-slow"],
  ["OVERLOADED", "overloaded"],
]);

/** Waits for the next records. */
interface Pull {
  readonly resolve: (result: Next) => void;
  readonly reject: (reason: unknown) => void;
}

/** Nothing is asked for until the first chunk is. Ends with the request's own signal, too. */
export function createReader(plan: ListPlan, parts: DrainParts): Reader {
  const { signal, memory, limits } = parts;
  const target = lazily(() => plan.request({ size: limits.pageSize }).target);
  const startedAt = parts.now();
  const calls = new Map<number, Stopper>();
  let state = startOf(howOf(plan, parts, target));
  let headers: HeaderList = [];
  let pages = 0;
  let pull: Pull | undefined;
  /** What a step brought beyond what was waited for: two pages may join on at once. */
  const outcomes: ((waiting: Pull) => void)[] = [];
  let release: (() => void) | undefined;
  /** Why nothing more is done; undefined while the list is read. */
  let ended: { readonly reason: unknown } | undefined;
  let reported = false;

  const apply = (event: Parameters<typeof next>[1]): void => {
    if (ended !== undefined) return;
    state = next(state, event);
    const { actions } = state;
    if (release !== undefined || !actions.some(isFurther)) perform(actions);
    else {
      hold().then(
        () => perform(actions),
        (reason: unknown) => settle((waiting) => waiting.reject(reason)),
      );
    }
  };
  const perform = (actions: readonly Action[]): void => {
    for (const action of actions) if (ended === undefined) one(action);
  };
  const one = (action: Action): void => {
    switch (action.kind) {
      case "fetch":
        call(action.call, action.place);
        break;
      case "cancel":
        calls.get(action.call)?.abort(OVER);
        calls.delete(action.call);
        break;
      case "emit":
        settle(({ resolve }) => resolve({ done: false, value: { reading: action.reading, bytes: action.chunk } }));
        break;
      case "finish":
        settle(({ resolve }) => resolve({ done: true, value: undefined }));
        break;
      case "refuse":
        settle(({ resolve }) => resolve({ done: true, value: { kind: "refused", response: action.response } }));
        break;
      case "fail":
        settle(({ reject }) => reject(action.problem));
        break;
      case "learn-skip":
        memory.sawSkip(plan.resource, action.heeded);
        break;
      case "learn-count":
        memory.learnCount(target(), action.count);
        break;
    }
  };
  const settle = (outcome: (waiting: Pull) => void): void => {
    const waiting = pull;
    pull = undefined;
    if (waiting === undefined) outcomes.push(outcome);
    else outcome(waiting);
  };
  const hold = async (): Promise<void> => {
    const given = await parts.claim();
    release = given;
    // Over before it came to wait no longer: nobody else would give it back.
    if (ended !== undefined) given();
  };
  const call = (id: number, place: Place): void => {
    const stopper = createStopper();
    calls.set(id, stopper);
    const came = (got: Got): void => {
      calls.delete(id);
      apply({ kind: "came", call: id, got });
    };
    fetched(place, stopper.signal).then(came, (problem: unknown) => came({ kind: "failed", problem }));
  };
  const fetched = async ({ rank: _, ...place }: Place, stop: Signal): Promise<Got> => {
    checkTime(plan.resource, state.list.distinct, (parts.now() - startedAt) / 1000, limits);
    const atStart = place.token === undefined && place.skip === undefined;
    const send = atStart ? parts.send : parts.reads;
    const response = await send(plan.request({ size: limits.pageSize, ...place }), { signal: stop });
    if (response.status !== 200) return { kind: "refused", response };
    pages += 1;
    if (atStart) headers = response.headers;
    else await parts.turn();
    return { kind: "page", page: await plan.read(response) };
  };
  const facts = (outcome: ListFacts["outcome"], witness: Witness): ListFacts => {
    return { pages, records: state.list.shown, witness, outcome };
  };
  const stop = (reason: unknown): void => {
    if (ended !== undefined) return;
    ended = { reason };
    for (const stopper of calls.values()) stopper.abort(reason);
    calls.clear();
    settle(({ reject }) => reject(reason));
  };
  const end = (reason: unknown, outcome: ListFacts["outcome"], witness: Witness): void => {
    stop(reason);
    if (reported) return;
    reported = true;
    signal.removeEventListener("abort", onAbort);
    release?.();
    parts.report(facts(outcome, witness), notesOf(state));
  };
  // Now, not when somebody hears of it: the request is reported at once, and the rest of a list may never be asked for.
  const onAbort = (): void => end(signal.reason, "aborted", "none");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();

  const nextChunk = (): Promise<Next> =>
    new Promise((resolve, reject) => {
      if (ended !== undefined) return reject(ended.reason);
      const outcome = outcomes.shift();
      if (outcome !== undefined) return outcome({ resolve, reject });
      pull = { resolve, reject };
      apply({ kind: "pull" });
    });
  return {
    chunks: { next: nextChunk, return: async () => stop(OVER) },
    state: () => state,
    head: () => ({ headers, pages }),
    announce: (witness) => {
      apply({ kind: "announced", witness });
      parts.report(facts("aborted", "none"), []);
    },
    stop: () => stop(OVER),
    over: (outcome, witness = "none") => end(OVER, outcome, witness),
    failed: (thrown) => {
      const reason = thrown instanceof Problem ? thrown.reason : "INTERNAL";
      end(OVER, OUTCOMES.get(reason) ?? "incomplete", witnessBy(thrown));
    },
  };
}

function howOf(plan: ListPlan, parts: DrainParts, target: () => string): How {
  const { resource, keyOrder } = plan;
  const heedsSkip = parts.memory.heedsSkip(resource);
  return {
    resource,
    keyOrder,
    bareProvesNothing: plan.bareMeans === "nothing",
    limits: parts.limits,
    tokens: parts.tokens,
    totals: parts.totals ?? "verify",
    require: parts.require(resource),
    heedsSkip,
    expected: keyOrder && heedsSkip === true ? parts.memory.countOf(target()) : undefined,
  };
}

/** A page behind the first, which needs a slot. */
function isFurther(action: Action): boolean {
  return action.kind === "fetch" && (action.place.token !== undefined || action.place.skip !== undefined);
}

/** What was proved, but was not enough. */
function witnessBy(thrown: unknown): Witness {
  const said = thrown instanceof Problem && thrown.reason === "LIST_UNPROVEN" ? thrown.metadata["witness"] : "none";
  return said === "cover" || said === "count" ? said : "none";
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
