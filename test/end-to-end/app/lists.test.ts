import { describe, expect, it } from "vitest";
import type { SandboxOptions } from "../../../sandbox/src/options.ts";
import { type Answer, type Rig, reasonOf, rigForTest, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const GROUPS = "/iam/v1/groups";
const SHORT = (rig: Rig) => `${GROUPS}?uidp.descendants_of=${encodeURIComponent(rig.sandbox.wellKnown.someGroup)}`;

function ids(answer: Answer): readonly string[] {
  return answer.json.items.map((item: { id: string }) => item.id);
}

function stored(rig: Rig): readonly string[] {
  return rig.sandbox.snapshot().groups.map((group) => String(group["uid"]));
}

/** True for a whole list; a clean error is false; anything else throws. */
function isWhole(answer: Answer, rig: Rig): boolean {
  if (answer.status !== 200) {
    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect(Object.keys(answer.json)).toEqual(["code", "message", "details"]);
    return false;
  }
  expect(ids(answer).toSorted()).toEqual(stored(rig).toSorted());
  return true;
}

describe("a platform with habits of its own", () => {
  it.each<{ name: string; sandbox: SandboxOptions }>([
    { name: "ignores skip and never counts", sandbox: { ignoreSkip: true, omitTotalCount: true } },
    { name: "leaves zeros out, totals of nothing included", sandbox: { omitZeros: true, omitTotalCount: true } },
    { name: "gives row numbers for tokens", sandbox: { tokens: "offset" } },
    { name: "orders by name", sandbox: { order: "name" } },
    { name: "orders by name and gives row numbers", sandbox: { order: "name", tokens: "offset", ignoreSkip: true } },
  ])("that $name gives a whole list", async ({ sandbox }) => {
    const rig = await rigForTest({ sandbox });
    const answer = await rig.ask("GET", GROUPS);
    expect(isWhole(answer, rig)).toBe(true);
    expect(answer.field("carryover-list")).toContain(`records=${stored(rig).length}`);
    const short = await rig.ask("GET", SHORT(rig));
    const below = stored(rig).filter((uid) => `${uid}/`.startsWith(`${rig.sandbox.wellKnown.someGroup}/`));
    expect(ids(short).toSorted()).toEqual(below.toSorted());
    expect(ids(await rig.ask("GET", `${GROUPS}?name=nobody-has-this`))).toEqual([]);
  });

  it.each([
    { name: "in windows", sandbox: {} },
    { name: "that leave out zeros, by cursor", sandbox: { omitZeros: true, ignoreSkip: true } },
    { name: "that leave out zeros and counts", sandbox: { omitZeros: true, omitTotalCount: true } },
  ])("that sends six empty pages before each one gives a whole list, $name", async ({ sandbox }) => {
    const rig = await rigForTest({ sandbox: { emptyPages: 6, ...sandbox } });
    expect(isWhole(await rig.ask("GET", GROUPS), rig)).toBe(true);
  });

  it("that orders by name is asked for another order by lists.orderBy, and then proved", async () => {
    const plain = await rigForTest({ sandbox: { order: "name" } });
    expect((await plain.ask("GET", GROUPS)).field("carryover-list")).toContain("witness=count");
    const rig = await rigForTest({ sandbox: { order: "name" }, flags: { listsOrderBy: "uid" } });
    const answer = await rig.ask("GET", GROUPS);
    expect(isWhole(answer, rig)).toBe(true);
    expect(answer.field("carryover-list")).toContain("witness=cover");
    const byName = await rigForTest({ flags: { listsOrderBy: "name" } });
    expect((await byName.ask("GET", GROUPS)).field("carryover-list")).not.toContain("witness=cover");
    const asked = rig.arrived.filter(({ target }) => target.includes("/groups?"));
    expect(asked.every(({ target }) => target.includes("order_by=uid"))).toBe(true);
  });

  it("that writes, and is read by row numbers, claims no proof", async () => {
    const rig = await rigForTest({ sandbox: { churnEveryPages: 1, tokens: "offset", ignoreSkip: true } });
    const answer = await rig.ask("GET", GROUPS);
    expect(answer.status).toBe(200);
    expect(new Set(ids(answer)).size).toBe(ids(answer).length);
    expect(answer.field("carryover-list")).not.toContain("witness=cover");
  });

  it("V04: that writes while it is read gives every record that was there throughout, once", async () => {
    for (const tokens of ["keyset", "offset"] as const) {
      const rig = await rigForTest({ sandbox: { churnEveryPages: 1, tokens } });
      const before = stored(rig);
      const answer = await rig.ask("GET", GROUPS);
      const after = new Set(stored(rig));
      expect(answer.status).toBe(200);
      const shown = ids(answer);
      expect(new Set(shown).size).toBe(shown.length);
      // Whatever the tokens are: the list is read by rank, and each page begins before the last one ended.
      expect(before.filter((uid) => after.has(uid) && !shown.includes(uid))).toEqual([]);
      expect(answer.field("carryover-list")).toContain("witness=cover");
    }
  });
});

describe("page tokens that expire", () => {
  /** A clock that is `step` further at each look, and jumps an hour when `jump` calls have arrived. */
  function clocked(lifetimeMs: number, jump: number) {
    let calls = 0;
    const sandbox: SandboxOptions = {
      // Where `skip` works, lists of this length are read without tokens.
      ignoreSkip: true,
      tokenLifetimeMs: lifetimeMs,
      clock: () => new Date(1_800_000_000_000 + (calls >= jump ? 3_600_000 : 0) + calls * 1_000),
      faults: (next) => (request, options) => {
        calls += 1;
        return next(request, options);
      },
    };
    return sandbox;
  }

  it.each([2, 3, 6])("once, before page %i, cost a second reading and no record", async (page) => {
    const rig = await rigForTest({ sandbox: clocked(600_000, page) });
    const answer = await rig.ask("GET", GROUPS);
    expect(isWhole(answer, rig)).toBe(true);
    expect(rig.arrived.length).toBeGreaterThan(6);
    expect(rig.exchanges[0]?.notes).toContain("list-read-again");
  });

  it("are no matter where lists can be read by rank", async () => {
    const rig = await rigForTest({ sandbox: { ...clocked(1, Number.POSITIVE_INFINITY), ignoreSkip: false } });
    const answer = await rig.ask("GET", GROUPS);
    expect(isWhole(answer, rig)).toBe(true);
    expect(answer.field("carryover-list")).toContain("witness=cover");
    expect(rig.exchanges[0]?.notes).toEqual([]);
  });

  it("each time are an error, soon and not a short list", async () => {
    const rig = await rigForTest({ sandbox: clocked(1, Number.POSITIVE_INFINITY) });
    const answer = await rig.ask("GET", GROUPS);
    expect([answer.status, answer.json.code, reasonOf(answer)]).toEqual([502, 14, "DRAIN_INCOMPLETE"]);
    expect(rig.arrived.length).toBeLessThan(10);
    expect((await rig.ask("GET", SHORT(rig))).status).toBe(200);
  });
});

describe("a platform that fails two calls in five", () => {
  it("gives whole lists or clean errors, and both were seen", async () => {
    const rig = await rigForTest({
      sandbox: { errorRate: 0.4 },
      flags: { listsMaxConcurrent: "100" },
    });
    const answers = await Promise.all(Array.from({ length: 30 }, () => rig.ask("GET", GROUPS)));
    const whole = answers.filter((answer) => isWhole(answer, rig)).length;
    expect(whole).toBeGreaterThan(0);
    expect(whole).toBeLessThan(30);
    expect(rig.exchanges.map((one) => one.list?.outcome === "complete")).toEqual(
      rig.exchanges.map(({ status }) => status === 200),
    );
  });
});

describe("what the operator demands of lists", () => {
  /** By name and uncounted, nothing proves that a list of several pages is whole. */
  const unprovable: SandboxOptions = { order: "name", omitTotalCount: true, ignoreSkip: true };

  it.each(["cover", "count"])("V05: %s, where it cannot be proved, is 502 LIST_UNPROVEN", async (required) => {
    const rig = await rigForTest({ sandbox: unprovable, flags: { listsRequire: required } });
    const answer = await rig.ask("GET", GROUPS);
    expect([answer.status, answer.json.code, reasonOf(answer)]).toEqual([502, 14, "LIST_UNPROVEN"]);
    expect(answer.json.details[0].metadata).toEqual({
      required,
      witness: "none",
      option: "lists.require, upstream.v2.pageTokens",
    });
    expect(answer.text).not.toContain("items");
  });

  it("is asked of the resources that it names, and reached by a list of one page", async () => {
    const flags = { listsRequire: "group=cover,default=none" };
    const unproven = await rigForTest({ sandbox: unprovable, flags });
    expect((await unproven.ask("GET", GROUPS)).status).toBe(502);
    expect((await unproven.ask("GET", "/iam/v1/identities")).status).toBe(200);
    const plain = await rigForTest({ flags });
    const short = await plain.ask("GET", SHORT(plain));
    expect([short.status, short.field("carryover-list")]).toEqual([200, "witness=cover; pages=1; records=11"]);
  });

  it.each([
    { flag: "listsMaxRecords", limit: "500", unit: "records", option: "lists.maxRecords" },
    { flag: "listsMaxPages", limit: "3", unit: "pages", option: "lists.maxPages" },
    { flag: "listsMaxBytes", limit: "50000", unit: "bytes", option: "lists.maxBytes" },
  ])(
    "V03: $flag: a longer list is 422 with limit and count, a shorter one is served",
    async ({ flag, limit, unit, option }) => {
      for (const sandbox of [{}, { omitTotalCount: true }]) {
        const rig = await rigForTest({ sandbox, flags: { [flag]: limit } });
        const answer = await rig.ask("GET", GROUPS);
        expect([answer.status, answer.json.code, reasonOf(answer)]).toEqual([422, 9, "DRAIN_TOO_LARGE"]);
        const { metadata } = answer.json.details[0];
        expect(metadata).toMatchObject({ limit, unit, option });
        expect(Number(metadata.count)).toBeGreaterThan(Number(limit));
        expect(answer.json.message).toMatch(/narrow it with a filter/);
        expect((await rig.ask("GET", SHORT(rig))).status).toBe(200);
      }
    },
  );

  it("lists at a time: one more of the same credential is 503 with Retry-After, others are served", async () => {
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
          if (
            /[?&](?:page_token|skip)=/.test(request.target) &&
            request.headers.some(([, value]) => value.endsWith(admin))
          ) {
            arrived();
            await released;
          }
          return next(request, options);
        },
      },
      flags: { listsMaxConcurrent: "2" },
    });
    const admin = rig.sandbox.token("admin");
    const first = rig.ask("GET", GROUPS);
    await held;
    const waiting = [
      rig.ask("GET", GROUPS),
      // However its scheme is spelled, it is the same credential.
      rig.ask("GET", GROUPS, { as: null, headers: { authorization: `bEARER   ${admin}` } }),
    ];
    expect((await rig.ask("GET", SHORT(rig))).status).toBe(200);
    expect((await rig.ask("GET", GROUPS, { as: "viewer" })).status).toBe(200);
    expect(rig.exchanges).toHaveLength(2);
    release();
    for (const list of await Promise.all([first, ...waiting])) expect(isWhole(list, rig)).toBe(true);
  });
});
