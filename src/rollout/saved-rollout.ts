/** The form in which rule states and comparisons are saved. Readers check every value: the files may come from anywhere. */
import * as z from "zod";
import type { NameMeanings } from "../ledger/identity.ts";
import { LAST_TIME } from "../model/clock.ts";
import { COMPARISON_FAILURES } from "../model/comparison.ts";
import { isJsonObject } from "../model/json.ts";
import { FAILURE_KINDS } from "../model/v2-failure.ts";
import { faultIn } from "../rules/record.ts";
import { ForceStateSchema, Mode } from "../rules/status.ts";
import { checkOf, jsonArray } from "../state/section.ts";
import { type ComparisonCounts, ComparisonCountsSchema } from "../telemetry/progress.ts";
import { type BrownoutState, initialBrownout } from "./brownout.ts";
import type { DistinctCallers } from "./evidence-window.ts";
import { LOST_FORCE, type LostRules, type RolloutMemory } from "./rollout.ts";
import type { RolloutEvent, RuleMemory } from "./rule-state.ts";
import { isHeldBack, LONGEST_WAIT, type StepBackCause, type StepBackMemory } from "./step-back.ts";

/** Longest text in a saved state. */
const MAX_TEXT = 512;
const MAX_RULES = 10_000;
const MAX_CALLERS = 100_000;
const MAX_ROWS = 100_000;
const MAX_NAMES = 100_000;
/** Longest reason of an event. */
const MAX_REASON = 10_000;

const text = z.string().max(MAX_TEXT);
const count = z.int().nonnegative();
const time = z.number().min(-LAST_TIME).max(LAST_TIME);
export const failure = z.enum(COMPARISON_FAILURES);
const callers = z.object({ clients: z.array(text).max(MAX_CALLERS), credentials: z.array(text).max(MAX_CALLERS) });

const slice = z.object({
  index: z.int(),
  requests: count,
  failures: count,
  comparisons: count,
  differences: count,
  failing: callers,
  differing: callers,
  asking: z.array(text).max(MAX_CALLERS),
});

const counts = { bad: count, all: count.min(1), clients: count, replica: text.optional(), together: count.optional() };
const cause = z
  .discriminatedUnion("what", [
    z.object({ what: z.enum(["failures", "differences"]), ...counts }),
    z.object({
      what: z.literal("guard"),
      ...counts,
      operation: text.optional(),
      write: z.boolean(),
      kinds: z.partialRecord(z.enum(FAILURE_KINDS), count),
      pairs: z.object({ asked: count, served: count }),
      rateLimit: text.optional(),
    }),
    z.object({
      what: z.literal("slow"),
      ...counts,
      operation: text,
      v2Ms: z.number().nonnegative(),
      nativeMs: z.number().nonnegative(),
    }),
  ])
  .refine(({ bad, all }) => bad <= all, "more than all");

/** Reads a cause that another replica wrote. Undefined if it cannot be read. */
export function readCause(value: unknown): StepBackCause | undefined {
  return cause.safeParse(value).data;
}

/** On the state's own clock, which began at 0. */
const elapsed = z.number().nonnegative().max(LAST_TIME);
const phase = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("forward"), since: elapsed }),
  z.object({ kind: z.literal("back"), since: elapsed, quietSince: elapsed, clean: count.default(0), cause }),
  z.object({
    kind: z.literal("returning"),
    step: count.max(2),
    since: elapsed,
    quietSince: elapsed,
    requests: count,
    cause,
  }),
]);

const stepBack = z
  .object({
    now: elapsed,
    window: z.object({ slice: z.number().positive(), keep: count, slices: z.array(slice).max(100) }),
    phase,
    factor: z.number().nonnegative().max(LONGEST_WAIT),
    stepBacks: count,
  })
  // Such a rule would return at once, or never.
  .refine(({ now, phase: { since, ...rest } }) => since <= now && (!("quietSince" in rest) || rest.quietSince <= now), {
    path: ["phase"],
    error: "a time in the future",
  })
  .refine(({ phase: { kind }, factor }) => kind === "forward" || factor >= 1, { path: ["factor"], error: "below 1" });

const promotionCounts = z.object({ comparisons: count, differences: count, callers });
const operationCounts = z.object({ compared: count, differences: count, failures: count });
const operation = z.object({
  name: text,
  requests: count,
  expected: z.number().nonnegative().optional(),
  older: operationCounts,
  newer: operationCounts,
  failure: failure.optional(),
});

