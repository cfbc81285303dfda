import { describe, expect, test } from "vitest";
import type { Sandbox } from "../src/sandbox.ts";
import { ask } from "./client.ts";
import { seededSandbox } from "./seeded.ts";

const V2 = "/iam/v2beta1/groups";

/** Every uid that following the cursor brings, in the order of arrival; gives up after `limit` pages. */
async function follow(sandbox: Sandbox, query: string, limit = 1_000): Promise<string[]> {
  const uids: string[] = [];
  let token = "";
  for (let page = 0; page < limit; page++) {
    const { json } = await ask(sandbox, "GET", `${V2}?${query}&page_token=${token}`);
    uids.push(...json.groups.map((group: { uid: string }) => group.uid));
    token = json.nextPageToken;
    if (token === "") break;
  }
  return uids;
}

function allUids(sandbox: Sandbox): string[] {
  return sandbox.snapshot().groups.map((group) => String(group["uid"]));
}

describe("pages", () => {
  const sandbox = seededSandbox();

  test("hold 50 records by default, 200 at most, and the total as a decimal string", async () => {
    const { json } = await ask(sandbox, "GET", V2);
    expect(json.groups).toHaveLength(50);
    expect(json.totalCount).toBe(String(allUids(sandbox).length));
    expect(json.skipped).toBe(0);
    for (const size of [200, 201, 100_000]) {
      expect((await ask(sandbox, "GET", `${V2}?page_size=${size}`)).json.groups).toHaveLength(200);
    }
    expect((await ask(sandbox, "GET", `${V2}?pageSize=7`)).json.groups).toHaveLength(7);
  });

  test("together are the whole list, once each, ascending by uid, the last one with an empty token", async () => {
    expect(await follow(sandbox, "page_size=97")).toEqual(allUids(sandbox));
  });

  test.each([
    ["chain", [100, 100, 100]],
    ["request", [100, 0, 0]],
    ["position", [100, 150, 200]],
    ["growing", [100, 200, 300]],
  ] as const)("behind a token say what was skipped, read as %s", async (skipped, expected) => {
    const odd = seededSandbox({ size: 300, skipped });
    const said: number[] = [];
    let token = "";
    for (let page = 0; page < 3; page++) {
      const how = token === "" ? "skip=100" : `page_token=${token}`;
      const { json } = await ask(odd, "GET", `${V2}?page_size=50&${how}`);
      said.push(json.skipped);
      token = json.nextPageToken;
    }
    expect(said).toEqual(expected);
  });

  test("may be empty, each with a token of its own, before the next one with records", async () => {
    const odd = seededSandbox({ emptyPages: 2 });
    const lengths: number[] = [];
    const tokens = new Set<string>();
    for (let token = "", page = 0; page < 7; page++) {
      const { json } = await ask(odd, "GET", `${V2}?page_size=5&page_token=${token}`);
      lengths.push(json.groups.length);
      token = json.nextPageToken;
      tokens.add(token);
    }
    expect(lengths).toEqual([5, 0, 0, 5, 0, 0, 5]);
    expect(tokens.size).toBe(7);
  });

  test("begin after `skip` records, which `skipped` echoes; beyond the end there is nothing", async () => {
    const all = allUids(sandbox);
    const { json } = await ask(sandbox, "GET", `${V2}?skip=300&page_size=3`);
    expect(json.groups.map((group: { uid: string }) => group.uid)).toEqual(all.slice(300, 303));
    expect(json).toMatchObject({ skipped: 300, totalCount: String(all.length) });
    const beyond = await ask(sandbox, "GET", `${V2}?skip=99999`);
    expect(beyond.json).toEqual({ groups: [], nextPageToken: "", totalCount: String(all.length), skipped: 99_999 });
  });

  test.each([
    ["name", false],
    ["name%20desc", true],
    ["created_at%20desc", true],
    ["uid%20desc", true],
  ])("in the order %s keep it across pages and lose nothing", async (order, descending) => {
    const key = order.startsWith("name") ? "name" : order.startsWith("uid") ? "uid" : "createTime";
    const groups = sandbox.snapshot().groups;
    const sorted = groups.map((group) => [String(group[key]), String(group["uid"])] as const);
    sorted.sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b === descending ? 1 : -1));
    expect(await follow(sandbox, `order_by=${order}&page_size=200`)).toEqual(sorted.map(([, uid]) => uid));
  });

  test.each([
    ["page_size=-1"],
    ["skip=-1"],
    ["order_by=nonsense"],
    ["order_by=name%20up"],
    ["page_token=garbage"],
    ["page_size="],
    ["page_size=x"],
  ])("refuse %s with 400", async (query) => {
    expect((await ask(sandbox, "GET", `${V2}?${query}`)).status).toBe(400);
  });

  test("refuse the token of another order or filter", async () => {
    const { json } = await ask(sandbox, "GET", `${V2}?page_size=1`);
    expect((await ask(sandbox, "GET", `${V2}?page_token=${json.nextPageToken}&order_by=name`)).status).toBe(400);
    expect((await ask(sandbox, "GET", `${V2}?page_token=${json.nextPageToken}&name=x`)).status).toBe(400);
    expect((await ask(sandbox, "GET", `${V2}?page_token=${json.nextPageToken}&page_size=5`)).status).toBe(200);
  });
});

