/** How are numbers, shares and times written for people? (The same in every place and time zone.) */
import type { BoundLine } from "./shape.ts";

/** `12,345`. */
export function amount(count: number): string {
  return String(Math.round(count)).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}

/** `35.7 %`; a share that is not nothing never reads as 0, one that is not all never as 100. */
export function percent(share: number): string {
  if (share > 0 && share < 0.001) return "< 0.1 %";
  if (share < 1 && share > 0.999) return "> 99.9 %";
  return `${(share * 100).toFixed(1)} %`;
}

/** `2026-11-21 21:33Z`; empty for never. */
export function when(time: string | null): string {
  return time === null ? "" : `${time.slice(0, 10)} ${time.slice(11, 16)}Z`;
}

/** `0 differences in 5,000: at most 0.06 % differ (95 %)`. */
export function sayBound({ comparisons, differences, upper }: BoundLine): string {
  const many = `${amount(differences)} ${differences === 1 ? "difference" : "differences"} in ${amount(comparisons)}`;
  return upper >= 1 ? `${many}: too few to say anything` : `${many}: at most ${atMost(upper)} differ (95 %)`;
}

/** Two digits that count, rounded up: a bound must stay one. */
export function atMost(share: number): string {
  const value = share * 100;
  if (value <= 0) return "0 %";
  const digits = Math.max(0, 1 - Math.floor(Math.log10(value)));
  const scale = 10 ** digits;
  // What only counting in binary has added is no reason to round up.
  return `${Number((Math.ceil(value * scale - 1e-9) / scale).toFixed(digits))} %`;
}
