/** Does a repo, read or written, mean in v1 what it means in v2? (The traps of its fields.) */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/model/json.ts";
import { createRouter } from "../../../src/route/router.ts";
import { json, problemOf, queryOf, textOf } from "../support.ts";
import { ask, callsOf, natives, PARENT, REPO, refusal, resources, world } from "./registry.ts";

const DIGEST = "sha256:2c26b46b";
const get = (repo: JsonObject, readme?: string) => ask(world(repo, readme), "GET", `repos/${REPO}`);
const put = (body: JsonObject | string) =>
  ask(world(), "PUT", `repos/${REPO}`, { body: typeof body === "string" ? body : { name: "nginx", ...body } });
const users = (...all: JsonObject[]) => ({ customOverlay: { accounts: { users: all } } });
/** The body of the last call. */
const written = async (body: JsonObject): Promise<JsonObject> => {
  const { sent } = await put(body);
  return JSON.parse(textOf(sent.at(-1))) as JsonObject;
};

describe("T05: a tier is known by its name, never by the other version's number", () => {
  test.each([
    [4, "CATALOG_TIER_APPLICATION"],
    [5, "CATALOG_TIER_BASE"],
    [6, "CATALOG_TIER_FIPS"],
    [7, "CATALOG_TIER_AI"],
    [8, "CATALOG_TIER_DEVTOOLS"],
    [9, "CATALOG_TIER_COMMERCIAL"],
    ["AI", "CATALOG_TIER_AI"],
  ])("%j is sent as %s", async (v1, v2) => {
    expect(await written({ catalogTier: v1 })).toMatchObject({ catalogTier: v2 });
  });

  test("v2's 4 is AI", async () => {
    expect((await get({ catalogTier: 4 })).body).toMatchObject({ catalogTier: "AI" });
  });
});

test("T06: sync_config keeps its spelling in bodies, and its members theirs", async () => {
  const body = await written({ syncConfig: {}, sync_config: { source: "s", unique_tags: false } });
  expect(body).toEqual({ sync_config: { source: "s" }, description: "" });
  expect((await get({ sync_config: { source: "s", apkoOverlay: "o" } })).body).toMatchObject({
    sync_config: { source: "s", apkoOverlay: "o" },
  });
});

describe("T07, T08: a user of an overlay", () => {
  const v1 = { uid: 65532, userName: "u", gid: 1, groupName: "g", shell: "s", homeDir: "h" };
  const v2 = { uid: 65532, username: "u", gid: 1, groupName: "g", shell: "s", homeDir: "h" };

  test("keeps its number, and the spelling of its own position, both ways", async () => {
    expect((await get(users(v2))).body).toMatchObject(users(v1));
    expect(await written(users(v1))).toMatchObject(users(v2));
  });

  test("is not its group", async () => {
    const group = (name: string) => ({
      customOverlay: { accounts: { groups: [{ gid: 7, [name]: "web", members: [] }] } },
    });
    expect((await get(group("groupname"))).body).toMatchObject(group("groupName"));
    expect(await written(group("groupName"))).toMatchObject(group("groupname"));
  });
});

describe("T09: the group id of a user", () => {
  test.each([{}, { gid: 0 }])("is not shown as the root group when v2 says %j", async (gid) => {
    const { body } = await get(users({ uid: 5, username: "u", ...gid }));
    const shown = (body as { customOverlay: { accounts: { users: JsonObject[] } } }).customOverlay.accounts.users[0];
    expect(shown).toEqual({ uid: 5, userName: "u", groupName: "", shell: "", homeDir: "" });
  });

  test("is sent only when the client sends it", async () => {
    expect(JSON.stringify(await written(users({ userName: "u" })))).not.toContain("gid");
    expect(await written(users({ userName: "u", gid: 0 }))).toMatchObject(users({ username: "u", gid: 0 }));
  });

  test.each([
    ["users[0].gid", { users: [{ gid: 2147483648 }] }],
    ["users[0].uid", { users: [{ uid: 4294967295 }] }],
    ["users[0].uid", { users: [{ uid: -1 }] }],
    ["groups[0].gid", { groups: [{ gid: 2147483648 }] }],
  ])("%s that v2 cannot hold is refused: %j", async (at, accounts) => {
    const problem = await problemOf(put({ customOverlay: { accounts } }));
    expect([problem.reason, problem.fieldViolations[0]?.field]).toEqual([
      "INVALID_BODY",
      `customOverlay.accounts.${at}`,
    ]);
  });

  test("2147483647 is still one", async () => {
    expect(await written(users({ uid: 2147483647 }))).toMatchObject(users({ uid: 2147483647 }));
  });
});