const moment = time.min(0);
const window = z.object({ start: moment, end: moment });
/** A process that starts counts from zero. */
const brownout = z.object({
  phase: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("waiting") }),
    z.object({ kind: z.literal("running"), window, why: text }),
    z.object({ kind: z.literal("stopped"), window, why: z.string().max(MAX_REASON), hasRun: z.boolean() }),
  ]),
  over: z.array(moment).max(100),
  isLost: z.boolean(),
});

const rule = z.looseObject({
  name: text,
  evidenceKey: text,
  mode: Mode,
  percent: z.number().optional(),
  stepBack: stepBack.optional(),
  promotion: z.object({
    differencesBelow: z.number(),
    older: promotionCounts,
    newer: promotionCounts,
    forgotten: count,
    promoted: z.boolean(),
  }),
  operations: z.array(operation).max(1000),
  promotedOperations: z.array(text).max(1000),
  promotionReported: z.boolean(),
  requests: count,
  failures: count,
  since: time,
  unknown: z.object({ entry: z.unknown() }).optional(),
  brownout: brownout.optional(),
  check: z.string().optional(),
});

/** Of versions that saved the latest changes of rules here. They are events now (`src/history/events.ts`). */
const transition = z.object({
  kind: z.enum([
    "stepped-back",
    "returning",
    "returned",
    "promoted",
    "could-promote",
    "expired",
    "forced",
    "rules",
    "alarm",
    "failing",
    "unknown",
    "confirmed",
  ]),
  rule: text.optional(),
  at: time,
  from: text,
  to: text,
  reason: z.string().max(MAX_REASON),
});

const keyText = z.string().regex(/^[0-9a-f]{64}$/);
const force = ForceStateSchema.pick({
  command: true,
  commandAt: true,
  lost: true,
  reason: true,
  by: true,
  replica: true,
});
const lostRules = z.array(z.tuple([text, z.unknown()])).max(MAX_RULES);
const OWN_MEMBERS = [
  ...["version", "key", "basis", "force", "digest", "transitions", "moreTransitions", "lost", "rules"],
] as const;

/** Members of the file that only another version knows, by name: kept as they were found, for that version. */
export type KeptMembers = Readonly<Record<string, unknown>>;

/** The rules as they are saved. */
export interface SavedRollout extends RolloutMemory {
  /** Digest of what the responses depend on beside the rules: evidence holds as long as it is the same. */
  readonly basis: string;
  /** Keys the digests of credentials among the callers: 64 hexadecimal digits. */
  readonly key: string;
  readonly kept: KeptMembers;
}

/** `basis`, `key`: undefined when they cannot be read, and with them no evidence holds. */
export interface ReadRollout extends Omit<SavedRollout, "basis" | "key"> {
  readonly basis: string | undefined;
  readonly key: string | undefined;
  /** Changes that an earlier version saved here, oldest first. */
  readonly transitions: readonly RolloutEvent[];
  /** What cannot be used, and where it is; for people. */
  readonly unusable: readonly string[];
}

/** JSON in pieces. */
export function* savedRollout({ key, basis, force, digest, lost, rules, kept }: SavedRollout): Generator<string> {
  const head = {
    ...kept,
    version: 1,
    key,
    basis,
    force,
    digest,
    // Earlier versions refuse a file without this list.
    transitions: [],
    ...(lost.size === 0 ? {} : { lost: [...lost] }),
  };
  yield JSON.stringify(head).replace(/\}$/, ',"rules":');
  yield* jsonArray(savedRules(rules));
  yield "}";
}

/** Each with a check. The reading of the clock is left out: the time in which no process ran is no quiet time. */
function* savedRules(rules: readonly RuleMemory[]): Generator<unknown> {
  for (const { stepBack, operations, promotedOperations, kept, unknown, brownout, ...rest } of rules) {
    const saved = {
      ...kept,
      ...rest,
      stepBack: stepBack && { ...stepBack, time: undefined, now: stepBack.time.now },
      operations: Array.from(operations, ([name, evidence]) => ({ name, ...evidence })),
      promotedOperations: [...promotedOperations],
      unknown: unknown && { entry: unknown.entry },
      brownout: brownout && savedBrownout(brownout),
    };
    yield { ...saved, check: checkOf(JSON.stringify(saved)) };
  }
}

