/** What ledgers exchange with each other and with reports: who calls what, and how hard each client is to move. */
import * as z from "zod";
import { FAULT_ORIGINS, type FaultOrigin } from "../model/problem.ts";
import { isPrintable, plainName } from "../model/text.ts";
import { Count, optional, type Read, Time } from "../rules/record.ts";
import { DaysSchema } from "./days.ts";

/** v1 operations of one client by name; one more is `other`. */
export const MAX_OPERATIONS = 63;
/** Needs of one kind per client. */
export const MAX_NEEDS = 32;
/** Most clients of one ledger, and of several merged. */
export const MAX_CLIENTS = 100_000;
const MAX_INSTANCES = 10_000;
/** Most characters of the name of a resource, an operation, a field or a label. */
const MAX_WORD = 128;

const Name = z.string().refine((name) => plainName(name) === name, "expected a printable text of 1 to 128 characters");
const Word = z
  .string()
  .refine(
    (word) => word.length <= MAX_WORD && isPrintable(word),
    `expected a printable text of at most ${MAX_WORD} characters`,
  );
const OperationName = z.object({ resource: Word, operation: Word });
const FieldName = z.object({ resource: Word, field: Word });

const Versions = z.object({ v1: Count, v2: Count });

const Errors = z.object({
  client: optional(Count),
  platform: optional(Count),
  capacity: optional(Count),
  translation: optional(Count),
  v2: optional(Count),
} satisfies Record<FaultOrigin, z.ZodType>);

const Operation = OperationName.extend({
  requests: Count,
  lastSeen: Time,
  /** Failed requests by who was at fault (`faultOf`). Absent if none failed, or if nothing is known. */
  errors: optional(Errors.transform((errors) => addErrors([errors]))),
  /** Requests that the translation served without an error. Absent: none, or an older release counted them. */
  translated: optional(Count),
}).refine(({ requests, errors }) => countErrors(errors) <= requests, {
  path: ["errors"],
  error: "expected no more errors than there are requests",
});

/** Needs that make a client hard to move. All lists are bounded and sorted. */
const Needs = z.object({
  /** The longest list per resource, if it had more records than a v2 page. */
  longLists: z.array(z.object({ resource: Word, records: Count })).max(MAX_NEEDS),
  /** Fields that its PUTs set to zero by leaving them out. */
  zeroedFields: z.array(FieldName).max(MAX_NEEDS),
  /** Operations that v2 lacks. */
  lacking: z.array(OperationName).max(MAX_NEEDS),
  /** Fields that it sends and the catalogue does not know. */
  unknownFields: z.array(FieldName).max(MAX_NEEDS),
  /** Operations whose content carryover never saw, because native v1 served them. Their needs may be missing above. */
  unseen: z.array(OperationName).max(MAX_OPERATIONS),
});

/** The last brownout that refused v1 requests of a client. Times are when they were refused. */
const RefusedSchema = z.object({
  rule: Word,
  start: Time,
  end: Time,
  requests: Count,
  first: Time,
  last: Time,
});

const Entry = z
  .object({
    /** As rules name it; hashed if the operator asks for that. */
    name: Name,
    /** Its name in metrics: a configured name or a keyed hash. */
    label: Word,
    /** Who answers for it, and how to reach them: as `clients.names` says. Never saved. */
    owner: optional(Word),
    contact: optional(Word),
    /** A rule for 10 % of clients takes those below 10. Of the instance's rules, and never saved. */
    bucket: optional(z.number().min(0).max(100)),
    /** When the entry was made. It may have called v2 before, and v1 unless `bound` is 0. */
    firstSeen: Time,
    lastSeen: Time,
    /** When it last called v1; absent: never. */
    lastV1: optional(Time),
    /** When it last called v2. Absent: never, or an older release counted it. */
    lastV2: optional(Time),
    /** Absent: no brownout refused it. */
    refused: optional(RefusedSchema),
    /** v1: too high by `over` at most, too low by `bound` at most, and only if it is 0 or ledgers were merged. v2: since `firstSeen`. */
    requests: Versions,
    /** The days on which it called. Absent: on none since `daysSince`. */
    days: optional(DaysSchema),
    /** By how much `requests.v1` may be too high. */
    over: Count,
    /** v1 operations, most requests first; bounded, the rest under `other`. */
    operations: z.array(Operation).max(MAX_OPERATIONS + 1),
    needs: Needs,
  })
  .refine(({ over, requests }) => over <= requests.v1, {
    path: ["over"],
    error: "expected no more than there are v1 requests",
  });

/** The ledger of one instance at one time, or of several merged. */
export const LedgerSchema = z.object({
  version: z.literal(1, { error: ({ input }) => `expected 1, found ${JSON.stringify(input ?? null)}` }),
  /** Random, one per process and file, so that no instance is added to itself. */
  instances: z.array(Name).max(MAX_INSTANCES),
  since: Time,
  /** Since when nothing was missed: later than `since` after an interruption. Absent: `since`. */
  watchedSince: optional(Time),
  /** Clients that called v1 last before this time may have been forgotten. Absent: none was, or an older release made it. */
  forgottenBefore: optional(Time),
  /** Since when `days` of clients are counted. Absent if an older release made it, or one of those merged. */
  daysSince: optional(Time),
  at: Time,
  /** All requests, including those of clients that are no longer listed. */
  requests: Versions,
  /**
   * No client that is missing here made more v1 requests than this; each `over` is at most this. Clients that called v2
   * only may be missing in any case: they get the entries that callers of v1 leave.
   */
  bound: Count,
  /** Most v1 requests first, then most v2 requests. */
  clients: z
    .array(Entry)
    .max(MAX_CLIENTS)
    .refine((clients) => new Set(clients.map(({ name }) => name)).size === clients.length, "a name twice"),
});

export type LedgerSnapshot = Read<typeof LedgerSchema>;
export type VersionCounts = Read<typeof Versions>;
export type ClientEntry = Read<typeof Entry>;
export type ClientOperation = Read<typeof Operation>;
/** Counts above 0 only. */
export type OperationErrors = Readonly<Partial<Record<FaultOrigin, number>>>;
export type RefusedRequests = Read<typeof RefusedSchema>;
export type ClientNeeds = Read<typeof Needs>;

/** The number of failed requests, all faults together. */
export function countErrors(errors: z.output<typeof Errors> = {}): number {
  return FAULT_ORIGINS.reduce((sum, fault) => sum + (errors[fault] ?? 0), 0);
}

/** The sum of `all`. Undefined without any error. */
export function addErrors(all: readonly (z.output<typeof Errors> | undefined)[]): OperationErrors | undefined {
  const sums = FAULT_ORIGINS.map((fault) => [fault, all.reduce((sum, one) => sum + (one?.[fault] ?? 0), 0)] as const);
  const counted = sums.filter(([, count]) => count > 0);
  return counted.length === 0 ? undefined : Object.fromEntries(counted);
}

/**
 * The hardest need of a client, easiest first. `unknown`: carryover did not see the content of some of its
 * requests, so it may be anything below and `full-replace`.
 */
export const DIFFICULTIES = [
  "none",
  "renames",
  "unknown-fields",
  "long-lists",
  "unknown",
  "full-replace",
  "lacking",
] as const;
export type Difficulty = (typeof DIFFICULTIES)[number];
