import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/model/json.ts";
import type { Operation, Resource, Row } from "../../../src/model/resource.ts";
import { json, maskOf, NAME, operationOf, problemOf, run, textOf, thing } from "../support.ts";
import { ask, callsOf, headerOf, lost, REPO, refusal, resource, world, writesOf } from "./registry.ts";

const README_PATH = `repos/${REPO}/readme`;
const put = (held: ReturnType<typeof world>, body: JsonObject, more = {}) =>
  ask(held, "PUT", `repos/${REPO}`, { body: { name: "nginx", ...body }, ...more });
const STORED = {
  catalogTier: "CATALOG_TIER_AI",
  bundles: ["base", "fips"],
  aliases: ["a"],
  activeTags: ["latest"],
  description: "old",
  sync_config: { source: "x/y", uniqueTags: true, expirationTime: "2026-04-02T10:45:30.250Z", apkoOverlay: "o" },
};

describe("TRAP-10: the readme of a repo", () => {
  test.each([{}, { readme: "" }, { readme: null }])("is cleared by %j, as v1 did", async (sent) => {
    const held = world({}, "text");
    const run = await put(held, { description: "d", ...sent });
    expect(writesOf(run)).toEqual([`PATCH ${README_PATH}`, `PATCH repos/${REPO}`]);
    expect(held.readmes.get(REPO)).toBe("");
    expect([run.body, headerOf(run, "carryover-mismatch")]).toMatchObject([
      { description: "d", readme: "" },
      undefined,
    ]);
    expect(run.exchange.defaultedFields).toEqual(["readme"]);
  });

  test("stays where the platform refuses to clear it, and the rest is written", async () => {
    const interfere = (call: string) => (call === `PATCH ${README_PATH}` ? refusal(403, 7) : undefined);
    const run = await put(world({}, "text"), { description: "d" }, { interfere });
    expect(writesOf(run)).toEqual([`PATCH ${README_PATH}`, `PATCH repos/${REPO}`]);
    expect(run.body).toMatchObject({ description: "d", readme: "text" });
    expect([headerOf(run, "carryover-mismatch"), headerOf(run, "carryover-partial")]).toEqual(["readme", undefined]);
    expect(run.exchange.notes).toEqual(["clear-refused", "field-left-alone"]);
  });

  test("of a synced repo stays when it is left out", async () => {
    const run = await put(world(STORED, "text"), { sync_config: { source: "x/y" } });
    expect(writesOf(run)).toEqual([`PATCH repos/${REPO}`]);
    expect(run.body).toMatchObject({ readme: "text" });
    expect(headerOf(run, "carryover-mismatch")).toContain("readme");
  });

  test("is no mismatch when there is none and none is sent", async () => {
    const run = await put(world(), { name: "nginx", description: "d" });
    expect(headerOf(run, "carryover-mismatch")).toBeUndefined();
    expect(run.body).toMatchObject({ readme: "" });
  });

  test("TRAP-11: is not written when the client sends back what is stored", async () => {
    const run = await put(world({}, "text"), { description: "d", readme: "text" });
    expect(callsOf(run)).toEqual([`GET repos/${REPO}`, `GET ${README_PATH}`, `PATCH repos/${REPO}`]);
    expect(headerOf(run, "carryover-mismatch")).toBeUndefined();
  });

  test("is written first when it differs, by a mask of its own, and shown as stored", async () => {
    const held = world({}, "text");
    const run = await put(held, { description: "d", readme: "näw\n" });
    expect(callsOf(run)).toEqual([
      `GET repos/${REPO}`,
      `GET ${README_PATH}`,
      `PATCH ${README_PATH}`,
      `PATCH repos/${REPO}`,
    ]);
    expect([maskOf(run.sent[2]), textOf(run.sent[2])]).toEqual([["content"], '{"content":"näw\\n"}']);
    expect(textOf(run.sent[3])).toBe('{"description":"d"}');
    expect(held.readmes.get(REPO)).toBe("näw\n");
    expect(run.body).toMatchObject({ id: REPO, readme: "näw\n" });
  });

  test.each([
    [403, 7],
    [404, 5],
  ])(
    "DIFF-29: that cannot be read (%i) is empty, is counted, and is written when one is sent",
    async (status, code) => {
      const interfere = (call: string) => (call === `GET ${README_PATH}` ? refusal(status, code) : undefined);
      const shown = await put(world({}, "text"), { description: "d" }, { interfere });
      expect([writesOf(shown), shown.body]).toMatchObject([[`PATCH repos/${REPO}`], { readme: "" }]);
      expect(shown.exchange.notes).toContain("join-missing");
      const held = world({}, "text");
      await put(held, { description: "d", readme: "new" }, { interfere });
      expect(held.readmes.get(REPO)).toBe("new");
    },
  );

  test.each([401, 429, 503])(
    "that cannot be read now (%i) fails the update before anything is written",
    async (status) => {
      const interfere = (call: string) => (call === `GET ${README_PATH}` ? json(status, {}) : undefined);
      const run = await put(world(), { description: "d" }, { interfere });
      expect([run.response.status, writesOf(run)]).toEqual([status, []]);
    },
  );

  test("a 404 of a gateway is no empty readme", async () => {
    const interfere = (call: string) =>
      call === `GET ${README_PATH}` ? json(404, { code: 5, details: [] }) : undefined;
    expect((await put(world({}, "text"), { description: "d" }, { interfere })).response.status).toBe(404);
  });

  test.each([{ uid: "other", content: "x" }, { content: "x" }, []])(
    "of another repo is not taken: %j",
    async (answer) => {
      const interfere = (call: string) => (call === `GET ${README_PATH}` ? json(200, answer) : undefined);
      expect((await problemOf(put(world(), { description: "d" }, { interfere }))).reason).toBe("UPSTREAM_INVALID");
      const written = (call: string) => (call === `PATCH ${README_PATH}` ? json(200, answer) : undefined);
      const problem = await problemOf(put(world(), { description: "d", readme: "x" }, { interfere: written }));
      expect([problem.reason, problem.metadata]).toMatchObject(["UPSTREAM_INVALID", { state: "unknown" }]);
    },
  );

  test("that the platform stores otherwise is a mismatch", async () => {
    const interfere = (call: string) =>
      call === `PATCH ${README_PATH}` ? json(200, { uid: REPO, content: "cut" }) : undefined;
    const run = await put(world(), { description: "d", readme: "cut off" }, { interfere });
    expect([headerOf(run, "carryover-mismatch"), run.exchange.mismatches]).toEqual(["readme", ["readme"]]);
    expect(run.body).toMatchObject({ readme: "cut" });
    const failing = put(world(), { description: "d", readme: "cut off" }, { interfere, mismatch: "fail" });
    expect((await problemOf(failing)).reason).toBe("UPDATE_INCOMPLETE");
  });

  test("in the wrong type is refused in v1's words", async () => {
    const problem = await problemOf(put(world(), { readme: 1 }));
    expect([problem.reason, problem.fieldViolations[0]?.field]).toEqual(["INVALID_BODY", "readme"]);
  });

  test("that v2 refuses for its content is refused under its v1 name", async () => {
    const details = [
      {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        fieldViolations: [{ field: "content", description: "long" }],
      },
    ];
    const interfere = (call: string) =>
      call === `PATCH ${README_PATH}`
        ? json(400, { code: 3, message: "Invalid argument: content: long", details })
        : undefined;
    const { body } = await put(world(), { readme: "x" }, { interfere });
    expect(body).toMatchObject({
      message: "Invalid argument: readme: long",
      details: [{ fieldViolations: [{ field: "readme" }] }],
    });
  });
});

