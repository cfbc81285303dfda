import { beforeEach, describe, expect, test } from "vitest";
import { VENDOR_KEY } from "../../src/data/vendor.ts";
import type { Sandbox } from "../../src/sandbox.ts";
import { ask } from "../client.ts";
import { seededSandbox } from "../seeded.ts";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = seededSandbox({ clock: () => new Date("2026-01-02T03:04:05.678Z") });
});

describe("repos", () => {
  const V1 = "/registry/v1/repos";
  const V2 = "/registry/v2beta1/repos";
  const item = async (uid: string) => (await ask(sandbox, "GET", `${V1}?id=${uid}`)).json.items[0];

  test("the readme is part of a v1 repo and a resource of its own in v2, written by staff only", async () => {
    const { repo } = sandbox.wellKnown;
    const { readme } = await item(repo);
    expect(readme).toContain("Read me");
    expect((await ask(sandbox, "GET", `${V2}/${repo}/readme`)).json).toEqual({ uid: repo, content: readme });
    const body = { content: "# new" };
    expect((await ask(sandbox, "PATCH", `${V2}/${repo}/readme`, { body })).status).toBe(403);
    const staff = { body, token: sandbox.token("staff") };
    expect((await ask(sandbox, "PATCH", `${V2}/${repo}/readme`, staff)).json).toEqual({ uid: repo, content: "# new" });
    expect((await item(repo)).readme).toBe("# new");
    expect((await ask(sandbox, "GET", `${V2}/${repo}`)).json.readme).toBeUndefined();
  });

  test("a v1 PUT wipes what it leaves out, the sync settings and the readme too, for it is a full replace", async () => {
    const { fullRepo } = sandbox.wellKnown;
    const { createTime, createdAt } = await item(fullRepo);
    const put = await ask(sandbox, "PUT", `${V1}/${fullRepo}`, { body: { name: "n" } });
    expect(put.json).toEqual({
      id: fullRepo,
      name: "n",
      catalogTier: "UNKNOWN",
      bundles: [],
      readme: "",
      sync_config: null,
      customOverlay: null,
      aliases: [],
      createTime,
      activeTags: [],
      description: "",
      createdAt,
      updatedAt: "2026-01-02T03:04:05.678Z",
    });
    expect(await item(fullRepo)).toEqual(put.json);
  });

  test("a v2 PATCH ends a sync by naming it, and what the source decided can be changed from then on", async () => {
    const { syncedRepo } = sandbox.wellKnown;
    const patch = (query: string, body: object) => ask(sandbox, "PATCH", `${V2}/${syncedRepo}${query}`, { body });
    expect((await patch("?updateMask=bundles", {})).json.code).toBe(3);
    const ended = (await patch("?updateMask=sync_config", {})).json;
    expect(ended.sync_config).toBeNull();
    expect(ended.bundles).not.toEqual([]);
    expect((await patch("?updateMask=bundles", {})).json.bundles).toEqual([]);
  });

  test.each([
    ["readme", 200, 403],
    ["forbid", 403, 403],
    ["refuse", 400, 403],
  ] as const)(
    "repoGuard %s: who lacks the internal capability gets %i for a real change of a guarded field, %i for the readme",
    async (repoGuard, status, readme) => {
      sandbox = seededSandbox({ repoGuard });
      const { repo, fullRepo } = sandbox.wellKnown;
      const { bundles, description } = (await ask(sandbox, "GET", `${V2}/${repo}`)).json;
      const patch = (uid: string, body: object, token = sandbox.token("admin")) =>
        ask(sandbox, "PATCH", `${V2}/${uid}`, { body, token });
      for (const [uid, body] of [
        [repo, { catalogTier: "CATALOG_TIER_AI" }],
        [repo, { bundles: ["fips"] }],
        [repo, { aliases: [] }],
        [repo, { activeTags: [] }],
        [repo, { sync_config: { source: "x/y" } }],
        [fullRepo, { sync_config: { google: "" } }],
        [fullRepo, { sync_config: null }],
      ] as const) {
        const answer = await patch(uid, body);
        expect([answer.status, body]).toEqual([status, body]);
        if (status !== 200) expect((await patch(uid, body, sandbox.token("staff"))).status).toBe(200);
      }
      expect((await patch(repo, { description: `${description}!` })).status).toBe(200);
      expect((await patch(fullRepo, { bundles: (await item(fullRepo)).bundles })).status).toBe(200);
      const refused = await patch(`${repo}/readme`, { content: "# new" });
      expect([refused.status, refused.json.message]).toEqual([readme, expect.stringContaining("repo.internal.admin")]);
      expect((await patch(`${repo}/readme`, { content: "# new" }, sandbox.token("staff"))).status).toBe(200);
      expect((await ask(sandbox, "PUT", `${V1}/${repo}`, { body: { name: "n", bundles } })).status).toBe(200);
    },
  );

  test("a guarded field is refused in words of the platform: 403 with an ErrorInfo, or 400 naming the path of the mask", async () => {
    const refused = async (repoGuard: "forbid" | "refuse") => {
      sandbox = seededSandbox({ repoGuard });
      const path = `${V2}/${sandbox.wellKnown.repo}?updateMask=description,catalog_tier`;
      return (await ask(sandbox, "PATCH", path, { body: { catalogTier: "CATALOG_TIER_AI" } })).json;
    };
    const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", domain: "registry.platform.example" };
    expect(await refused("forbid")).toEqual({
      code: 7,
      message: "Permission denied: the caller lacks the capability repo.internal.admin on this resource",
      details: [{ ...info, reason: "PERMISSION_DENIED", metadata: {} }],
    });
    const description = '"catalog_tier" takes the capability repo.internal.admin';
    expect(await refused("refuse")).toMatchObject({
      code: 3,
      message: `Invalid argument: update_mask: ${description}`,
      details: [{ ...info, reason: "INVALID_ARGUMENT" }, { fieldViolations: [{ field: "update_mask", description }] }],
    });
  });

  test("on a synced repo nobody can change what the source decides, and a v1 PUT that is silent about it leaves it", async () => {
    const { syncedRepo } = sandbox.wellKnown;
    const before = await item(syncedRepo);
    const put = (body: object) => ask(sandbox, "PUT", `${V1}/${syncedRepo}`, { body });
    expect((await put({ ...before, description: "echoed" })).json).toEqual({
      ...before,
      description: "echoed",
      updatedAt: "2026-01-02T03:04:05.678Z",
    });
    const silent = (await put({ name: before.name, sync_config: before.sync_config })).json;
    expect(silent).toMatchObject({ catalogTier: before.catalogTier, bundles: before.bundles });
    expect((await put({ ...before, catalogTier: "AI" })).json.code).toBe(3);
    const staff = { body: { bundles: ["other"] }, token: sandbox.token("staff") };
    const patch = await ask(sandbox, "PATCH", `${V2}/${syncedRepo}`, staff);
    expect([patch.status, patch.json.details[1].fieldViolations[0].field]).toEqual([400, "bundles"]);
  });

  test("sync settings keep what only the platform sets, under v1's and v2's names", async () => {
    const { syncedRepo, someGroup } = sandbox.wellKnown;
    const before = await item(syncedRepo);
    const forged = { ...before.sync_config, uniqueTags: false, expiration: "2030-01-01T00:00:00Z", google: "g" };
    const put = await ask(sandbox, "PUT", `${V1}/${syncedRepo}`, { body: { ...before, sync_config: forged } });
    expect(put.json.sync_config).toEqual({ ...before.sync_config, google: "g" });
    const body = { name: "fresh", sync_config: { source: "x/y" } };
    const { json } = await ask(sandbox, "POST", `${V2}/${someGroup}`, { body });
    expect(json.sync_config).toMatchObject({ source: "x/y", expirationTime: "2026-01-16T03:04:05.678Z" });
    const camel = { name: "camel", syncConfig: { source: "x/y" } };
    expect((await ask(sandbox, "POST", `${V2}/${someGroup}`, { body: camel })).json.sync_config).toBeNull();
    expect((await ask(sandbox, "PATCH", `${V2}/${json.uid}`, { body: { syncConfig: {} } })).status).toBe(400);
    await ask(sandbox, "PUT", `${V1}/${json.uid}`, { body: { name: "fresh" } });
    expect((await item(json.uid)).sync_config).toBeNull();
  });

  test("reserved prefixes are refused, and so is an overlay without custom assembly", async () => {
    const { someGroup } = sandbox.wellKnown;
    const post = async (customOverlay: object) =>
      (await ask(sandbox, "POST", `${V2}/${someGroup}`, { body: { name: "o", customOverlay } })).status;
    expect(await post({ environment: { [`${VENDOR_KEY.toUpperCase()}_X`]: "1" } })).toBe(400);
    expect(await post({ annotations: { "org.opencontainers.x": "1" } })).toBe(400);
    const plain = sandbox.snapshot().repos.find((one) => (one["extra"] as { assembly?: boolean })?.assembly === false);
    const patch = { body: { customOverlay: { contents: { packages: ["x"] } } } };
    expect((await ask(sandbox, "PATCH", `${V2}/${plain?.["uid"]}`, patch)).status).toBe(400);
  });

  test("v2 takes an empty name as a filter for the empty name", async () => {
    expect((await ask(sandbox, "GET", `${V2}?name=`)).json.totalCount).toBe("0");
    expect((await ask(sandbox, "GET", `${V1}?name=`)).json.items).toHaveLength(251);
  });

  test("deleting one takes its tags along", async () => {
    const { repo, tag } = sandbox.wellKnown;
    await ask(sandbox, "DELETE", `${V1}/${repo}`);
    expect((await ask(sandbox, "GET", `/registry/v2beta1/tags/${tag}`)).status).toBe(404);
  });
});

