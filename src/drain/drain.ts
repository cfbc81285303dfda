/** How the pages of a v2 list become one v1 list, whole or while it is read, or else an error, but never a part of it. */

import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { ListFacts, Witness } from "../model/exchange.ts";
import type { HeaderList, Send } from "../model/http.ts";
import type { Drain, DrainedList, DrainRefused, ListPlan, StreamedList, StreamingDrain } from "../model/list.ts";
import { Problem, type ProblemReason } from "../model/problem.ts";
import { createSignalController, type Signal, type SignalController } from "../model/signal.ts";
import { checkWitness, type TotalsPolicy, witnessOf } from "./committed-list.ts";
import { checkTime, type DrainLimits } from "./limits.ts";
import type { ReadPosition } from "./read-ahead.ts";
import {
  type CallResult,
  type DrainAction,
  type DrainNote,
  type DrainSettings,
  type DrainState,
  guaranteedWitness,
  notesOf,
  startOf,
} from "./state.ts";
import { nextState } from "./step.ts";

export type { DrainNote } from "./state.ts";

/** Both ways in which an operation may ask for a list. */
export interface Drains {
  readonly drain: Drain;
  readonly longDrain: StreamingDrain;
}

/**
 * Drains for one request (design section 5). Throw `Problem`: DRAIN_INCOMPLETE, DRAIN_TOO_LARGE, LIST_UNPROVEN, OVERLOADED,
 * UPSTREAM_*; or the signal's reason when it aborts. The same ends the chunks of a long list.
 */
export function createDrains(parts: DrainParts): Drains {
  const { bufferBytes } = parts.limits;
  return {
    drain: async (plan) => {
      const list = await readList(plan, parts, Number.POSITIVE_INFINITY);
      if (list.kind === "long") throw new Error("a list without a bound of its buffer cannot outgrow it");
      return list;
    },
    longDrain: (plan) => readList(plan, parts, bufferBytes),
  };
}

/** Holds what was read up to `room` bytes. */
async function readList(
  plan: ListPlan,
  parts: DrainParts,
  room: number,
): Promise<DrainedList | StreamedList | DrainRefused> {
  const reader = createListReader(plan, parts);
  const whole = room === Number.POSITIVE_INFINITY && plan.show === undefined;
  const made = whole ? reader.chunks : oneAhead(reader.chunks);
  const chunks = plan.show === undefined ? made : shown(plan.show, reader, made);
  const held: Uint8Array[] = [];
  let reading = 0;
  let bytes = 0;
  try {
    for (;;) {
      const next = await chunks.next();
      const state = reader.state();
      // The list may have been begun anew; what is held then belongs to the reading that was given up.
      if ((next.done === true ? state.reading : next.value.reading) !== reading) bytes = held.length = 0;
      if (next.done === true) {
        if (next.value === undefined) return wholeList(reader, held);
        reader.over("refused");
        return next.value;
      }
      reading = next.value.reading;
      held.push(next.value.bytes);
      bytes += next.value.bytes.length;
      // While the way is only tried, it must still be possible to leave it.
      if (bytes > room && reading === state.reading && !state.trying)
        return longList(plan, parts, reader, held, chunks);
    }
  } catch (thrown) {
    reader.failed(thrown);
    throw thrown;
  }
}

function wholeList(reader: ListReader, chunks: readonly Uint8Array[]): DrainedList {
  const { list } = reader.state();
  const witness = witnessOf(list);
  reader.over("complete", witness);
  return { kind: "list", ...reader.head(), chunks, records: list.shown, witness };
}

/**
 * The list from here on: `held` first, then what `chunks` brings. Throws LIST_UNPROVEN before anything has gone out when the
 * rest cannot reach what is required.
 */
