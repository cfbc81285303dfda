import { expect, test } from "vitest";
import type { SandboxOptions } from "../../../sandbox/src/options.ts";
import type { ApiRequest } from "../../../src/model/http.ts";
import type { JsonObject } from "../../../src/model/json.ts";
import { at, ids, items, maskOf, platform, refusal, response } from "./support.ts";

const here = platform();
const { repo, syncedRepo, digest } = here.known;
const REPOS = "/registry/v1/repos";
const TAGS = "/registry/v1/tags";
const DIGEST = `sha256:${"1".repeat(64)}`;
const small = (second: SandboxOptions = {}) => platform({ organisation: false }, second);
const methods = ({ sent }: typeof here): readonly string[] => sent.map(({ method }) => method);

test("T10: a readme is shown with its repo, and is there after the repo was sent back", async () => {
  const own = platform();
  const [shown] = items(await own.same("GET", `${REPOS}?id=${repo}`));
  expect(shown?.["readme"]).toContain("# ");
  await own.same("PUT", `${REPOS}/${repo}`, { ...shown, description: "new" });
  expect(own.stores()).toEqual([]);
  const left = await own.ask("PUT", `${REPOS}/${repo}`, { ...shown, readme: "" });
  expect([left.status, at(left.body, "readme")]).toEqual([200, shown?.["readme"]]);
  await own.same("PUT", `${REPOS}/${repo}`, { ...shown, readme: "# other" }, "staff");
  expect(items(await own.same("GET", `${REPOS}?id=${repo}`))[0]?.["readme"]).toBe("# other");
});

test("T11, V28: whoever may not write readmes can still write repos; changing the readme tells of the missing right", async () => {
  const own = platform();
  const [shown] = items(await own.same("GET", `${REPOS}?id=${repo}`));
  expect((await own.same("PUT", `${REPOS}/${repo}`, { ...shown, description: "new" })).status).toBe(200);
  const refused = await own.ask("PUT", `${REPOS}/${repo}`, { ...shown, description: "newer", readme: "# other" });
  expect([refused.status, at(refused.body, "code")]).toEqual([403, 7]);
  expect(own.stores()).toEqual([]);
});

test("T12: creating a repo that is there updates it, or is refused where the client wants that", async () => {
  const own = small();
  const below = `${REPOS}/${own.known.rootGroup}`;
  const made = await own.same("POST", below, { name: "one", description: "d", aliases: ["x"] });
  const again = await own.same("POST", below, { name: "one", description: "e", aliases: ["y"] });
  expect(at(again.body, "id")).toBe(at(made.body, "id"));
  expect(methods(own)).toContain("PATCH");
  expect((await own.ask("POST", `${below}?preventExisting=true`, { name: "one" })).status).toBe(409);
  expect(own.stores()).toEqual([]);
});

test("T13, V39: a tag is updated under its own name and stays the one it was; a rename is refused", async () => {
  const own = small();
  const { body } = await own.same("POST", `${REPOS}/${own.known.rootGroup}`, { name: "repo" });
  const below = `${TAGS}/${at(body, "id")}`;
  const made = await own.same("POST", below, { name: "latest", digest: DIGEST, bundles: ["base"] });
  const path = `${TAGS}/${at(made.body, "id")}`;
  const changed = await own.same("PUT", path, { name: "latest", digest: DIGEST, deprecated: true });
  expect(changed.body).toMatchObject({ id: at(made.body, "id"), deprecated: true, bundles: [] });
  const renamed = await own.ask("PUT", path, { name: "newest", digest: DIGEST });
  expect(refusal(renamed)).toEqual([400, "INVALID_BODY"]);
  expect(ids(await own.same("GET", TAGS))).toEqual([at(made.body, "id")]);
  expect(own.stores()).toEqual([]);
});

test("T14, V14: a tag that is written without a digest keeps the one it has; a new one is refused, and none is made up", async () => {
  const own = small();
  const { body } = await own.same("POST", `${REPOS}/${own.known.rootGroup}`, { name: "repo" });
  const below = `${TAGS}/${at(body, "id")}`;
  const made = await own.same("POST", below, { name: "latest", digest: DIGEST });
  const kept = await own.same("PUT", `${TAGS}/${at(made.body, "id")}`, { name: "latest", deprecated: true });
  expect(kept.body).toMatchObject({ digest: DIGEST, deprecated: true });
  const refused = await own.ask("POST", below, { name: "other" });
  expect([refused.status, refused.text.includes('"field":"digest"')]).toEqual([400, true]);
  expect(own.sent[0]?.body).toEqual({ name: "other" });
  expect(own.stores()).toEqual([]);
});

