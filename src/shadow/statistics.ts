import {
  type Comparison,
  type ComparisonFailure,
  type DifferenceClass,
  isConclusive,
  isDifference,
} from "../model/comparison.ts";

/** Counts of one operation, of all clients or of one. Their bound is `upperBound(differences, comparisons)`. */
export interface ComparisonStatisticsRow {
  readonly resource: string;
  readonly operation: string;
  /** Undefined: all clients together. */
  readonly client: string | undefined;
  /** With a result; noise and another order are among them. */
  readonly comparisons: number;
  readonly differences: number;
  readonly byClass: Readonly<Partial<Record<DifferenceClass, number>>>;
  readonly noise: number;
  /** There was nothing to compare; part of no bound. */
  readonly failed: number;
  readonly byFailure: Readonly<Partial<Record<ComparisonFailure, number>>>;
  /** Comparisons for which native was requested twice, and those where it differed from itself. */
  readonly controls: number;
  readonly noisy: number;
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly lastDifference: number | undefined;
}

export interface ComparisonStatistics {
  /**
   * `noisy`: whether native differed from itself; undefined when it was not requested twice. A client's row begins with its
   * first comparison that has a result.
   */
  add(comparison: Comparison, noisy: boolean | undefined): void;
  /** Operations in the order in which they were first compared, each followed by its clients. */
  rows(): readonly ComparisonStatisticsRow[];
  /** Comparisons of clients that have no row of their own. */
  unlisted(): number;
}

/** Later clients count for their operation only: to remove an older row would remove its differences. */
const MAX_CLIENTS = 1_000;

/** Counts comparisons by operation and client. The catalogue bounds the operations, `maxClients` the rows of clients. */
export function createComparisonStatistics(maxClients: number = MAX_CLIENTS): ComparisonStatistics {
  const operations = new Map<string, { all: ComparisonStatisticsRow; clients: Map<string, ComparisonStatisticsRow> }>();
  let clients = 0;
  let unlisted = 0;
  return {
    add(comparison, noisy) {
      const { resource, operation, client, result } = comparison;
      const key = `${resource} ${operation}`;
      const entry = operations.get(key) ?? { all: emptyRow(comparison, undefined), clients: new Map() };
      operations.set(key, entry);
      entry.all = counted(entry.all, comparison, noisy);
      let own = entry.clients.get(client);
      // Anybody can invent names, so only a caller that was let in gets a row.
      if (own === undefined && clients < maxClients && isConclusive(result)) {
        own = emptyRow(comparison, client);
        clients += 1;
      }
      if (own === undefined) unlisted += 1;
      else entry.clients.set(client, counted(own, comparison, noisy));
    },
    rows: () => [...operations.values()].flatMap((entry) => [entry.all, ...entry.clients.values()]),
    unlisted: () => unlisted,
  };
}

function emptyRow({ resource, operation, at }: Comparison, client: string | undefined): ComparisonStatisticsRow {
  return {
    resource,
    operation,
    client,
    comparisons: 0,
    differences: 0,
    byClass: {},
    noise: 0,
    failed: 0,
    byFailure: {},
    controls: 0,
    noisy: 0,
    since: at,
    lastDifference: undefined,
  };
}

function counted(row: ComparisonStatisticsRow, comparison: Comparison, noisy?: boolean): ComparisonStatisticsRow {
  const { result, failure = "internal", at } = comparison;
  if (result === "failed") {
    return {
      ...row,
      failed: row.failed + 1,
      byFailure: { ...row.byFailure, [failure]: (row.byFailure[failure] ?? 0) + 1 },
    };
  }
  const isClass = result !== "noise" && result !== "equal";
  const differs = isDifference(result);
  return {
    ...row,
    comparisons: row.comparisons + 1,
    differences: row.differences + (differs ? 1 : 0),
    byClass: isClass ? { ...row.byClass, [result]: (row.byClass[result] ?? 0) + 1 } : row.byClass,
    noise: row.noise + (result === "noise" ? 1 : 0),
    controls: row.controls + (noisy === undefined ? 0 : 1),
    noisy: row.noisy + (noisy === true ? 1 : 0),
    lastDifference: differs ? at : row.lastDifference,
  };
}
