/**
 * The record of a rule: what it does, and the evidence for it. Instances serve it at `/rules` and `/progress`, and metrics show it. The report
 * merges the records of several instances, `carryover gate` judges them, and `carryover status` prints them.
 */
import * as z from "zod";
import { CUTOVER_MODES, FORCE_COMMANDS, FORCES, GUARD_ACTIONS, RULE_MODES } from "../model/rules.ts";
import { Count, optional, type Read, Share, Time } from "./record.ts";

/** Option `cutover.mode`. */
export const DefaultMode = z.enum(CUTOVER_MODES);
/** Of a rule. */
export const Mode = z.enum(RULE_MODES);
/** `nothing`: the rule matches no request. It has expired, or it is a brownout outside of its windows. */
export const Doing = z.enum([...Mode.options, "nothing"]);

/** What decides whether a rule may go further. */
const Evidence = z.object({
  /** For people: `reads of group, client ci-bot`. */
  whom: z.string(),
  /** Catalogue names that `whom` names; absent: every resource. */
  resources: optional(z.array(z.string())),
  /** `whom` names clients. */
  namesClients: optional(z.boolean()),
  /** Of those, the share of clients that the rule takes: 0 to 100; absent: all. */
  percent: optional(z.number().min(0).max(100)),
  /** Translated requests that count as evidence, and those that failed because of the translation, since the rule changed. */
  requests: Count,
  failures: Count,
  /** The latest ones, on which the bound rests. */
  comparisons: Count,
  differences: Count,
  /** Comparisons since the last difference. */
  equal: optional(Count),
  /** Of requests that may be compared, the share that is. */
  sample: optional(Share),
  /** Upper bound (95 %) of the share of differing responses; 1 without a comparison. */
  bound: Share,
  /** The chance that `bound` is wrong: it shrinks when old comparisons are forgotten. */
  risk: Share,
  /** Distinct clients that were compared, counted up to those that are needed. */
  clients: Count,
  clientsNeeded: Count,
  /** Thresholds of the rule: of `promoteWhen`, else of `stepBack`; absent: it has none. */
  differencesBelow: optional(Share),
  failuresBelow: optional(Share),
  /** Operations that keep a shadow rule from translating, or that were not promoted with it, and why: a sentence each, at most eleven. */
  heldBack: z.array(z.string()),
  stepBacks: Count,
  /** The counts are those of all replicas: each of them says the same. */
  ofAll: optional(z.boolean()),
});

/** `denied`: 401 and 403; `limited`: 429; `errors`: everything else that fails. */
const ServedCountsSchema = z.object({ requests: Count, errors: Count, denied: Count, limited: Count });

/** 95th percentiles in milliseconds. */
const TimesSchema = z.object({
  operation: z.string(),
  v2Ms: z.number().nonnegative(),
  nativeMs: z.number().nonnegative(),
});

/** What v2 does to the clients of a rule that native v1 might not do. */
const Guard = z.object({
  action: z.enum(GUARD_ACTIONS),
  /** The slowest operation, if v2 is much slower than native v1. */
  slow: optional(TimesSchema.extend({ says: z.string() })),
  /** The last ten minutes. Absent: nothing of it was translated in that time. */
  figures: optional(
    z.object({
      translated: ServedCountsSchema,
      /** Other v1 requests of the same operations. */
      native: ServedCountsSchema,
      /** Reads that v2 failed and that were repeated on native v1. */
      repeats: z.object({ asked: Count, served: Count }),
      /** How near the evidence is to an alarm. */
      evidence: Share,
      /** The slowest operation compared with native v1. Absent while too few responses of both are known. */
      longest: optional(TimesSchema),
    }),
  ),
  /** Absent: v2 fails nothing, or too little to say so. */
  trouble: optional(
    z.object({
      since: Time,
      /** Requests since then, those that v2 failed, and their callers, as far as they are counted. */
      requests: Count,
      failures: Count,
      clients: Count,
      /** How v2 fails: `unavailable`, `timeout`, `unauthenticated`, `forbidden`, `limited`. */
      kinds: z.record(z.string(), Count),
      /** False: so few requests failed that it may be luck, or a short outage. No alert fires yet. */
      certain: z.boolean(),
      /** Native v1 would have served them. */
      alarm: z.boolean(),
      /** One sentence for each operation, most failures first, at most five. */
      says: z.array(z.string()),
    }),
  ),
  /** What v2 failed until a short time ago. Absent: nothing, or it fails them now. `quietAt`: when it counts as well, if nothing fails until then. */
  past: optional(z.object({ until: Time, quietAt: Time, says: z.string() })),
});

const Span = z.object({ start: Time, end: Time });
const Refusals = z.object({ requests: Count, refused: Count });

