/**
 * Evidence about rules that replicas share: each keeps what it counted in a row for each rule, and reads the rows of all. Nothing decides by the sums yet; they
 * show what the replicas know together. Two versions of carryover, or two configurations that make other responses, do not add up.
 */
import { createHash } from "node:crypto";
import { member, parsedJson } from "../model/json.ts";
import type { EvidenceCounts } from "../rollout/rollout.ts";
import type { Rule } from "../rules/rule.ts";
import type { TickReply } from "../state/shared/protocol.ts";
import type { Rows } from "../state/shared/rows.ts";
import type { SharedStateProgress } from "../telemetry/progress.ts";

const FIELDS = ["requests", "failures", "comparisons", "differences"] as const;
type Counts = Readonly<Record<(typeof FIELDS)[number], number>>;

/** Rules, over the life of a process. Beyond this, what further ones count is not shared. */
const MOST_KEYS = 10_000;
/** Rows are asked for with every fifth tick, of ten rules in turn. */
const [ASKED_TICKS, ASKED_RULES] = [5, 10];
const DIGEST_DIGITS = 24;
const NOTHING: Counts = { requests: 0, failures: 0, comparisons: 0, differences: 0 };

/** `basis`: digest of what responses depend on besides the rules. */
export function createSharedEvidence(basis: string, rows: Pick<Rows, "put">) {
  /** Counted here since the start, by key. */
  const own = new Map<string, Record<keyof Counts, number>>();
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
  const rowOf = (key: string): string => `rule:${key}`;
  return {
    counted: (rule: Rule, counts: EvidenceCounts): void => {
      const key = keyOf(rule);
      const known = own.get(key) ?? (own.size < MOST_KEYS ? { ...NOTHING } : undefined);
      if (known === undefined) return;
      own.set(key, known);
      for (const field of FIELDS) known[field] += counts[field] ?? 0;
    },
    /** Before each tick: brings the rows up to date. */
    publish: (): void => {
      for (const [key, counts] of own) rows.put(rowOf(key), JSON.stringify(counts));
    },
    /** The rows to ask for with the next tick. */
    asks: (rules: readonly Rule[]): readonly string[] => {
      if (ticks++ % ASKED_TICKS !== 0 || rules.length === 0) return [];
      const begin = (turn++ * ASKED_RULES) % rules.length;
      return rules.slice(begin, begin + ASKED_RULES).map((rule) => rowOf(keyOf(rule)));
    },
    /** Takes the rows that the store returned. */
    answered: (answers: ReadonlyMap<string, TickReply["answers"][number]>): void => {
      for (const [name, found] of answers) {
        if (sums.size >= MOST_KEYS && !sums.has(name)) sums.clear();
        const all = found.map(({ text }) => parsedJson(text));
        const sum = (field: string) => all.reduce<number>((total, one) => total + countOf(member(one, field)), 0);
        const [requests, failures, comparisons, differences] = [
          sum("requests"),
          sum("failures"),
          sum("comparisons"),
          sum("differences"),
        ];
        sums.set(name, { requests, failures, comparisons, differences });
      }
    },
    /** Of all replicas, for rules that were asked about. */
    sums: (rules: readonly Rule[]): SharedStateProgress["evidence"] =>
      rules.flatMap((rule) => {
        const found = sums.get(rowOf(keyOf(rule)));
        return found === undefined ? [] : [{ rule: rule.name, ...found }];
      }),
  };
}

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
