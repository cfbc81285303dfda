/** Whether a rule matches a request: resource and operation, header, cookie, percentage, time. Pure. */
import { type HeaderList, header } from "../model/http.ts";
import type { Rule, RuleMatch, TimeWindow } from "./rule.ts";

/** Names of the groups of operations. */
const READS = "reads";
const WRITES = "writes";

export interface RequestedOperation {
  readonly resource: string;
  readonly operation: string;
  readonly write: boolean;
  /** v1's response is a guess, and there is a native v1: only rules that name the operation match. */
  readonly guessed?: boolean | undefined;
}

/** True when `match` includes the resource and the operation. */
export function isAbout(
  { resources, operations }: RuleMatch,
  { resource, operation, write, guessed }: RequestedOperation,
): boolean {
  if (resources !== undefined && !resources.has(resource)) return false;
  if (guessed === true) return operations?.has(operation) === true;
  return operations === undefined || operations.has(operation) || operations.has(write ? WRITES : READS);
}

type ReadsAndWrites = readonly [reads: readonly Rule[], writes: readonly Rule[]];

/** The rules about a resource, by operation; `others`: those about an operation that no rule names. */
interface ResourceIndex {
  readonly named: ReadonlyMap<string, ReadsAndWrites>;
  readonly others: ReadsAndWrites;
}

/** Returns a function that returns the rules about an operation, in their order, from an index that is built once. */
export function indexRules(rules: readonly Rule[]): (asked: RequestedOperation) => readonly Rule[] {
  const resources = new Set(rules.flatMap(({ match }) => [...(match.resources ?? [])]));
  const operations = new Set(rules.flatMap(({ match }) => [...(match.operations ?? [])]));
  const indexOf = (resource: string | undefined): ResourceIndex => {
    const here = rules.filter(({ match }) => includes(match.resources, resource));
    const about = (operation: string | undefined, group: string) =>
      here.filter(({ match: { operations: all } }) => includes(all, operation) || all?.has(group) === true);
    const sides = (operation: string | undefined): ReadsAndWrites => [
      about(operation, READS),
      about(operation, WRITES),
    ];
    return { named: new Map([...operations].map((name) => [name, sides(name)])), others: sides(undefined) };
  };
  const byResource = new Map([...resources].map((name) => [name, indexOf(name)]));
  const rest = indexOf(undefined);
  return (asked) => {
    const { resource, operation, write, guessed } = asked;
    const index = byResource.get(resource) ?? rest;
    const about = (index.named.get(operation) ?? index.others)[write ? 1 : 0];
    return guessed === true ? about.filter(({ match }) => isAbout(match, asked)) : about;
  };
}

/** Whether `names` restrict to `name`, or do not restrict at all. */
function includes(names: ReadonlySet<string> | undefined, name: string | undefined): boolean {
  return names === undefined || (name !== undefined && names.has(name));
}

/** The value of header or cookie with which the rule never matches. */
export const NEVER = "never";

/** What decided. `all`: the rule has none of the three. `unselected`: neither header nor cookie decided, and there is no percentage. */
export type CanaryDecision =
  | { readonly taken: true; readonly by: "all" | "header" | "cookie" | "percent" }
  | { readonly taken: false; readonly by: "header" | "cookie" | "percent" | "unselected" };

/** What a rule may look at in a request. */
export interface CanaryInputs {
  /** The first header field of this lower-case name. */
  header(name: string): string | undefined;
  /** The first cookie of this name. */
  cookie(name: string): string | undefined;
  /** The client's, 0 to 100. */
  bucket(): number;
}

const BY_ALL: CanaryDecision = { taken: true, by: "all" };
const BY_HEADER: CanaryDecision = { taken: true, by: "header" };
const BY_COOKIE: CanaryDecision = { taken: true, by: "cookie" };
const BY_PERCENT: CanaryDecision = { taken: true, by: "percent" };
const NOT_BY_HEADER: CanaryDecision = { taken: false, by: "header" };
const NOT_BY_COOKIE: CanaryDecision = { taken: false, by: "cookie" };
const NOT_BY_PERCENT: CanaryDecision = { taken: false, by: "percent" };
const UNSELECTED: CanaryDecision = { taken: false, by: "unselected" };

/** The first of header, cookie and percentage that says something decides, as in ingress controllers. */
export function decideCanary(
  match: Pick<RuleMatch, "header" | "cookie" | "percent">,
  inputs: CanaryInputs,
): CanaryDecision {
  if (match.header !== undefined) {
    const value = inputs.header(match.header.name);
    if (value === match.header.value) return BY_HEADER;
    if (value === NEVER) return NOT_BY_HEADER;
  }
  if (match.cookie !== undefined) {
    const value = inputs.cookie(match.cookie.name);
    if (value === match.cookie.value) return BY_COOKIE;
    if (value === NEVER) return NOT_BY_COOKIE;
  }
  if (match.percent !== undefined) return inputs.bucket() < match.percent ? BY_PERCENT : NOT_BY_PERCENT;
  return match.header === undefined && match.cookie === undefined ? BY_ALL : UNSELECTED;
}

