/** The window of a report: which time is asked for, who called v1 in it, and the words for it. */
import type { AskedTimes } from "../history/requests.ts";
import { utcMinute } from "../ledger/clients-view.ts";
import { COUNTED_DAYS, calledOn, countOn, DAY_MS, dateOf, dayOf, MAPPED_DAYS } from "../ledger/days.ts";
import type { ClientEntry, LedgerSnapshot } from "../ledger/entry.ts";
import type { MergedProgress, MergedWindow } from "./merge.ts";

/** The time that a report is about, by the latest clock. */
export interface ReportWindow {
  /** Undefined: as far as the instances remember. */
  readonly from: number | undefined;
  /** Undefined: until now. */
  readonly to: number | undefined;
  /** Everything that instances remember is in it. */
  readonly isAll: boolean;
  readonly asked: AskedTimes;
  /** What instances counted in it; undefined if one of them cannot tell, or for all times. */
  readonly counted: MergedWindow | undefined;
  /** Addresses that cannot tell it. */
  readonly tooOld: readonly string[];
  readonly days: ReportDays;
}

/** The UTC days that the window touches: counts of clients are by day. */
interface ReportDays {
  readonly from: number;
  readonly to: number;
  readonly today: number;
  /** The first day with counts of clients; undefined: an instance has none. */
  readonly first: number | undefined;
}

/** `merged`: all instances, which were asked for these times. */
export function windowOf(asked: AskedTimes, { at, window, withoutWindow, ledger }: MergedProgress): ReportWindow {
  const timeOf = (time: number): number => (time < 0 ? Math.max(0, at + time) : time);
  const from = asked.from === undefined ? undefined : timeOf(asked.from);
  const to = asked.to === undefined ? undefined : timeOf(asked.to);
  const isAll = from === undefined && to === undefined;
  return {
    from,
    to,
    isAll,
    asked,
    counted: isAll ? undefined : window,
    tooOld: isAll ? [] : withoutWindow,
    days: daysOf(from, to, at, ledger),
  };
}

function daysOf(from: number | undefined, to: number | undefined, at: number, ledger: LedgerSnapshot): ReportDays {
  const first = ledger.daysSince === undefined ? undefined : dayOf(ledger.daysSince);
  const today = dayOf(at);
  return {
    from: from === undefined ? (first ?? 0) : dayOf(from),
    to: to === undefined ? today : dayOf(to - 1),
    today,
    first,
  };
}

/** Requests of a client, also of the rest of the days that the window touches. Undefined: unknown. */
export function requestsIn(client: ClientEntry, version: "v1" | "v2", window: ReportWindow): number | undefined {
  if (window.isAll) return client.requests[version];
  return window.days.first === undefined ? undefined : countOn(client.days, version, window.days);
}

/** True for a client that called v1 in the window, and for one that called later and perhaps then. */
export function callsV1({ lastV1, firstSeen, days }: ClientEntry, { from, to, days: asked }: ReportWindow): boolean {
  if (lastV1 === undefined || (from !== undefined && lastV1 < from)) return false;
  if (to === undefined || lastV1 < to) return true;
  if (firstSeen >= to) return false;
  const isMapped = asked.first !== undefined && asked.from > asked.first && asked.from > asked.today - MAPPED_DAYS;
  return !isMapped || calledOn(days, "v1", asked.from, asked.to);
}

/** True if it was called in the window, and if it was called later and perhaps then. */
export function isSeenIn({ lastSeen }: { readonly lastSeen: number }, { from }: Pick<ReportWindow, "from">): boolean {
  return from === undefined || lastSeen >= from;
}

/** `in the last 24 h`. For all times `since`: when they began. */
export function windowWords(window: ReportWindow, since: number): string {
  return window.isAll ? `since ${utcMinute(since)}` : askedWords(window);
}

/** `counted for 2 h only`; undefined where all of the window was counted, and where that is unknown. */
export function limitsOf({ from, to, isAll, counted, tooOld }: ReportWindow): string | undefined {
  if (isAll || tooOld.length > 0 || counted === undefined) return undefined;
  const { countedSince } = counted;
  if (countedSince >= counted.to) return "not counted then";
  if (from === undefined || countedSince <= from) return undefined;
  const part = to === undefined ? `for ${lasting(counted.to - countedSince)}` : `since ${utcMinute(countedSince)}`;
  return `counted ${part} only`;
}

function askedWords({ asked, from, to }: ReportWindow): string {
  if (from !== undefined && to === undefined) {
    const ago = -(asked.from ?? 0);
    return ago > 0 ? `in the last ${lasting(ago)}` : `since ${utcMinute(from)}`;
  }
  if (to === undefined) return "";
  if (from === undefined) return `until ${utcMinute(to)}`;
  const isSameDay = dayOf(from) === dayOf(to);
  return `from ${utcMinute(from)} to ${isSameDay ? utcMinute(to).slice(11) : utcMinute(to)}`;
}

/** `clients: whole days, UTC: 2026-11-20 to 2026-11-21`, and what is not counted; undefined where counts need no such word. */
export function clientDaysWords({ isAll, days }: ReportWindow): string | undefined {
  if (isAll) return undefined;
  if (days.first === undefined) return "clients: requests per day are unknown, since an instance is older";
  if (days.from <= days.today - COUNTED_DAYS) return `clients: requests per day are known for ${COUNTED_DAYS - 1} days`;
  const from = Math.max(days.from, days.first);
  const span = from === days.to ? dateOf(from) : `${dateOf(from)} to ${dateOf(days.to)}`;
  return `clients: whole days, UTC: ${span}${from > days.from ? ", not counted before" : ""}`;
}

const UNITS = [
  [DAY_MS, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1000, "s"],
] as const;

/** `24 h`, `7 d`, `90 min`: in the largest unit that says all of it, from two days on in days. */
function lasting(ms: number): string {
  const [size, name] = UNITS.find(([size, unit]) => ms >= size * (unit === "d" ? 2 : 1) && ms % size === 0) ??
    UNITS.find(([size]) => ms >= 2 * size) ?? [1000, "s"];
  return `${Math.floor(ms / size)} ${name}`;
}
