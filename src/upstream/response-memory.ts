/** Memory for responses: a call waits until there is room for what it brings. */

import {
  type ApiRequest,
  type ApiResponse,
  type Caller,
  type HeldResponses,
  ResponseBufferFull,
  type Send,
  type SendLayer,
  type SendOptions,
} from "../model/http.ts";
import { setLatest } from "../model/latest.ts";
import type { MemoryBudget, MemoryReservation } from "../model/memory-budget.ts";
import type { Signal } from "../model/signal.ts";

/** Responses up to this size need not wait. */
const SMALL_BYTES = 64 * 1024;
/** The expected size of a caller's first list. */
const FIRST_BYTES = 1024 * 1024;
/** Callers whose lists are remembered. */
const MOST_CALLERS = 1_000;
/** How much of the expected size remains when a response was smaller. */
const KEPT = 0.8;
/** A list that was refused so often is read, whatever its size. */
const MOST_LOOKS = 3;
const MOST_CAREFUL = 1_000;

/**
 * Before a list is requested, room is reserved for one as large as the caller's latest lists. A larger response is taken as
 * well if there is room; otherwise a read is given up at its head, which frees its connection, and repeated later.
 */
export function createResponseMemory(memory: MemoryBudget, callerOf: (credential: string) => string): SendLayer {
  const expected = new Map<string, number>();
  /** Calls that are still checked one by one, since one that is no list had a large response. */
  let careful = 0;
  /** Whether a call to `target` need not wait. Most calls need not, and to know it must cost next to nothing. */
  const isAmple = (target: string): boolean => careful === 0 && memory.hasHeadroom() && !isList(target);
  /** Hears how long the response to such a call is. */
  const notice = (bytes: number): true => {
    if (bytes > SMALL_BYTES) careful = MOST_CAREFUL;
    return true;
  };
  const learn = (caller: string, bytes: number): void => {
    const before = expected.get(caller) ?? 0;
    setLatest(expected, caller, Math.max(bytes, Math.round(before * KEPT)), MOST_CALLERS);
  };
  const reserve = (request: Caller): HeldResponses => {
    const caller = (): string => callerOf(request.credential);
    const holding = (): boolean => request.holdsResponse?.() === true;
    /** The platform may accept the credential meanwhile: from then on it has a share of its own. */
    const wait = async (bytes: number, signal: Signal): Promise<MemoryReservation> => {
      for (;;) {
        const owner = caller();
        const hold = await memory.reserve(owner, bytes, signal);
        lastOwner = owner;
        if (caller() === owner) return hold;
        hold.resize(0);
      }
    };
    /** Bytes that the request holds until it is done: if it waited for itself, it would wait for ever. */
    let kept = 0;
    let keeping: MemoryReservation | undefined;
    /** The owner for whom the request waited last. */
    let lastOwner: string | undefined;
    let over = false;

    const keep = (bytes: number): void => {
      if (bytes <= SMALL_BYTES && kept === 0) return;
      kept += bytes;
      keeping ??= memory.open(caller());
      keeping.resize(kept);
      // The rest of a long list goes out as it comes.
      if (over) setImmediate(free);
    };
    const free = (): void => {
      kept = 0;
      keeping?.resize(0);
    };
    /** Bytes to reserve before the call. */
    const wantedFor = (target: string): number => {
      if (kept > 0 || holding()) return 0;
      const bytes = isList(target) ? (expected.get(caller()) ?? FIRST_BYTES) : SMALL_BYTES;
      return bytes <= SMALL_BYTES && memory.hasHeadroom() ? 0 : bytes;
    };
    const ask = async (
      next: Send,
      request: ApiRequest,
      options: SendOptions,
      wanted: number,
      looks: number,
    ): Promise<ApiResponse> => {
      let hold = wanted > 0 ? await wait(wanted, options.signal) : undefined;
      let mine = wanted;
      const mayRefuse = request.method === "GET" && looks < MOST_LOOKS;
      const room = (bytes: number): boolean => {
        if (bytes <= Math.max(mine, SMALL_BYTES)) return true;
        const owner = caller();
        if (owner !== lastOwner) {
          // The platform has accepted the credential meanwhile: the response counts towards its own share.
          hold?.resize(0);
          hold = undefined;
          mine = 0;
        }
        if (mayRefuse && kept === 0 && !holding() && !memory.fits(owner, bytes - mine)) return false;
        hold ??= memory.open(owner);
        hold.resize(bytes);
        lastOwner = owner;
        mine = bytes;
        return true;
      };
      try {
        const response = await next(request, { ...options, room });
        const { length } = response.body;
        if (response.status === 200 && isList(request.target)) learn(caller(), length);
        if (length > SMALL_BYTES) careful = MOST_CAREFUL;
        keep(length);
        return response;
      } catch (error) {
        if (!(error instanceof ResponseBufferFull)) throw error;
        learn(caller(), error.bytes);
        hold?.resize(0);
        return await ask(next, request, options, error.bytes, looks + 1);
      } finally {
        hold?.resize(0);
      }
    };
    return {
      call: (next, request, options) => {
        if (kept === 0 && isAmple(request.target)) return next(request, { ...options, room: notice });
        careful = Math.max(0, careful - 1);
        return ask(next, request, options, wantedFor(request.target), 0);
      },
      done: () => {
        over = true;
        if (kept > 0) setImmediate(free);
      },
    };
  };
  return (next) => (request, options) => {
    const { caller } = options;
    if (caller === undefined || (caller.held === undefined && isAmple(request.target))) {
      return next(request, { ...options, room: notice });
    }
    caller.held ??= reserve(caller);
    return caller.held.call(next, request, options);
  };
}

function isList(target: string): boolean {
  return target.includes("page_size=");
}
