/** When a rule matches: its time window, and until it expires. */
import * as z from "zod";
import { form, instantLeaf, oneOrMany } from "../leaves.ts";
import { clock, DAYS, instant, shortDay, shortInstant } from "../words.ts";
import type { Asking, Condition, RuleRemark } from "./condition.ts";

export interface TimeMatch {
  readonly time: TimeWindow | undefined;
}

/** Instants are milliseconds since 1970; hours and days are UTC. */
export interface TimeWindow {
  readonly from: number | undefined;
  readonly until: number | undefined;
  /** 0 is Sunday; of a window over midnight, the day on which it starts. */
  readonly days: ReadonlySet<number> | undefined;
  /** Minutes of the day; `end` below `begin` runs over midnight. */
  readonly hours: { readonly begin: number; readonly end: number } | undefined;
}

/** Minutes of the day. */
const hours = (() => {
  const error = "expected hours such as 08:00-18:00, or 22:00-06:00 over midnight";
  return z
    .string({ error })
    .regex(/^([01]\d|2[0-3]):[0-5]\d-(([01]\d|2[0-3]):[0-5]\d|24:00)$/, { error })
    .transform((text) => {
      const [begin = 0, end = 0] = text.split("-").map((time) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3)));
      return { begin, end };
    })
    .meta(form("HH:MM-HH:MM"));
})();

const windowSchema = z
  .strictObject({
    from: instantLeaf.optional().describe("From this instant on"),
    until: instantLeaf.optional().describe("Until this instant, excluding it"),
    days: oneOrMany((error) => z.enum(DAYS, { error }), `one of ${DAYS.join(", ")}`, "days")
      .optional()
      .describe("On these days (UTC); hours over midnight belong to the day they begin on"),
    hours: hours.optional().describe("At these hours (UTC), excluding the end"),
  })
  .describe("When the rule applies");

const schema = { time: windowSchema.optional() };

export const time: Condition<TimeMatch, typeof schema> = {
  schema,
  build: (text) => ({ time: text.time && windowOf(text.time) }),
  holds({ match: { time: window }, expires }) {
    if (expires !== undefined)
      return ({ input: { at } }) => at < expires && (window === undefined || isWithin(window, at));
    return window && (({ input }) => isWithin(window, input.at));
  },
  // The present is not asked, so that a file means the same whenever it is read.
  covers: (outer, inner) =>
    (outer.match.time?.from ?? Number.NEGATIVE_INFINITY) <= (inner.match.time?.from ?? Number.NEGATIVE_INFINITY) &&
    endOf(outer) >= endOf(inner) &&
    coversWeek(outer.match.time, inner.match.time),
  words: ({ time: window }) =>
    window === undefined
      ? []
      : [
          ...(window.days === undefined ? [] : [[...window.days].map(shortDay).join(" ")]),
          ...(window.hours === undefined ? [] : [`${clock(window.hours.begin)} to ${clock(window.hours.end)} UTC`]),
          ...(window.from === undefined ? [] : [`from ${shortInstant(window.from)}`]),
          ...(window.until === undefined ? [] : [`until ${shortInstant(window.until)}`]),
        ],
  why({ expires }, { input: { at } }, taken) {
    if (taken) return undefined;
    if (expires !== undefined && at >= expires) return `expired on ${new Date(expires).toISOString()}`;
    return `${new Date(at).toISOString()} is outside its time`;
  },
  remarks: ({ match, expires }, { now }) =>
    timeFaults({ match: { time: match.time && windowOf(match.time) }, expires }, now),
  view: ({ time: window }) => ({
    time: window && {
      from: instant(window.from),
      until: instant(window.until),
      days: window.days && [...window.days],
      hours: window.hours && `${clock(window.hours.begin)}-${clock(window.hours.end)} UTC`,
    },
  }),
  amounts: ["time"],
};