/** The bucket is computed at most once, and only when a rule needs it. */
export function canaryInputsOf(
  headers: HeaderList,
  client: string,
  bucketOf: (client: string) => number,
): CanaryInputs {
  let bucket: number | undefined;
  return {
    header: (name) => header(headers, name),
    cookie: (name) => cookieOf(headers, name),
    bucket: () => {
      bucket ??= bucketOf(client);
      return bucket;
    },
  };
}

/** The value of the first cookie `name` in all Cookie fields (RFC 6265 section 4.2.1), without quotes around it. */
function cookieOf(headers: HeaderList, name: string): string | undefined {
  for (const [field, value] of headers) {
    if (field !== "cookie") continue;
    for (const pair of value.split(";")) {
      const equals = pair.indexOf("=");
      if (equals >= 0 && pair.slice(0, equals).trim() === name) return unquoted(pair.slice(equals + 1).trim());
    }
  }
  return undefined;
}

function unquoted(value: string): string {
  return value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
}

const MINUTE = 60_000;
const DAY = 1440;
const WEEK = 7 * DAY;
/** 1970 started on a Thursday. */
const FIRST_DAY = 4;

/** True if `at` (milliseconds since 1970) is in `window`; `from` is inside, `until` outside. */
export function isWithin(window: TimeWindow, at: number): boolean {
  if (window.from !== undefined && at < window.from) return false;
  if (window.until !== undefined && at >= window.until) return false;
  return isMinute(window, minuteOfWeek(at));
}

/** Minutes since Sunday 00:00 UTC. */
function minuteOfWeek(at: number): number {
  const minute = (Math.floor(at / MINUTE) + FIRST_DAY * DAY) % WEEK;
  return minute < 0 ? minute + WEEK : minute;
}

/** Whether days and hours include a minute of the week. Hours that run over midnight belong to the day on which they begin. */
function isMinute({ days, hours }: TimeWindow, minute: number): boolean {
  const day = Math.floor(minute / DAY);
  if (hours === undefined) return days === undefined || days.has(day);
  const { begin, end } = hours;
  const time = minute % DAY;
  const overMidnight = end < begin;
  if (time >= begin && (overMidnight || time < end)) return days === undefined || days.has(day);
  if (overMidnight && time < end) return days === undefined || days.has((day + 6) % 7);
  return false;
}

/** False for a window that no instant is in. */
export function everHolds(window: TimeWindow): boolean {
  const { from, until } = window;
  if (from === undefined || until === undefined || until - from >= WEEK * MINUTE) return spansOf(window).length > 0;
  // Days and hours change at whole minutes only, so `from` and the minutes that begin before `until` are enough.
  for (let at = from; at < until; at = (Math.floor(at / MINUTE) + 1) * MINUTE) {
    if (isMinute(window, minuteOfWeek(at))) return true;
  }
  return false;
}

/** True when `outer` includes every minute of the week that `inner` includes; `from` and `until` are ignored. */
export function coversWeek(outer: TimeWindow | undefined, inner: TimeWindow | undefined): boolean {
  if (outer === undefined || (outer.days === undefined && outer.hours === undefined)) return true;
  const wider = spansOf(outer);
  return spansOf(inner ?? EVERY_WEEK).every(([begin, end]) =>
    wider.some(([from, until]) => from <= begin && end <= until),
  );
}

const EVERY_WEEK: TimeWindow = { from: undefined, until: undefined, days: undefined, hours: undefined };
const ALL_DAYS = [0, 1, 2, 3, 4, 5, 6];

type MinuteSpan = readonly [begin: number, end: number];

/** The minutes of the week in days and hours, as ascending spans with gaps between them. */
function spansOf({ days, hours = { begin: 0, end: DAY } }: TimeWindow): readonly MinuteSpan[] {
  const length = hours.end < hours.begin ? hours.end + DAY - hours.begin : hours.end - hours.begin;
  const spans = [...(days ?? ALL_DAYS)].flatMap((day): MinuteSpan[] => {
    const begin = day * DAY + hours.begin;
    const end = begin + length;
    return end <= WEEK
      ? [[begin, end]]
      : [
          [begin, WEEK],
          [0, end - WEEK],
        ];
  });
  const joined: [number, number][] = [];
  for (const [begin, end] of spans.filter((span) => span[0] < span[1]).sort((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last !== undefined && begin <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([begin, end]);
  }
  return joined;
}