describe("tags", () => {
  const V1 = "/registry/v1/tags";
  const V2 = "/registry/v2beta1/tags";

  test("a v1 PUT renames one in its place and keeps its digest, but not under another one's name", async () => {
    const { tag, fullRepo } = sandbox.wellKnown;
    const [before] = (await ask(sandbox, "GET", `${V1}?id=${tag}`)).json.items;
    const put = await ask(sandbox, "PUT", `${V1}/${tag}`, { body: { name: "renamed" } });
    expect(put.json).toMatchObject({ id: tag, name: "renamed", digest: before.digest, deprecated: false, bundles: [] });
    expect((await ask(sandbox, "GET", `${V2}/${tag}`)).json).toMatchObject({ name: "renamed", digest: before.digest });
    expect((await ask(sandbox, "PUT", `${V1}/${tag}`, { body: {} })).json.code).toBe(3);
    const beside = (await ask(sandbox, "GET", `${V1}?uidp.childrenOf=${fullRepo}&name=latest`)).json.items[0];
    const taken = await ask(sandbox, "PUT", `${V1}/${beside.id}`, { body: { name: "1.2.3" } });
    expect([taken.status, taken.json.code]).toEqual([409, 6]);
    const repo = await ask(sandbox, "PATCH", `/registry/v2beta1/repos/${fullRepo}`, { body: { name: "fresh" } });
    expect(repo.json.name).toBe("fresh");
  });

  test("v2 upserts by name and demands a digest; v1 makes one up and keeps a stored one", async () => {
    const { repo } = sandbox.wellKnown;
    const digest = `sha256:${"a".repeat(64)}`;
    const v1 = (body: object) => ask(sandbox, "POST", `${V1}/${repo}`, { body });
    const v2 = (body: object) => ask(sandbox, "POST", `${V2}/${repo}`, { body });
    const made = (await v1({ name: "t" })).json;
    expect(made.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect((await v2({ name: "t" })).status).toBe(400);
    expect((await v2({ name: "t", digest })).json).toMatchObject({ uid: made.id, digest });
    const put = await ask(sandbox, "PUT", `${V1}/${made.id}`, { body: { name: "renamed", deprecated: true } });
    expect(put.json).toMatchObject({ id: made.id, name: "renamed", digest, deprecated: true, bundles: [] });
    expect((await v2({ name: "bad name", digest })).status).toBe(400);
    expect((await v2({ name: "t", digest: "md5:1" })).status).toBe(400);
  });
});

describe("advisories", () => {
  const V1 = "/vulnerabilities/v1/advisories";
  const V2 = "/vulnerabilities/v2beta1/advisories";

  test("a moved component is an event of v1 only, there when asked for; an empty detection is kept", async () => {
    const query = "event_types=EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED";
    const isMoved = (event: object) => Object.hasOwn(event, "componentLocationChanged");
    for (const beyondV2 of [true, false]) {
      const items = (await ask(seededSandbox({ beyondV2 }), "GET", `${V1}?${query}`)).json.items;
      expect(items.flatMap((item: { events: object[] }) => item.events).some(isMoved)).toBe(beyondV2);
    }
    expect((await ask(sandbox, "GET", `${V2}?${query}`)).status).toBe(400);
    expect((await ask(sandbox, "GET", `${V2}?page_size=200`)).text).toContain('"detection":{"manual":{}}');
  });

  test("one without events has none in v2 that omits zeros, and an empty list of them in v1, below its own id", async () => {
    sandbox = seededSandbox({ omitZeros: true });
    const uid = String(sandbox.snapshot().advisories.find((one) => one["events"] === undefined)?.["uid"]);
    expect((await ask(sandbox, "GET", `${V2}/${uid}`)).json).not.toHaveProperty("events");
    expect((await ask(sandbox, "GET", `${V1}?id=${uid}`)).json.items[0].events).toEqual([]);
    expect((await ask(sandbox, "GET", `${V1}/${uid}/events`)).text).toBe(`{"parentId":"${uid}","items":[]}`);
  });

  test("an empty v1 list names the group that was asked for, and none when none was", async () => {
    const { emptyGroup } = sandbox.wellKnown;
    const text = async (query: string) => (await ask(sandbox, "GET", `${V1}?${query}`)).text;
    const empty = (id: string) => `{"id":"${id}","items":[],"nextPageToken":"","totalCount":"0"}`;
    expect(await text(`uidp.children_of=&uidp.descendants_of=${emptyGroup}`)).toBe(empty(emptyGroup));
    expect(await text("artifact_name=nothing")).toBe(empty(""));
  });

  test.each([V1, V2])("%s refuses a negative page size", async (path) => {
    const { status, json } = await ask(sandbox, "GET", `${path}?page_size=-1`);
    const description = "page_size must not be negative";
    expect([status, json]).toMatchObject([
      400,
      {
        code: 3,
        message: `Invalid argument: page_size: ${description}`,
        details: [
          { reason: "INVALID_ARGUMENT", domain: "vulnerabilities.platform.example", metadata: {} },
          { fieldViolations: [{ field: "page_size", description }] },
        ],
      },
    ]);
  });

  test("the filters of both faces find the same", async () => {
    const pairs = [
      ["artifact_type=apk", "artifact_types=apk"],
      ["aliases=CVE-2025-1003", "aliases=CVE-2025-1003"],
      ["event_statuses=APPROVED", "event_review_states=REVIEW_STATE_APPROVED"],
      ["event_author=jane", "event_authors=jane"],
      ["exclude_event_author=jane", "exclude_event_authors=jane"],
      ["event_reviewer=sam", "event_reviewers=sam"],
      ["event_types=EVENT_TYPE_FILTER_FIXED", "event_types=EVENT_TYPE_FILTER_FIXED"],
      ["latest_event_type=EVENT_TYPE_FILTER_PATCHED", "latest_event_type=EVENT_TYPE_FILTER_PATCHED"],
      ["origin=upstream", "origin=upstream"],
      ["order_by=CREATED_AT_DESC", "order_by=created_at%20desc"],
    ];
    for (const [one, other] of pairs) {
      const v1 = (await ask(sandbox, "GET", `${V1}?page_size=100&${one}`)).json;
      const v2 = (await ask(sandbox, "GET", `${V2}?page_size=100&${other}`)).json;
      expect(v1.items.map((item: { id: string }) => item.id)).toEqual(
        v2.advisories.map((item: { uid: string }) => item.uid),
      );
      expect(Number(v1.totalCount)).toBeGreaterThan(0);
      if (!one?.startsWith("order_by")) expect(Number(v1.totalCount)).toBeLessThan(69);
    }
    expect((await ask(sandbox, "GET", `${V2}?query=cve-2025-1003`)).json.totalCount).toBe("1");
  });
});
