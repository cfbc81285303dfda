/** Is it time for a rule? (Design section 7: instants, days and hours in UTC.) */
import type { TimeWindow } from "../model/rules.ts";

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
  return spansOf(inner ?? ALWAYS).every(([begin, end]) => wider.some(([from, until]) => from <= begin && end <= until));
}

const ALWAYS: TimeWindow = { from: undefined, until: undefined, days: undefined, hours: undefined };
const ALL_DAYS = [0, 1, 2, 3, 4, 5, 6];

type Span = readonly [begin: number, end: number];

/** When days and hours hold: minutes of the week, ascending, none touching the next. */
function spansOf({ days, hours = { begin: 0, end: DAY } }: TimeWindow): readonly Span[] {
  const length = hours.end < hours.begin ? hours.end + DAY - hours.begin : hours.end - hours.begin;
  const spans = [...(days ?? ALL_DAYS)].flatMap((day): Span[] => {
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
