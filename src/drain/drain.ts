/** Reads the pages of a v2 list into one v1 list: complete, or streamed while it is read, or an error; never a part of it. */

import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { ListFacts, Witness } from "../model/exchange.ts";
import type { HeaderList, Send } from "../model/http.ts";
import type { Drain, DrainedList, DrainRefused, ListPlan, StreamedList, StreamingDrain } from "../model/list.ts";
import { Problem, type ProblemReason } from "../model/problem.ts";
import { createSignalController, type Signal, type SignalController } from "../model/signal.ts";
import { checkWitness, expectedRecords, type TotalsPolicy, witnessOf } from "./committed-list.ts";
import { checkShown, checkTime, type DrainLimits } from "./limits.ts";
import type { ReadPosition } from "./read-ahead.ts";
import {
  type CallResult,
  type DrainAction,
  type DrainNote,
  type DrainState,
  guaranteedWitness,
  notesOf,
  startOf,
} from "./state.ts";
import { nextState } from "./step.ts";

/** Both ways in which an operation may ask for a list. */
export interface Drains {
  readonly drain: Drain;
  readonly longDrain: StreamingDrain;
}

/** What is remembered from one list to the next, for one credential. All of it is only a guess: a wrong one costs a call, never a record. */
export interface ListHints {
  /** Whether lists of this resource heeded `skip` lately; undefined: not known. */
  heedsSkip(resource: string): boolean | undefined;
  sawSkip(resource: string, heeded: boolean): void;
  /** Records of the list whose first page is at `target`, when it was last read in parallel. */
  countOf(target: string): number | undefined;
  learnCount(target: string, count: number): void;
}

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

/**
 * Drains for one request. Throw `Problem`: DRAIN_INCOMPLETE, DRAIN_TOO_LARGE, LIST_UNPROVEN, OVERLOADED, UPSTREAM_*; or the
 * signal's reason when it aborts. The same errors end the chunks of a streamed list.
 */
export function createDrains(parts: DrainParts): Drains {
  return {
    drain: async (plan) => {
      const list = await readList(plan, parts, Number.POSITIVE_INFINITY);
      if (list.kind === "long") throw new Error("a list without a bound of its buffer cannot outgrow it");
      return list;
    },
    longDrain: (plan) => readList(plan, parts, parts.limits.bufferBytes),
  };
}

/** Buffers up to `room` bytes. */
async function readList(
  plan: ListPlan,
  parts: DrainParts,
  room: number,
): Promise<DrainedList | StreamedList | DrainRefused> {
  const reader = createListReader(plan, parts);
  const shown = plan.show === undefined ? undefined : showChunks(reader, plan.show, plan, parts);
  const buffered: Uint8Array[] = [];
  let reading = 0;
  let bytes = 0;
  try {
    for (;;) {
      const next = await (shown ?? reader).next();
      const state = reader.state();
      // If the list was restarted, the buffer belongs to the abandoned reading.
      if ((next.done === true ? state.reading : next.value.reading) !== reading) bytes = buffered.length = 0;
      if (next.done === true) {
        if (next.value !== undefined) {
          reader.over("refused");
          return next.value;
        }
        const witness = witnessOf(state.list);
        reader.over("complete", witness);
        return { kind: "list", ...reader.head(), chunks: buffered, records: state.list.shown, witness };
      }
      reading = next.value.reading;
      buffered.push(next.value.bytes);
      bytes += next.value.bytes.length;
      // While a way of reading is only tried, it must still be possible to give it up.
      if (bytes > room && reading === state.reading && !state.trying) {
        return streamList(plan, parts, reader, buffered, shown);
      }
    }
  } catch (thrown) {
    reader.failed(thrown);
    throw thrown;
  }
}

/**
 * The list from here on: what is buffered first, then `chunks`. Throws LIST_UNPROVEN before anything has gone out when the
 * rest cannot reach the required witness.
 */
