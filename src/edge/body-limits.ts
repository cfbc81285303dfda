/** What bodies of requests may take, whatever their protocol. */
import type { CredentialShares } from "../model/credential-shares.ts";
import type { MemoryBudget, MemoryReservation } from "../model/memory-budget.ts";
import type { Signal } from "../model/signal.ts";
import { inTurn, type ProcessorShare } from "./processor-share.ts";

/** What all bodies of requests share. */
export interface BodyLimits {
  /** As in `PaceOptions`. */
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

/** So much of each body may be here, whatever else is held. */
export const GATHERED_BYTES = 64 * 1024;

/** What reading costs the processor, roughly. */
const MS_PER_BYTE = 4 / 2 ** 20;

/** Waits for the turn of `caller`, then for memory. Rejects with the signal's reason if it aborts first. */
export async function roomFor(
  caller: string,
  bytes: number,
  { memory, processorShare }: Pick<BodyLimits, "memory" | "processorShare">,
  signal: Signal,
): Promise<MemoryReservation> {
  await inTurn(caller, processorShare, signal, () => {}, bytes * MS_PER_BYTE);
  return memory.reserve(caller, bytes, signal);
}

/** Who counts as the caller of a request; worked out for those that take up much. */
export function callerOf({ credential }: { readonly credential: string }, callers: CredentialShares): string {
  return callers.shareOf(credential);
}
