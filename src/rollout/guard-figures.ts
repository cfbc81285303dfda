/** What v2 and native v1 did in the last ten minutes with the operations of each rule, for people: the guard itself judges by the second. Bounded memory. */
import type { FailureKind } from "../model/v2-failure.ts";

/** `denied`: 401 and 403; `limited`: 429; `errors`: everything else that fails. */
export interface ServedCounts {
  readonly requests: number;
  readonly errors: number;
  readonly denied: number;
  readonly limited: number;
}

export interface RuleFigures {
  /** Requests that the rule had translated. A request and its retries count once. */
  readonly translated: ServedCounts;
  /** Other v1 requests of the same operations, which native v1 served. */
  readonly native: ServedCounts;
  /** Reads that v2 failed and that were repeated on native v1. */
  readonly repeats: { readonly asked: number; readonly served: number };
}

export interface GuardFigures {
  /** A request is over. `rule` had it translated; without one, native v1 served it. `kind`: how it failed. */
  add(operation: string, rule: string | undefined, kind: FailureKind | undefined, at: number): void;
  repeated(operation: string, rule: string, isServed: boolean, at: number): void;
  /** Undefined: nothing of it was translated lately. */
  of(rule: string, at: number): RuleFigures | undefined;
  forget(rule: string): void;
}

const SLOT_MS = 60_000;
export const FIGURES_MS = 10 * SLOT_MS;
const MOST_OPERATIONS = 256;

interface Slot {
  readonly slot: number;
  requests: number;
  errors: number;
  denied: number;
  limited: number;
  asked: number;
  served: number;
}

/** By operation, oldest first. */
type Slots = Map<string, Slot[]>;

const COUNTED_AS: Readonly<Record<FailureKind, "errors" | "denied" | "limited">> = {
  unavailable: "errors",
  timeout: "errors",
  unauthenticated: "denied",
  forbidden: "denied",
  limited: "limited",
};

export function createGuardFigures(): GuardFigures {
  const native: Slots = new Map();
  const rules = new Map<string, Slots>();
  const slotsOf = (rule: string | undefined): Slots => {
    if (rule === undefined) return native;
    const found = rules.get(rule) ?? new Map<string, Slot[]>();
    rules.set(rule, found);
    return found;
  };
  const slotAt = (operations: Slots, operation: string, at: number): Slot | undefined => {
    const slots = operations.get(operation) ?? [];
    if (slots.length === 0 && operations.size >= MOST_OPERATIONS) return undefined;
    operations.set(operation, slots);
    const slot = Math.floor(at / SLOT_MS);
    const last = slots.at(-1);
    if (last?.slot === slot) return last;
    const begun = { slot, requests: 0, errors: 0, denied: 0, limited: 0, asked: 0, served: 0 };
    slots.push(begun);
    if (slots.length > FIGURES_MS / SLOT_MS) slots.shift();
    return begun;
  };
  return {
    add: (operation, rule, kind, at) => {
      const slot = slotAt(slotsOf(rule), operation, at);
      if (slot === undefined) return;
      slot.requests += 1;
      if (kind !== undefined) slot[COUNTED_AS[kind]] += 1;
    },
    repeated: (operation, rule, isServed, at) => {
      const slot = slotAt(slotsOf(rule), operation, at);
      if (slot === undefined) return;
      slot.asked += 1;
      slot.served += Number(isServed);
    },
    of: (rule, at) => {
      const since = Math.floor((at - FIGURES_MS) / SLOT_MS);
      const recent = (slots: readonly Slot[] = []) => slots.filter(({ slot }) => slot > since);
      const own = Array.from(rules.get(rule) ?? [], ([operation, slots]) => [operation, recent(slots)] as const);
      const operations = own.filter(([, slots]) => slots.length > 0);
      if (operations.length === 0) return undefined;
      const translated = operations.flatMap(([, slots]) => slots);
      return {
        translated: sumOf(translated),
        native: sumOf(operations.flatMap(([operation]) => recent(native.get(operation)))),
        repeats: {
          asked: translated.reduce((all, { asked }) => all + asked, 0),
          served: translated.reduce((all, { served }) => all + served, 0),
        },
      };
    },
    forget: (rule) => void rules.delete(rule),
  };
}

function sumOf(slots: readonly Slot[]): ServedCounts {
  const sum = { requests: 0, errors: 0, denied: 0, limited: 0 };
  for (const { requests, errors, denied, limited } of slots) {
    sum.requests += requests;
    sum.errors += errors;
    sum.denied += denied;
    sum.limited += limited;
  }
  return sum;
}
