/** Whether a rule matches a request: by its operation, its client and the time. */
import { type HeaderList, header } from "./http.ts";
import type { Rule, RuleMatch, TimeWindow } from "./rules.ts";

/** Groups of operations. */
export const READS = "reads";
export const WRITES = "writes";

/** An operation, without its client. */
export interface RequestedOperation {
  readonly resource: string;
  readonly operation: string;
  readonly write: boolean;
  /** v1's response is a guess, and native v1 is configured: only rules that name the operation match. */
  readonly guessed?: boolean | undefined;
}

/** True if resource and operation of `match` include the requested ones. */
export function isAbout(
  { resources, operations }: RuleMatch,
  { resource, operation, write, guessed }: RequestedOperation,
): boolean {
  if (resources !== undefined && !resources.has(resource)) return false;
  if (guessed === true) return operations?.has(operation) === true;
  return operations === undefined || operations.has(operation) || operations.has(write ? WRITES : READS);
}

/** By operation, reads and writes apart; `others`: operations that no rule names. */
interface ResourceIndex {
  readonly named: ReadonlyMap<string, readonly [reads: readonly Rule[], writes: readonly Rule[]]>;
  readonly others: readonly [reads: readonly Rule[], writes: readonly Rule[]];
}

/** Looks up the rules for an operation, in their order. The index has an entry for each name in a rule, and for all others. */
export function indexRules(rules: readonly Rule[]): (subject: RequestedOperation) => readonly Rule[] {
  const resources = new Set(rules.flatMap(({ match }) => [...(match.resources ?? [])]));
  const operations = new Set(rules.flatMap(({ match }) => [...(match.operations ?? [])]));
  const indexFor = (ofResource: (match: RuleMatch) => boolean): ResourceIndex => {
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
  const byResource = new Map(
    [...resources].map((name) => [
      name,
      indexFor((match) => match.resources === undefined || match.resources.has(name)),
    ]),
  );
  const rest = indexFor((match) => match.resources === undefined);
  return (subject) => {
    const { resource, operation, write, guessed } = subject;
    const index = byResource.get(resource) ?? rest;
    const about = (index.named.get(operation) ?? index.others)[write ? 1 : 0];
    return guessed === true ? about.filter(({ match }) => isAbout(match, subject)) : about;
  };
}

/** The value of a header or cookie that excludes a request from a rule. */
export const NEVER = "never";

/** What decided. `all`: the rule has no selector. `unselected`: neither header nor cookie decided, and there is no percentage. */
export type CanaryDecision =
  | { readonly taken: true; readonly by: "all" | "header" | "cookie" | "percent" }
  | { readonly taken: false; readonly by: "header" | "cookie" | "percent" | "unselected" };

/** What a rule may ask of a request. */
export interface CanaryInputs {
  /** The first header field of this lower-case name. */
  header(name: string): string | undefined;
  /** The first cookie of this name. */
  cookie(name: string): string | undefined;
  /** The client's, 0 to 100. */
  bucket(): number;
}

/** As in ingress controllers, the first of header, cookie and percentage that has an opinion decides. */
export function decideCanary(
  match: Pick<RuleMatch, "header" | "cookie" | "percent">,
  inputs: CanaryInputs,
): CanaryDecision {
  if (match.header !== undefined) {
    const value = inputs.header(match.header.name);
    if (value === match.header.value) return { taken: true, by: "header" };
    if (value === NEVER) return { taken: false, by: "header" };
  }
  if (match.cookie !== undefined) {
    const value = inputs.cookie(match.cookie.name);
    if (value === match.cookie.value) return { taken: true, by: "cookie" };
    if (value === NEVER) return { taken: false, by: "cookie" };
  }
  if (match.percent !== undefined) return { taken: isTaken(inputs.bucket(), match.percent), by: "percent" };
  const hasSelector = match.header !== undefined || match.cookie !== undefined;
  return hasSelector ? { taken: false, by: "unselected" } : { taken: true, by: "all" };
}

/** The inputs of one request. The bucket is computed at most once, and only if a rule asks for it. */
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

/** Bytes of a digest that are used: 48 bits, which a number holds exactly. */
const BYTES = 6;

/** Maps a digest evenly to a percentage from 0 to below 100. Throws `Error` for less than 6 bytes. */
export function bucketOfDigest(digest: Uint8Array): number {
  if (digest.length < BYTES) throw new Error(`a digest of ${digest.length} bytes is too short`);
  let value = 0;
  for (let at = 0; at < BYTES; at++) value = value * 256 + (digest[at] ?? 0);
  return (value / 256 ** BYTES) * 100;
}

/** True if a rule of `percent` takes a client in `bucket`. A client that a percentage takes stays taken by every larger one. */
export function isTaken(bucket: number, percent: number): boolean {
  return bucket < percent;
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

/** Minutes since the last midnight from Saturday to Sunday, UTC. */
function minuteOfWeek(at: number): number {
  const minute = (Math.floor(at / MINUTE) + FIRST_DAY * DAY) % WEEK;
  return minute < 0 ? minute + WEEK : minute;
}

/** True if days and hours include a minute of the week. Hours over midnight belong to the day on which they start. */
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

/** True if `window` is not empty. */
export function everHolds(window: TimeWindow): boolean {
  const { from, until } = window;
  if (from === undefined || until === undefined || until - from >= WEEK * MINUTE) return spansOf(window).length > 0;
  // Days and hours change at whole minutes only: it is enough to test `from` and each minute before `until`.
  for (let at = from; at < until; at = (Math.floor(at / MINUTE) + 1) * MINUTE) {
    if (isMinute(window, minuteOfWeek(at))) return true;
  }
  return false;
}

/** True if the days and hours of `outer` include those of `inner`; `from` and `until` are ignored. */
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

/** Days and hours as spans of minutes of the week, ascending, none adjacent to the next. */
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