test("T14, V14: a tag that has no digest cannot be changed without one, and nothing is changed", async () => {
  const own = platform();
  const bare = own.sandbox.snapshot().tags.find((one) => one["digest"] === undefined);
  const path = `${TAGS}/${bare?.["uid"]}`;
  const refused = await own.ask("PUT", path, { name: bare?.["name"] ?? "", digest: "", deprecated: true });
  expect([refused.status, refused.text.includes('"field":"digest"')]).toEqual([400, true]);
  expect(own.stores()).toEqual([]);
  await own.same("PUT", path, { name: bare?.["name"] ?? "", digest: DIGEST });
  expect(own.stores()).toEqual([]);
});

test("V20: a repo and a tag that are replaced without a name keep theirs", async () => {
  const own = platform();
  for (const [path, name] of [
    [`${REPOS}/${repo}`, "busybox-0"],
    [`${TAGS}/${own.known.tag}`, "latest-0"],
  ] as const) {
    expect((await own.native("PUT", path, { digest: DIGEST })).status).toBe(400);
    const kept = await own.ask("PUT", path, { digest: DIGEST });
    expect([kept.status, at(kept.body, "name")]).toEqual([200, name]);
  }
});

test("V37: creating a tag whose name is taken updates that one", async () => {
  const own = platform();
  const [first, second] = [await make({}), await make({ deprecated: true })];
  expect(second).toMatchObject({ id: first["id"], deprecated: true });

  async function make(more: object) {
    const made = await own.ask("POST", `${TAGS}/${repo}`, { name: "one", digest: DIGEST, ...more });
    return made.body as JsonObject;
  }
});

test("T56, V32: settings of a sync that v2 alone sets may be sent back, and a change of one is refused", async () => {
  const own = platform();
  const path = `${REPOS}/${own.known.fullRepo}`;
  const [shown] = items(await own.ask("GET", `${REPOS}?id=${own.known.fullRepo}`));
  const sync = at(shown, "sync_config") as object;
  const back = await own.ask("PUT", path, { ...shown, description: "new" });
  expect([back.status, own.sent.filter(({ method }) => method === "PATCH").map(maskOf)]).toEqual([
    200,
    [["description"]],
  ]);
  const refused = await own.ask("PUT", path, { ...shown, sync_config: { ...sync, uniqueTags: false } }, "staff");
  expect(refusal(refused)).toEqual([400, "INVALID_BODY"]);
  expect(methods(own)).not.toContain("PATCH");
});

test("T57: a synced repo that is sent back is not refused for what it cannot change", async () => {
  const own = platform();
  const path = `${REPOS}/${syncedRepo}`;
  const [shown] = items(await own.ask("GET", `${REPOS}?id=${syncedRepo}`));
  expect(shown?.["bundles"]).not.toEqual([]);
  expect((await own.same("PUT", path, { ...shown, description: "new" })).status).toBe(200);
  expect(own.sent.filter(({ method }) => method === "PATCH").map(maskOf)).toEqual([["description"]]);
  // A real change is the platform's to refuse.
  expect((await own.same("PUT", path, { ...shown, catalogTier: "AI", bundles: ["fips"] })).status).toBe(400);
  // What v2 no longer has is all that is not equal afterwards.
  expect(own.stores().filter((line) => !line.includes("syncApks"))).toEqual([]);
});

test("T61, V27: of several writes the one that fails is told, with what was done before, and asking again does the rest", async () => {
  let fails = true;
  const isReadme = ({ method, target }: ApiRequest): boolean => method === "PATCH" && target.includes("/readme");
  const own = small({
    faults: (next) => async (request, options) =>
      fails && isReadme(request)
        ? response(409, { code: 10, message: "aborted", details: [] })
        : next(request, options),
  });
  const below = `${REPOS}/${own.known.rootGroup}`;
  const given = { name: "one", readme: "# one" };
  const broken = await own.ask("POST", below, given, "staff");
  expect([broken.status, broken.headers]).toEqual([409, expect.arrayContaining([["carryover-partial", "repo"]])]);
  fails = false;
  expect((await own.ask("POST", below, given, "staff")).status).toBe(200);
  expect(items(await own.ask("GET", REPOS))).toMatchObject([given]);
});

test("T65, V36: the size of an image is that of the architecture that was asked for, and none is asked for in its place", async () => {
  const path = `${REPOS}/${repo}/digests/${digest}`;
  const archs = at((await here.same("GET", `${path}/architectures`)).body, "archs") as string[];
  expect(archs.length).toBeGreaterThan(1);
  for (const arch of archs) {
    expect((await here.same("GET", `${path}/size?arch=${arch}`)).body).toMatchObject({ arch });
    expect(here.sent[0]?.query.get("architecture")).toBe(arch);
  }
  await here.same("GET", `${path}/size`);
  expect([...(here.sent[0]?.query.keys() ?? [])]).toEqual([]);
});
