/** The promises of docs/trust.md and the ids that stand for each. */
import { KEEPS_SERVING } from "./promises/keeps-serving.ts";
import { NOBODY_IN } from "./promises/nobody-in.ts";
import { NOTHING_LEAKED } from "./promises/nothing-leaked.ts";
import { NOTHING_LOST } from "./promises/nothing-lost.ts";
import { SUPPLY_CHAIN } from "./promises/supply-chain.ts";
import type { Row, TrustPromise } from "./row.ts";

export const PROMISES: readonly TrustPromise[] = [
  ...NOTHING_LOST,
  ...NOTHING_LEAKED,
  ...NOBODY_IN,
  ...KEEPS_SERVING,
  ...SUPPLY_CHAIN,
];

export const ROWS: readonly Row[] = PROMISES.flatMap(({ rows }) => rows);

/** How many ids each group has; one that is forgotten would not be missed otherwise. */
export const GROUPS: ReadonlyMap<string, number> = new Map([
  ["SMG", 40],
  ["FLT", 25],
  ["TMO", 7],
  ["SLO", 5],
  ["DRN", 32],
  ["PUT", 10],
  ["ISO", 12],
  ["LOD", 15],
  ["SEC", 4],
  ["RPC", 42],
]);