function longList(
  plan: ListPlan,
  parts: DrainParts,
  reader: ListReader,
  held: Uint8Array[],
  chunks: ListChunks,
): StreamedList {
  const floor = guaranteedWitness(reader.state());
  checkWitness(plan.resource, floor, parts.require(plan.resource));
  reader.announce(floor);
  return {
    kind: "long",
    headers: reader.head().headers,
    floor,
    chunks: closable(remainingChunks(plan, reader, held, chunks), reader),
  };
}

async function* remainingChunks(
  plan: ListPlan,
  reader: ListReader,
  held: Uint8Array[],
  chunks: ListChunks,
): AsyncGenerator<Uint8Array, void> {
  try {
    for (const chunk of held.splice(0)) yield chunk;
    for (;;) {
      const next = await chunks.next();
      if (next.done !== true) yield next.value.bytes;
      else if (next.value === undefined) return reader.over("complete", witnessOf(reader.state().list));
      else {
        reader.over("refused");
        throw new Problem(
          "DRAIN_INCOMPLETE",
          `the platform refused a page of ${plan.resource} when the list had begun`,
          {
            metadata: { status: String(next.value.response.status) },
          },
        );
      }
    }
  } catch (thrown) {
    reader.failed(thrown);
    throw thrown;
  } finally {
    reader.over("aborted");
    await chunks.return(undefined).catch(() => {});
  }
}

