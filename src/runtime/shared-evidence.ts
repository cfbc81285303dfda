/**
 * Evidence about rules that replicas share: each sends what it counts, and asks for the sums. Nothing decides by the sums yet; they show what the replicas
 * know together. Two versions of carryover, or two configurations that make other responses, do not add up.
 */
import { createHash } from "node:crypto";
import type { EvidenceCounts } from "../rollout/rollout.ts";
import type { Rule } from "../rules/rule.ts";
import type { Increment, SumQuestion } from "../state/shared/protocol.ts";
import type { SharedStateProgress } from "../telemetry/progress.ts";

const FIELDS = ["requests", "failures", "comparisons", "differences"] as const;
type Field = (typeof FIELDS)[number];
type Counts = Readonly<Record<Field, number>>;

/** Rules, over the life of a process. Beyond this, what further ones count is not shared. */
const MOST_KEYS = 10_000;
/** Sums are asked for with every fifth tick, of ten rules in turn: the store works out each of them from all replicas. */
const [ASKED_TICKS, ASKED_RULES] = [5, 10];
const DIGEST_DIGITS = 24;
const NOTHING: Counts = { requests: 0, failures: 0, comparisons: 0, differences: 0 };

export type SharedEvidence = ReturnType<typeof createSharedEvidence>;

/** `basis`: digest of what responses depend on besides the rules. `count`: sends an increment. */
export function createSharedEvidence(basis: string, count: (increment: Increment) => void) {
  /** Counted here since the start, by key. */
  const own = new Map<string, Record<Field, number>>();
  /** Of all replicas, by key. */
  const sums = new Map<string, Counts>();
  const keys = new WeakMap<Rule, string>();
  let ticks = 0;
  let turn = 0;
  const keyOf = (rule: Rule): string => {
    const text = JSON.stringify([rule.name, rule.mode, rule.evidenceKey, basis]);
    const key = keys.get(rule) ?? createHash("sha256").update(text).digest("hex").slice(0, DIGEST_DIGITS);
    keys.set(rule, key);
    return key;
  };
  return {
    counted: (rule: Rule, counts: EvidenceCounts): void => {
      const key = keyOf(rule);
      const known = own.get(key) ?? (own.size < MOST_KEYS ? { ...NOTHING } : undefined);
      if (known === undefined) return;
      own.set(key, known);
      for (const field of FIELDS) {
        const value = counts[field] ?? 0;
        known[field] += value;
        count({ key, field, operation: "add", value });
      }
    },
    /** All that was counted here. */
    contribution: function* (): Generator<Increment> {
      for (const [key, counts] of own) {
        for (const field of FIELDS) {
          if (counts[field] > 0) yield { key, field, operation: "add", value: counts[field] };
        }
      }
    },
    /** The sums to ask for with the next tick. */
    questions: (rules: readonly Rule[]): readonly SumQuestion[] => {
      if (ticks++ % ASKED_TICKS !== 0 || rules.length === 0) return [];
      const begin = (turn++ * ASKED_RULES) % rules.length;
      return rules
        .slice(begin, begin + ASKED_RULES)
        .flatMap((rule) => FIELDS.map((field) => ({ key: keyOf(rule), field, operation: "add" as const })));
    },
    /** Takes the sums that the store returned. */
    answered: (answers: readonly (readonly [SumQuestion, number | undefined])[]): void => {
      for (const [{ key, field }, value] of answers) {
        const name = FIELDS.find((one) => one === field);
        if (name === undefined) continue;
        if (sums.size >= MOST_KEYS && !sums.has(key)) sums.clear();
        sums.set(key, { ...(sums.get(key) ?? NOTHING), [name]: value ?? 0 });
      }
    },
    /** Of all replicas, for rules that were asked about. */
    sums: (rules: readonly Rule[]): SharedStateProgress["evidence"] =>
      rules.flatMap((rule) => {
        const found = sums.get(keyOf(rule));
        return found === undefined ? [] : [{ rule: rule.name, ...found }];
      }),
  };
}
