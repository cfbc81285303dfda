import { describe, expect, test } from "vitest";
import { ask } from "../client.ts";
import { seededSandbox } from "../seeded.ts";

const sandbox = seededSandbox();
const { repo, someGroup } = sandbox.wellKnown;
const tagsOfRepo = sandbox.snapshot().tags.filter((tag) => String(tag["uid"]).startsWith(`${repo}/`));
/** A digest of the repo whose last digit is `digit`. */
const digest = (digit: string) =>
  String(tagsOfRepo.find((tag) => String(tag["digest"] ?? "").endsWith(digit))?.["digest"]);

describe("an image", () => {
  const V1 = `/registry/v1/repos/${repo}/digests`;
  const V2 = `/registry/v2beta1/repos/${repo}/digests`;

  test("has the same architectures in both faces, under other names", async () => {
    expect((await ask(sandbox, "GET", `${V1}/${digest("0")}/architectures`)).json).toEqual({
      archs: ["amd64", "arm64"],
    });
    expect((await ask(sandbox, "GET", `${V2}/${digest("0")}/architectures`)).json).toEqual({
      architectures: ["amd64", "arm64"],
    });
    const coded = encodeURIComponent(digest("4"));
    expect((await ask(sandbox, "GET", `${V2}/${coded}/architectures`)).json).toEqual({ architectures: ["arm64"] });
  });

  test("has a size for each of them: amd64 unless another is asked for, as a text", async () => {
    const v1 = (await ask(sandbox, "GET", `${V1}/${digest("0")}/size?arch=arm64`)).json;
    const v2 = (await ask(sandbox, "GET", `${V2}/${digest("0")}/size?architecture=arm64`)).json;
    expect(v1).toEqual({ size: v2.size, arch: "arm64" });
    expect(v2.architecture).toBe("arm64");
    expect(v1.size).toMatch(/^[1-9]\d+$/);
    for (const path of [V1, V2]) {
      const { json } = await ask(sandbox, "GET", `${path}/${digest("0")}/size`);
      expect(json.arch ?? json.architecture).toBe("amd64");
      expect(json.size).not.toBe(v1.size);
    }
    const huge = (await ask(sandbox, "GET", `${V2}/${digest("2")}/size?architecture=ppc64le`)).json;
    expect(BigInt(huge.size)).toBeGreaterThan(2n ** 53n);
  });

  test.each([
    ["another architecture", `${digest("1")}/size?arch=arm64&architecture=arm64`, 404],
    ["the default where there is none", `${digest("4")}/size`, 404],
    ["a digest that no tag has", `sha256:${"0".repeat(64)}/architectures`, 404],
    ["a repeated parameter", `${digest("0")}/size?arch=a&arch=b&architecture=a&architecture=b`, 400],
  ])("is not found for %s", async (_what, rest, status) => {
    for (const path of [V1, V2]) expect((await ask(sandbox, "GET", `${path}/${rest}`)).status).toBe(status);
  });

  test("is only for who may see the repo", async () => {
    for (const path of [V1, V2]) {
      const token = sandbox.token(`admin@${someGroup}`);
      expect((await ask(sandbox, "GET", `${path}/${digest("0")}/size`, { token })).status).toBe(403);
      expect((await ask(sandbox, "POST", `${path}/${digest("0")}/size`)).status).toBeGreaterThanOrEqual(400);
    }
  });
});

describe("v1 repotagssummary", () => {
  const summary = async (query = "", name = "admin", uid = repo) =>
    (await ask(sandbox, "GET", `/registry/v1/repotagssummary/${uid}${query}`, { token: sandbox.token(name) })).json;
  const items = async (query: string) =>
    (await ask(sandbox, "GET", `/registry/v1/tags?uidp.childrenOf=${repo}&${query}`)).json.items as {
      name: string;
      lastUpdated: string;
    }[];

  test("counts the tags that a list with the same exclusions shows, the newest of them being the latest", async () => {
    const counts = new Set<string>();
    for (const query of ["", "excludeReferrers=true", "exclude_dates=true&exclude_epochs=true&excludeReferrers=1"]) {
      const listed = await items(query);
      const newest = listed.reduce((a, b) => (b.lastUpdated > a.lastUpdated ? b : a));
      const json = await summary(`?${query}`);
      expect(json).toEqual({
        id: repo,
        tagCount: String(listed.length),
        lastUpdated: newest.lastUpdated,
        latestTag: newest,
        latestVersion: expect.any(String),
      });
      counts.add(json.tagCount);
    }
    expect(counts.size).toBe(3);
  });

  test("names the highest version by its numbers, not by its letters", async () => {
    const fresh = seededSandbox();
    const at = fresh.wellKnown.syncedRepo;
    for (const name of ["10.2", "9.30", "10.10", "10.10-r1", "latest", "x.y"]) {
      await ask(fresh, "POST", `/registry/v1/tags/${fresh.wellKnown.repo}`, { body: { name } });
    }
    const [{ json }, empty] = [
      await ask(fresh, "GET", `/registry/v1/repotagssummary/${fresh.wellKnown.repo}`),
      await ask(fresh, "GET", `/registry/v1/repotagssummary/${at}/0000000000000000`),
    ];
    expect(json.latestVersion).toBe("10.10");
    expect(empty.json).toEqual({
      id: `${at}/0000000000000000`,
      tagCount: "0",
      lastUpdated: null,
      latestTag: null,
      latestVersion: "",
    });
  });

  test("counts nothing for who may not look, and has no counterpart in v2", async () => {
    expect((await summary("", `admin@${someGroup}`)).tagCount).toBe("0");
    expect((await ask(sandbox, "GET", `/registry/v2beta1/repotagssummary/${repo}`)).status).toBe(404);
  });
});