describe("TRAP-61, DIFF-27: an update that gets only so far", () => {
  test("TRAP-11, DIFF-28: does nothing at all when the readme is refused", async () => {
    const interfere = (call: string) => (call === `PATCH ${README_PATH}` ? refusal(403, 7) : undefined);
    const held = world({ description: "old" });
    const run = await put(held, { description: "d", readme: "x" }, { interfere });
    expect([run.response.status, writesOf(run)]).toEqual([403, [`PATCH ${README_PATH}`]]);
    expect(held.repos.get(REPO)).toMatchObject({ description: "old" });
    expect([headerOf(run, "carryover-partial"), run.exchange.notes]).toEqual([undefined, []]);
  });

  test("says that the readme is written when the repo is refused, in the platform's own words", async () => {
    const interfere = (call: string) => (call === `PATCH repos/${REPO}` ? refusal(400, 9, "no") : undefined);
    const held = world({}, "old");
    const run = await put(held, { description: "d", readme: "x" }, { interfere });
    expect([run.response.status, run.body]).toMatchObject([400, { code: 9, message: "no" }]);
    expect(headerOf(run, "carryover-partial")).toBe("readme");
    expect(run.exchange.notes).toContain("partial-write");
    // Repeated, it writes what is still missing.
    const again = await put(held, { description: "d", readme: "x" });
    expect(writesOf(again)).toEqual([`PATCH repos/${REPO}`]);
  });

  test("says so too when the connection is lost", async () => {
    const interfere = (call: string) => (call === `PATCH repos/${REPO}` ? lost() : undefined);
    const problem = await problemOf(put(world(), { description: "d", readme: "x" }, { interfere }));
    expect([problem.reason, problem.metadata]).toEqual([
      "UPSTREAM_UNREACHABLE",
      { state: "unknown", partial: "readme" },
    ]);
    expect((await problemOf(put(world(), { description: "d" }, { interfere }))).metadata).toStrictEqual({
      state: "unknown",
    });
  });

  test("is not said where nothing was written before", async () => {
    const interfere = (call: string) => (call === `PATCH repos/${REPO}` ? refusal(403, 7) : undefined);
    const run = await put(world({}, "x"), { description: "d", readme: "x" }, { interfere });
    expect([headerOf(run, "carryover-partial"), run.exchange.notes]).toEqual([undefined, []]);
  });

  test("is not begun under a condition that only one call could keep", async () => {
    const headers = [["if-match", '"e"']] as const;
    const problem = await problemOf(put(world(), { description: "d" }, { headers }));
    expect(problem.reason).toBe("CONDITION_UNSUPPORTED");
  });
});

