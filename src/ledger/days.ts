/**
 * On which UTC days each client called v1 and v2: how often on the last 14 and today, and whether at all on the last 180. A day is a number,
 * counted from 1970. All clients share one array of 172 bytes per client: as objects the same would take several times as much.
 */
import * as z from "zod";
import { LAST_TIME } from "../model/clock.ts";
import { Count, type Read } from "../rules/record.ts";

export const DAY_MS = 86_400_000;
/** Days with counts: 14, and today. */
export const COUNTED_DAYS = 15;
/** Days of which it is known whether the client called. */
export const MAPPED_DAYS = 180;

const LAST_DAY = LAST_TIME / DAY_MS;
const Counts = z.array(Count).max(COUNTED_DAYS);
const Map180 = z.string().regex(/^[0-9a-f]{0,45}$/, `expected at most ${MAPPED_DAYS / 4} hexadecimal digits`);

export const DaysSchema = z.object({
  /** The last day on which the client called. */
  last: z.int().min(0).max(LAST_DAY),
  /** Requests on `last`, the day before, and so on. Zeros at the end are left out. */
  v1: Counts,
  v2: Counts,
  /** Days with a call as bits of a hexadecimal number: the lowest is `last`, the next the day before. */
  calledV1: Map180,
  calledV2: Map180,
});
export type ClientDays = Read<typeof DaysSchema>;

/** Milliseconds since 1970 as a day. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/** The sum over the days `from` to `to`, both included. Undefined if they begin before the counted days, which end with `today`. */
export function countOn(
  days: ClientDays | undefined,
  version: "v1" | "v2",
  { from, to, today }: { readonly from: number; readonly to: number; readonly today: number },
): number | undefined {
  if (from <= today - COUNTED_DAYS) return undefined;
  if (days === undefined) return 0;
  return days[version].reduce((sum, count, back) => {
    const day = days.last - back;
    return day >= from && day <= to ? sum + count : sum;
  }, 0);
}

/** True if the client called on one of the days `from` to `to`, both included. */
export function calledOn(days: ClientDays | undefined, version: "v1" | "v2", from: number, to: number): boolean {
  if (days === undefined || from > days.last) return false;
  const bits = bitsOf(version === "v1" ? days.calledV1 : days.calledV2);
  const skipped = bits >> BigInt(Math.max(0, days.last - to));
  return BigInt.asUintN(Math.max(0, Math.min(to, days.last) - from + 1), skipped) !== 0n;
}

/** The same client on two instances: counts add up, and a day is one with a call if it is one on either. */
export function mergeDays(a: ClientDays | undefined, b: ClientDays | undefined): ClientDays | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const last = Math.max(a.last, b.last);
  const counts = (version: "v1" | "v2"): readonly number[] =>
    trimmed(
      Array.from({ length: COUNTED_DAYS }, (_, back) => {
        return [a, b].reduce((sum, one) => sum + (one[version][back - (last - one.last)] ?? 0), 0);
      }),
    );
  const bits = (of: "calledV1" | "calledV2"): string =>
    textOf([a, b].reduce((all, one) => all | (bitsOf(one[of]) << BigInt(Math.min(last - one.last, MAPPED_DAYS))), 0n));
  return { last, v1: counts("v1"), v2: counts("v2"), calledV1: bits("calledV1"), calledV2: bits("calledV2") };
}

/** For people: the days with calls among the counted ones, and on how many days it called in the 180 days that end with its last. */
export interface ClientDaysView {
  readonly counts: readonly { readonly date: string; readonly v1: number; readonly v2: number }[];
  readonly v1Days: number;
  readonly v2Days: number;
}

export function daysView(days: ClientDays | undefined): ClientDaysView {
  if (days === undefined) return { counts: [], v1Days: 0, v2Days: 0 };
  const { last, v1, v2 } = days;
  const counts = Array.from({ length: COUNTED_DAYS }, (_, back) => {
    return { date: dateOf(last - back), v1: v1[back] ?? 0, v2: v2[back] ?? 0 };
  });
  const daysIn = (text: string): number => bitsOf(text).toString(2).replaceAll("0", "").length;
  return {
    counts: counts.filter((one) => one.v1 + one.v2 > 0),
    v1Days: daysIn(days.calledV1),
    v2Days: daysIn(days.calledV2),
  };
}

/** `2026-11-21`. */
export function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

function bitsOf(text: string): bigint {
  return BigInt(`0x0${text}`);
}

function textOf(bits: bigint): string {
  const kept = BigInt.asUintN(MAPPED_DAYS, bits);
  return kept === 0n ? "" : kept.toString(16);
}

function trimmed(counts: readonly number[]): readonly number[] {
  return counts.slice(0, counts.findLastIndex((count) => count > 0) + 1);
}

