/** Are lists shared as the operator asked, and never otherwise? */
import { describe, expect, it } from "vitest";
import { rigForTest, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const GROUPS = "/iam/v1/groups";
const pages = (arrived: readonly { target: string }[]) =>
  arrived.filter(({ target }) => target.startsWith("/iam/v2beta1/groups?")).length;

describe("lists.share", () => {
  it("is off: each client's list is read for itself", async () => {
    const rig = await rigForTest();
    await rig.ask("GET", GROUPS);
    const once = pages(rig.arrived);
    await rig.ask("GET", GROUPS);
    expect(pages(rig.arrived)).toBe(2 * once);
  });

  it("T-ISO-02: seconds: a finished list is given again to the same credential only, and not after its write", async () => {
    const rig = await rigForTest({ flags: { listsShareSeconds: "5s" } });
    const first = await rig.ask("GET", GROUPS);
    const once = pages(rig.arrived);
    const again = await rig.ask("GET", GROUPS);
    expect(pages(rig.arrived)).toBe(once);
    expect(again.text).toBe(first.text);
    expect(again.field("age")).toBeDefined();
    expect(rig.exchanges.at(-1)?.notes).toContain("list-shared");

    expect((await rig.ask("GET", GROUPS, { as: "viewer" })).field("age")).toBeUndefined();
    expect(pages(rig.arrived)).toBe(2 * once);

    const { someGroup } = rig.sandbox.wellKnown;
    const written = await rig.ask("PUT", `${GROUPS}/${someGroup}`, { body: { name: "written meanwhile" } });
    expect(written.status).toBe(200);
    const after = await rig.ask("GET", GROUPS);
    expect(after.text).toContain("written meanwhile");
    expect(after.field("age")).toBeUndefined();
  });

  it("seconds: a write that passes through to v2 counts, too", async () => {
    const rig = await rigForTest({ flags: { listsShareSeconds: "5s" } });
    const { someGroup } = rig.sandbox.wellKnown;
    await rig.ask("GET", GROUPS);
    const path = `/iam/v2beta1/groups/${someGroup}?updateMask=name`;
    expect((await rig.ask("PATCH", path, { body: { name: "by v2" } })).status).toBe(200);
    expect((await rig.ask("GET", GROUPS)).text).toContain("by v2");
  });

  it("T-ISO-03: collapse: equal lists at the same time are read once", async () => {
    const rig = await rigForTest({ sandbox: { latencyMs: 20 }, flags: { listsShareCollapse: "true" } });
    await rig.ask("GET", GROUPS);
    const once = pages(rig.arrived);
    const answers = await Promise.all(Array.from({ length: 5 }, () => rig.ask("GET", GROUPS)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(pages(rig.arrived)).toBe(2 * once);
  });
});
