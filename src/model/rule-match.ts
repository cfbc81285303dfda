/** Which rules are about an operation of a resource? */

import { type HeaderList, header } from "./http.ts";
import type { Rule, RuleMatch, TimeWindow } from "./rules.ts";

/** Names of the groups of operations. */
export const READS = "reads";
export const WRITES = "writes";

/** What is asked for, whoever asks. */
export interface RequestedOperation {
  readonly resource: string;
  readonly operation: string;
  /** True when it changes something. */
  readonly write: boolean;
  /** v1's answer is a guess, and native v1 is there: only rules that name the operation are about it. */
  readonly guessed?: boolean | undefined;
}

/** True when resource and operation of `match` include what is asked for. */
export function isAbout(
  { resources, operations }: RuleMatch,
  { resource, operation, write, guessed }: RequestedOperation,
): boolean {
  if (resources !== undefined && !resources.has(resource)) return false;
  if (guessed === true) return operations?.has(operation) === true;
  return operations === undefined || operations.has(operation) || operations.has(write ? WRITES : READS);
}

/** By operation, reads and writes apart; `others` are those that no rule names. */
interface ResourceIndex {
  readonly named: ReadonlyMap<string, readonly [reads: readonly Rule[], writes: readonly Rule[]]>;
  readonly others: readonly [reads: readonly Rule[], writes: readonly Rule[]];
}

/** The rules about a subject, in their order, worked out beforehand for every name that a rule names and for all others. */
export function indexRules(rules: readonly Rule[]): (subject: RequestedOperation) => readonly Rule[] {
  const resources = new Set(rules.flatMap(({ match }) => [...(match.resources ?? [])]));
  const operations = new Set(rules.flatMap(({ match }) => [...(match.operations ?? [])]));
  const shelfOf = (ofResource: (match: RuleMatch) => boolean): ResourceIndex => {
    const here = rules.filter(({ match }) => ofResource(match));
    const sides = (name: string | undefined): ResourceIndex["others"] => {
      const about = (group: string) =>
        here.filter(({ match: { operations: all } }) => {
          return all === undefined || all.has(group) || (name !== undefined && all.has(name));
        });
      return [about(READS), about(WRITES)];
    };
    return { named: new Map([...operations].map((name) => [name, sides(name)])), others: sides(undefined) };
  };
  const shelves = new Map(
    [...resources].map((name) => [
      name,
      shelfOf((match) => match.resources === undefined || match.resources.has(name)),
    ]),
  );
  const rest = shelfOf((match) => match.resources === undefined);
  return (subject) => {
    const { resource, operation, write, guessed } = subject;
    const shelf = shelves.get(resource) ?? rest;
    const about = (shelf.named.get(operation) ?? shelf.others)[write ? 1 : 0];
    return guessed === true ? about.filter(({ match }) => isAbout(match, subject)) : about;
  };
}

/** Does a rule take this one of the requests that it is about? (Design section 7: header, then cookie, then percentage.) */

/** The value of header or cookie that keeps a request away from a rule. */
export const NEVER = "never";

/** What decided. `all`: the rule looks at nothing. `unselected`: neither header nor cookie spoke, and there is no percentage. */
export type CanaryDecision =
  | { readonly taken: true; readonly by: "all" | "header" | "cookie" | "percent" }
  | { readonly taken: false; readonly by: "header" | "cookie" | "percent" | "unselected" };

/** What a rule may ask about a request. */
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

/** The order that operators know from ingress controllers: the first of header, cookie and percentage that says something decides. */
export function decideCanary(
  match: Pick<RuleMatch, "header" | "cookie" | "percent">,
  signs: CanaryInputs,
): CanaryDecision {
  if (match.header !== undefined) {
    const value = signs.header(match.header.name);
    if (value === match.header.value) return BY_HEADER;
    if (value === NEVER) return NOT_BY_HEADER;
  }
  if (match.cookie !== undefined) {
    const value = signs.cookie(match.cookie.name);
    if (value === match.cookie.value) return BY_COOKIE;
    if (value === NEVER) return NOT_BY_COOKIE;
  }
  if (match.percent !== undefined) return isTaken(signs.bucket(), match.percent) ? BY_PERCENT : NOT_BY_PERCENT;
  return match.header === undefined && match.cookie === undefined ? BY_ALL : UNSELECTED;
}

/** The signs of one request. The bucket is worked out at most once, and only when a rule asks for it. */
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

/** The value of the first cookie called `name` in all Cookie fields (RFC 6265 section 4.2.1), without quotes around it. */
export function cookieOf(headers: HeaderList, name: string): string | undefined {
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

/** On which side of a percentage does a client stand? (Design section 7: sticky.) */

/** Bytes of a digest that are looked at: 48 bits, all of which a number holds exactly. */
const BYTES = 6;

/**
 * The place of a digest on the scale of percentages: 0 included, 100 excluded, evenly spread. Throws `Error` for a digest of
 * less than 6 bytes.
 */
export function bucketOfDigest(digest: Uint8Array): number {
  if (digest.length < BYTES) throw new Error(`a digest of ${digest.length} bytes is too short`);
  let value = 0;
  for (let at = 0; at < BYTES; at++) value = value * 256 + (digest[at] ?? 0);
  return (value / 256 ** BYTES) * 100;
}

/** True when a rule of `percent` takes a client in `bucket`: 0 takes nobody, 100 everybody, and more never means fewer. */
export function isTaken(bucket: number, percent: number): boolean {
  return bucket < percent;
}

/** Is it time for a rule? (Design section 7: instants, days and hours in UTC.) */

const MINUTE = 60_000;
const DAY = 1440;
const WEEK = 7 * DAY;
/** 1970 began on a Thursday. */
const FIRST_DAY = 4;

/** True when `at` (milliseconds since 1970) is in `window`; `until` is outside, `from` inside. */
export function isWithin(window: TimeWindow, at: number): boolean {
  if (window.from !== undefined && at < window.from) return false;
  if (window.until !== undefined && at >= window.until) return false;
  return isMinute(window, minuteOfWeek(at));
}

/** Minutes since the last midnight from Saturday to Sunday, UTC. */
function minuteOfWeek(at: number): number {
  const minute = (Math.floor(at / MINUTE) + FIRST_DAY * DAY) % WEEK;
  return minute < 0 ? minute + WEEK : minute;
}

/** Whether days and hours hold in a minute of the week. Past midnight, hours that run over it belong to the day before. */
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

/** True when there is a moment in `window`. */
export function everHolds(window: TimeWindow): boolean {
  const { from, until } = window;
  if (from === undefined || until === undefined || until - from >= WEEK * MINUTE) return spansOf(window).length > 0;
  // Days and hours change at whole minutes only, so `from` and the minutes that begin before `until` say all.
  for (let at = from; at < until; at = (Math.floor(at / MINUTE) + 1) * MINUTE) {
    if (isMinute(window, minuteOfWeek(at))) return true;
  }
  return false;
}

/** True when `outer` holds at every moment of the week at which `inner` does; `from` and `until` are not looked at. */
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

/** When days and hours hold: minutes of the week, ascending, none touching the next. */
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
