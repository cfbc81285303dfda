/** The report of a replay as tables, for the formats that have them. */
import type { ReplayReport } from "../../replay/report.ts";
import type { CountedReason, ReplayCause } from "../../replay/tally.ts";
import { frequencyOf, placeOf, valuesOf } from "./text.ts";

export interface ReplayTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Rows that are left out. */
  readonly more: number;
}

const MOST = 100;

/** Those with at least one row, the most important first. */
export function tablesOf(report: ReplayReport): readonly ReplayTable[] {
  const { differences, undecided, noise, operations, notCompared, notReplayed, notRead } = report;
  const causes = ["where", "how often", "values", "request", "setting or trap"];
  const reasons = ["why", "requests", "first"];
  const tables = [
    table("Differences, the worst first", causes, differences.map(causeRow)),
    table("Cannot be told from noise", causes, undecided.map(causeRow)),
    table(
      "Noise: native v1 differs from itself",
      ["operation", "path", "requests"],
      noise.map(({ resource, operation, path, requests }) => [`${resource} ${operation}`, path, String(requests)]),
    ),
    table(
      "Compared",
      ["operation", "requests", "different"],
      operations.map((one) => [`${one.resource} ${one.operation}`, String(one.compared), String(one.differing)]),
    ),
    table("Not compared", reasons, notCompared.map(reasonRow)),
    table("Not replayed", reasons, notReplayed.map(reasonRow)),
    table("Not readable", reasons, notRead.map(reasonRow)),
  ];
  return tables.filter(({ rows }) => rows.length > 0);
}

function table(title: string, columns: readonly string[], rows: readonly (readonly string[])[]): ReplayTable {
  return { title, columns, rows: rows.slice(0, MOST), more: Math.max(0, rows.length - MOST) };
}

function causeRow(cause: ReplayCause): readonly string[] {
  const { example, set, trap } = cause;
  return [
    placeOf(cause),
    frequencyOf(cause),
    valuesOf(cause),
    example === undefined ? "" : `${example.method} ${example.target} (${example.at})`,
    set ?? trap ?? "",
  ];
}

function reasonRow({ why, count, first }: CountedReason): readonly string[] {
  return [why, String(count), first];
}
