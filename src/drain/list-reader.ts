/** Performs the steps of one list: makes its calls, hands out its records, and reports how it ended. */

import type { ListFacts, Witness } from "../model/exchange.ts";
import type { HeaderList, Send } from "../model/http.ts";
import type { DrainRefused, ListPlan, PageSelector } from "../model/list.ts";
import { Problem, type ProblemReason } from "../model/problem.ts";
import { createSignalController, type Signal, type SignalController } from "../model/signal.ts";
import type { TotalsPolicy } from "./committed-list.ts";
import type { ListHints } from "./hints.ts";
import { checkTime, type DrainLimits } from "./limits.ts";
import type { ReadPosition } from "./read-ahead.ts";
import {
  type CallResult,
  type DrainAction,
  type DrainNote,
  type DrainSettings,
  type DrainState,
  notesOf,
  startOf,
} from "./state.ts";
import { nextState } from "./step.ts";

/** Everything a drain may use, for one request. */
export interface DrainParts {
  /** For first pages. Retries are a layer of it: its responses are final. */
  readonly send: Send;
  /** For all further pages, which queue with all readers of the upstream. */
  readonly reads: Send;
  readonly signal: Signal;
  readonly limits: DrainLimits;
  /** What the platform's page tokens are: positions in the order, offsets, or not known (`upstream.v2.pageTokens`). */
  readonly tokens: "keyset" | "offset" | "unknown";
  /** Whether a list that falls short of its count is an error (`upstream.v2.totals`); default: it is. */
  readonly totals?: TotalsPolicy;
  readonly memory: ListHints;
  /** The weakest witness that is accepted for a resource (`lists.require`). */
  require(resource: string): Witness;
  /** Milliseconds on a clock that never goes back (`performance.now()`). */
  now(): number;
  /** Waits until a further page may be processed, so that short requests do not wait for long lists. */
  turn(): Promise<void>;
  /**
   * Waits until this list may read further pages, and returns the function that gives the turn back. Rejects with `Problem` OVERLOADED,
   * or the signal's reason. Called only when a second page is needed: a list of one page is as cheap as a Get.
   */
  claim(): Promise<() => void>;
  /**
   * Called when a list begins to go out before it is complete (with outcome `aborted`, which stays if the client leaves),
   * and once when the drain is over. `pages` counts every page fetched.
   */
  report(facts: ListFacts, notes: readonly DrainNote[]): void;
}

/** The call for the first page. */
export interface FirstCall {
  readonly got: CallResult;
  /** Of a response with 200. */
  readonly headers: HeaderList;
  /** 1 for a response with 200, even if it cannot be read. */
  readonly pages: number;
  /** When the list was begun, on the clock of `DrainParts`. */
  readonly startedAt: number;
}

/** Records of one `reading` of the list: when it is restarted before anything was announced, only the last one counts. */
export interface ListChunk {
  readonly reading: number;
  readonly bytes: Uint8Array;
}

export type NextChunk = IteratorResult<ListChunk, DrainRefused | undefined>;

/** Made once: capturing a stack for every list would be the most expensive part of its end. */
const OVER = new Error("the list is over");

const OUTCOMES: ReadonlyMap<ProblemReason, ListFacts["outcome"]> = new Map([
  ["DRAIN_TOO_LARGE", "too-large"],
  ["LIST_UNPROVEN", "unproven"],
  ["UPSTREAM_TIMEOUT", "too-slow"],
  ["OVERLOADED", "overloaded"],
]);

interface WaitingPull {
  readonly resolve: (result: NextChunk) => void;
  readonly reject: (reason: unknown) => void;
}

/** Returns all that is known of a list before it is read. */
export function settingsOf(plan: ListPlan, { memory, limits, tokens, totals, require }: DrainParts): DrainSettings {
  const { resource, keyOrder } = plan;
  const heedsSkip = memory.heedsSkip(resource);
  return {
    resource,
    keyOrder,
    bareProvesNothing: plan.bareMeans === "nothing",
    limits,
    tokens,
    totals: totals ?? "verify",
    require: require(resource),
    heedsSkip,
    expected: keyOrder && heedsSkip === true ? memory.countOf(firstTarget(plan, limits)) : undefined,
  };
}

/** `arrived` is called with the headers of a response with 200, and waited for before that is read. */
export async function readPage(
  plan: ListPlan,
  page: PageSelector,
  { send, signal }: { readonly send: Send; readonly signal: Signal },
  arrived: (headers: HeaderList) => Promise<void> | undefined,
): Promise<CallResult> {
  const response = await send(plan.request(page), { signal });
  if (response.status !== 200) return { kind: "refused", response };
  const turn = arrived(response.headers);
  if (turn !== undefined) await turn;
  return { kind: "page", page: await plan.read(response) };
}

function firstTarget(plan: ListPlan, { pageSize }: DrainLimits): string {
  return plan.request({ size: pageSize }).target;
}

/** Performs what the steps of one list ask for: makes its calls, hands out its records, and reports how it ended. */
export type ListReader = ReturnType<typeof createListReader>;