test("T24: names that users chose are copied byte for byte", async () => {
  const maps = '"environment":{"uid":"1","userName":"x","\\u0061":"\\u00e9"},"annotations":{"createTime":"y","id":""}';
  const { sent } = await put(`{"name":"nginx","customOverlay":{${maps}}}`);
  expect(textOf(sent.at(-1))).toContain(maps);
  const interfere = (call: string) =>
    call === `GET repos/${REPO}`
      ? { status: 200, headers: [], body: Buffer.from(`{"uid":"${REPO}","customOverlay":{${maps}}}`) }
      : undefined;
  const shown = await ask(world(), "GET", `repos/${REPO}`, { interfere });
  expect(Buffer.from(shown.response.body).toString()).toContain(maps);
});

describe("T10: the readme of the repos of a list", () => {
  const many = (count: number) => {
    const held = world();
    for (let index = 0; index < count; index += 1) held.repos.set(`${PARENT}/r${index}`, { name: `n${index}` });
    held.readmes.set(`${PARENT}/r0`, "zero");
    return held;
  };

  test("is read once for each", async () => {
    const run = await ask(many(3), "GET", "repos");
    const readmes = callsOf(run).filter((call) => call.endsWith("/readme"));
    expect(new Set(readmes).size).toBe(4);
    expect(readmes).toHaveLength(4);
    const { items } = run.body as { items: JsonObject[] };
    expect(items.map((item) => item["readme"])).toEqual(["", "zero", "", ""]);
  });

  test("is read for the one repo that is asked for by its id", async () => {
    const run = await ask(world({}, "text"), "GET", `repos?id=${encodeURIComponent(REPO)}`);
    expect(callsOf(run)).toEqual([`GET repos/${REPO}`, `GET repos/${REPO}/readme`]);
    expect(run.body).toMatchObject({ items: [{ id: REPO, readme: "text" }] });
  });

  test("fails the list when it cannot be read for now", async () => {
    const interfere = (call: string) => (call.endsWith("/readme") ? json(503, { code: 14, details: [] }) : undefined);
    expect((await ask(many(1), "GET", "repos", { interfere })).response.status).toBe(503);
  });

  test("is empty, and counted, where it may not be read", async () => {
    const interfere = (call: string) => (call.endsWith("/readme") ? refusal(403, 7) : undefined);
    const run = await ask(world({}, "text"), "GET", "repos", { interfere });
    expect([run.body, run.exchange.notes]).toMatchObject([{ items: [{ readme: "" }] }, ["join-missing"]]);
  });

  test("is read for as many repos as there are, page by page", async () => {
    const { response } = await ask(many(601), "GET", "repos");
    const { items } = JSON.parse(Buffer.from(response.body).toString()) as { items: { readme: string }[] };
    expect(items.filter(({ readme }) => readme !== undefined)).toHaveLength(602);
  });
});

test("T43: an empty name is no filter", async () => {
  expect(queryOf((await ask(world(), "GET", "repos?name=")).sent[0])).toBe("");
});

describe("an image of a repo", () => {
  const image = (path: string, answer: JsonObject) =>
    ask(world(), "GET", `repos/${REPO}/digests/${DIGEST}/${path}`, { interfere: () => json(200, answer) });

  test.each([
    ["architectures", "architectures", { architectures: ["amd64"] }, { archs: ["amd64"] }],
    ["architectures", "architectures", {}, { archs: [] }],
    // T37: a 64-bit number is a string; T65: v2 chooses one unless told.
    ["size", "size", { size: "9007199254740993", architecture: "x" }, { size: "9007199254740993", arch: "x" }],
    ["size?arch=arm64", "size?architecture=arm64", {}, { size: "0", arch: "" }],
    ["size?arch=", "size", {}, { size: "0", arch: "" }],
  ])("%s is %s", async (v1, v2, answer, shown) => {
    const { sent, body } = await image(v1, answer);
    expect(sent.map(({ target }) => target)).toEqual([`/registry/v2beta1/repos/${REPO}/digests/${DIGEST}/${v2}`]);
    expect(body).toEqual(shown);
  });

  test("is refused when it is asked for twice over", async () => {
    expect((await problemOf(image("size?arch=a&arch=b", {}))).reason).toBe("INVALID_FILTER");
  });
});

test("T46: the readme's own path is no repo", () => {
  const route = createRouter({ resources, natives, version: "v2beta1", extraPrefixes: [] });
  expect(route("GET", `/registry/v1/repos/${REPO}/readme`)).toMatchObject({ kind: "native", operation: "get-readme" });
});

test("T64: a repo is deleted, whatever v2 says of it", async () => {
  const interfere = () => ({ status: 200, headers: [], body: new Uint8Array() });
  const run = await ask(world(), "DELETE", `repos/${REPO}`, { interfere });
  expect([callsOf(run), run.response.status, run.body]).toEqual([[`DELETE repos/${REPO}`], 200, {}]);
});
