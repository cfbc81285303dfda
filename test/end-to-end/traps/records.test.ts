import { expect, test } from "vitest";
import type { Json } from "../../../src/model/json.ts";
import { at, items, type Platform, platform, refusal } from "./support.ts";

const here = platform();
const { fullRepo, fullAssociation, fullAdvisory } = here.known;
const REPOS = "/registry/v1/repos";
const ALL = [
  "/iam/v1/groups",
  "/iam/v1/identities",
  "/iam/v1/roles",
  "/iam/v1/rolebindings",
  "/iam/v1/identityProviders",
  "/iam/v1/account_associations",
  "/iam/v1/group_invites",
  "/registry/v1/tags",
  "/vulnerabilities/v1/advisories",
] as const;

/** The full repo as v1 shows it. What v2 no longer has is made equal. */
async function shownRepo(own: Platform): Promise<Json> {
  const [shown] = items(await own.ask("GET", `${REPOS}?id=${fullRepo}`));
  return shown ?? null;
}

/** The paths of all members of a value, arrays as `*`. */
function paths(value: Json, prefix = ""): readonly (readonly [path: string, value: Json])[] {
  if (Array.isArray(value)) return value.flatMap((item) => paths(item, `${prefix}.*`));
  if (value === null || typeof value !== "object") return [[prefix, value]];
  return Object.entries(value).flatMap(([name, inner]) => [
    [`${prefix}.${name}`, inner] as const,
    ...paths(inner, `${prefix}.${name}`),
  ]);
}

test.each([
  ["APPLICATION", 4],
  ["BASE", 5],
  ["FIPS", 6],
  ["AI", 7],
  ["DEVTOOLS", 8],
  ["COMMERCIAL", 9],
  ["UNKNOWN", 0],
])("T05: the tier %s is the same tier in v2, also when v1 clients say it by its number %i", async (name, number) => {
  const own = platform({ organisation: false });
  for (const catalogTier of [name, number]) {
    const made = await own.same("POST", `${REPOS}/${own.known.rootGroup}`, { name: `r ${catalogTier}`, catalogTier });
    expect(at(made.body, "catalogTier")).toBe(name);
  }
  expect(own.stores()).toEqual([]);
});

test("T06: sync_config keeps its spelling both ways, and its members theirs", async () => {
  const own = platform({}, { maskSpelling: "snake_case" });
  const shown = await shownRepo(own);
  expect(at(shown, "sync_config.gracePeriod")).toBe(true);
  expect(shown).not.toHaveProperty("syncConfig");
  const changed = { ...(shown as object), sync_config: { ...(at(shown, "sync_config") as object), google: "other" } };
  expect((await own.ask("PUT", `${REPOS}/${fullRepo}`, changed, "staff")).status).toBe(200);
  const patch = own.sent.findLast(({ method }) => method === "PATCH");
  expect(patch?.query.get("updateMask")).toBe("sync_config.google,description");
  expect(at(patch?.body, "sync_config.google")).toBe("other");
});

test("T07: the number of a user in an overlay stays a number called uid", async () => {
  const own = platform();
  const shown = await shownRepo(own);
  expect(at(shown, "customOverlay.accounts.users.0.uid")).toBe(2_147_483_647);
  const text = JSON.stringify(shown).replace('"uid":1000', '"uid":1001');
  expect((await own.ask("PUT", `${REPOS}/${fullRepo}`, text, "staff")).status).toBe(200);
  expect(at(await shownRepo(own), "customOverlay.accounts.users.1.uid")).toBe(1001);
});

test("T08: userName and groupName change their spelling where v2 does, and only there", async () => {
  const own = platform();
  const shown = await shownRepo(own);
  expect(at(shown, "customOverlay.accounts.users.0")).toMatchObject({ userName: "largest", groupName: "g" });
  expect(at(shown, "customOverlay.accounts.groups.0")).toMatchObject({ groupName: "largest" });
  const text = JSON.stringify(shown).replace('"runAs":"65532"', '"runAs":"1"');
  await own.ask("PUT", `${REPOS}/${fullRepo}`, text, "staff");
  const sent = own.sent.find(({ method }) => method === "PATCH")?.body;
  expect(at(sent, "customOverlay.accounts.users.0")).toMatchObject({ username: "largest", groupName: "g" });
  expect(at(sent, "customOverlay.accounts.groups.0")).toMatchObject({ groupname: "largest" });
});

test("T09, V34, V35: a group id that was not sent is not sent on and not shown; an id that v2 cannot hold is refused", async () => {
  const own = platform({ organisation: false });
  const overlay = (user: Json) => ({ name: "r", customOverlay: { accounts: { users: [user] } } });
  const below = `${REPOS}/${own.known.rootGroup}`;
  const made = await own.same("POST", below, overlay({ userName: "u", uid: 2_147_483_647 }));
  expect(own.sent.at(-1)?.text).not.toContain('"gid"');
  expect(at(made.body, "customOverlay.accounts.users.0")).not.toHaveProperty("gid");
  const [listed] = items(await own.same("GET", REPOS));
  expect(at(listed, "customOverlay.accounts.users.0")).not.toHaveProperty("gid");
  for (const user of [{ uid: 2_147_483_648 }, { uid: 1, gid: 4_294_967_295 }]) {
    expect(refusal(await own.ask("POST", below, { ...overlay(user), name: "s" }))).toEqual([400, "INVALID_BODY"]);
  }
  expect(own.stores()).toEqual([]);
});

