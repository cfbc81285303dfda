import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/model/json.ts";
import { at, platform } from "./support.ts";

const here = platform();
const { repo, digest } = here.known;
const REPOS = "/registry/v1/repos";
const TAGS = "/registry/v1/tags";
const DIGEST = `sha256:${"1".repeat(64)}`;

test("TRAP-14, DIFF-14: a tag that has no digest cannot be changed without one, and nothing is changed", async () => {
  const own = platform();
  const bare = own.sandbox.snapshot().tags.find((one) => one["digest"] === undefined);
  const path = `${TAGS}/${bare?.["uid"]}`;
  const refused = await own.ask("PUT", path, { name: bare?.["name"] ?? "", digest: "", deprecated: true });
  expect([refused.status, refused.text.includes('"field":"digest"')]).toEqual([400, true]);
  expect(own.stores()).toEqual([]);
  await own.same("PUT", path, { name: bare?.["name"] ?? "", digest: DIGEST });
  expect(own.stores()).toEqual([]);
});

test("DIFF-20: a repo and a tag that are replaced without a name keep theirs", async () => {
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

test("DIFF-37: creating a tag whose name is taken updates that one", async () => {
  const own = platform();
  const [first, second] = [await make({}), await make({ deprecated: true })];
  expect(second).toMatchObject({ id: first["id"], deprecated: true });

  async function make(more: object) {
    const made = await own.ask("POST", `${TAGS}/${repo}`, { name: "one", digest: DIGEST, ...more });
    return made.body as JsonObject;
  }
});

test("TRAP-65, DIFF-36: an image has the size of the requested architecture, and no other one is requested in its place", async () => {
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