describe("tokens", () => {
  test("restart the list in silence after three days, and not before", async () => {
    let now = Date.UTC(2026, 0, 1);
    const sandbox = seededSandbox({ clock: () => new Date(now) });
    const first = (await ask(sandbox, "GET", `${V2}?page_size=2`)).json;
    const next = () => ask(sandbox, "GET", `${V2}?page_size=2&page_token=${first.nextPageToken}`);
    now += 3 * 86_400_000 - 1;
    expect((await next()).json.groups[0].uid).not.toBe(first.groups[0].uid);
    now += 1;
    const restarted = await next();
    expect(restarted.status).toBe(200);
    expect(restarted.json.groups).toEqual(first.groups);
  });

  test("of rows lose a record when one before them is deleted; of keys do not", async () => {
    for (const tokens of ["keyset", "offset"] as const) {
      const sandbox = seededSandbox({ tokens });
      const root = (await ask(sandbox, "POST", V2, { body: { name: "r" } })).json.uid;
      const uids: string[] = [];
      for (const name of ["a", "b", "c", "d"]) {
        uids.push((await ask(sandbox, "POST", `${V2}/${root}`, { body: { name } })).json.uid);
      }
      uids.sort();
      const path = `${V2}?uidp.children_of=${root}&page_size=2`;
      const first = (await ask(sandbox, "GET", path)).json;
      await ask(sandbox, "DELETE", `${V2}/${uids[0]}`);
      const { json } = await ask(sandbox, "GET", `${path}&page_token=${first.nextPageToken}`);
      const got = json.groups.map((group: { uid: string }) => group.uid);
      expect(got).toEqual(tokens === "keyset" ? uids.slice(2) : uids.slice(3));
    }
  });
});

describe("misbehaviour on request", () => {
  test("ignoreSkip, omitTotalCount and omitZeros change the envelope of v2, never v1", async () => {
    const sandbox = seededSandbox({ ignoreSkip: true, omitTotalCount: true, omitZeros: true });
    const { json } = await ask(sandbox, "GET", `${V2}?skip=5&page_size=1`);
    expect(json.groups[0].uid).toBe(allUids(sandbox)[0]);
    expect(Object.keys(json)).toEqual(["groups", "nextPageToken"]);
    const { uid } = (await ask(sandbox, "POST", V2, { body: { name: "bare" } })).json;
    const bare = (await ask(sandbox, "GET", `${V2}/${uid}`)).json;
    expect(Object.keys(bare)).toEqual(["uid", "name", "createTime", "updateTime", "status"]);
    const v1 = (await ask(sandbox, "GET", `/iam/v1/groups?id=${uid}`)).json.items[0];
    expect(v1).toMatchObject({ description: "", verified: false, resourceLimits: {} });
  });

  test("another default order is kept across pages", async () => {
    const sandbox = seededSandbox({ order: "name" });
    const uids = await follow(sandbox, "page_size=200");
    expect([...uids].sort()).toEqual(allUids(sandbox));
    expect(uids).not.toEqual(allUids(sandbox));
  });

  test("concurrent writers come and go between pages and leave everybody else's groups alone", async () => {
    const sandbox = seededSandbox({ churnEveryPages: 1 });
    const before = allUids(sandbox);
    const seen = new Set(await follow(sandbox, "page_size=50"));
    expect(before.filter((uid) => !seen.has(uid))).toEqual([]);
    expect(allUids(sandbox).length).toBe(before.length + 5);
  });
});

test("a long list of groups is whole in both faces, and any of its pages can be had", async () => {
  const size = process.env["TEST_SCALE"] === "long" ? 100_000 : 2_000;
  const sandbox = seededSandbox({ size });
  const all = allUids(sandbox);
  expect(all.length).toBeGreaterThan(size);
  const { json } = await ask(sandbox, "GET", "/iam/v1/groups");
  expect(json.items.map((item: { id: string }) => item.id)).toEqual(all);
  const deep = (await ask(sandbox, "GET", `${V2}?skip=${size - 10}&page_size=200`)).json;
  expect(deep.groups.map((group: { uid: string }) => group.uid)).toEqual(all.slice(size - 10, size + 190));
});