/** Nothing is requested before the first `next`. Ends with the request's own signal, too. `first`: the call for the first page, if it was made. */
export function createListReader(plan: ListPlan, parts: DrainParts, how: DrainSettings, first?: FirstCall) {
  const { signal, memory, limits } = parts;
  const { resource } = plan;
  let state = startOf(how);
  let begun = first;
  const startedAt = first?.startedAt ?? parts.now();
  const calls = new Map<number, SignalController>();
  let { headers, pages } = first ?? { headers: [], pages: 0 };
  let pull: WaitingPull | undefined;
  /** Results beyond the one that was awaited: two pages may join on at once. */
  const outcomes: ((waiting: WaitingPull) => void)[] = [];
  let release: (() => void) | undefined;
  /** Why nothing more is done; undefined while the list is read. */
  let ended: { readonly reason: unknown } | undefined;
  let reported = false;

  const apply = (event: Parameters<typeof nextState>[1]): void => {
    if (ended !== undefined) return;
    state = nextState(state, event);
    const { actions } = state;
    if (release !== undefined || !actions.some(readsFurtherPage)) perform(actions);
    else
      claimSlot().then(
        () => perform(actions),
        (reason: unknown) => settle((waiting) => waiting.reject(reason)),
      );
  };
  const perform = (actions: readonly DrainAction[]): void => {
    for (const action of actions) if (ended === undefined) performOne(action);
  };
  const claimSlot = async (): Promise<void> => {
    release = await parts.claim();
    // The list ended while it waited: release the slot.
    if (ended !== undefined) release();
  };
  const performOne = (action: DrainAction): void => {
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
        memory.sawSkip(resource, action.heeded);
        break;
      case "learn-count":
        memory.learnCount(firstTarget(plan, limits), action.count);
        break;
    }
  };
  const settle = (outcome: (waiting: WaitingPull) => void): void => {
    const waiting = pull;
    pull = undefined;
    if (waiting === undefined) outcomes.push(outcome);
    else outcome(waiting);
  };
  const call = (id: number, position: ReadPosition): void => {
    const stopper = createSignalController();
    calls.set(id, stopper);
    const came = (got: CallResult): void => {
      calls.delete(id);
      apply({ kind: "came", call: id, got });
    };
    fetchPage(position, stopper.signal).then(came, (problem: unknown) => came({ kind: "failed", problem }));
  };
  const fetchPage = async ({ rank: _, ...position }: ReadPosition, stop: Signal): Promise<CallResult> => {
    checkTime(resource, state.list.distinct, (parts.now() - startedAt) / 1000, limits);
    const isFirst = position.token === undefined && position.skip === undefined;
    if (isFirst && begun !== undefined) {
      const { got } = begun;
      begun = undefined;
      return got;
    }
    const call = { send: isFirst ? parts.send : parts.reads, signal: stop };
    return readPage(plan, { size: limits.pageSize, ...position }, call, (came) => {
      pages += 1;
      if (!isFirst) return parts.turn();
      headers = came;
      return undefined;
    });
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
  // At once: the request is reported immediately, and the rest of a list may never be asked for.
  const onAbort = (): void => end(signal.reason, "aborted", "none");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();

  return {
    /** The next records; ends with the platform's refusal, or with undefined when the list is complete. */
    next: (): Promise<NextChunk> =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended.reason);
        const outcome = outcomes.shift();
        if (outcome !== undefined) return outcome({ resolve, reject });
        pull = { resolve, reject };
        apply({ kind: "pull" });
      }),
    state: (): DrainState => state,
    /** Headers of the first page's response, and the number of pages. */
    head: (): { readonly headers: HeaderList; readonly pages: number } => ({ headers, pages }),
    /** From here on the list goes out: its end must prove `witness`, or it is aborted. */
    announce: (witness: Witness): void => {
      apply({ kind: "announced", witness });
      parts.report(facts("aborted", "none"), []);
    },
    /** Stops all calls: no more records are wanted. */
    stop: (): void => stop(OVER),
    /** Stops, releases the slot, and reports; only the first call counts. */
    over: (outcome: ListFacts["outcome"], witness: Witness = "none"): void => end(OVER, outcome, witness),
    failed: (thrown: unknown): void => {
      const reason = thrown instanceof Problem ? thrown.reason : "INTERNAL";
      end(OVER, OUTCOMES.get(reason) ?? "incomplete", witnessIn(thrown));
    },
  };
}

/** Further pages need a slot. */
function readsFurtherPage(action: DrainAction): boolean {
  return action.kind === "fetch" && (action.place.token !== undefined || action.place.skip !== undefined);
}

/** The witness that was reached, though a stronger one was required. */
function witnessIn(thrown: unknown): Witness {
  const witness = thrown instanceof Problem && thrown.reason === "LIST_UNPROVEN" ? thrown.metadata["witness"] : "none";
  return witness === "cover" || witness === "count" ? witness : "none";
}
