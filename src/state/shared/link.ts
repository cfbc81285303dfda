/** How far a replica is in step with the shared store: one state, and one pure function from a state and an event to the next state. */
import type { StoreMark, TickReply } from "./protocol.ts";

/**
 * `connecting`: the store has not responded since the start. `away`: it no longer responds. `gap`: it lost batches, and they are sent again. `seeding`: it
 * is another store, or lost more than the buffer holds, and the whole contribution is sent. `in-step`: nothing is missing.
 */
export type LinkPhase = "connecting" | "away" | "in-step" | "gap" | "seeding";

export interface LinkState {
  readonly phase: LinkPhase;
  /** When the phase began, milliseconds since 1970. */
  readonly since: number;
  /** Why the store cannot be used; undefined while it responds. */
  readonly fault: string | undefined;
  /** Undefined before the first response. */
  readonly seen: StoreMark | undefined;
  /** The highest batch that the store is known to have. */
  readonly acknowledged: number;
  /** The highest batch that exists. */
  readonly made: number;
  /** The lowest batch that can be sent again; `made + 1` without any. */
  readonly oldest: number;
  /** The batches of the contribution that is being sent; the first one is a reset. Undefined if no contribution is being sent. */
  readonly seed: { readonly first: number; readonly last: number } | undefined;
  /** The contribution has to be sent as a whole. */
  readonly mustSeed: boolean;
}

export type LinkEvent =
  /** Another batch exists. */
  | { readonly kind: "made" }
  /** Batches below `oldest` can no longer be sent again. */
  | { readonly kind: "forgot"; readonly oldest: number }
  /** The contribution was divided into `batches`; the first one is a reset. Nothing before them is needed. */
  | { readonly kind: "seeded"; readonly batches: number; readonly at: number }
  | { readonly kind: "replied"; readonly reply: TickReply; readonly at: number }
  | { readonly kind: "failed"; readonly fault: string; readonly at: number };

/** `at`: milliseconds since 1970. */
export function initialLink(at: number): LinkState {
  return {
    phase: "connecting",
    since: at,
    fault: undefined,
    seen: undefined,
    acknowledged: 0,
    made: 0,
    oldest: 1,
    seed: undefined,
    mustSeed: false,
  };
}

/** True while the store responds. */
export function isUp({ phase }: LinkState): boolean {
  return phase !== "connecting" && phase !== "away";
}

/** The number of the batch to send next. Undefined if the store has all. */
export function nextBatch({ acknowledged, made, mustSeed }: LinkState): number | undefined {
  return mustSeed || acknowledged >= made ? undefined : acknowledged + 1;
}

export function step(state: LinkState, event: LinkEvent): LinkState {
  switch (event.kind) {
    case "made":
      return { ...state, made: state.made + 1 };
    case "forgot":
      return { ...state, oldest: Math.min(event.oldest, state.made + 1) };
    case "seeded": {
      const { made } = state;
      const seed = { first: made + 1, last: made + event.batches };
      const after = { ...state, acknowledged: made, oldest: seed.first, made: seed.last, seed, mustSeed: false };
      return isUp(state) ? inPhase(after, "seeding", event.at) : after;
    }
    case "failed": {
      const phase = state.phase === "connecting" ? "connecting" : "away";
      return { ...inPhase(state, phase, event.at), fault: event.fault };
    }
    case "replied":
      return afterReply(state, event.reply, event.at);
    default:
      return event satisfies never;
  }
}

function afterReply(before: LinkState, { status, last, store }: TickReply, at: number): LinkState {
  const state = { ...before, seen: store, fault: undefined };
  // A number beyond those that exist: the store has something of another process under this id.
  const isStrange = last > state.made;
  // The batch after the last one that the store has is needed, and is gone.
  const isOutOfReach = last < state.made && last + 1 < state.oldest;
  // The first batch of a contribution replaces everything, whatever the store has.
  const isReset = state.seed !== undefined && state.acknowledged < state.seed.first;
  if (status === "foreign" || isStrange || (isOutOfReach && !isReset)) {
    const made = Math.max(state.made, last);
    return inPhase({ ...state, made, oldest: made + 1, seed: undefined, mustSeed: true }, "seeding", at);
  }
  const acknowledged = isReset ? Math.max(last, state.acknowledged) : last;
  const isSeeding = state.seed !== undefined && acknowledged < state.seed.last;
  const after = { ...state, acknowledged, seed: isSeeding ? state.seed : undefined };
  if (isSeeding) return inPhase(after, "seeding", at);
  // A single batch on its way does not count as a gap.
  const isBehind = status === "gap" || (before.phase === "gap" && acknowledged < state.made);
  return inPhase(after, isBehind ? "gap" : "in-step", at);
}

function inPhase(state: LinkState, phase: LinkPhase, at: number): LinkState {
  return state.phase === phase ? state : { ...state, phase, since: at };
}