/** A brownout that is held begins again once the process knows that its cause is gone. */
function savedBrownout({ phase, over, isLost }: BrownoutState): z.infer<typeof brownout> {
  switch (phase.kind) {
    case "waiting":
    case "held":
      return { phase: { kind: "waiting" }, over: [...over], isLost };
    case "running":
    case "stopped": {
      const { counts: _, ...saved } = phase;
      return { phase: saved, over: [...over], isLost };
    }
    default:
      return phase satisfies never;
  }
}

function readBrownout({ phase, over, isLost }: z.infer<typeof brownout>): BrownoutState {
  const fresh = initialBrownout(isLost);
  if (phase.kind === "waiting") return { ...fresh, over };
  return { ...fresh, over, phase: { ...phase, counts: { requests: 0, refused: 0 } } };
}

/**
 * Reads what `savedRollout` returned, each rule by itself. `nameNow`: the current name of a client that was saved. Throws when nothing of
 * it can be used.
 */
export function readSavedRollout(saved: unknown, nameNow: (name: string) => string): ReadRollout {
  const file = z.looseObject({ version: z.literal(1) }).parse(saved);
  const unusable: string[] = [];
  const read = <T>(schema: z.ZodType<T>, value: unknown, place: string): T | undefined => {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    unusable.push(`${place} (${faultIn(result.error)})`);
    return undefined;
  };
  const found = readRules(file["rules"], nameNow);
  const lost = new Map([
    ...found.lost,
    ...(read(lostRules.default([]), file["lost"], "lost") ?? [[EVERY_OTHER, null]]),
  ]);
  const forced = read(force, file["force"], "force");
  return {
    key: read(keyText, file["key"], "key"),
    basis: read(text, file["basis"], "basis"),
    force: forced ?? LOST_FORCE,
    rules: found.rules,
    // Only an event depends on it.
    digest: text.safeParse(file["digest"]).data,
    lost,
    transitions: readTransitions(file),
    kept: keptMembers(file, OWN_MEMBERS),
    unusable: [...unusable, ...found.unusable],
  };
}

/** In `lost`: each rule without an entry. No rule has such a name. */
export const EVERY_OTHER = "*";
/** Longest JSON that is kept for another version. */
const MOST_KEPT = 64 * 1024;
const MAX_TRANSITIONS = 1_000;

function isShort(value: unknown): boolean {
  return (JSON.stringify(value) ?? "").length <= MOST_KEPT;
}

function keptMembers(value: Readonly<Record<string, unknown>>, own: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([name, one]) => !own.includes(name) && isShort(one)));
}

/** Of history, which protects nothing: what cannot be read is left out. */
function readTransitions(file: Readonly<Record<string, unknown>>): readonly RolloutEvent[] {
  const all = ["transitions", "moreTransitions"].flatMap((member): unknown[] => {
    const value = file[member];
    return Array.isArray(value) ? value.slice(-MAX_TRANSITIONS) : [];
  });
  const known = all.flatMap((one) => transition.safeParse(one).data ?? []);
  return known.map((one) => ({ ...one, rule: one.rule })).sort((a, b) => a.at - b.at);
}

interface FoundRules {
  readonly rules: readonly RuleMemory[];
  readonly lost: LostRules;
  readonly unusable: readonly string[];
}

/** Nothing of the file can be used. */
export const ALL_LOST: RolloutMemory = {
  force: LOST_FORCE,
  rules: [],
  lost: new Map([[EVERY_OTHER, null]]),
  digest: undefined,
};

/** A rule whose entry cannot be read is lost. If its name cannot be read either, it may be any rule without an entry. */
function readRules(value: unknown, nameNow: (name: string) => string): FoundRules {
  if (!Array.isArray(value) || value.length > MAX_RULES) {
    return { rules: [], lost: new Map([[EVERY_OTHER, null]]), unusable: ["rules (no list)"] };
  }
  const rules = new Map<string, RuleMemory>();
  const lost = new Map<string, unknown>();
  const unusable: string[] = [];
  value.forEach((entry: unknown, at) => {
    const { memory, fault, name, isNamed } = readRule(entry, nameNow);
    const isTwice = name !== undefined && (rules.has(name) || lost.has(name));
    if (memory !== undefined && !isTwice) {
      rules.set(memory.name, memory);
      return;
    }
    unusable.push(`rules[${at}]${name === undefined ? "" : ` ${name}`} (${fault ?? "a name twice"})`);
    if (name !== undefined) {
      rules.delete(name);
      lost.set(name, isShort(entry) ? entry : null);
    }
    if (!isNamed) lost.set(EVERY_OTHER, null);
  });
  return { rules: [...rules.values()], lost, unusable };
}

