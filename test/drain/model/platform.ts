/** A platform that pages a changing list, in every style that drains must handle. */

import type { ApiRequest, ApiResponse } from "../../../src/model/http.ts";
import type { ListPlan, PageSelector } from "../../../src/model/list.ts";
import { Problem } from "../../../src/model/problem.ts";
import { type Answer, planOf, raw, respond } from "../simulator.ts";
import { uidsIn } from "../stage.ts";

/** What the platform does; without any of it: tokens as named, `skip` obeyed and echoed, the right count. */
export interface Style {
  /** What a token stands for: the last key of its page, or how many records came before. */
  readonly tokens: "keyset" | "offset";
  /** `ignored`: page one is answered and 0 echoed; `claimed`: page one is answered, the skip echoed; `echo`: a wrong echo only. */
  readonly skip?: "obeyed" | "ignored" | "claimed" | "echo" | "unechoed";
  /** What a page behind a token says it skipped: what its request did (nothing), what its chain did, or its position. */
  readonly behind?: "own" | "chain" | "position";
  /** `stale`: the count at the first page, for ever; `low`, `high`: by one; `wild`: another one each time. */
  readonly total?: "right" | "absent" | "stale" | "low" | "high" | "zero" | "wild";
  /** Never more records than this. */
  readonly cap?: number;
  /** A page that reaches the end has a token all the same (always, or when it is full); the empty page behind it has none. */
  readonly trailing?: "always" | "full";
  /** What may happen once in a while, and how often in one run. */
  readonly faults?: readonly Fault[];
  readonly faultBudget?: number;
}

/**
 * `restart`: a token is answered with page one; `empty`, `short`: fewer records than there are, with a token; `same`: the token
 * asked with comes back as the next one; `sunk`: a page behind a token is empty, without a token, and counts nothing; `503`:
 * refused; `gone`: no answer; `torn`: not a page.
 */
export type Fault = "restart" | "empty" | "short" | "same" | "sunk" | "503" | "gone" | "torn";

/** The list at one moment, and what was counted at the first page. */
export interface Moment {
  readonly keys: readonly string[];
  readonly firstTotal: number;
  /** Pages answered so far. */
  readonly answered: number;
}

/** The answer to `selector` at `moment`; throws a `Problem` for `gone`. */
export function answerTo(selector: PageSelector, moment: Moment, style: Style, fault?: Fault): ApiResponse {
  if (fault === "503") return raw(503, "");
  if (fault === "gone") throw new Problem("UPSTREAM_UNREACHABLE", "no answer");
  if (fault === "torn") return raw(200, "{");
  if (fault === "sunk" && selector.token !== undefined) return respond({ items: [], next: "", total: 0 });
  return respond(pageOf(selector, moment, style, fault));
}

function pageOf(selector: PageSelector, moment: Moment, style: Style, fault?: Fault): Answer {
  const { keys } = moment;
  const asked = selector.skip ?? 0;
  const obeyed = style.skip === "ignored" || style.skip === "claimed" ? 0 : asked;
  const from = (fault === "restart" ? 0 : placeOf(keys, selector.token, style.tokens)) + obeyed;
  const size = Math.min(selector.size, style.cap ?? selector.size);
  const records = fault === "empty" ? 0 : fault === "short" ? size - 1 : size;
  const items = keys.slice(from, from + records).map((uid) => ({ uid }));
  const to = Math.min(from + records, keys.length);
  const fill = style.trailing === "full" ? size : 1;
  const ended = to >= keys.length && (style.trailing === undefined || items.length < fill);
  const [, chain = String(asked)] = selector.token?.split("#") ?? [];
  const next = style.behind === undefined ? "" : `#${chain}`;
  const own =
    fault === "same" && selector.token !== undefined ? selector.token : `${tokenAt(keys, to, style.tokens)}${next}`;
  const echo = style.behind === "position" ? from : style.behind === "chain" ? Number(chain) : 0;
  const skipped = selector.token === undefined || style.behind === undefined ? echoOf(asked, style) : echo;
  return { items, next: ended ? "" : own, total: totalOf(moment, style), skipped };
}

function placeOf(keys: readonly string[], token: string | undefined, tokens: Style["tokens"]): number {
  if (token === undefined) return 0;
  const [value = ""] = token.slice(1).split("#");
  return tokens === "offset" ? Number(value) : keys.filter((key) => key <= value).length;
}

function tokenAt(keys: readonly string[], to: number, tokens: Style["tokens"]): string {
  return tokens === "offset" ? `o${to}` : `k${keys[to - 1] ?? ""}`;
}

function totalOf(moment: Moment, style: Style): number | undefined {
  const right = moment.keys.length;
  const totals: Record<NonNullable<Style["total"]>, number | undefined> = {
    right,
    absent: undefined,
    stale: moment.firstTotal,
    low: Math.max(0, right - 1),
    high: right + 1,
    zero: 0,
    wild: (moment.answered * 7 + right) % 13,
  };
  return totals[style.total ?? "right"];
}

function echoOf(asked: number, style: Style): number | undefined {
  if (style.skip === "unechoed") return undefined;
  if (style.skip === "ignored") return 0;
  return style.skip === "echo" && asked > 0 ? asked + 1 : asked;
}

/** How a drain asks this platform, and reads what it answers; `hidden` keys count, but are not to be shown. */
export function planFor(hidden = ""): ListPlan {
  return { ...planOf(true, (uid) => hidden.includes(uid)), request: requestOf };
}

function requestOf(page: PageSelector): ApiRequest {
  return { method: "GET", target: `/list?${JSON.stringify(page)}`, headers: [] };
}

/** What a request of `planFor` asks for. */
export function selectorOf(request: ApiRequest): PageSelector {
  return JSON.parse(request.target.slice("/list?".length)) as PageSelector;
}

/** The keys in a chunk of a list, as a client would parse them; throws when there are none. */
export function keysIn(chunk: Uint8Array): string[] {
  if (chunk.length === 0) throw new Error("an empty chunk");
  return uidsIn(chunk);
}