describe("TRAP-57, DIFF-22: an update of a synced repo", () => {
  test("names no tier, bundle, alias or tag that is merely sent back", async () => {
    const body = {
      catalogTier: "AI",
      bundles: ["base", "fips"],
      aliases: ["a"],
      activeTags: ["latest"],
      sync_config: { source: "x/y" },
      description: "d",
    };
    const run = await put(world(STORED), body);
    expect(callsOf(run)).toEqual([`GET repos/${REPO}`, `GET ${README_PATH}`, `PATCH repos/${REPO}`]);
    expect(maskOf(run.sent[2])).toEqual(["description"]);
  });

  test("names what really changes", async () => {
    const run = await put(world(STORED), { aliases: [], catalogTier: "BASE", sync_config: { source: "x/z" } });
    expect(maskOf(run.sent[2])).toEqual(["catalogTier", "sync_config.source", "aliases", "description"]);
    expect(JSON.parse(textOf(run.sent[2]))).toEqual({
      catalogTier: "CATALOG_TIER_BASE",
      sync_config: { source: "x/z" },
      aliases: [],
      description: "",
    });
  });

  test("leaves alone what is left out, and says so; the sync itself is removed", async () => {
    const run = await put(world(STORED), { description: "d" });
    expect(maskOf(run.sent[2])).toEqual(["sync_config", "description"]);
    expect(textOf(run.sent[2])).toBe('{"sync_config":null,"description":"d"}');
    expect(headerOf(run, "carryover-mismatch")).toBe("catalogTier, bundles, aliases, activeTags");
    expect(run.exchange.defaultedFields).toEqual(["sync_config"]);
  });

  test("learns the spelling of masks as any other update does", async () => {
    const interfere = (call: string) => (call.startsWith("PATCH") ? json(400, { code: 3, details: [] }) : undefined);
    const refused = await put(world(STORED), { catalogTier: "BASE" }, { interfere });
    expect(refused.sent.slice(2).map(maskOf)).toEqual([
      ["catalogTier", "sync_config", "description"],
      ["catalog_tier", "sync_config", "description"],
    ]);
    expect((await put(world(STORED), { catalogTier: "BASE" })).learned).toEqual(["camelCase"]);
  });

  test("takes no other repo for its own", async () => {
    const interfere = (call: string) => (call.startsWith("PATCH") ? json(200, { uid: "other", name: "n" }) : undefined);
    const problem = await problemOf(put(world(), { description: "d" }, { interfere }));
    expect([problem.reason, problem.metadata]).toEqual(["UPSTREAM_INVALID", { state: "unknown" }]);
  });

  test("of a repo that is not there is the platform's 404, and writes nothing", async () => {
    const run = await put({ ...world(), repos: new Map() }, { catalogTier: "BASE" });
    expect([run.response.status, writesOf(run)]).toEqual([404, []]);
  });
});