/** Where a rule with mode brownout is. */
const Brownout = z.object({
  /** `held`: a cause that may pass keeps it from refusing. `stopped`: it refuses nothing more in this window. */
  phase: z.enum(["waiting", "held", "running", "stopped"]),
  /** Absent while it waits. */
  window: optional(Span),
  /** Why it is held or stopped. */
  why: optional(z.string()),
  /** v1 requests of the window, and those that it refused: of all replicas, if they share a store that responds. */
  counts: optional(Refusals),
  /** The next windows. */
  next: z.array(Span).max(10),
  /** The time zone of its schedule. */
  zone: z.string().max(64),
  /** As the rule says, for the teams of clients. */
  contact: optional(z.string()),
  successor: optional(z.string()),
  /** Clients that it never refuses; absent: none. */
  exempt: optional(z.array(z.string())),
});

/** The end of v1, as the headers of a rule announce it. */
const Announcement = z.object({
  deprecation: optional(Time),
  sunset: optional(Time),
  /** A page for people. */
  documentation: optional(z.string()),
});

const Cause = z.object({
  /** `group list`. */
  operation: z.string(),
  /** `missing`, `extra`, `value`, … */
  what: z.string(),
  path: z.string(),
  /** The `option: value` that removes the difference, where there is one. */
  set: optional(z.string()),
  /** Of the samples that are kept. */
  samples: Count,
});

/** An optional member is also absent if the instance is older than the member. */
export const RuleStatusSchema = z.object({
  name: z.string(),
  /** As the file says. */
  mode: Mode,
  /** The mode now, `force` included. While the rule returns, the mode of its translated clients. */
  doing: Doing,
  state: z.enum(["as-written", "stepped-back", "returning", "could-move", "promoted", "expired"]),
  /** Its saved state cannot be read, and it waits for `carryover confirm`. Then `state` is `stepped-back`, for older commands. */
  unknown: optional(z.boolean()),
  /** When its mode or state last changed. */
  since: optional(Time),
  /** One sentence for people: why, and what would change it; may be empty. */
  detail: z.string(),
  evidence: optional(Evidence),
  guard: optional(Guard),
  /** Where the latest differing comparisons differ, most frequent first, at most five. */
  causes: optional(z.array(Cause)),
  /** Why it stepped back, and whether the guard made it: then it returns by itself once v2 responds. */
  cause: optional(z.string()),
  byGuard: optional(z.boolean()),
  /** `state` is one word, even if several are true. This member and the next three say each of them. */
  phase: optional(z.enum(["forward", "back", "returning", "unknown"])),
  /** While it returns: the share of its clients that are translated, 0.1 to 1. */
  step: optional(Share),
  promoted: optional(z.boolean()),
  /** It may become `translate` by its `promoteWhen`, and has not. */
  couldMove: optional(z.boolean()),
  /** Absent for a rule of another mode. */
  brownout: optional(Brownout),
  /** Absent: its headers say nothing of the end of v1. */
  announces: optional(Announcement),
  /** Set for a rule with `fallback: refuse`: native v1 is off for this client until then. */
  rehearsal: optional(z.object({ client: z.string(), until: Time })),
});

export type BrownoutStatus = Read<typeof Brownout>;
export type EndAnnouncement = Read<typeof Announcement>;
export type RuleStatus = Read<typeof RuleStatusSchema>;
export type DifferenceCause = Read<typeof Cause>;
export type RuleGuard = Read<typeof Guard>;
export type RuleEvidence = Read<typeof Evidence>;
/** The record of a rule in this process: no member is missing. */
export type OwnRuleStatus = RuleStatus & {
  readonly [Part in "evidence" | "guard" | "phase" | "promoted" | "couldMove"]: NonNullable<RuleStatus[Part]>;
};

/** UTF-16 units of `carryover force --reason` and `--by`. */
export const LONGEST_REASON = 500;
export const LONGEST_BY = 100;

/** What `carryover force` can say. */
export const ForceCommands = z.enum(FORCE_COMMANDS);
export const Force = z.enum(FORCES);

/** What overrides every rule now, and who says so. */
export const ForceStateSchema = z.object({
  /** `native` when the file or the command says so; else what the file says. */
  effective: Force,
  /** `force` of the rules file. */
  file: Force,
  /** The last `carryover force`. */
  command: ForceCommands,
  /** When that was; absent: never. */
  commandAt: optional(Time),
  /** The saved command cannot be read: native is assumed until the next command. */
  lost: optional(z.boolean()),
  /** Why, and who, as that person said. */
  reason: optional(z.string().max(4 * LONGEST_REASON)),
  by: optional(z.string().max(4 * LONGEST_BY)),
  /** The replica that was asked, if it was another one. */
  replica: optional(z.string().max(512)),
});

/** What `carryover confirm` did. */
export const ConfirmedRuleSchema = z.object({
  rule: z.string(),
  /** False: the state of the rule is known, and nothing changed. */
  wasUnknown: z.boolean(),
  doing: Doing,
  /** A restart keeps it. */
  survives: z.boolean(),
});

export type ForceCommand = z.output<typeof ForceCommands>;
export type ForceState = Read<typeof ForceStateSchema>;
/** The note of a person with `carryover force`, and the replica that was asked if it was another one. */
export type ForceNote = Pick<ForceState, "reason" | "by" | "replica">;
export type ConfirmedRule = Read<typeof ConfirmedRuleSchema>;
