/** What `carryover forget` did on one instance. */
import * as z from "zod";
import { Count, optional, type Read, Time } from "../rules/record.ts";

export const ForgottenClientSchema = z.object({
  client: z.string(),
  /** False: the instance knows no such client, and nothing changed. */
  known: z.boolean(),
  /** The client that was probably meant; only where none is known. */
  near: optional(z.string()),
  /** The entry of the ledger that was dropped; absent without one. */
  entry: optional(
    z.object({ v1: Count, v2: Count, operations: Count, firstSeen: Time, lastSeen: Time, owner: optional(z.string()) }),
  ),
  /** Comparisons that are no longer counted for the client, and samples that were dropped. */
  comparisons: Count,
  samples: Count,
  /** False: the saved counts cannot be written, and a restart would bring the client back. */
  survives: z.boolean(),
  /** The process that did it. Absent if it is older than the member. */
  instance: optional(z.string()),
  /** Other processes that share the store and have the client there. Those that are gone keep it until the store drops them. */
  others: optional(z.array(z.object({ name: z.string(), instance: z.string(), gone: z.boolean() })).max(10_000)),
  /** What of the store could not be read, so that it may have the client, too. */
  unread: optional(z.array(z.object({ name: z.string(), fault: z.string() })).max(10_000)),
});

export type ForgottenClient = Read<typeof ForgottenClientSchema>;
