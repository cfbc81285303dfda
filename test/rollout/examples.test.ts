import { describe, expect, test } from "vitest";
import { type Example, examplesOf, withExample } from "../../src/rollout/examples.ts";
import { comparison, finished, MINUTE, type Rig, rig, rule, rulesOf, STEP_BACK } from "./control-rig.ts";

const BROKEN = { status: 502, reason: "UPSTREAM_INVALID" } as const;
/** The rule's own clients, one failing request each. */
function fail(made: Rig, count: number, client = (n: number) => `c${n % 5}`): void {
  for (let n = 0; n < count; n++) made.control.observe(finished(client(n), { ...BROKEN, requestId: `r-${n}` }));
}

describe("a step back names", () => {
  test("the last three requests that failed because of the translation", () => {
    const made = rig(rulesOf([rule()]));
    fail(made, 200);
    expect(made.told.at(-1)).toMatchObject({ kind: "stepped-back", requests: ["r-197", "r-198", "r-199"] });
    expect(made.told.at(-1)?.client).toBeUndefined();
  });

  test("the last three comparisons that differed, and no other", () => {
    const made = rig(rulesOf([rule()]));
    for (let n = 0; n < 40 && made.told.length === 0; n++) {
      const one = comparison(`c${n % 5}`, { requestId: `r-${n}`, result: n % 2 === 0 ? "equal" : "value" });
      made.control.compared(one, `credential of ${one.client}`);
    }
    expect(made.told).toMatchObject([{ kind: "stepped-back", requests: ["r-15", "r-17", "r-19"] }]);
  });

  test("the client, if only one met it", () => {
    const made = rig(rulesOf([rule({ match: { clients: new Set(["ci"]) } })]));
    fail(made, 200, () => "ci");
    expect(made.told.at(-1)).toMatchObject({ kind: "stepped-back", client: "ci" });
  });

  test("nothing of the time before its window", () => {
    const made = rig(rulesOf([rule({ stepBack: { ...STEP_BACK, minRequests: 4, minClients: 1 } })]));
    fail(made, 3);
    made.at += 60 * MINUTE;
    made.requests(3);
    made.control.observe(finished("c", { ...BROKEN, requestId: "late" }));
    expect(made.told).toMatchObject([{ kind: "stepped-back", requests: ["late"] }]);
  });
});

test("at most three of one operation are kept, and thirty in all", () => {
  const example = (operation: number, request: number): Example => ({
    what: "v2",
    operation: `o${operation}`,
    client: "c",
    request: `r${request}`,
    reading: request,
  });
  let kept: readonly Example[] = [];
  for (let n = 0; n < 100; n++) kept = withExample(kept, example(n % 20, n));
  expect(kept).toHaveLength(30);
  for (let n = 100; n < 110; n++) kept = withExample(kept, example(7, n));
  expect(kept.filter(({ operation }) => operation === "o7").map(({ request }) => request)).toEqual([
    "r107",
    "r108",
    "r109",
  ]);
  expect(examplesOf(kept, { what: "v2", operation: "o7", since: 109 }).requests).toEqual(["r109"]);
});
