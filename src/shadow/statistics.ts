/** What have comparisons shown so far, by operation and client? (Design section 7: comparisons give a bound.) */
import { type Comparison, type DifferenceClass, isConclusive, isDifference } from "../model/comparison.ts";

/** Counts of one operation, of all clients or of one. The bound itself: `upperBound(differences, comparisons)`. */
export interface ComparisonStatisticsRow {
  readonly resource: string;
  readonly operation: string;
  /** Undefined: all clients together. */
  readonly client: string | undefined;
  /** Answers that were compared; those with nothing but noise or another order are among them. */
  readonly comparisons: number;
  readonly differences: number;
  readonly byClass: Readonly<Partial<Record<DifferenceClass, number>>>;
  readonly noise: number;
  /** There was nothing to compare; part of no bound. */
  readonly failed: number;
  readonly byFailure: Readonly<Record<string, number>>;
  /** Comparisons for which native was asked twice, and those where it differed from itself. */
  readonly controls: number;
  readonly noisy: number;
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly lastDifference: number | undefined;
}

export interface ComparisonStatistics {
  /**
   * `noisy`: whether native differed from itself; undefined when it was not asked twice. A client's row begins with its first
   * comparison that is judged.
   */
  add(comparison: Comparison, noisy: boolean | undefined): void;
  /** Operations in the order in which they were first compared, each followed by its clients. */
  rows(): readonly ComparisonStatisticsRow[];
  /** Comparisons of clients that have no row of their own. */
  unlisted(): number;
}

/** Rows of clients. Those that come later count for their operation only: a row that went would take its differences along. */
const MOST_CLIENTS = 1_000;

interface ComparisonCounts {
  readonly resource: string;
  readonly operation: string;
  readonly client: string | undefined;
  comparisons: number;
  differences: number;
  readonly classes: Map<DifferenceClass, number>;
  noise: number;
  failed: number;
  readonly failures: Map<string, number>;
  controls: number;
  noisy: number;
  readonly since: number;
  lastDifference: number | undefined;
}

/** Operations are those of the catalogue, clients any number. */
export function createComparisonStatistics(mostClients: number = MOST_CLIENTS): ComparisonStatistics {
  const operations = new Map<
    string,
    { readonly all: ComparisonCounts; readonly clients: Map<string, ComparisonCounts> }
  >();
  let clients = 0;
  let unlisted = 0;
  return {
    add(comparison, noisy) {
      const { resource, operation, client } = comparison;
      const key = `${resource} ${operation}`;
      const entry = operations.get(key) ?? { all: countsOf(comparison, undefined), clients: new Map() };
      operations.set(key, entry);
      count(entry.all, comparison, noisy);
      let own = entry.clients.get(client);
      // Names cost a stranger nothing: only what was let in gets a row.
      if (own === undefined && clients < mostClients && isConclusive(comparison.result)) {
        own = countsOf(comparison, client);
        entry.clients.set(client, own);
        clients += 1;
      }
      if (own === undefined) unlisted += 1;
      else count(own, comparison, noisy);
    },
    rows: () => [...operations.values()].flatMap((entry) => [entry.all, ...entry.clients.values()].map(rowOf)),
    unlisted: () => unlisted,
  };
}

function countsOf({ resource, operation, at }: Comparison, client: string | undefined): ComparisonCounts {
  return {
    resource,
    operation,
    client,
    comparisons: 0,
    differences: 0,
    classes: new Map(),
    noise: 0,
    failed: 0,
    failures: new Map(),
    controls: 0,
    noisy: 0,
    since: at,
    lastDifference: undefined,
  };
}

function count(counts: ComparisonCounts, { result, failure, at }: Comparison, noisy: boolean | undefined): void {
  if (!isConclusive(result)) {
    counts.failed += 1;
    more(counts.failures, failure ?? "internal");
    return;
  }
  counts.comparisons += 1;
  if (noisy !== undefined) counts.controls += 1;
  if (noisy === true) counts.noisy += 1;
  if (result === "noise") counts.noise += 1;
  else if (result !== "equal" && result !== "failed") more(counts.classes, result);
  if (!isDifference(result)) return;
  counts.differences += 1;
  counts.lastDifference = at;
}

function more<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function rowOf({ classes, failures, ...counts }: ComparisonCounts): ComparisonStatisticsRow {
  return { ...counts, byClass: Object.fromEntries(classes), byFailure: Object.fromEntries(failures) };
}