/** `generator` as something that may be given up before it was begun: a generator alone would not notice. */
function closable(generator: AsyncGenerator<Uint8Array, void>, reader: ListReader): StreamedList["chunks"] {
  const iterator: AsyncIterator<Uint8Array, void> = {
    next: () => generator.next(),
    return: async () => {
      reader.over("aborted");
      await generator.return();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

type ChunkGenerator = AsyncGenerator<ListChunk, DrainRefused | undefined>;

/** `chunks` as the plan shows them. Ends early with the refusal of a read that showing needed. */
async function* shown(show: NonNullable<ListPlan["show"]>, reader: ListReader, chunks: ListChunks): ChunkGenerator {
  try {
    for (;;) {
      const next = await chunks.next();
      if (next.done === true) return next.value;
      const { reading, bytes } = next.value;
      // Of a reading that was given up meanwhile nothing is shown.
      const { reading: now, announced } = reader.state();
      if (announced === undefined && reading !== now) continue;
      const made = await show(bytes);
      if (made.kind === "refused") return made;
      yield { reading, bytes: made.bytes };
    }
  } finally {
    // A page that is still under way is not waited for.
    reader.stop();
    await chunks.return(undefined).catch(() => {});
  }
}

/** `chunks` with the next one under way while the one before is used. */
async function* oneAhead(chunks: ListChunks): ChunkGenerator {
  let next = beginChunk(chunks);
  try {
    for (;;) {
      const { done, value } = await next;
      if (done === true) return value as DrainRefused | undefined;
      next = beginChunk(chunks);
      yield value as ListChunk;
    }
  } finally {
    await chunks.return(undefined).catch(() => {});
  }
}

/** A failure is told to whoever waits for the chunk; until somebody does, it must not count as unheard. */
function beginChunk(chunks: ListChunks): Promise<NextChunk> {
  const next = chunks.next();
  next.catch(() => {});
  return next;
}

/** Does what the steps of one list ask for: makes its calls, hands out its records, and tells how it ended. */

/** What is remembered from one list to the next, for one credential: nobody's habits, counts or tricks are another's. */
export interface ListHints {
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
  /** What the platform's page tokens are: positions in the order, row numbers, or not known (`upstream.v2.pageTokens`). */
  readonly tokens: "keyset" | "offset" | "unknown";
  /** Whether a list that falls short of its count is an error (`upstream.v2.totals`); default: it is. */
  readonly totals?: TotalsPolicy;
  readonly memory: ListHints;
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
export interface ListChunk {
  readonly reading: number;
  readonly bytes: Uint8Array;
}

/** Records in order; ends with the platform's refusal, or with undefined when the list is whole. */
export interface ListChunks {
  next(): Promise<NextChunk>;
  /** Nobody wants more. */
  return(value: undefined): Promise<unknown>;
}

export type NextChunk = IteratorResult<ListChunk, DrainRefused | undefined>;

export interface ListReader {
  readonly chunks: ListChunks;
  state(): DrainState;
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
interface WaitingPull {
  readonly resolve: (result: NextChunk) => void;
  readonly reject: (reason: unknown) => void;
}

/** Nothing is asked for until the first chunk is. Ends with the request's own signal, too. */
export function createListReader(plan: ListPlan, parts: DrainParts): ListReader {
  const { signal, memory, limits } = parts;
  const target = lazily(() => plan.request({ size: limits.pageSize }).target);
  const startedAt = parts.now();
  const calls = new Map<number, SignalController>();
  let state = startOf(settingsOf(plan, parts, target));
  let headers: HeaderList = [];
  let pages = 0;
  let pull: WaitingPull | undefined;
  /** What a step brought beyond what was waited for: two pages may join on at once. */
  const outcomes: ((waiting: WaitingPull) => void)[] = [];
  let release: (() => void) | undefined;
  /** Why nothing more is done; undefined while the list is read. */
  let ended: { readonly reason: unknown } | undefined;
  let reported = false;

  const apply = (event: Parameters<typeof nextState>[1]): void => {
    if (ended !== undefined) return;
    state = nextState(state, event);
    const { actions } = state;
    if (release !== undefined || !actions.some(isFurther)) perform(actions);
    else {
      hold().then(
        () => perform(actions),
        (reason: unknown) => settle((waiting) => waiting.reject(reason)),
      );
    }
  };
  const perform = (actions: readonly DrainAction[]): void => {
    for (const action of actions) if (ended === undefined) one(action);
  };
  const one = (action: DrainAction): void => {
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
  const settle = (outcome: (waiting: WaitingPull) => void): void => {
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
  const call = (id: number, place: ReadPosition): void => {
    const stopper = createSignalController();
    calls.set(id, stopper);
    const came = (got: CallResult): void => {
      calls.delete(id);
      apply({ kind: "came", call: id, got });
    };
    fetched(place, stopper.signal).then(came, (problem: unknown) => came({ kind: "failed", problem }));
  };
  const fetched = async ({ rank: _, ...place }: ReadPosition, stop: Signal): Promise<CallResult> => {
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

  const nextChunk = (): Promise<NextChunk> =>
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

function settingsOf(plan: ListPlan, parts: DrainParts, target: () => string): DrainSettings {
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
function isFurther(action: DrainAction): boolean {
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

/** What is worth knowing of a list the next time it is read? */

/** What all drains of one upstream remember together. */
export interface SharedListHints {
  /** As one credential may see it: counts are its own. `credential`: a keyed digest, never the token. */
  of(credential: string): ListHints;
}

const MAX_COUNTS = 2_000;
const MAX_HABITS = 2_000;
/** After this long it is tried again whether `skip` works. */
const SKIP_MS = 10 * 60 * 1_000;

/** Nothing is remembered yet. Bounded, and all of it only guesses: a wrong one costs a request, never a record. */
export function createListHints(): SharedListHints {
  const counts = new LRUCache<string, number>({ max: MAX_COUNTS });
  const skips = new LRUCache<string, { readonly heeded: boolean }>({ max: MAX_HABITS, ttl: SKIP_MS });
  return {
    of: (credential) => {
      // A digest, since a name may be a target with its filters: nothing that a client asked for is kept.
      const keyOf = (name: string): string =>
        createHash("sha256")
          .update(JSON.stringify([credential, name]))
          .digest("base64url");
      return {
        heedsSkip: (resource) => skips.get(keyOf(resource))?.heeded,
        sawSkip: (resource, heeded) => {
          skips.set(keyOf(resource), { heeded });
        },
        countOf: (target) => counts.get(keyOf(target)),
        learnCount: (target, count) => {
          counts.set(keyOf(target), count);
        },
      };
    },
  };
}
