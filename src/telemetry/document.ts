/**
 * The schemas of the document that a replica keeps in the shared store (all that `/progress`, `/events` and `/samples` show of it), and of what it
 * remembers of other documents.
 */
import * as z from "zod";
import { LedgerSchema } from "../ledger/entry.ts";
import { Count, optional, type Read, Time } from "../rules/record.ts";
import { ComparisonCountsSchema, OwnProgressSchema, TotalsSchema } from "./progress.ts";

/** Everything of the progress but what has rows of its own. */
export const HeadRow = OwnProgressSchema.omit({
  shared: true,
  totals: true,
  window: true,
  ledger: true,
  bounds: true,
  rules: true,
}).extend({
  ledger: LedgerSchema.omit({ clients: true }),
  totalsSince: Time,
  /** `knownFrom`: of each length of buckets, the number of the first that is not dropped. */
  history: z.object({ since: Time, knownFrom: z.array(Count).max(8) }),
  /** Since when no event is missing. */
  eventsSince: Time,
  /** Of several documents that became one: the times in which one of them watched. */
  watched: optional(z.array(z.object({ from: Time, until: Time })).max(1_000)),
});

/** What a restart takes from here besides counts. */
export const SavedRow = z.object({
  basis: z.string().max(64),
  lostAt: optional(Time),
  /** As they were saved, to be read with the configuration of the next process. */
  names: z.unknown(),
  overdue: z.unknown(),
});

export const TotalsRows = TotalsSchema.shape.rows;
export const BoundRows = z.array(ComparisonCountsSchema);
export const RuleRows = OwnProgressSchema.shape.rules;
export const ClientRows = LedgerSchema.shape.clients;
/** Buckets of one length: number, then each kind with its count. */
export const BucketRows = z.array(z.array(Count).min(1));
export const SampleRows = z.object({
  values: z.enum(["redact", "show"]),
  samples: z.array(z.looseObject({})).max(100),
});

export type DocumentHead = Read<typeof HeadRow>;
export type SavedParts = Read<typeof SavedRow>;

/** Another contributor, as a process remembers it over a restart. */
const Known = z.object({
  id: z.string().max(64),
  name: z.string().max(512),
  /** When it was there last. */
  seen: Time,
  /** It was gone already when the process last found it in the store. */
  gone: z.boolean(),
  /** When the process first missed it; absent while it is in the store. */
  missedAt: optional(Time),
});
export const MOST_KNOWN = 10_000;
export const KnownRecord = z.object({ version: z.literal(1), contributors: z.array(Known).max(MOST_KNOWN) });

export type KnownContributor = Read<typeof Known>;
