/** Which clients have not called for so long that they are to be forgotten (`clients.forgetAfter`). */
import { MAX_CLIENTS } from "./entry.ts";

/** Milliseconds between two looks. */
export const RETENTION_CHECK_MS = 3_600_000;
/** Milliseconds for which this and earlier processes must have seen a client overdue. */
const CONFIRM_MS = 24 * 3_600_000;

export type RetentionMemory = readonly (readonly [name: string, ms: number])[];

export interface Retention {
  /**
   * Names of `clients` that are to be forgotten now. To be called at a start, and then every `RETENTION_CHECK_MS`.
   *
   * The wall clock alone decides nothing: one that leaps forward would have all clients forgotten. So a client must have been overdue at
   * every look for a day of running time, by a clock that is never set. A look at which the clock is right again starts that day over.
   */
  due(clients: Iterable<{ readonly name: string; readonly lastSeen: number }>): readonly string[];
  /** Milliseconds for which each overdue client was seen so, to be saved: a process that restarts every night forgets as well. */
  memory(): RetentionMemory;
  /** To be called before the first look. */
  restore(memory: RetentionMemory): void;
}

export interface RetentionOptions {
  /** Milliseconds. */
  readonly after: number;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
}

export function createRetention({ after, wall, now }: RetentionOptions): Retention {
  let overdue = new Map<string, number>();
  let lastLook = now();
  return {
    due(clients) {
      const [at, reading] = [wall(), now()];
      const passed = Math.max(0, reading - lastLook);
      lastLook = reading;
      const seen = new Map<string, number>();
      const found: string[] = [];
      for (const { name, lastSeen } of clients) {
        if (at - lastSeen <= after) continue;
        const before = overdue.get(name);
        const ms = before === undefined ? 0 : before + passed;
        if (ms >= CONFIRM_MS) found.push(name);
        else seen.set(name, ms);
      }
      overdue = seen;
      return found;
    },
    memory: () => [...overdue],
    restore: (memory) => {
      overdue = new Map(memory);
    },
  };
}

/** Of a saved file; an older version wrote none. What cannot be read starts its day over. `nameNow`: the current name of a client. */
export function readRetention(saved: unknown, nameNow: (stored: string) => string): RetentionMemory {
  if (!Array.isArray(saved)) return [];
  return saved.slice(0, MAX_CLIENTS).flatMap((one: unknown): RetentionMemory => {
    if (!Array.isArray(one)) return [];
    const [name, ms]: readonly unknown[] = one;
    return typeof name === "string" && typeof ms === "number" && ms >= 0 ? [[nameNow(name), ms]] : [];
  });
}
