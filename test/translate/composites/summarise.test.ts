import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/model/json.ts";
import { json, problemOf, queryOf } from "../support.ts";
import { ask, headerOf, REPO, refusal, world } from "./registry.ts";

function summary(tags: readonly JsonObject[], query = "", interfere?: Parameters<typeof ask>[3]) {
  const held = world();
  tags.forEach((tag, index) => {
    held.tags.set(`${REPO}/${index + 10}`, tag);
  });
  return ask(held, "GET", `repotagssummary/${REPO}${query}`, interfere);
}
const at = (name: string, updateTime: string) => ({ name, updateTime });

describe("the summary of a repo's tags", () => {
  test("counts the tags of all pages, and says what is proved", async () => {
    const names = ["a", "b", "c", "d", "e"];
    const run = await summary(names.map((name, index) => at(name, `2026-01-0${index + 1}T00:00:00Z`)));
    expect(run.body).toEqual({
      id: REPO,
      tagCount: "5",
      lastUpdated: "2026-01-05T00:00:00Z",
      latestTag: {
        id: `${REPO}/14`,
        name: "e",
        digest: "",
        lastUpdated: "2026-01-05T00:00:00Z",
        updatedAt: "2026-01-05T00:00:00Z",
        deprecated: false,
        bundles: [],
      },
      latestVersion: "",
    });
    expect(headerOf(run, "carryover-list")).toBe("witness=none; pages=3; records=5");
  });

  test("TRAP-15: includes what is not excluded", async () => {
    expect(queryOf((await summary([])).sent[0])).toBe(
      `include_dates=true&include_epochs=true&include_referrers=true&uidp.children_of=${REPO}`,
    );
    const { sent } = await summary([], "?exclude_referrers=true&excludeEpochs=true&excludeDates=false");
    expect(queryOf(sent[0])).toBe(
      `include_dates=true&include_epochs=false&include_referrers=false&uidp.children_of=${REPO}`,
    );
  });

  // Which moment is later, and which version is greater: version.test.ts.
  test("DIFF-41: takes the later moment for the latest, and the greater uid at one moment, in whatever order they come", async () => {
    const late = [at("a", "2026-01-01T10:00:00Z"), { name: "b" }, at("c", "2026-01-01T11:00:00+02:00")];
    for (const tags of [late, [...late].reverse()]) {
      expect((await summary(tags)).body).toMatchObject({ latestTag: { name: "a" } });
    }
    const same = ["2", "1"].map((end) => ({ uid: `${REPO}/${end}`, ...at(`n${end}`, "2026-01-01T10:00:00Z") }));
    for (const tags of [same, [...same].reverse()]) {
      const { body } = await summary([], "", { interfere: () => json(200, { tags }) });
      expect(body).toMatchObject({ latestTag: { name: "n2" } });
    }
  });

  test("makes up no time and no tag", async () => {
    const { body } = await summary([{ name: "a" }]);
    expect(body).toEqual({ id: REPO, tagCount: "1", lastUpdated: null, latestTag: null, latestVersion: "" });
  });

  test("DIFF-41: names the greatest version, wherever it stands", async () => {
    const { body } = await summary(["1.2.9", "v1.2.10", "latest"].map((name) => ({ name })));
    expect(body).toMatchObject({ latestVersion: "v1.2.10" });
  });

  test("of a repo that nobody knows is empty, as v1's was", async () => {
    const { response, body } = await summary([]);
    expect([response.status, body]).toEqual([
      200,
      { id: REPO, tagCount: "0", lastUpdated: null, latestTag: null, latestVersion: "" },
    ]);
  });

  test("counts no tag of another repo", async () => {
    const strangers = [
      { uid: `${REPO}/1`, ...at("1.0", "2026-01-01T00:00:00Z") },
      { uid: "other/2", ...at("9.0", "2026-02-01T00:00:00Z") },
    ];
    const { body } = await summary([], "", { interfere: () => json(200, { tags: strangers }) });
    expect(body).toMatchObject({ tagCount: "1", latestTag: { name: "1.0" }, latestVersion: "1.0" });
  });

  test("is the platform's refusal when a page is refused", async () => {
    const { response } = await summary([], "", { interfere: () => refusal(403, 7) });
    expect(response.status).toBe(403);
  });

  test("refuses what cannot be read", async () => {
    expect((await problemOf(summary([], "?exclude_dates=perhaps"))).reason).toBe("INVALID_FILTER");
    expect((await summary([], "?page_size=3")).exchange.notes).toContain("query-unknown");
  });

  test("keeps unknown members of the latest tag", async () => {
    const { body } = await summary([{ ...at("a", "2026-01-01T00:00:00Z"), big: 7 }]);
    expect(body).toMatchObject({ latestTag: { big: 7 } });
  });
});
