/** What was met on the way that no plan foresaw? */
import type { Report } from "./plan.ts";

type Counted = { -readonly [Name in keyof Report]: Report[Name] };

/** Reports by what they say, in the order of their first appearance. */
export type Reports = Map<string, Counted>;

/** The one report that says this, made with count 0 when it is new. */
export function reportOf(
  reports: Reports,
  kind: Report["kind"],
  object: string,
  member: string,
  value?: string,
): Counted {
  const id = JSON.stringify([kind, object, member, value]);
  let report = reports.get(id);
  if (report === undefined) {
    report = { kind, object, member, ...(value === undefined ? {} : { value }), count: 0 };
    reports.set(id, report);
  }
  return report;
}

/** The finished list; those never counted are left out. */
export function listReports(reports: Reports): Report[] {
  return [...reports.values()].filter((report) => report.count > 0);
}