interface ReadRule {
  readonly memory?: RuleMemory;
  readonly fault?: string;
  readonly name: string | undefined;
  /** False when the name itself may be wrong. */
  readonly isNamed: boolean;
}

const RULE_NAME = /^[a-z0-9-]{1,63}$/;

function readRule(entry: unknown, nameNow: (name: string) => string): ReadRule {
  if (!isJsonObject(entry)) return { fault: "no object", name: undefined, isNamed: false };
  const { check, ...rest } = entry;
  const { name } = rest;
  if (typeof name !== "string" || !RULE_NAME.test(name)) return { fault: "no name", name: undefined, isNamed: false };
  // Older versions wrote none.
  if (check !== undefined && check !== checkOf(JSON.stringify(rest))) {
    return { fault: "it is not as it was written", name, isNamed: false };
  }
  const result = rule.safeParse(entry);
  if (!result.success) return { fault: faultIn(result.error), name, isNamed: true };
  const memory = ruleMemory(result.data, nameNow);
  if (memory.unknown === undefined) return { memory, name, isNamed: true };
  // What another version wrote may be readable now.
  const before = readRule(memory.unknown.entry, nameNow).memory;
  return { memory: before?.name === name ? before : memory, name, isNamed: true };
}

function ruleMemory(found: z.infer<typeof rule>, nameNow: (name: string) => string): RuleMemory {
  const renamed = (callers: DistinctCallers): DistinctCallers => ({
    ...callers,
    clients: callers.clients.map(nameNow),
  });
  const { promotion } = found;
  const stepBack = found.stepBack && stepBackOf(found.stepBack, renamed);
  const isUnknown = found.unknown !== undefined || (stepBack !== undefined && isHeldBack(stepBack));
  return {
    name: found.name,
    evidenceKey: found.evidenceKey,
    mode: found.mode,
    percent: found.percent,
    promotionReported: found.promotionReported,
    requests: found.requests,
    failures: found.failures,
    since: found.since,
    // An earlier version drops the member, and keeps the made-up step back.
    brownout: found.brownout && readBrownout(found.brownout),
    unknown: isUnknown ? { entry: found.unknown?.entry ?? null, native: true } : undefined,
    kept: keptMembers(found, Object.keys(rule.shape)),
    stepBack,
    promotion: {
      ...promotion,
      older: { ...promotion.older, callers: renamed(promotion.older.callers) },
      newer: { ...promotion.newer, callers: renamed(promotion.newer.callers) },
    },
    operations: new Map(found.operations.map(({ name, ...evidence }) => [name, evidence])),
    promotedOperations: new Set(found.promotedOperations),
  };
}

function stepBackOf(
  { phase, factor, stepBacks, now, window }: z.infer<typeof stepBack>,
  renamed: (callers: DistinctCallers) => DistinctCallers,
): StepBackMemory {
  const slices = window.slices.map((one) => ({
    ...one,
    failing: renamed(one.failing),
    differing: renamed(one.differing),
    asking: renamed({ clients: one.asking, credentials: [] }).clients,
  }));
  return { phase, factor, stepBacks, time: { now, reading: undefined }, window: { ...window, slices } };
}

const meanings = z
  .object({ check: text, names: z.array(z.tuple([text, text])).max(MAX_NAMES) })
  // Not saved by earlier versions.
  .default({ check: "", names: [] });

/** Reads what `ClientIdentity.meanings` returned. Throws for anything else. */
export function readSavedNames(saved: unknown): NameMeanings {
  return meanings.parse(saved);
}

/** Reads the counts of comparisons that were saved. Throws for anything else. */
export function readSavedComparisons(saved: unknown, nameNow: (name: string) => string): readonly ComparisonCounts[] {
  const rows = z.array(ComparisonCountsSchema).max(MAX_ROWS).parse(saved);
  return rows.map(({ client, ...rest }) => ({ ...rest, client: client === undefined ? undefined : nameNow(client) }));
}
