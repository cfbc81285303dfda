/** Whether the shared store can be used: one state, and one pure function from a state and an event to the next state. */
import type { StoreMark } from "./protocol.ts";

/**
 * `connecting`: the store has not responded since the start. `away`: it no longer responds. `refilling`: it lost what this replica had sent, and gets it
 * again. `in-step`: nothing is missing but what is new.
 */
export type LinkPhase = "connecting" | "away" | "in-step" | "refilling";

export interface LinkState {
  readonly phase: LinkPhase;
  /** When the phase began, milliseconds since 1970. */
  readonly since: number;
  /** Why the store cannot be used; undefined while it responds. */
  readonly fault: string | undefined;
  /** Undefined before the first response. */
  readonly seen: StoreMark | undefined;
}

export type LinkEvent =
  /** `isIncomplete`: the store turned out to have lost something. `isWaiting`: rows are still to be sent. */
  | {
      readonly kind: "replied";
      readonly store: StoreMark;
      readonly isIncomplete: boolean;
      readonly isWaiting: boolean;
      readonly at: number;
    }
  | { readonly kind: "failed"; readonly fault: string; readonly at: number };

/** `at`: milliseconds since 1970. */
export function initialLink(at: number): LinkState {
  return { phase: "connecting", since: at, fault: undefined, seen: undefined };
}

/** True while the store responds. */
export function isUp({ phase }: LinkState): boolean {
  return phase !== "connecting" && phase !== "away";
}

export function step(state: LinkState, event: LinkEvent): LinkState {
  if (event.kind === "failed") {
    const phase = state.phase === "connecting" ? "connecting" : "away";
    return { ...inPhase(state, phase, event.at), fault: event.fault };
  }
  const isRefilling = event.isIncomplete || (state.phase === "refilling" && event.isWaiting);
  const after = inPhase(state, isRefilling ? "refilling" : "in-step", event.at);
  return { ...after, seen: event.store, fault: undefined };
}

function inPhase(state: LinkState, phase: LinkPhase, at: number): LinkState {
  return state.phase === phase ? state : { ...state, phase, since: at };
}
