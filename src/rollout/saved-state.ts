/** The form in which rule states and comparisons are saved. Readers check every value: the files may come from anywhere. */
import * as z from "zod";
import type { NameMeanings } from "../ledger/identity.ts";
import { LAST_TIME } from "../model/clock.ts";
import { COMPARISON_FAILURES, type ComparisonCounts } from "../model/comparison.ts";
import { FORCE_COMMANDS } from "../model/rules.ts";
import type { DistinctCallers } from "./evidence-window.ts";
import type { RolloutMemory } from "./rollout.ts";
import type { RuleMemory } from "./rule-state.ts";
import { jsonArray } from "./saved-section.ts";

/** Longest text in a saved state. */
const MAX_TEXT = 512;
const MAX_RULES = 10_000;
const MAX_CALLERS = 100_000;
const MAX_ROWS = 100_000;
const MAX_NAMES = 100_000;

const text = z.string().max(MAX_TEXT);
const count = z.int().nonnegative();
const time = z.number().min(-LAST_TIME).max(LAST_TIME);
const mode = z.enum(["native", "shadow", "translate"]);
const failure = z.enum(COMPARISON_FAILURES);
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

const cause = z.object({ what: z.enum(["failures", "differences"]), bad: count, all: count.min(1), clients: count });
const phase = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("forward"), since: z.number() }),
  z.object({ kind: z.literal("back"), since: z.number(), quietSince: z.number(), cause }),
  z.object({
    kind: z.literal("returning"),
    step: count.max(2),
    since: z.number(),
    quietSince: z.number(),
    requests: count,
  }),
]);

const stepBack = z.object({
  now: z.number().nonnegative(),
  window: z.object({ slice: z.number().positive(), keep: count, slices: z.array(slice).max(100) }),
  phase,
  factor: z.number().nonnegative(),
  stepBacks: count,
});

const promotionCounts = z.object({ comparisons: count, differences: count, callers });
const operationCounts = z.object({ compared: count, differences: count, failures: count });
const operation = z.object({
  name: text,
  requests: count,
  older: operationCounts,
  newer: operationCounts,
  failure: failure.optional(),
});

const rule = z.object({
  name: text,
  evidenceKey: text,
  mode,
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
});

const transition = z.object({
  kind: z.enum(["stepped-back", "returning", "returned", "promoted", "could-promote", "expired", "forced", "rules"]),
  rule: text.optional(),
  at: time,
  from: text,
  to: text,
  reason: z.string().max(10_000),
});

const rollout = z.object({
  version: z.literal(1),
  key: z.string().regex(/^[0-9a-f]{64}$/),
  force: z.object({ command: z.enum(FORCE_COMMANDS), commandAt: time.optional() }),
  rules: z.array(rule).max(MAX_RULES),
  transitions: z.array(transition).max(1000),
});

/** The rules as they are saved. */
export interface SavedRollout extends RolloutMemory {
  /** Keys the digests of credentials among the callers: 64 hexadecimal digits. */
  readonly key: string;
}

/** JSON in pieces. */
export function* savedRollout({ key, force, rules, transitions }: SavedRollout): Generator<string> {
  yield JSON.stringify({ version: 1, key, force, transitions }).replace(/\}$/, ',"rules":');
  yield* jsonArray(savedRules(rules));
  yield "}";
}

/** The reading of the clock is left out: the time in which no process ran is no quiet time. */
function* savedRules(rules: readonly RuleMemory[]): Generator<unknown> {
  for (const { stepBack, operations, promotedOperations, ...rest } of rules) {
    yield {
      ...rest,
      stepBack: stepBack && { ...stepBack, time: undefined, now: stepBack.time.now },
      operations: Array.from(operations, ([name, evidence]) => ({ name, ...evidence })),
      promotedOperations: [...promotedOperations],
    };
  }
}

/** Reads what `savedRollout` returned. `nameNow`: the current name of a client that was saved. Throws for anything else. */
export function readSavedRollout(saved: unknown, nameNow: (name: string) => string): SavedRollout {
  const { key, force, rules, transitions } = rollout.parse(saved);
  const renamed = (found: DistinctCallers): DistinctCallers => ({ ...found, clients: found.clients.map(nameNow) });
  return {
    key,
    force: { ...force, commandAt: force.commandAt },
    rules: rules.map(({ stepBack, operations, promotedOperations, promotion, ...rest }) => ({
      ...rest,
      stepBack: stepBack && {
        ...stepBack,
        time: { now: stepBack.now, reading: undefined },
        window: {
          ...stepBack.window,
          slices: stepBack.window.slices.map((one) => ({
            ...one,
            failing: renamed(one.failing),
            differing: renamed(one.differing),
            asking: one.asking.map(nameNow),
          })),
        },
      },
      promotion: {
        ...promotion,
        older: { ...promotion.older, callers: renamed(promotion.older.callers) },
        newer: { ...promotion.newer, callers: renamed(promotion.newer.callers) },
      },
      operations: new Map(operations.map(({ name, ...evidence }) => [name, evidence])),
      promotedOperations: new Set(promotedOperations),
    })),
    transitions: transitions.map((one) => ({ ...one, rule: one.rule })),
  };
}

const meanings = z
  .object({ check: text, names: z.array(z.tuple([text, text])).max(MAX_NAMES) })
  // Not saved by earlier versions.
  .default({ check: "", names: [] });

/** Reads what `ClientIdentity.meanings` returned. Throws for anything else. */
export function readSavedNames(saved: unknown): NameMeanings {
  return meanings.parse(saved);
}

const comparisons = z.array(
  z.object({ resource: text, operation: text, client: text.optional(), comparisons: count, differences: count }),
);

/** Reads the counts of comparisons that were saved. Throws for anything else. */
export function readSavedComparisons(saved: unknown, nameNow: (name: string) => string): readonly ComparisonCounts[] {
  const rows = comparisons.max(MAX_ROWS).parse(saved);
  return rows.map(({ client, ...rest }) => ({ ...rest, client: client === undefined ? undefined : nameNow(client) }));
}
