/** What was met on the way that no plan foresaw? */
import type { Report } from "./plan.ts";

/** Stands for the members of all reports that were too many. */
const OTHERS = "…";

type Counted = { -readonly [Name in keyof Report]: Report[Name] };

/** Reports by what they say, in the order of their first appearance. */
export type Reports = Map<string, Counted>;

/** Different reports kept; what comes later is counted together, as names come from outside. */
const MOST_REPORTS = 1000;

/** The one report that says this, made with count 0 when it is new. */
export function reportOf(
  reports: Reports,
  kind: Report["kind"],
  object: string,
  member: string,
  value?: string,
): Counted {
  // Looking each of them up would take longer than all else that is done for it.
  if (reports.size > MOST_REPORTS && member !== OTHERS) return reportOf(reports, kind, object, OTHERS);
  // Asked for each odd member of a body, of which there may be hundreds of thousands: no quoting, which takes most of that time.
  const id = `${kind} ${object.length} ${member.length} ${object}${member}${value === undefined ? "" : `=${value}`}`;
  const known = reports.get(id);
  if (known !== undefined) return known;
  if (reports.size >= MOST_REPORTS && member !== OTHERS) return reportOf(reports, kind, object, OTHERS);
  const report: Counted = { kind, object, member, ...(value === undefined ? {} : { value }), count: 0 };
  reports.set(id, report);
  return report;
}

const NONE: readonly Report[] = [];

/** The finished list; those never counted are left out. */
export function listReports(reports: Reports): readonly Report[] {
  if (reports.size === 0) return NONE;
  return [...reports.values()].filter((report) => report.count > 0);
}
