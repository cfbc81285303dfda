/** Is there memory for what a call brings? */

import {
  type ApiRequest,
  type ApiResponse,
  ResponseBufferFull,
  type Send,
  type SendLayer,
  type SendOptions,
} from "../model/http.ts";
import type { MemoryBudget, MemoryReservation } from "../model/memory-budget.ts";
import type { Signal } from "../model/signal.ts";

/** The calls of one request, and what they hold. */
export interface ReservedCalls {
  /** Waits until there is room for what a call brings, as far as that can be known. */
  readonly layer: SendLayer;
  /** What the calls brought so far is not needed any more, or held by somebody else, in the next turn of the event loop. */
  done(): void;
}

/** Made once for each request of `credential`. */
export type ResponseMemory = (credential: string) => ReservedCalls;

/** Responses up to here are nothing to wait for. */
const SMALL_BYTES = 64 * 1024;
/** What a list of a caller is taken for that has not had one yet. */
const FIRST_BYTES = 1024 * 1024;
/** Callers whose lists are remembered. */
const MOST_CALLERS = 1_000;
/** How much of what is expected remains when less has come. */
const KEPT = 0.8;
/** A list is not looked at again and again: then it is read, whatever its size. */
const MOST_LOOKS = 3;
const MOST_CAREFUL = 1_000;

/**
 * Before a list is asked for, room is taken for one as large as the latest ones of its caller. A response that is larger is taken as
 * well if there is room; else a read is given up at its head, which frees its connection, and repeated when there is.
 */
export function createResponseMemory(memory: MemoryBudget, callerOf: (credential: string) => string): ResponseMemory {
  const expected = new Map<string, number>();
  /** Calls that are still to be looked at one by one, since one that is no list has brought much. */
  let careful = 0;
  const notice = (bytes: number): boolean => {
    if (bytes > SMALL_BYTES) careful = MOST_CAREFUL;
    return true;
  };
  const learn = (caller: string, bytes: number): void => {
    const before = expected.get(caller) ?? 0;
    expected.delete(caller);
    expected.set(caller, Math.max(bytes, Math.round(before * KEPT)));
    const [oldest] = expected.keys();
    if (expected.size > MOST_CALLERS && oldest !== undefined) expected.delete(oldest);
  };
  return (credential) => {
    const caller = (): string => callerOf(credential);
    /** The platform may have accepted the credential meanwhile: from then on its share is its own. */
    const wait = async (bytes: number, signal: Signal): Promise<MemoryReservation> => {
      for (;;) {
        const owner = caller();
        const hold = await memory.reserve(owner, bytes, signal);
        asked = owner;
        if (caller() === owner) return hold;
        hold.resize(0);
      }
    };
    /** What the request holds until it is done: one that waited for itself would wait for ever. */
    let kept = 0;
    let keeping: MemoryReservation | undefined;
    /** As whom the request has waited last. */
    let asked: string | undefined;
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
    /** What has to be waited for before the call. */
    const wantedFor = (target: string): number => {
      if (kept > 0) return 0;
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
        if (owner !== asked) {
          // The platform has accepted the credential meanwhile: what it brings is held as its own.
          hold?.resize(0);
          hold = undefined;
          mine = 0;
        }
        if (mayRefuse && kept === 0 && !memory.fits(owner, bytes - mine)) return false;
        hold ??= memory.open(owner);
        hold.resize(bytes);
        asked = owner;
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
      layer: (next) => (request, options) => {
        // Most calls are such; what is done for each of them has to cost next to nothing.
        if (careful === 0 && kept === 0 && memory.hasHeadroom() && !isList(request.target)) {
          return next(request, { signal: options.signal, room: notice });
        }
        careful = Math.max(0, careful - 1);
        return ask(next, request, options, wantedFor(request.target), 0);
      },
      done: () => {
        over = true;
        if (kept > 0) setImmediate(free);
      },
    };
  };
}

function isList(target: string): boolean {
  return target.includes("page_size=");
}
