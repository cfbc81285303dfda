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
});

export type ForgottenClient = Read<typeof ForgottenClientSchema>;
