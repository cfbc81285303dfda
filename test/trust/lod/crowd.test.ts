import { describe, expect, it } from "vitest";
import { rigForTest, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";

takeDownAfterEach();

const GROUPS = "/iam/v1/groups";
/** Places are as scarce beside this crowd as they are beside a real one (bench/crowd.mjs). */
const SCARCE = { upstreamV2Connections: "8", listsReadersPerUpstream: "4", listsMaxConcurrent: "3" };

describe("T-LOD-15: nobody in a crowd is refused who can be served", () => {
  it.each<[string, number, number, number]>([
    ["clients with one token, lists of several pages", scale(40, 256), 1, scale(700, 2_000)],
    ["clients with one token, lists of one page", scale(80, 512), 1, 150],
    ["clients with eight tokens, lists of several pages", scale(64, 512), 8, scale(450, 2_000)],
  ])("%s", async (what, clients, tokens, size) => {
    const rig = await rigForTest({ sandbox: { size, latencyMs: 5 }, flags: SCARCE });
    const groups = rig.sandbox.snapshot().groups.length;
    const asked = Array.from({ length: clients }, (_, i) => rig.ask("GET", GROUPS, { as: `admin#${i % tokens}` }));
    const seen = (await Promise.all(asked)).map(({ status, json }) => [status, json.items?.length]);
    expect(seen).toEqual(Array(clients).fill([200, groups]));
    figure("T-LOD-15", `${what}: not served, of ${clients}`, 0, "requests");
  });
});
