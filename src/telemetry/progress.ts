/** The progress of the migration as one instance sees it: what `GET /progress` tells a report. */
import * as z from "zod";
import { LedgerSchema } from "../ledger/entry.ts";
import { Count, optional, type Read, Share, Time } from "../rules/record.ts";
import { DefaultMode, Force, ForceStateSchema, RuleStatusSchema } from "../rules/status.ts";

/** Version of this format. A reader refuses any other. */
export const PROGRESS_VERSION = 1;

const Name = z.string().max(512);

/** Requests of one kind, with the labels of metrics. */
const TotalsRow = z.object({
  apiVersion: z.string(),
  resource: z.string(),
  operation: z.string(),
  mode: z.string(),
  /** `2xx` and so on, or `none` without a response. */
  codes: z.string(),
  requests: Count,
  lastSeen: Time,
});

export const TotalsSchema = z.object({ since: Time, at: Time, rows: z.array(TotalsRow) });

/** Requests of a time that was asked for. `from` and `to`: the time that was counted, in whole buckets. Equal: none of it. */
const WindowSchema = z.object({ from: Time, to: Time, rows: z.array(TotalsRow) });

/** Comparisons of one operation that had a result, of all clients or of one. */
export const ComparisonCountsSchema = z.object({
  resource: Name,
  operation: Name,
  /** Absent: of all clients. */
  client: optional(Name),
  /** Noise and another order are among them. */
  comparisons: Count,
  differences: Count,
});
const Bound = ComparisonCountsSchema.extend({
  /** Upper bound (95 %) of the share of responses that differ. */
  upper: Share,
});

export const MOST_LATELY = 20;
/** Another contributor to the shared store, whose counts the store has lost. */
const Lost = z.object({
  contributor: z.string().max(64),
  /** Host and the beginning of its instance. */
  name: Name,
  /** When it was there last. */
  seen: Time,
  /** Until when it may have counted. */
  until: Time,
});

const LatelySchema = z.object({ at: Time, kind: z.string(), rule: optional(z.string()), says: z.string() });

/** A process that shares the store. Times are by the clock of the instance that says it. */
const Replica = z.object({
  /** `instance` of its own progress. */
  instance: z.string().max(64),
  /** Host and the beginning of `instance`. */
  name: Name,
  version: z.string().max(64),
  /** Digest of its rules; absent without a rules file. */
  rules: optional(z.string().max(64)),
  startedAt: Time,
  heardAt: Time,
  /** When it was heard last; absent while it is there. */
  goneSince: optional(Time),
  /** It was stopped, and said so. */
  left: optional(z.boolean()),
});

/** The store that replicas share (`state.url`), as one instance sees it. */
const SharedStateSchema = z.object({
  /** False: it does not respond. Then this instance decides alone. */
  up: z.boolean(),
  /** Since when that is so. */
  since: Time,
  /** Absent if nothing is wrong. */
  fault: optional(z.string().max(500)),
  /** Those that were heard within a day. */
  replicas: z.array(Replica).max(10_000),
});

/** An optional member is also absent if the instance is older than the member. */
export const OwnProgressSchema = z.object({
  version: z.literal(PROGRESS_VERSION),
  /** Random, one per process: an instance behind two addresses counts once. */
  instance: z.string(),
  /** Under which the shared store keeps what it counts, over restarts with `state.dir`. Absent without state.url. */
  contributor: optional(z.string().max(64)),
  /** When the process started to count. */
  since: Time,
  at: Time,
  /** Option `cutover.mode`. */
  mode: DefaultMode,
  /** What overrides every rule now. */
  force: Force,
  /** Who says so. */
  forcedBy: optional(ForceStateSchema),
  /** Digest of the rules in force; absent without a rules file, too. */
  digest: optional(z.string()),
  /** False: the rules file is bad, and older rules are in force. */
  lastReloadSuccessful: z.boolean(),
  /** What is wrong with it, and since when; absent if it can be used. */
  rulesFault: optional(z.object({ at: Time, says: z.string() })),
  /** Absent without state.url. */
  shared: optional(SharedStateSchema),
  /** What this instance once found in the store and misses there; absent: nothing. */
  lost: optional(z.array(Lost).max(10_000)),
  /** False: what outlives a restart cannot be written now. */
  saved: optional(z.boolean()),
  /** When what was counted before was lost, because it could not be read. */
  countsLostAt: optional(Time),
  /** Since when `bounds` are counted. */
  comparedSince: optional(Time),
  /** What went wrong in the last 24 h, newest first. */
  lately: optional(z.array(LatelySchema).max(MOST_LATELY)),
  /** False: `carryover force`, `confirm` and `forget` find no token in state.dir. Absent where they need none there. */
  changeable: optional(z.boolean()),
  /** As `/readyz` says. */
  ready: optional(z.boolean()),
  /** Whether there is a native v1 to go back to. Absent if the instance is older than the member. */
  native: optional(z.boolean()),
  /** What decides which members clients see: the version of v2, and `v1.recordTimes`. */
  catalogue: optional(z.object({ version: z.string().max(64), recordTimes: z.enum(["all", "published"]) })),
  /** Upstreams that do not respond: calls to them fail at once. */
  openBreakers: optional(z.array(z.string())),
  /** Upstreams whose certificate files hold something that cannot be used. */
  refusedCertificates: optional(z.array(z.string())),
  totals: TotalsSchema,
  /** Absent if no time was asked for, or if the instance is older than the member. */
  window: optional(WindowSchema),
  ledger: LedgerSchema,
  /** One per operation, and one per operation and client. */
  bounds: z.array(Bound),
  /** In the order of the file. */
  rules: z.array(RuleStatusSchema),
});

/** Another process that shares the store, by what it keeps there. */
const PeerSchema = OwnProgressSchema.extend({
  /** Host and the beginning of its instance. */
  name: Name,
  /** When it was heard last; absent while it is there. */
  goneSince: optional(Time),
  /** The times in which it saw all of its clients' requests; absent: from `ledger.watchedSince` until `goneSince`. */
  watched: optional(z.array(z.object({ from: Time, until: Time })).max(1_000)),
});

export const ProgressSchema = OwnProgressSchema.extend({
  /** All others that share the store; absent unless asked for. */
  peers: optional(z.array(PeerSchema).max(10_000)),
  /** What of the others could not be read, and why; absent: nothing. */
  unread: optional(z.array(z.object({ name: Name, fault: z.string().max(500) })).max(10_000)),
});

export type SharedStateProgress = Read<typeof SharedStateSchema>;
export type OwnProgress = Read<typeof OwnProgressSchema>;
export type PeerProgress = Read<typeof PeerSchema>;
export type Progress = Read<typeof ProgressSchema>;
export type LostContributor = Read<typeof Lost>;
export type LatelyEvent = Read<typeof LatelySchema>;
export type RequestTotals = Read<typeof TotalsSchema>;
export type RequestWindow = Read<typeof WindowSchema>;
export type RequestTotalsRow = Read<typeof TotalsRow>;
export type ComparisonCounts = Read<typeof ComparisonCountsSchema>;
export type DifferenceBound = Read<typeof Bound>;