function streamList(
  plan: ListPlan,
  parts: DrainParts,
  reader: ListReader,
  buffered: Uint8Array[],
  shown: ChunkGenerator | undefined,
): StreamedList {
  const floor = guaranteedWitness(reader.state());
  checkWitness(plan.resource, floor, parts.require(plan.resource));
  reader.announce(floor);
  // Only now: reading on may restart a list that was not announced.
  const generator = remainingChunks(plan, reader, buffered, shown ?? readChunks(reader));
  // The `return` of a generator that was never started does nothing, and waits for a `next` under way.
  const iterator: AsyncIterator<Uint8Array, void> = {
    next: () => generator.next(),
    return: async () => {
      reader.over("aborted");
      await generator.return();
      return { done: true, value: undefined };
    },
  };
  return {
    kind: "long",
    headers: reader.head().headers,
    floor,
    expected: expectedRecords(reader.state().list, parts.totals),
    chunks: { [Symbol.asyncIterator]: () => iterator },
  };
}

async function* remainingChunks(
  plan: ListPlan,
  reader: ListReader,
  buffered: Uint8Array[],
  chunks: ChunkGenerator,
): AsyncGenerator<Uint8Array, void> {
  try {
    for (const chunk of buffered.splice(0)) yield chunk;
    for (;;) {
      const next = await chunks.next();
      if (next.done !== true) yield next.value.bytes;
      else if (next.value === undefined) return reader.over("complete", witnessOf(reader.state().list));
      else {
        reader.over("refused");
        const message = `the platform refused a page of ${plan.resource} when the list had begun`;
        throw new Problem("DRAIN_INCOMPLETE", message, {
          metadata: { status: String(next.value.response.status) },
          options: [],
        });
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

/** Records of one `reading` of the list: when it is restarted before anything was announced, only the last one counts. */
interface ListChunk {
  readonly reading: number;
  readonly bytes: Uint8Array;
}

type NextChunk = IteratorResult<ListChunk, DrainRefused | undefined>;
type ChunkGenerator = AsyncGenerator<ListChunk, DrainRefused | undefined>;

/** The chunks as they are. The next one is read while one is used. */
async function* readChunks(reader: ListReader, begun = nextOf(reader)): ChunkGenerator {
  let coming = begun;
  try {
    for (;;) {
      const next = await coming;
      if (next.done === true) return next.value;
      coming = nextOf(reader);
      yield next.value;
    }
  } finally {
    reader.stop();
  }
}

/**
 * The chunks as `show` makes them; ends with the refusal of a page, or of a read that showing needed. Throws DRAIN_TOO_LARGE
 * when the client would see too much.
 */
async function* showChunks(
  reader: ListReader,
  show: NonNullable<ListPlan["show"]>,
  { resource }: ListPlan,
  { limits, turn }: DrainParts,
): ChunkGenerator {
  const chunks = readChunks(reader);
  let counted = 0;
  let shown = 0;
  try {
    for (;;) {
      const next = await chunks.next();
      if (next.done === true) return next.value;
      const { reading, bytes } = next.value;
      // Nothing is shown of a reading that was given up meanwhile.
      const { reading: current, announced } = reader.state();
      if (announced === undefined && reading !== current) continue;
      if (reading !== counted) shown = 0;
      counted = reading;
      const result = await show(bytes);
      if (result.kind === "refused") return result;
      checkShown(resource, shown + result.joinedBytes, limits);
      let first = true;
      for (const part of result.parts) {
        shown += part.length;
        checkShown(resource, shown, limits);
        if (!first) await turn();
        first = false;
        yield { reading, bytes: part };
      }
    }
  } finally {
    await chunks.return(undefined);
  }
}

/** The next chunk, to be awaited later: a failure is reported then. */
function nextOf(reader: ListReader): Promise<NextChunk> {
  const next = reader.next();
  next.catch(() => {});
  return next;
}

/** Performs what the steps of one list ask for: makes its calls, hands out its records, and reports how it ended. */
interface ListReader {
  /** The next records; ends with the platform's refusal, or with undefined when the list is complete. */
  next(): Promise<NextChunk>;
  state(): DrainState;
  /** Headers of the first page's response, and the number of pages. */
  head(): { readonly headers: HeaderList; readonly pages: number };
  /** From here on the list goes out: its end must prove `witness`, or it is aborted. */
  announce(witness: Witness): void;
  /** Stops all calls: no more records are wanted. */
  stop(): void;
  /** Stops, releases the slot, and reports; only the first call counts. */
  over(outcome: ListFacts["outcome"], witness?: Witness): void;
  failed(thrown: unknown): void;
}

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

/** Nothing is requested before the first `next`. Ends with the request's own signal, too. */
function createListReader(plan: ListPlan, parts: DrainParts): ListReader {
  const { signal, memory, limits } = parts;
  const { resource, keyOrder } = plan;
  let firstTarget: string | undefined;
  const target = (): string => {
    firstTarget ??= plan.request({ size: limits.pageSize }).target;
    return firstTarget;
  };
  const heedsSkip = memory.heedsSkip(resource);
  let state = startOf({
    resource,
    keyOrder,
    bareProvesNothing: plan.bareMeans === "nothing",
    limits,
    tokens: parts.tokens,
    totals: parts.totals ?? "verify",
    require: parts.require(resource),
    heedsSkip,
    expected: keyOrder && heedsSkip === true ? memory.countOf(target()) : undefined,
  });
  const startedAt = parts.now();
  const calls = new Map<number, SignalController>();
  let headers: HeaderList = [];
  let pages = 0;
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
    const send = isFirst ? parts.send : parts.reads;
    const response = await send(plan.request({ size: limits.pageSize, ...position }), { signal: stop });
    if (response.status !== 200) return { kind: "refused", response };
    pages += 1;
    if (isFirst) headers = response.headers;
    else await parts.turn();
    const page = plan.read(response);
    return { kind: "page", page: page instanceof Promise ? await page : page };
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
    next: () =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended.reason);
        const outcome = outcomes.shift();
        if (outcome !== undefined) return outcome({ resolve, reject });
        pull = { resolve, reject };
        apply({ kind: "pull" });
      }),
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
      end(OVER, OUTCOMES.get(reason) ?? "incomplete", witnessIn(thrown));
    },
  };
}

