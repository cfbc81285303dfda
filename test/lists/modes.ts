/** Of which platforms is a list read in which way? (Design section 5: windows, stitched chains, the cursor alone.) */

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
  /** What its tokens are is not known, or wrong, and it cannot be seen: the plain cursor has to be trusted. */
  readonly trusting?: true;
}

const groups = { target: GROUPS, order: byUid };
const known = (tokens: string) => ({ upstreamV2Tokens: tokens });

/** More than windows are used for when nothing is known of the tokens. */
export const LONG = 10_600;

export const MODES: readonly Mode[] = [
  {
    name: "by cursor, keyset tokens",
    records: 1_500,
    habits: { skip: "ignored" },
    flags: {},
    ...groups,
    trusting: true,
  },
  {
    name: "by cursor, offset tokens",
    records: 1_500,
    habits: { tokens: "offset", skip: "ignored" },
    flags: {},
    ...groups,
    trusting: true,
  },
  { name: "not by uid", records: 1_500, habits: {}, flags: {}, target: INVITES, order: newestFirst, trusting: true },
  { name: "short, keyset tokens", records: 450, habits: {}, flags: {}, ...groups },
  { name: "short, offset tokens", records: 450, habits: { tokens: "offset" }, flags: {}, ...groups },
  { name: "in windows, keyset tokens", records: 2_000, habits: {}, flags: {}, ...groups },
  { name: "in windows, offset tokens", records: 2_000, habits: { tokens: "offset" }, flags: {}, ...groups },
  { name: "long, tokens known as keyset", records: LONG, habits: {}, flags: known("keyset"), ...groups },
  { name: "long, keyset tokens, not known", records: LONG, habits: {}, flags: {}, ...groups },
  { name: "long, offset tokens, not known", records: LONG, habits: { tokens: "offset" }, flags: {}, ...groups },
  {
    name: "long, tokens known as offset",
    records: LONG,
    habits: { tokens: "offset" },
    flags: known("offset"),
    ...groups,
  },
];

/** The shortest of each way. */
export const SHORT_MODES = MODES.filter(({ records }) => records < LONG);

/** All of `cases` with short lists; the one in the middle with long ones, which take longer. */
export function casesFor<T>(mode: Pick<Mode, "records">, cases: readonly T[]): readonly T[] {
  const middle = Math.floor(cases.length / 2);
  return mode.records < LONG ? cases : cases.slice(middle, middle + 1);
}