describe("an update of a repo that is not synced", () => {
  const { sync_config: _, ...UNSYNCED } = STORED;
  const OVERLAY = { contents: { packages: ["curl"] } };
  const ALL = ["catalogTier", "bundles", "customOverlay", "aliases", "activeTags", "description"];
  const KEPT = "catalogTier, bundles, aliases, activeTags";
  const refused = (status: number, body: unknown, times = 1) => {
    let left = times;
    return (call: string) => (call === `PATCH repos/${REPO}` && left-- > 0 ? json(status, body) : undefined);
  };

  test("clears all that is left out, as v1 did", async () => {
    const run = await put(world({ ...UNSYNCED, customOverlay: OVERLAY }), {});
    expect(maskOf(run.sent[2])).toEqual(ALL);
    expect(JSON.parse(textOf(run.sent[2]))).toEqual({
      catalogTier: "CATALOG_TIER_UNSPECIFIED",
      bundles: [],
      customOverlay: null,
      aliases: [],
      activeTags: [],
      description: "",
    });
    expect(run.exchange.defaultedFields).toEqual(ALL);
    expect(headerOf(run, "carryover-mismatch")).toBeUndefined();
  });

  test("names nothing that is empty already", async () => {
    const run = await put(world({ bundles: [] }), { description: "d" });
    expect(maskOf(run.sent[2])).toEqual(["description"]);
  });

  test.each([
    ["it is not allowed", 403, { code: 7, message: "no", details: [] }],
    ["the mask is refused, in both spellings", 400, { code: 3, message: "invalid field mask", details: [] }],
    ["one of them is refused", 400, { code: 3, message: "Invalid argument: bundles: no", details: [] }],
  ])("is made once more without them where %s, and names what stayed", async (_, status, body) => {
    const held = world(UNSYNCED);
    const interfere = refused(status, body, body.message.includes("mask") ? 2 : 1);
    const run = await put(held, { description: "d" }, { interfere, known: "camelCase" });
    expect(maskOf(run.sent[2])).toEqual(["catalogTier", "bundles", "aliases", "activeTags", "description"]);
    expect(maskOf(run.sent.at(-1))).toEqual(["description"]);
    expect(run.response.status).toBe(200);
    expect(held.repos.get(REPO)).toMatchObject({ ...UNSYNCED, description: "d" });
    expect(headerOf(run, "carryover-mismatch")).toBe(KEPT);
    expect(run.exchange.notes).toContain("clear-refused");
  });

  test("is refused for what the client sent, with the platform's words about that", async () => {
    const interfere = (call: string) => (call === `PATCH repos/${REPO}` ? refusal(403, 7, "never") : undefined);
    const run = await put(world(UNSYNCED), { description: "d" }, { interfere });
    expect([run.response.status, run.body]).toMatchObject([403, { message: "never" }]);
    expect(writesOf(run)).toHaveLength(2);
    const other = refused(400, { code: 3, message: "Invalid argument: description: long", details: [] });
    const long = await put(world(UNSYNCED), { description: "d" }, { interfere: other, known: "camelCase" });
    expect([long.response.status, writesOf(long)]).toEqual([400, [`PATCH repos/${REPO}`]]);
  });
});

