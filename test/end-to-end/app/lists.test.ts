import { describe, expect, it } from "vitest";
import type { SandboxOptions } from "../../../sandbox/src/options.ts";
import { type Answer, type Rig, reasonOf, rigForTest, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const GROUPS = "/iam/v1/groups";
const SHORT = (rig: Rig) => `${GROUPS}?uidp.descendants_of=${encodeURIComponent(rig.sandbox.wellKnown.someGroup)}`;

function ids(answer: Answer): readonly string[] {
  return answer.json.items.map((item: { id: string }) => item.id);
}

function stored(rig: Rig): readonly string[] {
  return rig.sandbox.snapshot().groups.map((group) => String(group["uid"]));
}

/** True for a whole list; a clean error is false; anything else throws. */
function isWhole(answer: Answer, rig: Rig): boolean {
  if (answer.status !== 200) {
    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect(Object.keys(answer.json)).toEqual(["code", "message", "details"]);
    return false;
  }
  expect(ids(answer).toSorted()).toEqual(stored(rig).toSorted());
  return true;
}

describe("a platform with habits of its own", () => {
  it("that orders by name is asked for another order by lists.orderBy, and then proved", async () => {
    const plain = await rigForTest({ sandbox: { order: "name" } });
    expect((await plain.ask("GET", GROUPS)).field("carryover-list")).toContain("witness=count");
    const rig = await rigForTest({ sandbox: { order: "name" }, flags: { listsOrderBy: "uid" } });
    const answer = await rig.ask("GET", GROUPS);
    expect(isWhole(answer, rig)).toBe(true);
    expect(answer.field("carryover-list")).toContain("witness=cover");
    const byName = await rigForTest({ flags: { listsOrderBy: "name" } });
    expect((await byName.ask("GET", GROUPS)).field("carryover-list")).not.toContain("witness=cover");
    const asked = rig.arrived.filter(({ target }) => target.includes("/groups?"));
    expect(asked.every(({ target }) => target.includes("order_by=uid"))).toBe(true);
  });
});

describe("what the operator demands of lists", () => {
  /** By name and uncounted, nothing proves that a list of several pages is whole. */
  const unprovable: SandboxOptions = { order: "name", omitTotalCount: true, ignoreSkip: true };

  it.each(["cover", "count"])("DIFF-05: %s, where it cannot be proved, is 502 LIST_UNPROVEN", async (required) => {
    const rig = await rigForTest({ sandbox: unprovable, flags: { listsRequire: required } });
    const answer = await rig.ask("GET", GROUPS);
    expect([answer.status, answer.json.code, reasonOf(answer)]).toEqual([502, 14, "LIST_UNPROVEN"]);
    expect(answer.json.details[0].metadata).toEqual({
      required,
      witness: "none",
      option: "lists.require, upstream.v2.pageTokens",
    });
    expect(answer.text).not.toContain("items");
  });

  it("is asked of the resources that it names, and reached by a list of one page", async () => {
    const flags = { listsRequire: "group=cover,default=none" };
    const unproven = await rigForTest({ sandbox: unprovable, flags });
    expect((await unproven.ask("GET", GROUPS)).status).toBe(502);
    expect((await unproven.ask("GET", "/iam/v1/identities")).status).toBe(200);
    const plain = await rigForTest({ flags });
    const short = await plain.ask("GET", SHORT(plain));
    expect([short.status, short.field("carryover-list")]).toEqual([200, "witness=cover; pages=1; records=11"]);
  });
});
