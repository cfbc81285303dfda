import { describe, expect, it } from "vitest";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { ask } from "./ask.ts";
import { PROGRAMS, type Program } from "./programs.ts";
import { startProxy } from "./proxy.ts";
import { startStandIn } from "./standin.ts";

takeDownAfterEach();

const V1 = [
  "/iam/v1/groups",
  "/iam/v1/groups?uidp.descendants_of=a",
  "/iam/v1/rolebindings/a/b",
  "/registry/v1/repos",
  "/vulnerabilities/v1/advisories",
  "/iam/v1/",
];
const NOT_V1 = [
  "/",
  "/iam/v2beta1/groups",
  "/iam/v2/groups",
  "/iam/v1beta1/groups",
  "/iam/v10/groups",
  "/events/v1/subscriptions",
  "/ping/v1/x",
  "/x/iam/v1/groups",
  "/iam/v2beta1/groups?next=/iam/v1/groups",
  "/sts/other",
];

async function between(program: Program, percent?: number) {
  const carryover = await startStandIn("carryover");
  const platform = await startStandIn("platform");
  const behind = { carryoverUrl: carryover.url, platformUrl: platform.url };
  const proxy = await startProxy(program, percent === undefined ? behind : { ...behind, percent });
  return { carryover, platform, to: (target: string, ...headers: string[]) => ask(proxy.url, { target, headers }) };
}

describe.each(PROGRAMS)("$title", (program) => {
  it("sends v1 of the three domains and token exchange through carryover", async () => {
    const { carryover, platform, to } = await between(program);
    for (const target of [...V1, "/sts/exchange?aud=x"]) expect(await to(target)).toMatchObject({ status: 200 });
    expect(carryover.arrived.map(({ target }) => target)).toEqual([...V1, "/sts/exchange?aud=x"]);
    expect(platform.arrived).toEqual([]);
  });

  it("sends v2 and everything else to the platform", async () => {
    const { carryover, platform, to } = await between(program);
    for (const target of NOT_V1) expect(await to(target)).toMatchObject({ status: 200 });
    expect(platform.arrived.map(({ target }) => target)).toEqual(NOT_V1);
    expect(carryover.arrived).toEqual([]);
  });

  it("sends about the given share of v1 through carryover, the rest to native v1", async () => {
    const { carryover, platform, to } = await between(program, 25);
    for (let i = 0; i < 400; i++) await to("/iam/v1/groups");
    expect(carryover.arrived.length + platform.arrived.length).toBe(400);
    // 100 expected with a standard deviation of 9: one run in a hundred million is outside.
    expect(carryover.arrived.length).toBeGreaterThan(50);
    expect(carryover.arrived.length).toBeLessThan(150);
  });

  it("sends v1 with `x-canary: always` through carryover whatever the share", async () => {
    const { carryover, platform, to } = await between(program, 1);
    for (let i = 0; i < 20; i++) await to("/iam/v1/groups", "X-Canary", "always");
    expect([carryover.arrived.length, platform.arrived.length]).toEqual([20, 0]);
  });

  it("sends v1 with `x-canary: never` to native v1 whatever the share, and v2 wherever it says", async () => {
    const { carryover, platform, to } = await between(program, 100);
    for (let i = 0; i < 5; i++) await to("/iam/v1/groups", "X-Canary", "never");
    await to("/iam/v2beta1/groups", "X-Canary", "always");
    expect([carryover.arrived.length, platform.arrived.length]).toEqual([0, 6]);
    await to("/iam/v1/groups", "X-Canary", "other");
    expect(carryover.arrived.length).toBe(1);
  });
});
