/** What bodies of requests may take, whatever their protocol. */
import { type CredentialShares, SINGLE_SHARE } from "../model/credential-shares.ts";
import { type GrowingReservation, type MemoryBudget, unlimitedMemory } from "../model/memory-budget.ts";
import type { Signal } from "../model/signal.ts";
import { createProcessorShare, inTurn, type ProcessorShare } from "./processor-share.ts";

/** What all bodies of requests share. */
export interface BodyLimits {
  /** As in `SendRateOptions`. */
  readonly minRate: number;
  readonly graceMs: number;
  readonly stallMs: number;
  /** A body of up to so many bytes is here as a whole before a connection to an upstream is taken for it, if memory has room. */
  readonly heldBytes: number;
  readonly memory: MemoryBudget;
  readonly callers: CredentialShares;
  /** The turns of callers whose credential the platform has not accepted yet. */
  readonly processorShare: ProcessorShare;
}

/** The options of a port for its bodies, with defaults. */
export interface BodyLimitOptions {
  readonly limits: { readonly minBodyRate?: number | undefined; readonly heldBytes?: number | undefined };
  readonly timeouts?:
    | { readonly sendStallMs?: number | undefined; readonly sendGraceMs?: number | undefined }
    | undefined;
  readonly memory?: MemoryBudget | undefined;
  readonly callers?: CredentialShares | undefined;
  readonly processorShare?: ProcessorShare | undefined;
  readonly now: () => number;
}

/** So long a client may send nothing of a body that an upstream waits for, or for which memory is kept. */
const SEND_STALL_MS = 5_000;
const SEND_GRACE_MS = 10_000;
const MIN_BODY_RATE = 1024;
const HELD_BYTES = 1024 * 1024;

export function createBodyLimits(options: BodyLimitOptions): BodyLimits {
  const { limits, timeouts } = options;
  return {
    minRate: limits.minBodyRate ?? MIN_BODY_RATE,
    graceMs: timeouts?.sendGraceMs ?? SEND_GRACE_MS,
    stallMs: timeouts?.sendStallMs ?? SEND_STALL_MS,
    heldBytes: limits.heldBytes ?? HELD_BYTES,
    memory: options.memory ?? unlimitedMemory(),
    callers: options.callers ?? SINGLE_SHARE,
    processorShare: options.processorShare ?? createProcessorShare(options.now),
  };
}

/** So much of each body may be here, whatever else is held. */
export const GATHERED_BYTES = 64 * 1024;

/** The first step beyond them; each further one doubles what has come. */
const STEP_BYTES = 256 * 1024;

/** What reading costs the processor, roughly. */
const MS_PER_BYTE = 4 / 2 ** 20;

/** The memory of one body that is being received. */
export type BodyMemory = ReturnType<typeof createBodyMemory>;

/** For a body of `caller` of at most `claim` bytes. A length is a claim, so memory is taken as bytes arrive; before the rest of a long one comes the turn of its caller. */
export function createBodyMemory(
  caller: string,
  claim: number,
  { memory, processorShare }: Pick<BodyLimits, "memory" | "processorShare">,
  signal: Signal,
) {
  let hold: GrowingReservation | undefined;
  let room = GATHERED_BYTES;
  let isOver = false;
  const begin = async (bytes: number): Promise<void> => {
    await inTurn(caller, processorShare, signal, () => {}, claim * MS_PER_BYTE);
    if (isOver) return;
    hold = memory.receive(caller, claim);
    await hold.grow(bytes, signal);
  };
  return {
    /** `bytes` have come: undefined where more may be read, else resolves once there is room. Rejects with the signal's reason if it aborts first. */
    came(bytes: number): Promise<void> | undefined {
      if (bytes <= room) return undefined;
      room = Math.max(bytes, Math.min(claim, Math.max(2 * bytes, STEP_BYTES)));
      return hold === undefined ? begin(room) : hold.grow(room, signal);
    },
    /** Nothing more comes: sets the number of bytes. 0 ends it. */
    keep(bytes: number): void {
      isOver ||= bytes === 0;
      hold?.resize(bytes);
    },
  };
}

/** Who counts as the caller of a request; worked out for those that take up much. */
export function callerOf({ credential }: { readonly credential: string }, callers: CredentialShares): string {
  return callers.shareOf(credential);
}
