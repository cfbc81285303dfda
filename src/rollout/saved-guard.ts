/** The schema of a saved guard: its state, as plain JSON. Every value is checked. */
import * as z from "zod";
import { LAST_TIME } from "../model/clock.ts";
import {
  ALARM,
  CALLERS_KEPT,
  FAILURE_KINDS,
  type GuardState,
  MOST_OPERATIONS,
  MOST_PAIRS,
  NATIVE_SERVES,
  PAIR_SECONDS,
} from "./guard.ts";

/** Longest text in a saved guard. */
const MAX_TEXT = 512;

const text = z.string().max(MAX_TEXT);
const count = z.int().nonnegative();
const amount = z.number().nonnegative();
const second = z.int().nonnegative().max(LAST_TIME);
const callers = z.array(text).max(CALLERS_KEPT);
const kinds = z.partialRecord(z.enum(FAILURE_KINDS), count);
const standIn = z.object({ others: count, hour: count, ownDay: count, fails: count, unknown: count }).optional();

const counts = {
  since: second,
  lastFailure: second,
  requests: count,
  failures: count,
  kinds,
  pairedServed: count,
  pairedFailed: count,
  standIn,
};
const episode = z.object({
  ...counts,
  callers: z.object({ clients: callers, credentials: callers }),
  troubled: z.boolean(),
});
const cause = z.object({
  ...counts,
  operation: text.optional(),
  write: z.boolean(),
  callers: count,
  clients: callers,
});

const evidence = z.object({ before: amount.max(ALARM), now: amount.max(ALARM) });
const suspicion = z.object({
  second,
  requests: count,
  failed: count,
  lost: amount,
  failing: evidence,
  losing: evidence,
  native: z.number().min(-NATIVE_SERVES).max(NATIVE_SERVES),
  recent: z.object({ requests: amount, failed: amount }),
  episode: episode.optional(),
});
const operation = suspicion.extend({
  operation: text,
  pairs: z.array(z.object({ second, served: count, failed: count })).max(MOST_PAIRS),
  waiting: z.array(z.object({ second, failed: count })).max(PAIR_SECONDS),
});

/** A second that is later than the clock would keep the guard from seeing a new one: `latestSecond` must not exceed it. */
export const SavedGuard = z.object({
  operations: z.array(operation).max(MOST_OPERATIONS),
  reads: suspicion,
  writes: suspicion,
  alarm: cause.optional(),
}) satisfies z.ZodType<GuardState>;

/** The latest second that the state has seen. */
export function latestSecond({ operations, reads, writes }: GuardState): number {
  return Math.max(reads.second, writes.second, ...operations.map((one) => one.second));
}
