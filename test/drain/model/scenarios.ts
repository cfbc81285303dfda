/** The lists, platforms and measures over which drains are explored. */

import { scale } from "../../support/scale.ts";
import { variants } from "../../support/tier.ts";
import { listsOver } from "./explore.ts";
import type { Style } from "./platform.ts";
import type { Measures, Scenario } from "./scenario.ts";

/** Short enough to be read by windows. */
export const WINDOWS: Measures = {
  pageSize: 2,
  readers: 3,
  overlap: 1,
  windowRecords: 100,
  segmentPages: 2,
  bufferBytes: 1e6,
};
/** Long enough to be read by segments. */
export const SEGMENTS: Measures = { ...WINDOWS, windowRecords: 3 };

/** Pages of three, each two records behind the one before. */
export const THREES: Measures = { ...WINDOWS, pageSize: 3 };

/** Lists of at least four pages of two, with gaps at every place for a record to be inserted. */
export const LONG_STARTS = ["bdfhjlnp", "bdfhjln", "abcdefgh", "abcdefghi"] as const;
/** The same for pages of three. */
const LONGER_STARTS = ["bdfhjlnprt", "abcdefghijkl"] as const;
/** Keys that are written while they are read: some of them are there, some between, before and behind them. */
const BETWEEN = "abcfghkopqz";

const BASE = { declared: "unknown", as: "whole", writes: 0 } as const;

export function scenario(start: string, style: Style, measures: Measures, more: Partial<Scenario> = {}): Scenario {
  return { ...BASE, start, style, measures, universe: BETWEEN, ...more };
}

/** Every list over `keys`; each key can be inserted in it or deleted from it. */
export function small(
  style: Style,
  measures: Measures,
  more: Partial<Scenario> = {},
  keys = "abcdef",
): readonly Scenario[] {
  return listsOver(keys, 0).map((start) => scenario(start, style, measures, { universe: keys, ...more }));
}

/** Both kinds of tokens, and each true declaration about them. */
export function styles(): readonly { tokens: Style["tokens"]; declared: Scenario["declared"] }[] {
  return [
    { tokens: "keyset", declared: "keyset" },
    { tokens: "keyset", declared: "unknown" },
    { tokens: "offset", declared: "unknown" },
    { tokens: "offset", declared: "offset" },
  ];
}

/** What a process may have seen of a list before: nothing, that `skip` works, and also how long it was. */
export const MEMORIES = [{}, { heedsSkip: true }, { heedsSkip: true, count: 8 }] as const;

/** Scenarios over lists of at least four pages, so that they are read in parallel. */
export function long(style: Style, measures: Measures, more: Partial<Scenario> = {}): readonly Scenario[] {
  return (measures.pageSize === 2 ? LONG_STARTS : LONGER_STARTS).map((start) => scenario(start, style, measures, more));
}

/** `usual` runs of a scenario, a quarter of them in `npm test` and half in `npm run test:all`; `FC_RUNS=5000` looks fifty times as long. */
export function limitOf(usual: number): number {
  return Math.ceil((usual * Number(process.env["FC_RUNS"] ?? variants(25, scale(50, 100)))) / 100);
}
