/** Are the traps of list parameters avoided? (Field map section 8; one test for each, named after it.) */
import { describe, expect, test } from "vitest";
import { loadCatalogue } from "../../src/catalogue.ts";
import type { ApiRequest } from "../../src/model/message.ts";
import { createStopper } from "../../src/model/signal.ts";
import { createSandbox } from "../../src/sandbox/sandbox.ts";
import { createFront, jsonOf } from "./front.ts";

const sandbox = createSandbox({ seed: "traps", size: 250 });
const { someGroup, rootGroup, viewerRole, customRole } = sandbox.wellKnown;
const { signal } = createStopper();
const front = createFront(await loadCatalogue("v2beta1"), sandbox.send);
const MISSING = `${"0".repeat(40)}/${"0".repeat(16)}`;

const request = (target: string, as: string): ApiRequest => ({
  method: "GET",
  target,
  headers: [["authorization", `Bearer ${sandbox.token(as)}`]],
});

/** The uids that a v1 client sees, and what reached v2. */
async function ask(target: string, as = "admin") {
  const { status, answer, problem, sent } = await front(request(target, as));
  const items: { id: string; name: string }[] = answer === undefined ? [] : jsonOf(answer).items;
  return { status, problem, ids: items.map(({ id }) => id), items, targets: sent.map((each) => each.target) };
}

const native = async (target: string): Promise<readonly string[]> =>
  jsonOf(await sandbox.send(request(target, "admin"), { signal })).items.map((item: { id: string }) => item.id);

describe("lists", () => {
  test("T01: an id filter reads that record, and v2's list never sees it", async () => {
    const { ids, targets } = await ask(`/iam/v1/groups?id=${someGroup}`);
    expect(ids).toEqual([someGroup]);
    expect(targets).toEqual([`/iam/v2beta1/groups/${someGroup}`]);
    expect((await ask(`/iam/v1/groups?id=${MISSING}`)).ids).toEqual([]);
  });

  test("T02: a list of more than one page comes whole, without paging", async () => {
    const { ids, targets } = await ask("/iam/v1/groups");
    expect(targets.length).toBeGreaterThan(1);
    expect(ids.toSorted()).toEqual((await native("/iam/v1/groups")).toSorted());
  });

  test("T03: a record that is missing, or not for this caller, is an empty list", async () => {
    expect(await ask(`/iam/v1/groups?id=${MISSING}`)).toMatchObject({ status: 200, ids: [] });
    expect(await ask(`/iam/v1/groups?id=${someGroup}`, "nobody")).toMatchObject({ status: 200, ids: [] });
    expect((await ask(`/iam/v1/account_associations?group=${MISSING}`)).status).toBe(200);
  });

  test("T15: special tags are shown unless the client says otherwise", async () => {
    const all = await ask("/registry/v1/tags");
    expect(all.ids.toSorted()).toEqual((await native("/registry/v1/tags")).toSorted());
    expect(all.targets[0]).toMatch(/include_referrers=true&include_dates=true&include_epochs=true/);
    const some = await ask("/registry/v1/tags?excludeReferrers=true");
    expect(some.items.filter(({ name }) => name.startsWith("sha256-"))).toEqual([]);
    expect(some.ids.length).toBeLessThan(all.ids.length);
    expect(some.targets[0]).toMatch(/include_referrers=false&include_dates=true&include_epochs=true/);
  });

  test.each(["eventTypes", "latest_event_type"])(
    "T33: %s of a value that v2 lacks is refused, and never sent as zero",
    async (name) => {
      for (const value of ["EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED", "9"]) {
        const { status, problem, targets } = await ask(`/vulnerabilities/v1/advisories?${name}=${value}`);
        expect([status, problem?.reason, targets]).toEqual([400, "INVALID_FILTER", []]);
      }
    },
  );

  test("T36: a parameter that is a message is refused as a whole", async () => {
    const { status, problem, targets } = await ask("/iam/v1/groups?uidp=1");
    expect([status, problem?.reason, targets]).toEqual([400, "INVALID_FILTER", []]);
  });

  test("T43: an empty name is no filter", async () => {
    const { ids, targets } = await ask("/registry/v1/repos?name=");
    expect(ids.toSorted()).toEqual((await native("/registry/v1/repos")).toSorted());
    expect(targets.filter((target) => target.includes("name="))).toEqual([]);
  });

  test("T44: the parent / means built-in roles, any other one the roles right below it", async () => {
    const roots = await ask("/iam/v1/roles?parent=%2F");
    expect(roots.ids).toContain(viewerRole);
    expect(roots.ids.filter((id) => id.includes("/"))).toEqual([]);
    expect(roots.targets[0]).toContain("uidp.in_root=true");
    const own = await ask(`/iam/v1/roles?parent=${encodeURIComponent(rootGroup)}`);
    expect(own.ids).toContain(customRole);
    expect(own.ids.every((id) => id.startsWith(`${rootGroup}/`) && id.split("/").length === 2)).toBe(true);
  });
});
