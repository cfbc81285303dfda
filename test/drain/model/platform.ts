/** How a platform of the model pages, and what befalls it. */

import type { ApiResponse } from "../../../src/model/http.ts";
import type { PageSelector } from "../../../src/model/list.ts";
import { Problem } from "../../../src/model/problem.ts";
import { ascending, cutPage, type PageFault, type Paging } from "../../support/platform-pages.ts";
import { answerOf, raw, respond } from "../simulator.ts";

export interface Style extends Omit<Paging, "counts"> {
  /** `stale`: the count at the first page, for ever; `low`, `high`: by one; `wild`: another one each time. */
  readonly total?: "right" | "absent" | "stale" | "low" | "high" | "zero" | "wild";
  /** What may happen once in a while, and how often in one run. */
  readonly faults?: readonly Fault[];
  readonly faultBudget?: number;
}

/** `503`: refused; `gone`: no answer; `torn`: not a page. */
export type Fault = PageFault | "503" | "gone" | "torn";

/** The list at one moment, and what was counted at the first page. */
export interface Moment {
  readonly keys: readonly string[];
  readonly firstTotal: number;
  /** Pages sent so far. */
  readonly answered: number;
}

/** The answer to `selector` at `moment`; throws a `Problem` for `gone`. */
export function answerTo(selector: PageSelector, moment: Moment, style: Style, fault?: Fault): ApiResponse {
  if (fault === "503") return raw(503, "");
  if (fault === "gone") throw new Problem("UPSTREAM_UNREACHABLE", "no answer");
  if (fault === "torn") return raw(200, "{");
  const counts = (right: number) => totalOf(right, moment, style.total);
  return respond(answerOf(cutPage(ascending(moment.keys), selector, { ...style, counts }, fault)));
}

function totalOf(right: number, { firstTotal, answered }: Moment, total: Style["total"] = "right"): number | undefined {
  const totals: Record<NonNullable<Style["total"]>, number | undefined> = {
    right,
    absent: undefined,
    stale: firstTotal,
    low: Math.max(0, right - 1),
    high: right + 1,
    zero: 0,
    wild: (answered * 7 + right) % 13,
  };
  return totals[total];
}
