/** Header, cookie and percentage: the first that says something decides, as in ingress controllers. */
import * as z from "zod";
import { member } from "../../model/json.ts";
import { form } from "../leaves.ts";
import { shownName } from "../words.ts";
import type { ClientMatch } from "./client.ts";
import type { Condition, RuleRemark, RuleRequest, TextOf } from "./condition.ts";

export interface CanaryMatch {
  /** Lower-case name and the value that selects; `never` deselects, any other value leaves the decision to the next. */
  readonly header: CanarySelector | undefined;
  readonly cookie: CanarySelector | undefined;
  /** 0 to 100: share of clients, sticky. */
  readonly percent: number | undefined;
}

export interface CanarySelector {
  readonly name: string;
  readonly value: string;
}

/** The value of header or cookie with which the rule never matches. */
export const NEVER = "never";

/** A map of one entry: a name and the value that selects. */
function selector(value: RegExp, example: string) {
  const error = `expected one name with a text as its value, such as ${example} (quote numbers, and words like true)`;
  return z
    .record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/), z.string({ error }).regex(value, { error }), {
      error,
    })
    .superRefine((entries, context) => {
      if (Object.keys(entries).length !== 1) context.addIssue({ code: "custom", message: error });
    })
    .transform((entries) => Object.entries(entries).map(([name, text]) => ({ name, value: text }))[0])
    .meta({ ...form(example), minProperties: 1, maxProperties: 1 });
}

const percentage = (() => {
  const error = "expected a percentage from 0 to 100";
  return z.number({ error }).min(0, { error }).max(100, { error }).meta(form("percentage"));
})();

const schema = {
  header: selector(/^[\x21-\x7e](?:[\x20-\x7e]{0,254}[\x21-\x7e])?$/, "{ x-canary: always }")
    .optional()
    .describe(
      "A header and the value that selects; the value never deselects, other values leave the decision to cookie and percent",
    ),
  cookie: selector(/^[\x21\x23-\x3a\x3c-\x5b\x5d-\x7e]{1,256}$/, "{ canary: always }")
    .optional()
    .describe("The same for a cookie"),
  percent: percentage
    .optional()
    .describe("Share of clients; a client always stays on the same side. 0 switches the rule off"),
};

export const canary: Condition<CanaryMatch, typeof schema> = {
  schema,
  build: ({ header, cookie, percent }) => ({
    header: header && { ...header, name: header.name.toLowerCase() },
    cookie,
    percent,
  }),
  holds({ match }) {
    const { header, cookie, percent } = match;
    if (header === undefined && cookie === undefined && percent === undefined) return undefined;
    return (request) => decideCanary(match, request).taken;
  },
  covers: ({ match: outer }, { match: inner }) => coversCanary(outer, inner),
  words: ({ header, cookie }) =>
    Object.entries({ header, cookie }).flatMap(([kind, field]) =>
      field === undefined ? [] : [`${kind} ${field.name}: ${shownName(field.value)}`],
    ),
  view: ({ header, cookie, percent }) => ({ header, cookie, percent }),
  why: ({ match }, request) => decisionWords(match, request),
  remarks: ({ match }, { given }) => [...withoutPrototypes(given), ...selectorFaults(match), ...tinyPercentages(match)],
  amounts: ["percent"],
  last: true,
};

/** The condition that decided. `unselected`: neither header nor cookie decided, and the rule has no percentage. */
interface CanaryDecision {
  readonly taken: boolean;
  readonly by: "header" | "cookie" | "percent" | "unselected";
}

const BY_HEADER: CanaryDecision = { taken: true, by: "header" };
const BY_COOKIE: CanaryDecision = { taken: true, by: "cookie" };
const BY_PERCENT: CanaryDecision = { taken: true, by: "percent" };
const NOT_BY_HEADER: CanaryDecision = { taken: false, by: "header" };
const NOT_BY_COOKIE: CanaryDecision = { taken: false, by: "cookie" };
const NOT_BY_PERCENT: CanaryDecision = { taken: false, by: "percent" };
const UNSELECTED: CanaryDecision = { taken: false, by: "unselected" };

export function decideCanary(
  { header, cookie, percent }: CanaryMatch,
  request: Pick<RuleRequest, "header" | "cookie" | "bucket">,
): CanaryDecision {
  if (header !== undefined) {
    const value = request.header(header.name);
    if (value === header.value) return BY_HEADER;
    if (value === NEVER) return NOT_BY_HEADER;
  }
  if (cookie !== undefined) {
    const value = request.cookie(cookie.name);
    if (value === cookie.value) return BY_COOKIE;
    if (value === NEVER) return NOT_BY_COOKIE;
  }
  if (percent !== undefined) return request.bucket() < percent ? BY_PERCENT : NOT_BY_PERCENT;
  return UNSELECTED;
}

