/** How is a v2 list page asked for and read? (Specification section 4, list parameters and envelope.) */
import { JsonError } from "../json/error.ts";
import type { ObjectPlan, PagePlan, Report } from "../json/plan.ts";
import type { PageResult } from "../json/rewrite.ts";
import type { ListPage, PageSelector } from "../model/list.ts";
import type { ApiResponse } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { Resource } from "../model/resource.ts";

/** v2's own key of every record. */
export const V2_KEY = "uid";

/** The query of one page. */
export function pageTarget(path: string, params: readonly string[], page: PageSelector): string {
  const all = [...params, `page_size=${page.size}`];
  if (page.skip !== undefined && page.skip > 0) all.push(`skip=${page.skip}`);
  if (page.token !== undefined) all.push(`page_token=${encodeURIComponent(page.token)}`);
  return `${path}?${all.join("&")}`;
}

/** The plan for pages of `resource`; `record`: the edits, or `copy` when records are shown later. */
export function pagePlan(resource: Resource, record: "copy" | ObjectPlan): PagePlan {
  return {
    items: resource.items,
    // A platform that leaves zeros out leaves an empty list out as well.
    missingItems: "empty",
    key: V2_KEY,
    record,
    scalars: ["nextPageToken", "totalCount", "skipped"],
  };
}

/** Reads one 200 answer as a page. Throws `Problem` UPSTREAM_INVALID. */
export function readPage(
  response: ApiResponse,
  rewrite: (body: Uint8Array) => PageResult,
  keep: readonly ((uid: string) => boolean)[],
  onReports: (reports: readonly Report[]) => void,
): ListPage {
  const page = readUpstream(() => rewrite(response.body));
  onReports(page.reports);
  const token = page.scalars.get("nextPageToken") ?? "";
  if (typeof token !== "string") throw invalidAnswer("nextPageToken is no string");
  return {
    bytes: page.bytes,
    starts: page.starts,
    ends: page.ends,
    keys: page.keys,
    ...(keep.length === 0 ? {} : { hidden: hide(page.keys, keep) }),
    nextPageToken: token,
    totalCount: readCount(page.scalars.get("totalCount")),
    skipped: readCount(page.scalars.get("skipped")),
  };
}

function hide(keys: readonly string[], keep: readonly ((uid: string) => boolean)[]): Uint8Array {
  return Uint8Array.from(keys, (key) => (keep.every((test) => test(key)) ? 0 : 1));
}

/** Counts come as decimal strings or numbers, and are only hints: anything odd counts as absent. */
function readCount(value: string | number | null | boolean | undefined): number | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const text = String(value);
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Runs `read` over bytes from v2; what is not the JSON that was asked for is the platform's fault. */
export function readUpstream<T>(read: () => T, metadata: Readonly<Record<string, string>> = {}): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof JsonError) throw invalidAnswer(error.message, metadata);
    throw error;
  }
}

/** The platform answered something else than what was asked for; `what` says it without values. */
export function invalidAnswer(what: string, metadata: Readonly<Record<string, string>> = {}): Problem {
  return new Problem("UPSTREAM_INVALID", `the platform's answer is not what was asked for: ${what}`, { metadata });
}