/** Words of 32 bits: the last day, two counts for each of 15 days, two maps of 192 bits. The last day comes first in all of them. */
const MAP_WORDS = 6;
const COUNTS_AT = { v1: 1, v2: 1 + COUNTED_DAYS } as const;
const MAP_AT = { v1: 1 + 2 * COUNTED_DAYS, v2: 1 + 2 * COUNTED_DAYS + MAP_WORDS } as const;
const WORDS = 1 + 2 * COUNTED_DAYS + 2 * MAP_WORDS;
const MOST = 0xffff_ffff;
const FIRST_SLOTS = 64;

export type DayPool = ReturnType<typeof createDayPool>;

/** The days of all clients. A slot is the place of one client. */
export function createDayPool() {
  let words = new Uint32Array(FIRST_SLOTS * WORDS);
  let used = 0;
  const free: number[] = [];
  return {
    /** An empty slot. */
    take: (): number => {
      const slot = free.pop() ?? used++;
      if (used * WORDS > words.length) {
        const more = new Uint32Array(2 * words.length);
        more.set(words);
        words = more;
      }
      return slot;
    },
    release: (slot: number): void => {
      words.fill(0, slot * WORDS, (slot + 1) * WORDS);
      free.push(slot);
    },
    /** Counts a request. */
    note: (slot: number, version: "v1" | "v2", day: number): void => {
      const at = slot * WORDS;
      if (words[at] !== day) moveTo(words, at, day);
      const back = (words[at] ?? 0) - day;
      const count = at + COUNTS_AT[version] + back;
      words[count] = Math.min(MOST, (words[count] ?? 0) + 1);
      const map = at + MAP_AT[version];
      words[map] = ((words[map] ?? 0) | (1 << back)) >>> 0;
    },
    read: (slot: number): ClientDays | undefined => {
      const at = slot * WORDS;
      const last = words[at] ?? 0;
      if (last === 0) return undefined;
      const counts = (from: number) => trimmed([...words.subarray(at + from, at + from + COUNTED_DAYS)]);
      const map = (from: number) => mapText(words.subarray(at + from, at + from + MAP_WORDS));
      return {
        last,
        v1: counts(COUNTS_AT.v1),
        v2: counts(COUNTS_AT.v2),
        calledV1: map(MAP_AT.v1),
        calledV2: map(MAP_AT.v2),
      };
    },
    /** Writes `days` into an empty slot. */
    write: (slot: number, days: ClientDays): void => {
      const at = slot * WORDS;
      words[at] = days.last;
      for (const version of ["v1", "v2"] as const) {
        for (const [back, count] of days[version].entries())
          words[at + COUNTS_AT[version] + back] = Math.min(MOST, count);
        let bits = bitsOf(version === "v1" ? days.calledV1 : days.calledV2);
        for (let word = 0; bits > 0n; word++, bits >>= 32n) {
          words[at + MAP_AT[version] + word] = Number(BigInt.asUintN(32, bits));
        }
      }
    },
  };
}

/**
 * Makes `day` one of the counted days of the slot at `at`. Earlier days move back, and out. A day before the counted ones means that
 * the clock was set back from a time that never was: the days after it are forgotten.
 */
function moveTo(words: Uint32Array, at: number, day: number): void {
  const last = words[at] ?? 0;
  const by = day - last;
  if (by <= 0 && by > -COUNTED_DAYS) return;
  words[at] = day;
  for (const from of [COUNTS_AT.v1, COUNTS_AT.v2]) {
    const counts = words.subarray(at + from, at + from + COUNTED_DAYS);
    if (by < 0 || by >= COUNTED_DAYS) counts.fill(0);
    else {
      counts.copyWithin(by, 0);
      counts.fill(0, 0, by);
    }
  }
  for (const from of [MAP_AT.v1, MAP_AT.v2]) shift(words.subarray(at + from, at + from + MAP_WORDS), by);
}

const MAP_BITS = 32 * MAP_WORDS;

/** Moves all bits up by `by`, or down if it is below 0. */
function shift(map: Uint32Array, by: number): void {
  const bits = map.reduceRight((all, word) => (all << 32n) | BigInt(word), 0n);
  const distance = BigInt(Math.min(MAP_BITS, Math.abs(by)));
  let moved = by < 0 ? bits >> distance : bits << distance;
  for (const at of map.keys()) {
    map[at] = Number(BigInt.asUintN(32, moved));
    moved >>= 32n;
  }
}

/** As `textOf`, without a large number. */
function mapText(map: Uint32Array): string {
  const kept = map.toReversed().reduce((text, word) => text + word.toString(16).padStart(8, "0"), "");
  return kept.slice(-MAPPED_DAYS / 4).replace(/^0+/, "");
}