/** Further pages need a slot. */
function readsFurtherPage(action: DrainAction): boolean {
  return action.kind === "fetch" && (action.place.token !== undefined || action.place.skip !== undefined);
}

/** What was proved, but was not enough. */
function witnessIn(thrown: unknown): Witness {
  const witness = thrown instanceof Problem && thrown.reason === "LIST_UNPROVEN" ? thrown.metadata["witness"] : "none";
  return witness === "cover" || witness === "count" ? witness : "none";
}

/** What all drains of one upstream remember. */
export interface SharedListHints {
  /** The hints of one credential. `credential`: a keyed digest, never the token. */
  of(credential: string): ListHints;
}

const MAX_COUNTS = 2_000;
const MAX_SKIPS = 2_000;
/** After this time `skip` is tried again. */
const SKIP_MS = 10 * 60 * 1_000;

export function createListHints(): SharedListHints {
  const counts = new LRUCache<string, number>({ max: MAX_COUNTS });
  const skips = new LRUCache<string, { readonly heeded: boolean }>({ max: MAX_SKIPS, ttl: SKIP_MS });
  return {
    of: (credential) => {
      const keyOf = (name: string): string => JSON.stringify([credential, name]);
      // A digest, because a target holds filters: nothing that a client asked for is kept.
      const digestOf = (target: string): string => createHash("sha256").update(keyOf(target)).digest("base64url");
      return {
        heedsSkip: (resource) => skips.get(keyOf(resource))?.heeded,
        sawSkip: (resource, heeded) => {
          skips.set(keyOf(resource), { heeded });
        },
        countOf: (target) => counts.get(digestOf(target)),
        learnCount: (target, count) => {
          counts.set(digestOf(target), count);
        },
      };
    },
  };
}
