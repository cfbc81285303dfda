/** Is a v1 list of thousands of records, drained from v2, the one that native v1 gives? */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { member } from "../../src/model/json.ts";
import { startCarryover } from "../support/carryover.ts";
import { type Call, get } from "./call.ts";
import { differences } from "./compare.ts";
import { type Pair, parsed, startPair } from "./harness.ts";

const GROUPS = "/iam/v1/groups";

describe.each([
  { name: "tokens that remember the last record", tokens: "keyset", size: 100 },
  { name: "tokens that are offsets", tokens: "offset", size: 3000 },
] as const)("more than 1,000 groups with $name", ({ tokens, size }) => {
  let pair: Pair;
  beforeAll(async () => {
    pair = await startPair(startCarryover, { size }, { tokens });
  });
  afterAll(() => pair.close());

  const calls: readonly Call[] = [
    get("all of them", GROUPS, 200),
    get("all of the organisation", (seen) => `${GROUPS}?uidp.descendants_of=${seen.known.root}`, 200),
    get("all that a viewer sees", GROUPS, 200, { as: "viewer" }),
  ];
  test.each(calls)("$name are native v1's, record for record", async (call) => {
    const native = await pair.native.ask(call);
    const carried = await pair.carried.ask(call);
    const items = member(parsed(native), "items");
    expect(Array.isArray(items) && items.length).toBeGreaterThan(1000);
    expect(differences(native, carried).slice(0, 20)).toEqual([]);
  });
});
