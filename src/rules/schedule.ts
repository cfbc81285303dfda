/** The windows of a brownout: when its cron expression fires in its time zone, and for how long each window lasts. */
import { Cron } from "croner";
import type { ScheduleSettings, TimeSpan } from "../model/rules.ts";
import { HOUR, MINUTE } from "./words.ts";

export interface Schedule {
  /** The window that includes the time, which is in milliseconds since 1970. */
  open(at: number): TimeSpan | undefined;
  /** At most `count` windows that begin after the time, in order. */
  after(at: number, count: number): readonly TimeSpan[];
  /** True if it fires again and again before the window is over, so that the end of the window cannot be told. */
  isEndless(window: TimeSpan): boolean;
}

/** Most firings that join to one window. */
const MOST_JOINED = 50;

/** Throws `Error` with a message for people if `cron` or `zone` cannot be used. */
export function createSchedule({ cron, zone, duration, from, until }: ScheduleSettings): Schedule {
  const fires = cronOf(cron, zone);
  const first = from ?? Number.NEGATIVE_INFINITY;
  const last = until ?? Number.POSITIVE_INFINITY;
  /** When it fires next after the time; undefined if it never does. */
  const next = (at: number): number | undefined => {
    const found = fires.nextRun(new Date(Math.max(at, first - 1)))?.getTime();
    return found === undefined || found >= last ? undefined : found;
  };
  /** The window that begins with a firing, with those that begin before its end. */
  const windowFrom = (start: number): TimeSpan => {
    let end = start + duration;
    let joined = 0;
    for (let more = next(start); more !== undefined && more <= end && joined < MOST_JOINED; more = next(more)) {
      end = more + duration;
      joined += 1;
    }
    return { start, end: Math.min(end, last) };
  };
  const after = (at: number, count: number): readonly TimeSpan[] => {
    const found: TimeSpan[] = [];
    let end = at;
    while (found.length < count) {
      const start = next(end);
      if (start === undefined) break;
      const window = windowFrom(start);
      found.push(window);
      ({ end } = window);
    }
    return found;
  };
  return {
    open: (at) => {
      if (at < first || at >= last) return undefined;
      let start = next(at - duration);
      if (start === undefined || start > at) return undefined;
      // The firing may lie in a window that began before it.
      for (let joined = 0; joined < MOST_JOINED; joined++) {
        const before = next(start - duration - 1);
        if (before === undefined || before >= start) break;
        start = before;
      }
      return windowFrom(start);
    },
    after,
    isEndless: ({ end }) => {
      // `until` ends it, also within what would be its duration.
      if (end >= last) return false;
      const more = next(end - duration);
      return more !== undefined && more <= end;
    },
  };
}

/** Why `cron` and `zone` are no schedule; undefined if they are one. */
export function scheduleFault({
  cron,
  zone,
}: Pick<ScheduleSettings, "cron" | "zone">): { readonly key: "cron" | "zone"; readonly what: string } | undefined {
  if (!isZone(zone)) return { key: "zone", what: `${zone} is not a time zone that this Node.js knows` };
  try {
    cronOf(cron, zone);
    return undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, "") : String(error);
    return { key: "cron", what: `it is not a cron expression: ${why}` };
  }
}

/** A window whose local time differs from what `cron` says, because clocks in its zone change. */
export interface ShiftedWindow {
  readonly window: TimeSpan;
  /** `missing`: that local time does not exist on the day. `twice`: it exists twice, and the window begins at the first. */
  readonly why: "missing" | "twice";
}

/** Those of `windows` that begin at a local time that a change of clocks skips or repeats. */
export function shiftedWindows(
  { cron, zone }: Pick<ScheduleSettings, "cron" | "zone">,
  windows: readonly TimeSpan[],
): readonly ShiftedWindow[] {
  const fires = cronOf(cron, zone);
  const clock = zoneClock(zone);
  return windows.flatMap((window): readonly ShiftedWindow[] => {
    const start = new Date(window.start);
    if (!fires.match(start)) return [{ window, why: "missing" }];
    const local = clock(window.start);
    const isTwice = SHIFTS.some((shift) => clock(window.start + shift) === local);
    return isTwice ? [{ window, why: "twice" }] : [];
  });
}

/** Clocks change by an hour, or by half of one. */
const SHIFTS = [HOUR, HOUR / 2];

/** `Sun 2027-03-28 03:00` of a time, by the clocks of the zone. */
export function zoneClock(zone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    hourCycle: "h23",
    ...({ weekday: "short", year: "numeric", month: "2-digit", day: "2-digit" } as const),
    ...({ hour: "2-digit", minute: "2-digit" } as const),
  });
  return (at) => {
    const parts = format.formatToParts(at);
    const of = (name: Intl.DateTimeFormatPartTypes) => parts.find(({ type }) => type === name)?.value ?? "";
    return `${of("weekday")} ${of("year")}-${of("month")}-${of("day")} ${of("hour")}:${of("minute")}`;
  };
}

/** `2027-03-28 09:00 to 09:10 UTC (Sun 2027-03-28 11:00 Europe/Vienna)`. */
export function windowWords({ start, end }: TimeSpan, zone: string): string {
  const [from, to] = [start, end].map((at) => new Date(Math.floor(at / MINUTE) * MINUTE).toISOString().slice(0, 16));
  const [day, time] = (from ?? "").split("T");
  const [endDay, endTime] = (to ?? "").split("T");
  const until = endDay === day ? endTime : `${endDay} ${endTime}`;
  // A replica of another release may know zones that are unknown here.
  const local = zone === "UTC" || !isZone(zone) ? "" : ` (${zoneClock(zone)(start)} ${zone})`;
  return `${day} ${time} to ${until} UTC${local}`;
}

function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/** No timer is started. */
function cronOf(cron: string, zone: string): Cron {
  const mode = cron.startsWith("@") ? "auto" : "5-part";
  return new Cron(cron, { timezone: zone, paused: true, mode });
}
