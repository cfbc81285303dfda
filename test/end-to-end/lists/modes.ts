/** Platforms whose lists are read in different ways: by windows, by stitched segments, by the cursor alone. */
import { variants } from "../../support/tier.ts";
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
  /** Whether a list that comes is proved; if not, it is counted. */
  readonly proved: boolean;
}

const groups = { target: GROUPS, order: byUid };
const known = (tokens: string) => ({ upstreamV2PageTokens: tokens });

/** More than windows are used for when nothing is known of the tokens. */
const LONG = 10_600;

const keyset: Partial<Habits> = {};
const offset: Partial<Habits> = { tokens: "offset" };
const unskipped = { skip: "ignored" } as const;
const plain = { flags: {}, ...groups };

/** The first mode of each way of reading is tried in `npm test`, the others in `npm run test:all`. */
const BY_CURSOR: readonly Mode[] = [
  { name: "by cursor, offset tokens", records: 900, habits: { ...offset, ...unskipped }, ...plain, proved: false },
  { name: "by cursor, keyset tokens", records: 900, habits: unskipped, ...plain, proved: false },
];
const BY_TIME: readonly Mode[] = [
  {
    name: "not by uid",
    records: 900,
    habits: keyset,
    flags: {},
    target: INVITES,
    order: newestFirst,
    proved: false,
  },
];
const SHORT: readonly Mode[] = [
  { name: "short, keyset tokens", records: 450, habits: keyset, ...plain, proved: true },
  { name: "short, offset tokens", records: 450, habits: offset, ...plain, proved: true },
];
const WINDOWS: readonly Mode[] = [
  { name: "in windows, offset tokens", records: 1_400, habits: offset, ...plain, proved: true },
  { name: "in windows, keyset tokens", records: 1_400, habits: keyset, ...plain, proved: true },
];
const SEGMENTS: readonly Mode[] = [
  { name: "long, keyset tokens", records: LONG, habits: keyset, ...groups, flags: known("keyset"), proved: true },
  { name: "long, offset tokens", records: LONG, habits: offset, ...groups, flags: known("offset"), proved: true },
];
const UNKNOWN: readonly Mode[] = [
  { name: "long, unknown tokens: offset", records: LONG, habits: offset, ...plain, proved: false },
  { name: "long, unknown tokens: keyset", records: LONG, habits: keyset, ...plain, proved: false },
];

const ALL = [BY_CURSOR, BY_TIME, SHORT, WINDOWS, SEGMENTS, UNKNOWN];
export const MODES: readonly Mode[] = variants(
  ALL.flatMap((modes) => modes.slice(0, 1)),
  ALL.flat(),
);
