/** Does what the operator demands of lists reach them? (Lists themselves: test/lists, test/upstream/drain.) */
import { expect, it } from "vitest";
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import { type Rig, reasonOf, rigForTest, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const GROUPS = "/iam/v1/groups";
const SHORT = (rig: Rig) => `${GROUPS}?uidp.descendants_of=${encodeURIComponent(rig.sandbox.wellKnown.someGroup)}`;
/** By name and uncounted, nothing proves that a list of several pages is whole. */
const unprovable: SandboxOptions = { order: "name", omitTotalCount: true, ignoreSkip: true };

it("lists.orderBy is the order that is asked for, and what is proved by it", async () => {
  for (const [sandbox, flags, proved] of [
    [{ order: "name" }, {}, "count"],
    [{ order: "name" }, { listsOrderBy: "uid" }, "cover"],
    [{}, { listsOrderBy: "name" }, "count"],
  ] as const) {
    const rig = await rigForTest({ sandbox, flags });
    const list = (await rig.ask("GET", GROUPS)).field("carryover-list");
    expect(list).toBe(`witness=${proved}; pages=6; records=${rig.sandbox.snapshot().groups.length}`);
    if ("listsOrderBy" in flags) {
      expect(rig.arrived.filter(({ target }) => !target.includes(`order_by=${flags.listsOrderBy}`))).toEqual([]);
    }
  }
});

it.each(["cover", "count"])("lists.require: %s, where it cannot be proved, is 502 LIST_UNPROVEN", async (required) => {
  const rig = await rigForTest({ sandbox: unprovable, flags: { listsRequire: required } });
  const answer = await rig.ask("GET", GROUPS);
  expect([answer.status, answer.json.code, reasonOf(answer)]).toEqual([502, 14, "LIST_UNPROVEN"]);
  expect(answer.json.details[0].metadata).toEqual({ required, witness: "none" });
});

it("lists.require is asked of the resources that it names, and reached by a list of one page", async () => {
  const flags = { listsRequire: "group=cover,default=none" };
  const rig = await rigForTest({ sandbox: unprovable, flags });
  expect((await rig.ask("GET", GROUPS)).status).toBe(502);
  expect((await rig.ask("GET", "/iam/v1/identities")).status).toBe(200);
  const plain = await rigForTest({ flags });
  expect((await plain.ask("GET", SHORT(plain))).field("carryover-list")).toBe("witness=cover; pages=1; records=11");
});

it.each([
  { flag: "listsMaxRecords", limit: "500", unit: "records" },
  { flag: "listsMaxPages", limit: "3", unit: "pages" },
  { flag: "listsMaxBytes", limit: "50000", unit: "bytes" },
])("$flag: a longer list is 422 with limit and count, a shorter one is served", async ({ flag, limit, unit }) => {
  for (const sandbox of [{}, { omitTotalCount: true }]) {
    const rig = await rigForTest({ sandbox, flags: { [flag]: limit } });
    const answer = await rig.ask("GET", GROUPS);
    expect([answer.status, answer.json.code, reasonOf(answer)]).toEqual([422, 9, "DRAIN_TOO_LARGE"]);
    const { metadata } = answer.json.details[0];
    expect(metadata).toMatchObject({ limit, unit });
    expect(Number(metadata.count)).toBeGreaterThan(Number(limit));
    expect(answer.json.message).toMatch(/narrow it with a filter/);
    expect((await rig.ask("GET", SHORT(rig))).status).toBe(200);
  }
});

it("lists.maxConcurrentPerCredential holds however the scheme of the credential is spelt", async () => {
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let arrived: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const rig = await rigForTest({
    sandbox: {
      faults: (next) => async (request, options) => {
        if (/[?&](?:page_token|skip)=/.test(request.target)) {
          arrived();
          await released;
        }
        return next(request, options);
      },
    },
    flags: { listsMaxConcurrentPerCredential: "1", listsQueueSeconds: "0s" },
  });
  const first = rig.ask("GET", GROUPS);
  await held;
  const authorization = `bEARER   ${rig.sandbox.token("admin")}`;
  const second = await rig.ask("GET", GROUPS, { as: null, headers: { authorization } });
  expect([second.status, second.json.code, reasonOf(second)]).toEqual([503, 14, "OVERLOADED"]);
  expect(Number(second.field("retry-after"))).toBeGreaterThan(0);
  expect((await rig.ask("GET", SHORT(rig))).status).toBe(200);
  release();
  expect((await first).status).toBe(200);
});
