/** Runs every scenario through the whole program over other kinds of v2. */
import { afterAll, beforeAll, describe, test } from "vitest";
import type { SandboxOptions } from "../../../sandbox/src/options.ts";
import { get, type Scenario } from "./call.ts";
import { startWhole } from "./harness.ts";
import { expectNone, record, replay } from "./replay.ts";
import { groupScenarios, isLong, otherScenarios, scenarios } from "./scenarios.ts";

const GROUPS = "/iam/v1/groups";
const thousands: Scenario = {
  name: "thousands of groups",
  size: 3000,
  calls: [
    get("all of them", GROUPS, { items: "over 200" }),
    get("all of the organisation", (seen) => `${GROUPS}?uidp.descendants_of=${seen.known.root}`),
    get("all that a viewer sees", GROUPS, { as: "viewer", items: "over 200" }),
  ],
};
const VARIANTS: readonly (readonly [name: string, second: SandboxOptions, scenarios: readonly Scenario[]])[] = [
  ["v2 as specified", {}, scenarios.filter(isLong)],
  ["v2 leaves zeros out", { omitZeros: true }, scenarios],
  ["tokens that are offsets", { tokens: "offset" }, [...groupScenarios, thousands]],
  ["skip is ignored and nothing counted", { ignoreSkip: true, omitTotalCount: true }, [...groupScenarios, thousands]],
];

describe.each(VARIANTS)("%s", (_, second, chosen) => {
  // What carryover has learnt of one kind of v2 would not be true of another.
  let whole: Awaited<ReturnType<typeof startWhole>>;
  beforeAll(async () => {
    whole = await startWhole();
  });
  afterAll(() => whole.close());

  test.each(chosen.map((scenario) => [scenario.name, scenario] as const))("%s", async (_, scenario) => {
    expectNone(scenario.name, await replay(await record(scenario), whole.front, second));
  });
});

describe("a v1 that shows only the times of its published messages", () => {
  let whole: Awaited<ReturnType<typeof startWhole>>;
  beforeAll(async () => {
    whole = await startWhole({ v1RecordTimes: "published" });
  });
  afterAll(() => whole.close());

  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))("%s", async (_, scenario) => {
    expectNone(scenario.name, await replay(await record(scenario, { recordTimes: "published" }), whole.front));
  });
});

describe.each(["snake_case", "camelCase"] as const)("masks in %s", (maskSpelling) => {
  // A group's mask is spelled alike in both ways; identities and role bindings have members that are not.
  const masked = [...groupScenarios, ...otherScenarios.filter(({ name }) => name.includes("replacing"))];

  test.each(masked.map((scenario) => [scenario.name, scenario] as const))("%s", async (_, scenario) => {
    // Each finds out anew how masks are spelled.
    const whole = await startWhole();
    try {
      expectNone(scenario.name, await replay(await record(scenario), whole.front, { maskSpelling }));
    } finally {
      await whole.close();
    }
  });
});