test("T24: keys of maps are the client's own, byte for byte, shown and written", async () => {
  for (const list of ["/iam/v1/account_associations", "/iam/v1/identities", "/iam/v1/groups"])
    await here.same("GET", list);
  const own = platform();
  const shown = await shownRepo(own);
  const keys = ["id", "uid", "createdAt", "createTime", "updateTime", "userName", "username", "groupname"];
  for (const map of ["environment", "annotations"]) {
    expect(Object.keys(at(shown, `customOverlay.${map}`) as object)).toEqual(expect.arrayContaining(keys));
  }
  const path = `/iam/v1/account_associations/${fullAssociation}`;
  const clientIds = { id: "1", uid: "2", createdAt: "3", create_time: "4", group: "5", "": "6", __proto: "7" };
  await own.same("PUT", path, { name: "everything", azure: { tenantId: "t", clientIds } });
  expect(at(own.sent.at(-1)?.body, "azure.clientIds")).toEqual(clientIds);
  const claims = { issuer: "https://i", subject: "s", claims: clientIds, claimPatterns: clientIds };
  await own.same("POST", `/iam/v1/identities/${own.known.rootGroup}`, { name: "own words", claimMatch: claims });
  expect(own.stores()).toEqual([]);
});

test("T25: of several members that exclude each other an answer holds the one that v2 sent", async () => {
  const kinds = ["claimMatch", "static", "servicePrincipal", "awsIdentity"];
  const counts = items(await here.same("GET", "/iam/v1/identities")).map(
    (item) => kinds.filter((kind) => kind in item).length,
  );
  expect([Math.max(...counts), counts.filter((count) => count === 1).length > 250]).toEqual([1, true]);
});

test("T32: enumerations keep v1's names wherever v2 has others, or the same", async () => {
  const words = new Set<Json>();
  for (const list of ALL) for (const [, value] of paths((await here.same("GET", list)).body)) words.add(value);
  expect(
    [...words].filter((word) => /^(?:REVIEW_STATE|TYPE|CAP|CATALOG_TIER|SERVICE_PRINCIPAL)_/.test(String(word))),
  ).toEqual([]);
  for (const word of [
    "REQUEST_CHANGES",
    "VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE",
    "UNSPECIFIED",
    "UNKNOWN",
    "ORG_KIND_CUSTOMER",
  ]) {
    expect([word, words.has(word)]).toEqual([word, true]);
  }
  for (const [group, ready] of [
    [fullAssociation, "Ready"],
    [here.known.rootGroup, "NotReady"],
  ]) {
    const check = await here.same("POST", `/iam/v1/account_associations/${group}:check`, { accountType: "AZURE" });
    expect(at(check.body, "ready")).toBe(ready);
  }
});

test("T37: 64-bit numbers are texts in answers, and lose no digit when they are sent as numbers", async () => {
  const advisories = await here.same("GET", "/vulnerabilities/v1/advisories");
  expect(at(advisories.body, "totalCount")).toMatch(/^\d+$/);
  const { repo, digest } = here.known;
  const size = await here.same("GET", `${REPOS}/${repo}/digests/${digest}/size`);
  expect(at(size.body, "size")).toMatch(/^\d+$/);
  expect(at((await here.same("GET", `/registry/v1/repotagssummary/${repo}`)).body, "tagCount")).toMatch(/^\d+$/);
  const own = platform();
  const text =
    '{"name":"n","github":{"appInstallations":{"1":{"installations":[{"installationId":9223372036854775807}]}}}}';
  const made = await own.same("PUT", `/iam/v1/account_associations/${fullAssociation}`, text);
  expect(made.text).toContain('"installationId":"9223372036854775807"');
  expect(own.stores()).toEqual([]);
});

test("T38, V48: an event says in v1's words what v2 says in others; an empty one is not lost, nor one that v2 cannot name", async () => {
  const [shown] = items(await here.same("GET", `/vulnerabilities/v1/advisories?id=${fullAdvisory}`));
  const events = at(shown, "events") as Json[];
  expect(events).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ detection: { manual: {} } }),
      expect.objectContaining({ fixNotPlanned: { note: "" } }),
      expect.objectContaining({ status: "PENDING", timestamp: expect.any(String) }),
      expect.objectContaining({
        detection: { scanv1: expect.objectContaining({ subpackageName: "sub", componentName: "comp" }) },
      }),
    ]),
  );
  const moved = platform({ beyondV2: true });
  const list = "/vulnerabilities/v1/advisories?page_size=200";
  const count = (all: readonly object[]) => all.flatMap((one) => at(one as Json, "events") as Json[]).length;
  expect(count(items(await moved.ask("GET", list)))).toBe(count(items(await moved.native("GET", list))));
});

test("T41: every time has the name that v1 gave it in that message", async () => {
  const found = new Set<string>();
  for (const list of [...ALL, `${REPOS}?name=everything`]) {
    const answer = list.startsWith(REPOS) ? await here.ask("GET", list) : await here.same("GET", list);
    for (const [path, value] of paths(answer.body)) {
      const isMap = /\.(?:claims|claimPatterns|clientIds|environment|annotations|serviceBindings)\./.test(path);
      if (!isMap && typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value))
        found.add(path.split(".").at(-1) ?? "");
    }
  }
  expect([...found].toSorted()).toEqual([
    "createTime",
    "createdAt",
    "deletedAt",
    "expiration",
    "grypeDbBuilt",
    "lastSeen",
    "lastUpdated",
    "previousTokenExpireTime",
    "timestamp",
    "tokenExpireTime",
    "updatedAt",
  ]);
});

test("T63: an answer is the same whether v2 writes zeros out or leaves them away", async () => {
  const terse = platform({}, { omitZeros: true });
  for (const list of ALL) await terse.same("GET", list);
});