/** Values of the request are not repeated, except `never` and the rule's own. */
function decisionWords(match: CanaryMatch, request: RuleRequest): string {
  const { header, cookie, percent } = match;
  const { taken, by } = decideCanary(match, request);
  switch (by) {
    case "header":
    case "cookie":
      return `${by} ${match[by]?.name} is ${taken ? match[by]?.value : NEVER}`;
    case "percent":
      return `client is in bucket ${request.bucket().toFixed(4)}, ${taken ? "below" : "not below"} ${percent}`;
    case "unselected":
      return `${[header && `header ${header.name}`, cookie && `cookie ${cookie.name}`].filter(Boolean).join(" and ")} did not select it, and it has no percentage`;
    default:
      return by satisfies never;
  }
}

/**
 * `10 % of clients`, `10 % of those, each whole or not at all` of a rule that names some, `all clients`, or
 * `who is selected` of a rule with header or cookie but no percentage.
 */
export function shareWords({ percent, header, cookie, clients }: CanaryMatch & ClientMatch): string {
  if (percent !== undefined)
    return `${percent} % of ${clients === undefined ? "clients" : "those, each whole or not at all"}`;
  return header === undefined && cookie === undefined ? "all clients" : "who is selected";
}

/** A rule of 0 percent takes nothing, and is meant to. */
export function isSwitchedOff({ header, cookie, percent }: CanaryMatch): boolean {
  return percent === 0 && header === undefined && cookie === undefined;
}

/**
 * True when every request that `inner` takes by header, cookie or percentage is taken by `outer` too. Follows the order of
 * `decideCanary`: a value that `inner` takes by itself is to be taken by the rest of `outer`, and `never` ends it for both.
 */
export function coversCanary(outer: CanaryMatch, inner: CanaryMatch): boolean {
  if (outer.header === undefined && outer.cookie === undefined && percentOf(outer, false) >= 100) return true;
  if (outer.header !== undefined) {
    // A request with never in this field is lost to the outer rule alone.
    if (outer.header.name !== inner.header?.name) return false;
    if (outer.header.value !== inner.header.value) return takesRest(outer);
  } else if (inner.header !== undefined) {
    return false;
  }
  return coversFromCookie(outer, inner, outer.header !== undefined);
}

/** The same where no header field spoke. `selects`: both rules have a header. */
function coversFromCookie(outer: CanaryMatch, inner: CanaryMatch, selects: boolean): boolean {
  if (outer.cookie !== undefined) {
    if (inner.cookie === undefined) return percentOf(inner, selects) === 0;
    if (outer.cookie.name !== inner.cookie.name) return false;
    if (outer.cookie.value !== inner.cookie.value) return percentOf(outer, true) >= 100;
    return percentOf(outer, true) >= percentOf(inner, true);
  }
  if (inner.cookie !== undefined) return percentOf(outer, selects) >= 100;
  return percentOf(outer, selects) >= percentOf(inner, selects);
}

/** Whether whatever the header leaves open is taken. */
function takesRest(match: CanaryMatch): boolean {
  return match.cookie === undefined && percentOf(match, true) >= 100;
}

/** Percentage of clients that are taken when neither header nor cookie spoke. */
function percentOf({ percent }: CanaryMatch, selects: boolean): number {
  return percent ?? (selects ? 0 : 100);
}

/** The schema passes over a key of this name in maps of free keys. */
function withoutPrototypes(given: unknown): readonly RuleRemark[] {
  return ["header", "cookie"].flatMap((kind) => {
    if (member(member(member(given, "match"), kind), "__proto__") === undefined) return [];
    return [{ path: ["match", kind], what: "__proto__ is no name", remedy: "remove it" }];
  });
}

/** Their values are secrets, and a rules file is not a secret. */
const CREDENTIALS: readonly string[] = ["authorization", "proxy-authorization"];

function selectorFaults(match: TextOf<typeof schema>): readonly RuleRemark[] {
  const found: RuleRemark[] = [];
  for (const kind of ["header", "cookie"] as const) {
    if (match[kind]?.value !== NEVER) continue;
    const remedy = "name another value, such as always";
    found.push({ path: ["match", kind], what: `${NEVER} always deselects`, remedy });
  }
  const name = match.header?.name.toLowerCase() ?? "";
  const at = (what: string, remedy: string) => found.push({ path: ["match", "header"], what, remedy });
  if (CREDENTIALS.includes(name)) at(`${name} holds credentials`, "use client:, or another header");
  if (name === "cookie") at("cookie holds many", "use cookie: { name: value }");
  return found;
}

/** `shadow.sample` and the thresholds are shares: 0.1 means a tenth. */
function tinyPercentages({ percent = 0 }: TextOf<typeof schema>): readonly RuleRemark[] {
  if (percent <= 0 || percent >= 1) return [];
  const clients = Math.round(100 / percent).toLocaleString("en-US");
  const what = `${percent} percent is one client in ${clients}: percent goes from 0 to 100, and shadow.sample from 0 to 1`;
  const remedy = `write ${Number((percent * 100).toPrecision(6))} if you mean a share of ${percent}`;
  return [{ path: ["match", "percent"], what, remedy, kind: "doubtful" }];
}
