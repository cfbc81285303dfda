/** Counts comparisons by operation and client. `/progress`, the saved state and metrics derive from these counts. */
import { type Comparison, type ComparisonResult, isConclusive, isDifference } from "../model/comparison.ts";
import type { ComparisonCounts } from "../telemetry/progress.ts";

/** Of one operation, of all clients or of one. The bound is `upperBound(differences, comparisons)`. */
export interface TallyRow extends ComparisonCounts {
  /** Of this process. `failed`: there was nothing to compare; part of no bound. */
  readonly results: ReadonlyMap<ComparisonResult, number>;
  /** Comparisons for which native was requested twice, and those where it differed from itself. */
  readonly controls: number;
  readonly noisy: number;
}

export interface ComparisonTally {
  /**
   * `noisy`: whether native differed from itself; undefined when it was not requested twice. A client's row begins with its
   * first comparison that has a result.
   */
  add(comparison: Comparison, noisy: boolean | undefined): void;
  /** Operations in the order of their first comparison, each followed by its clients. */
  rows(): readonly TallyRow[];
  /** Of this process: comparisons that could not be made, by reason. */
  readonly failures: ReadonlyMap<string, number>;
  /** Of this process: calls made for comparisons. */
  readonly calls: Readonly<Comparison["calls"]>;
  /** Drops the rows of a client; what they counted stays in the sums of their operations. Returns the number of comparisons. */
  forget(client: string): number;
  /** Continues from the rows of an earlier process, which may name a client twice; to be called before the first comparison. */
  restore(rows: readonly ComparisonCounts[]): void;
}

type Counters = { -readonly [Member in keyof TallyRow]: TallyRow[Member] } & { results: Map<ComparisonResult, number> };

/** Later clients count for their operation only: to remove an older row would remove its differences. */
const MAX_CLIENTS = 1_000;

/** The catalogue bounds the operations, `maxClients` the rows of clients. */
export function createComparisonTally(maxClients: number = MAX_CLIENTS): ComparisonTally {
  const operations = new Map<string, Map<string | undefined, Counters>>();
  const failures = new Map<string, number>();
  const calls = { v1: 0, v2: 0 };
  let clients = 0;
  /** Undefined for a client beyond the most. */
  const rowOf = (of: Pick<ComparisonCounts, "resource" | "operation">, client?: string): Counters | undefined => {
    const { resource, operation } = of;
    const key = `${resource} ${operation}`;
    const rows = operations.get(key) ?? new Map<string | undefined, Counters>();
    operations.set(key, rows);
    const known = rows.get(client);
    if (known !== undefined || (client !== undefined && clients >= maxClients)) return known;
    if (client !== undefined) clients += 1;
    const counts = { comparisons: 0, differences: 0, results: new Map(), controls: 0, noisy: 0 };
    const row = { resource, operation, client, ...counts };
    rows.set(client, row);
    return row;
  };
  return {
    add(comparison, noisy) {
      const { resource, operation, client, result, failure } = comparison;
      if (failure !== undefined) increment(failures, failure);
      calls.v1 += Math.max(0, comparison.calls.v1);
      calls.v2 += Math.max(0, comparison.calls.v2);
      const all = rowOf(comparison);
      // Anybody can invent names, so only a caller that was let in gets a row.
      const own = isConclusive(result)
        ? rowOf(comparison, client)
        : operations.get(`${resource} ${operation}`)?.get(client);
      for (const row of [all, own]) {
        if (row === undefined) continue;
        increment(row.results, result);
        if (!isConclusive(result)) continue;
        row.comparisons += 1;
        if (isDifference(result)) row.differences += 1;
        if (noisy !== undefined) row.controls += 1;
        if (noisy === true) row.noisy += 1;
      }
    },
    rows: () => [...operations.values()].flatMap((rows) => [...rows.values()]),
    failures,
    calls,
    forget(client) {
      let comparisons = 0;
      for (const rows of operations.values()) {
        comparisons += rows.get(client)?.comparisons ?? 0;
        if (rows.delete(client)) clients -= 1;
      }
      return comparisons;
    },
    restore(saved) {
      for (const { client, comparisons, differences, ...operation } of saved) {
        const row = rowOf(operation, client);
        if (row === undefined) continue;
        row.comparisons += comparisons;
        row.differences += differences;
      }
    },
  };
}

function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