function windowOf({ from, until, days, hours: ofDay }: z.output<typeof windowSchema>): TimeWindow {
  return { from, until, days: days && new Set(days.map((day) => DAYS.indexOf(day))), hours: ofDay };
}

function timeFaults(rule: Asking<TimeMatch>, now: number): readonly RuleRemark[] {
  const { expires } = rule;
  const window = rule.match.time;
  if (window !== undefined && !everHolds(window)) {
    const remedy = "let until be after from, and hours and days lie between them";
    return [{ path: ["match", "time"], what: "there is no such moment", remedy }];
  }
  if (expires !== undefined && window?.from !== undefined && expires <= window.from) {
    const what = "is not after match.time.from: the rule never holds";
    return [{ path: ["expires"], what, remedy: "let it expire later" }];
  }
  const end = endOf(rule);
  if (end > now) return [];
  const path =
    expires !== undefined && expires <= (window?.until ?? expires) ? ["expires"] : ["match", "time", "until"];
  const what = `${new Date(end).toISOString()} is over: the rule takes nothing`;
  return [{ path, what, remedy: "remove the rule, or name a later date", kind: "aged" }];
}

/** When a rule stops taking requests. */
function endOf({ match, expires }: Asking<TimeMatch>): number {
  return Math.min(match.time?.until ?? Number.POSITIVE_INFINITY, expires ?? Number.POSITIVE_INFINITY);
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
  return spanEnd(window, minuteOfWeek(at)) !== undefined;
}

/** Minutes since Sunday 00:00 UTC. */
function minuteOfWeek(at: number): number {
  const minute = (Math.floor(at / MINUTE) + FIRST_DAY * DAY) % WEEK;
  return minute < 0 ? minute + WEEK : minute;
}

/**
 * The end, in minutes of the week, of the hours that include `minute`; undefined when days and hours do not include it. Hours that run over
 * midnight belong to the day on which they begin.
 */
function spanEnd({ days, hours: ofDay }: TimeWindow, minute: number): number | undefined {
  const { begin, end } = ofDay ?? WHOLE_DAY;
  const time = minute % DAY;
  const day = (minute - time) / DAY;
  const overMidnight = end < begin;
  if (time >= begin && (overMidnight || time < end)) {
    if (days !== undefined && !days.has(day)) return undefined;
    return (overMidnight ? day + 1 : day) * DAY + end;
  }
  return overMidnight && time < end && (days === undefined || days.has((day + 6) % 7)) ? day * DAY + end : undefined;
}

const WHOLE_DAY = { begin: 0, end: DAY };
const ALL_DAYS: ReadonlySet<number> = new Set([0, 1, 2, 3, 4, 5, 6]);

/** False for a window that no instant is in. */
export function everHolds(window: TimeWindow): boolean {
  const { from, until } = window;
  if (window.hours !== undefined && window.hours.begin === window.hours.end) return false;
  if (from === undefined || until === undefined || until - from >= WEEK * MINUTE) return true;
  // Days and hours change at whole minutes only, so `from` and the minutes that begin before `until` are enough.
  for (let at = from; at < until; at = (Math.floor(at / MINUTE) + 1) * MINUTE) {
    if (spanEnd(window, minuteOfWeek(at)) !== undefined) return true;
  }
  return false;
}

/** True when `outer` includes every minute of the week that `inner` includes; `from` and `until` are ignored. */
export function coversWeek(outer: TimeWindow | undefined, inner: TimeWindow | undefined): boolean {
  if (outer === undefined || (outer.days === undefined && outer.hours === undefined)) return true;
  const { begin, end } = inner?.hours ?? WHOLE_DAY;
  for (const day of inner?.days ?? ALL_DAYS) {
    const last = (end < begin ? day + 1 : day) * DAY + end;
    for (let minute = day * DAY + begin; minute < last; ) {
      const covered = spanEnd(outer, minute % WEEK);
      if (covered === undefined) return false;
      minute += covered - (minute % WEEK);
    }
  }
  return true;
}
