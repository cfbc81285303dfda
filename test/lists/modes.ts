/** Platforms whose lists are read in different ways: by windows, by stitched segments, by the cursor alone (design section 5). */
import { variants } from "../support/tier.ts";
import type { Habits } from "./platform.ts";
import { GROUPS, INVITES } from "./rig.ts";
import { byUid, newestFirst, type Order } from "./shelf.ts";

export interface Mode {
  readonly name: string;
  /** Enough for a list to be read in this way. */
  readonly records: number;
  readonly habits: Partial<Habits>;
  readonly flags: Readonly<Record<string, string>>;
  readonly target: string;
  readonly order: Order;
  /**
   * `always`: a list that comes is proved, whoever writes. `quiet`: it is whole while nobody writes. `trusting`: nothing shows
   * where a token leads, so the cursor has to be trusted.
   */
  readonly proof: "always" | "quiet" | "trusting";
}

const groups = { target: GROUPS, order: byUid };
const known = (tokens: string) => ({ upstreamV2Tokens: tokens });

/** More than windows are used for when nothing is known of the tokens. */
export const LONG = 10_600;

const keyset: Partial<Habits> = {};
const offset: Partial<Habits> = { tokens: "offset" };
const unskipped = { skip: "ignored" } as const;
const plain = { flags: {}, ...groups };

/** The first mode of each way of reading is tried in `npm test`, the others in `npm run test:all`. */
const BY_CURSOR: readonly Mode[] = [
  { name: "by cursor, offset tokens", records: 900, habits: { ...offset, ...unskipped }, ...plain, proof: "trusting" },
  { name: "by cursor, keyset tokens", records: 900, habits: unskipped, ...plain, proof: "trusting" },
];
const BY_TIME: readonly Mode[] = [
  {
    name: "not by uid",
    records: 900,
    habits: keyset,
    flags: {},
    target: INVITES,
    order: newestFirst,
    proof: "trusting",
  },
];
const SHORT: readonly Mode[] = [
  { name: "short, keyset tokens", records: 450, habits: keyset, ...plain, proof: "always" },
  { name: "short, offset tokens", records: 450, habits: offset, ...plain, proof: "always" },
];
const WINDOWS: readonly Mode[] = [
  { name: "in windows, offset tokens", records: 1_400, habits: offset, ...plain, proof: "always" },
  { name: "in windows, keyset tokens", records: 1_400, habits: keyset, ...plain, proof: "always" },
];
const SEGMENTS: readonly Mode[] = [
  { name: "long, keyset tokens", records: LONG, habits: keyset, ...groups, flags: known("keyset"), proof: "always" },
  { name: "long, offset tokens", records: LONG, habits: offset, ...groups, flags: known("offset"), proof: "always" },
];
const UNKNOWN: readonly Mode[] = [
  { name: "long, unknown tokens: offset", records: LONG, habits: offset, ...plain, proof: "quiet" },
  { name: "long, unknown tokens: keyset", records: LONG, habits: keyset, ...plain, proof: "quiet" },
];

const ALL = [BY_CURSOR, BY_TIME, SHORT, WINDOWS, SEGMENTS, UNKNOWN];
export const MODES: readonly Mode[] = variants(
  ALL.flatMap((modes) => modes.slice(0, 1)),
  ALL.flat(),
);
export const SHORT_MODES = MODES.filter(({ records }) => records < LONG);
export const LONG_MODES = MODES.filter(({ records }) => records >= LONG);

/** All of `cases` with short lists; the one in the middle with long ones, which take longer. */
export function casesFor<T>(mode: Pick<Mode, "records">, cases: readonly T[]): readonly T[] {
  const middle = Math.floor(cases.length / 2);
  return mode.records < LONG ? cases : cases.slice(middle, middle + 1);
}