describe("TRAP-56: a setting of the sync that v2 alone sets", () => {
  test("is ignored when it is the stored one", async () => {
    const body = {
      sync_config: {
        uniqueTags: true,
        expiration: "2026-04-02T10:45:30.25Z",
        apkoOverlay: "o",
        gracePeriod: false,
        syncApks: false,
      },
      description: "d",
    };
    const run = await put(world(STORED), body);
    expect(run.response.status).toBe(200);
    expect([maskOf(run.sent[2]), textOf(run.sent[2])]).toEqual([["description"], '{"description":"d"}']);
  });

  test.each([
    "2026-04-02T10:45:05.678901Z",
    "2026-04-02T10:45:05.678901000+00:00",
    "2026-04-02T16:15:05.678901+05:30",
    "2026-04-02T10:45:05.678Z",
    "2026-04-02T10:45:05.679Z",
    "2026-04-02T10:45:05.678000Z",
    "2026-04-02T03:45:05-07:00",
    "2026-04-02T10:45:06Z",
  ])("is ignored when it is the stored time with fewer decimals or another offset: %s", async (expiration) => {
    const stored = { ...STORED, sync_config: { source: "x/y", expirationTime: "2026-04-02T10:45:05.678901Z" } };
    const run = await put(world(stored), { sync_config: { source: "x/y", expiration }, description: "d" });
    expect([run.response.status, maskOf(run.sent[2])]).toEqual([200, ["description"]]);
  });

  test.each([
    ["uniqueTags", false],
    ["expiration", "2026-04-02T10:45:32Z"],
    ["expiration", "2026-04-02T10:45:30.249Z"],
    ["expiration", "2027-01-01T00:00:00Z"],
    ["apkoOverlay", ""],
    ["gracePeriod", true],
    ["syncApks", true],
  ])("%s, changed to %j, is refused by its v1 name, and nothing is written", async (name, value) => {
    const held = world(STORED, "old");
    const calls: string[] = [];
    const interfere = (call: string) => void calls.push(call);
    const body = { sync_config: { source: "new", [name]: value }, description: "d", readme: "new" };
    const problem = await problemOf(put(held, body, { interfere }));
    expect(problem.reason).toBe("INVALID_BODY");
    expect(problem.fieldViolations.map(({ field }) => field)).toEqual([`sync_config.${name}`]);
    expect(problem.message).toContain(`sync_config.${name}`);
    expect(calls.filter((call) => !call.startsWith("GET"))).toEqual([]);
  });

  test("is compared in either spelling, also when the repo has no sync", async () => {
    const problem = await problemOf(put(world(), { syncConfig: {}, sync_config: { unique_tags: true } }));
    expect(problem.fieldViolations.map(({ field }) => field)).toEqual(["sync_config.uniqueTags"]);
    expect((await put(world(), { sync_config: { unique_tags: false } })).response.status).toBe(200);
  });

  test("left out stays as it is", async () => {
    const held = world(STORED);
    await put(held, { sync_config: { source: "new" } });
    expect(held.repos.get(REPO)).toMatchObject({ sync_config: { ...STORED.sync_config, source: "new" } });
  });
});

test("the composite needs one join of a sub-resource, and a create or an update: else the process does not start", async () => {
  const plain = thing({ rows: [NAME] });
  const by = (operation: Operation): Resource => ({
    ...plain,
    operations: [{ ...operation, by: "replace-with-sub" } as Operation],
  });
  await expect(run(by(operationOf(plain, "update")), "update")).rejects.toThrow("needs one join, of a sub-resource");
  const summarise = by(operationOf(resource("tag"), "summarise"));
  await expect(run(summarise, "summarise" as Operation["kind"])).rejects.toThrow("needs a create or an update");
});

test("a record with nothing to be written is shown as it is", async () => {
  const rows: readonly Row[] = [
    { v1: "id", v2: "uid", kind: "string", access: "output" },
    { v1: "name", v2: "name", kind: "string", zero: "", mask: "when-changed" },
    { v1: "readme", v2: null, kind: "string", access: "output" },
  ];
  const answer = { rows, v2Only: [] };
  const update = { ...operationOf(resource("repo"), "update"), answer, body: { ...answer, rows: rows.slice(0, 2) } };
  const repo: Resource = { ...resource("repo"), operations: [update as Operation] };
  const result = await run(repo, "update", {
    uid: "r",
    body: '{"readme":"x"}',
    answer: ({ target }) => json(200, { uid: "r", ...(target.includes("/readme") ? { content: "x" } : { name: "n" }) }),
  });
  expect(result.body).toEqual({ id: "r", name: "n", readme: "x" });
  expect(callsOf(result)).toEqual(["GET repos/r/readme", "GET repos/r"]);
  expect(result.exchange.notes).toContain("update-empty");
});
