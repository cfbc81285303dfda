/**
 * What one replica knows of a rule, as text for the others, and their sum. Callers are in it as digests that only replicas of one deployment make alike. Texts
 * come from a store to which others may write: what cannot be read is left out.
 */
import * as z from "zod";
import { parsedJson } from "../model/json.ts";
import { FAILURE_KINDS } from "../model/v2-failure.ts";
import type { DistinctCallers } from "./evidence-window.ts";
import type { GuardSecond } from "./guard.ts";
import type { OperationEvidence } from "./promotion.ts";
import type { RuleState, Together } from "./rule-state.ts";
import { failure } from "./saved-rollout.ts";
import { type StepBack, type WindowShare, windowShare } from "./step-back.ts";

/** Callers beyond this many are not told: a rule that needs more counts fewer than there are. */
const MOST_CALLERS = 50;
const MOST_OPERATIONS = 301;
const MOST_SECONDS = 5_000;

/** Makes the digest that stands for a caller's name. */
export type Hide = (text: string) => string;

const count = z.int().nonnegative();
const names = z.array(z.string().max(64)).max(MOST_CALLERS).readonly();
const callers = z.object({ clients: names, credentials: names });
const name = z.string().max(200);

const ruleShare = z.object({
  requests: count,
  failures: count,
  comparisons: count,
  differences: count,
  forgotten: count,
  equal: count,
  callers,
  operations: z
    .array(
      z.object({
        name,
        requests: count,
        expected: z.number().nonnegative(),
        compared: count,
        differences: count,
        failures: count,
        failure: failure.optional(),
      }),
    )
    .max(MOST_OPERATIONS),
});
export type RuleShare = z.output<typeof ruleShare>;

/** What this replica counted of the rule since it started. */
export function ruleShareOf({ promotion, operations, requests, failures, rule }: RuleState, hide: Hide): RuleShare {
  const { older, newer, forgotten, equal } = promotion;
  return {
    requests,
    failures,
    comparisons: older.comparisons + newer.comparisons,
    differences: older.differences + newer.differences,
    forgotten,
    equal,
    callers: hidden(
      {
        clients: distinct([...older.callers.clients, ...newer.callers.clients]),
        credentials: distinct([...older.callers.credentials, ...newer.callers.credentials]),
      },
      hide,
    ),
    operations: Array.from(operations, ([operation, known]) => ({
      name: operation,
      requests: known.requests,
      expected: known.expected ?? known.requests * rule.shadow.sample,
      compared: known.older.compared + known.newer.compared,
      differences: known.older.differences + known.newer.differences,
      failures: known.older.failures + known.newer.failures,
      failure: known.failure,
    })),
  };
}

export function readRuleShare(text: string): RuleShare | undefined {
  return ruleShare.safeParse(parsedJson(text)).data;
}

/**
 * Each replica that forgot a half began another test: all of them together are as many. Comparisons that were forgotten by one may still count for another.
 */
export function togetherOf(shares: readonly RuleShare[]): Together {
  const sum = (of: (one: RuleShare) => number): number => shares.reduce((all, one) => all + of(one), 0);
  const lists = shares.map((one) => one.callers);
  const operations = new Map<string, OperationEvidence>();
  for (const share of shares) {
    for (const one of share.operations) operations.set(one.name, plus(operations.get(one.name), one));
  }
  return {
    requests: sum(({ requests }) => requests),
    failures: sum(({ failures }) => failures),
    operations,
    promotion: {
      older: { comparisons: 0, differences: 0, callers: { clients: [], credentials: [] } },
      newer: {
        comparisons: sum(({ comparisons }) => comparisons),
        differences: sum(({ differences }) => differences),
        callers: {
          clients: distinct(lists.flatMap(({ clients }) => clients)),
          credentials: distinct(lists.flatMap(({ credentials }) => credentials)),
        },
      },
      forgotten: sum(({ forgotten }) => forgotten),
      equal:
        sum(({ differences }) => differences) === 0
          ? sum(({ equal }) => equal)
          : Math.min(...shares.map(({ equal }) => equal)),
    },
  };
}

function plus(before: OperationEvidence | undefined, one: RuleShare["operations"][number]): OperationEvidence {
  const nothing = { compared: 0, differences: 0, failures: 0 };
  const { requests, expected = 0, newer, failure: known } = before ?? { requests: 0, newer: nothing };
  return {
    requests: requests + one.requests,
    expected: expected + one.expected,
    older: nothing,
    newer: {
      compared: newer.compared + one.compared,
      differences: newer.differences + one.differences,
      failures: newer.failures + one.failures,
    },
    failure: one.failure ?? known,
  };
}

const counts = { requests: count, failures: count, comparisons: count, differences: count };
const second = z.object({
  operation: name,
  second: z.int(),
  served: count,
  failed: count,
  hanging: count.optional(),
  kinds: z.partialRecord(z.enum(FAILURE_KINDS), count),
  callers,
  pairedServed: count,
  pairedFailed: count,
  standIn: z.object({ others: count, hour: count, ownDay: count, fails: count, unknown: count }).optional(),
});
const troubleShare = z.object({
  /** By the clock of the store, milliseconds since 1970. */
  at: count,
  /** Absent while the rule is back on that replica. */
  window: z.object({ ...counts, failing: callers, differing: callers }).optional(),
  /** By the clock of the store. */
  seconds: z.array(second).max(MOST_SECONDS),
});

/** What this replica saw of the rule lately: sent only while something goes wrong on some replica. */
export interface TroubleShare {
  readonly at: number;
  readonly window?: WindowShare | undefined;
  readonly seconds: readonly GuardSecond[];
}

export function troubleShareOf(
  stepBack: StepBack | undefined,
  { at, seconds, hide }: { readonly at: number; readonly seconds: readonly GuardSecond[]; readonly hide: Hide },
): TroubleShare {
  const window = stepBack === undefined || isBack(stepBack) ? undefined : windowShare(stepBack);
  return {
    at,
    window: window && {
      ...window,
      failing: hidden(window.failing, hide),
      differing: hidden(window.differing, hide),
    },
    seconds: seconds.slice(-MOST_SECONDS).map((one) => ({ ...one, callers: hidden(one.callers, hide) })),
  };
}

export function readTroubleShare(text: string): TroubleShare | undefined {
  return troubleShare.safeParse(parsedJson(text)).data;
}

/** True while native v1 serves the rule because it stepped back. */
export function isBack(stepBack: StepBack | undefined): boolean {
  return stepBack?.phase.kind === "back";
}

/** True if something went wrong within the rule's window: then the others should look, too. */
export function isInTrouble(stepBack: StepBack | undefined, seconds: readonly GuardSecond[]): boolean {
  if (isBack(stepBack)) return false;
  const window = stepBack && windowShare(stepBack);
  const isBad = window !== undefined && window.failures + window.differences > 0;
  return isBad || seconds.some(({ failed, hanging = 0 }) => failed + hanging > 0);
}

function hidden({ clients, credentials }: DistinctCallers, hide: Hide): DistinctCallers {
  return {
    clients: clients.slice(0, MOST_CALLERS).map(hide),
    credentials: credentials.slice(0, MOST_CALLERS).map(hide),
  };
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
