import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Comparison } from "../../src/model/comparison.ts";
import type { ApiRequest, ApiResponse, Send } from "../../src/model/http.ts";
import { Problem } from "../../src/model/problem.ts";
import type { PassThroughObserver } from "../../src/model/request.ts";
import type { TranslateInShadow } from "../../src/shadow/request.ts";
import { createRig, gathered, json, play, type RigOptions, settled } from "./rig.ts";

const GROUP = { id: "g1", name: "n", description: "d", createdAt: "2024-01-01T00:00:00Z" };
const LIST = { items: [GROUP] };
const V2_GROUP = { uid: "g1", name: "n", description: "d", createTime: "2024-01-01T00:00:00Z" };
const V2_LIST = { groups: [V2_GROUP], nextPageToken: "", totalCount: "1", skipped: 0 };
const READ: ApiRequest = { method: "GET", target: "/iam/v1/groups", headers: [["authorization", "Bearer t"]] };
const NATIVE = json(200, withZeros(LIST));
const HANGS = (): Promise<never> => new Promise(() => {});

function withZeros({ items }: typeof LIST) {
  const zeros = { resourceLimits: {}, verified: false, kind: "ORG_KIND_UNSPECIFIED", status: "ORG_STATUS_UNSPECIFIED" };
  return { items: items.map((item) => ({ ...item, ...zeros })) };
}

/** A platform that answers one list in both versions; `v1` and `v2` in other ways. */
function platform(v1: Send | ApiResponse = NATIVE, v2: Send | ApiResponse = json(200, V2_LIST)): Send {
  return async (request, sending) => {
    const way = request.target.startsWith("/iam/v1/") ? v1 : v2;
    return typeof way === "function" ? way(request, sending) : way;
  };
}

/** What a translation answers, whatever it is asked. */
function translating(answer: () => Promise<ApiResponse>): TranslateInShadow {
  return async () => ({ answer: await answer(), exchange: { mismatches: [] } as never });
}

/** A translation that refuses by itself what v2 has answered with `status`. */
function refusing(status: number): TranslateInShadow {
  return async (_request, layer, signal) => {
    await layer(async () => json(status, {}))({ method: "GET", target: "/x", headers: [] }, { signal });
    throw new Problem("INVALID_FILTER", "other words");
  };
}

/** One read through a shadow, and what was reported of it. */
async function compared(send: Send, options: RigOptions = {}, settings = { sample: 1, control: 0 }) {
  const rig = await createRig(send, options);
  await rig.pass(READ, { settings });
  await rig.idle();
  return { ...rig, report: rig.reports[0] };
}

/** What was reported of an answer of carryover's own that was followed. */
async function followed(send: Send, answer: ApiResponse, options: RigOptions = {}) {
  const rig = await createRig(send, options);
  rig.shadow.follow(rig.ask(READ), answer);
  await rig.idle();
  expect(rig.reports).toHaveLength(1);
  return { ...rig, report: rig.reports[0] };
}

/** An answer of native's that went by, without a platform. */
function byHand(watch: PassThroughObserver | undefined, answer: ApiResponse = NATIVE, whole = true): void {
  play(watch, READ, answer, whole);
}

describe("what is compared", () => {
  test("an answer that the translation gives as well is equal, and says who asked, where and by which rule", async () => {
    const { report, v1, v2, clock } = await compared(platform());
    expect(clock.timers()).toBe(0);
    expect(report).toEqual({
      requestId: "r1",
      at: 0,
      resource: "group",
      operation: "list",
      client: "ci",
      rule: undefined,
      ruleId: undefined,
      request: expect.any(String),
      served: "shadow",
      kind: "read",
      result: "equal",
      total: 0,
      differences: [],
      failure: undefined,
      controlled: false,
      ms: 0,
      calls: { v1: 0, v2: 1 },
    } satisfies Comparison);
    expect([v1.length, v2.length]).toEqual([0, 1]);
  });

  test("it says by which rule, and by which form of it", async () => {
    const rig = await createRig(platform());
    await rig.pass(READ, { rule: "all", ruleId: "two" });
    await rig.idle();
    expect(rig.reports[0]).toMatchObject({ rule: "all", ruleId: "two" });
  });

  test("equal requests of two callers have one digest, in both modes", async () => {
    const rig = await createRig(platform());
    await rig.pass(READ);
    await rig.pass({ ...READ, headers: [["authorization", "Bearer other"]] });
    await gathered(await rig.follow(READ));
    await rig.pass({ ...READ, target: `${READ.target}?name=n` });
    await rig.idle();
    const digests = rig.reports.map(({ request }) => request);
    expect(digests.map((digest) => digests.indexOf(digest))).toEqual([0, 0, 0, 3]);
  });

  test.each([
    ["below the share", 0.5, 0.51, true],
    ["at the share", 0.5, 0.5, false],
    ["of nothing", 0, 0, false],
  ])("a request is taken %s", async (_name, random, sample, taken) => {
    const { shadow, ask } = await createRig(platform(), { random: () => random });
    expect(shadow.watch(ask(READ, { settings: { sample, control: 0 } })) !== undefined).toBe(taken);
  });

  test("chance is not asked where nothing can be compared", async () => {
    let asked = 0;
    const { shadow, ask } = await createRig(platform(), { random: () => ++asked });
    const get = { ...READ, target: "/iam/v1/groups/g1" };
    expect(shadow.watch(ask(get))).toBeUndefined();
    expect(shadow.follow(ask(get), NATIVE)).toBe(NATIVE);
    expect(asked).toBe(0);
  });

  test.each([
    ["401", json(401, {}), "unauthenticated"],
    ["304", json(304, ""), "status"],
    ["a part", json(206, {}), "status"],
    ["a redirect", json(302, {}), "status"],
  ] as const)("an answer of native's that says nothing is passed over: %s", async (_name, answer, why) => {
    const { reports, v2, shadow } = await compared(platform(answer));
    expect([reports, v2]).toEqual([[], []]);
    expect(shadow.state()).toMatchObject({ heldBytes: 0, passed: { [why]: 1 } });
  });

  test.each([500, 503, 429, 408])("native's own trouble fails the comparison: %i", async (status) => {
    const { report, v2 } = await compared(platform(json(status, {})));
    expect(report).toMatchObject({ result: "failed", failure: "native" });
    expect(v2).toEqual([]);
  });

  test.each([500, 502, 503, 504, 429])("and so does v2's: %i", async (status) => {
    const { report } = await compared(platform(undefined, json(status, { code: 13, details: [] })));
    expect(report).toMatchObject({ result: "failed", failure: "platform" });
  });

  test.each([
    ["UPSTREAM_UNREACHABLE", "unreachable"],
    ["UPSTREAM_TIMEOUT", "timeout"],
    ["OVERLOADED", "overloaded"],
  ] as const)("a v2 that gives no answer fails it: %s", async (reason, failure) => {
    const translate = translating(() => Promise.reject(new Problem(reason, "no")));
    const { report } = await compared(platform(), { translate });
    expect(report).toMatchObject({ result: "failed", failure, differences: [] });
  });

  test.each([
    ["cut off", '{"items":[{"id":"g1"'],
    ["a page for people", "<html>We will be back</html>"],
    ["nothing", ""],
  ])("a success of native's that is no JSON is its own trouble: %s", async (_name, text) => {
    for (const v2 of [json(200, V2_LIST), json(403, { code: 7, details: [] })]) {
      const { report, shadow } = await compared(platform(json(200, text), v2));
      expect(report).toMatchObject({ result: "failed", failure: "native", differences: [] });
      expect(shadow.state().heldBytes).toBe(0);
    }
    const { report } = await followed(platform(json(200, text)), NATIVE);
    expect(report).toMatchObject({ result: "failed", failure: "native", served: "translate" });
  });

  test("a second answer of native's that is no JSON is none", async () => {
    const first = json(200, withZeros({ items: [{ ...GROUP, name: "native's" }] }));
    const { report } = await compared(platform(first), { native: async () => json(200, "<html>") });
    expect(report).toMatchObject({ result: "value", controlled: false });
  });

  test("but a translation that gives up is a difference: v1 had an answer", async () => {
    const translate = translating(() => Promise.reject(new Problem("DRAIN_INCOMPLETE", "no list")));
    const { report } = await compared(platform(), { translate });
    expect(report).toMatchObject({ result: "status", failure: undefined, controlled: true });
  });

  test("and so is one that breaks", async () => {
    const { report } = await compared(platform(), { translate: translating(() => Promise.reject(new TypeError("x"))) });
    expect(report).toMatchObject({ result: "status" });
    expect(report?.differences[0]).toMatchObject({ path: "status", native: "200", translated: "500" });
  });

  test.each([
    ["equal", 400, 3],
    ["error", 400, 9],
    ["status", 404, 3],
  ])("refusals are compared by status and code where carryover refuses by itself: %s", async (result, status, code) => {
    const refused = json(status, { code, message: "native's own words", details: [] });
    const { report } = await compared(platform(refused), { translate: refusing(200) });
    expect(report).toMatchObject({ result });
  });

  test("a compressed answer is compared by what it says", async () => {
    const packed = { ...NATIVE, headers: [["content-encoding", "gzip"]] as const, body: gzipSync(NATIVE.body) };
    expect((await compared(platform(packed))).report).toMatchObject({ result: "equal" });
  });

  test.each([
    ["that nobody knows", "packed", Buffer.from("x")],
    ["that it does not have", "gzip", Buffer.from("x")],
    ["that hides more than is compared", "gzip", gzipSync(Buffer.alloc(2 ** 22 + 1))],
  ])("an answer in an encoding %s cannot be read", async (_name, encoding, body) => {
    const answer = { ...NATIVE, headers: [["content-encoding", encoding]] as const, body };
    const { report, shadow } = await compared(platform(answer));
    expect(report).toMatchObject({ result: "failed", failure: "unreadable" });
    expect(shadow.state().heldBytes).toBe(0);
  });

  test("a comparison reads, whatever a translation wants", async () => {
    const sent: string[] = [];
    const translate: TranslateInShadow = async (_request, layer, signal) => {
      const send = layer(async ({ method }) => {
        sent.push(method);
        return json(200, {});
      });
      for (const method of ["HEAD", "GET", "POST"]) await send({ method, target: "/x", headers: [] }, { signal });
      throw new Error("it was sent");
    };
    const { report } = await compared(platform(), { translate });
    expect([report?.failure, sent]).toEqual(["not-comparable", ["HEAD", "GET"]]);
  });
});

describe("who was let in", () => {
  const REFUSED = json(400, { code: 3, message: "native's own words", details: [] });
  const own = translating(() => Promise.reject(new Problem("INVALID_FILTER", "other words")));
  const NOBODY = { result: "failed", failure: "refused", total: 0, differences: [] };

  test.each([
    ["equal", 400, 3],
    ["different", 400, 9],
    ["different", 404, 5],
  ])("%s refusals of both prove nothing without an answer of v2's: %i/%i", async (_name, status, code) => {
    const native = async () => json(status, { code, message: "", details: [] });
    const { report, v1, v2 } = await compared(platform(native), { translate: own });
    expect([report, v1, v2]).toMatchObject([NOBODY, [], []]);
  });

  test.each([
    [200, "equal"],
    [403, "equal"],
    [409, "equal"],
    [400, "failed"],
    [404, "failed"],
    [401, "failed"],
    [429, "failed"],
    [503, "failed"],
  ])("v2 that answered a call with %i has let somebody in, or nobody: %s", async (status, result) => {
    const { report } = await compared(platform(REFUSED), { translate: refusing(status) });
    expect(report).toMatchObject(result === "failed" ? NOBODY : { result, failure: undefined });
  });

  test("a call without an answer lets nobody in", async () => {
    const translate: TranslateInShadow = async (_request, layer, signal) => {
      const send = layer(() => Promise.reject(new Problem("UPSTREAM_UNREACHABLE", "down")));
      await send({ method: "GET", target: "/x", headers: [] }, { signal }).catch(() => {});
      throw new Problem("INVALID_FILTER", "other words");
    };
    const { report } = await compared(platform(REFUSED), { translate });
    expect(report).toMatchObject(NOBODY);
  });

  test("v2's refusal of a stranger beside native's is none to compare", async () => {
    const { report, v2 } = await compared(platform(REFUSED, json(401, { code: 16, details: [] })));
    expect([report, v2.length]).toMatchObject([NOBODY, 1]);
  });

  test.each([
    ["native let the caller in, and carryover refused", async () => NATIVE, own],
    ["native refused whom v2 let in", async () => REFUSED, undefined],
  ])("a difference stays one: %s", async (_name, native, translate) => {
    const { report } = await compared(platform(native), translate === undefined ? {} : { translate });
    expect(report).toMatchObject({ result: "status", failure: undefined });
  });

  test("where carryover serves, its own refusal proves nothing, equal to native's or not", async () => {
    const answered = json(400, { code: 3, message: "other words", details: [] });
    for (const native of [REFUSED, json(404, { code: 5, message: "", details: [] })]) {
      const { report } = await followed(platform(native), answered, { translate: own });
      expect(report).toMatchObject({ ...NOBODY, served: "translate", calls: { v1: 1, v2: 0 } });
    }
  });

  const denied = json(403, { code: 7, message: "", details: [] });
  test.each([
    ["a refusal when v2 lets the caller in", platform(denied, denied), denied, {}, "equal"],
    ["a refusal when native does", platform(), denied, { translate: own }, "status"],
    ["an answer that v2 gave though native refuses", platform(REFUSED), NATIVE, {}, "status"],
    // It was let in then, whatever becomes of it later.
    ["an answer that v2 gave and refuses later", platform(REFUSED), NATIVE, { translate: own }, "noise"],
  ])("where carryover serves, %s is compared", async (_name, send, answer, options, result) => {
    const { report } = await followed(send, answer, options);
    expect(report).toMatchObject({ result, failure: undefined });
    if (result === "equal") expect(report?.calls).toEqual({ v1: 1, v2: 1 });
  });
});

describe("noise", () => {
  const other = (description: string) => json(200, withZeros({ items: [{ ...GROUP, description }] }));
  const control = { sample: 1, control: 1 };

  test("where the two differ native is asked again: the same read, without conditions, as it is", async () => {
    const headers = [...READ.headers, ["if-none-match", '"x"'], ["accept-encoding", "br"], ["x-own", "1"]] as const;
    const rig = await createRig(platform(async () => other("native's")));
    await rig.pass({ ...READ, headers });
    await rig.idle();
    expect(rig.v1).toEqual([
      {
        method: "GET",
        target: READ.target,
        headers: [
          ["authorization", "Bearer t"],
          ["x-own", "1"],
          ["accept-encoding", "identity"],
        ],
      },
    ]);
    expect(rig.reports[0]).toMatchObject({ result: "value", controlled: true, calls: { v1: 1, v2: 1 } });
    expect(rig.reports[0]?.differences).toEqual([
      { class: "value", path: "items[].description", id: "g1", native: '"native\'s"', translated: '"d"' },
    ]);
  });

  test("a record that changed between native's answer and v2's is noise: native says what v2 said", async () => {
    const { report } = await compared(
      platform(async () => other("before")),
      { native: async () => NATIVE },
    );
    expect(report).toMatchObject({ result: "noise", controlled: true, differences: [] });
  });

  test.each([
    ["trouble", async () => json(503, {})],
    ["no answer", async () => Promise.reject(new Problem("UPSTREAM_UNREACHABLE", "down"))],
    ["more than is compared", async () => json(200, "x".repeat(2 ** 22 + 1))],
  ] as [string, Send][])("without a second answer a difference stands: %s", async (_name, native) => {
    const { report, shadow } = await compared(
      platform(async () => other("native's")),
      { native },
    );
    expect(report).toMatchObject({ result: "value", controlled: false, calls: { v1: 1 } });
    expect(shadow.state().heldBytes).toBe(0);
  });

  test.each([
    ["has it as well", json(200, { ...V2_LIST, groups: [V2_GROUP, { ...V2_GROUP, uid: "g2" }] }), "extra"],
    ["has it no longer", json(200, V2_LIST), "noise"],
    ["is v2's own trouble", json(503, {}), "extra"],
    ["is refused", json(403, { code: 7, message: "", details: [] }), "extra"],
  ])("a record that only the translated response has, when a later one %s", async (_name, second, result) => {
    const first = json(200, { ...V2_LIST, groups: [V2_GROUP, { ...V2_GROUP, uid: "g2" }] });
    let asked = 0;
    const { report } = await compared(platform(NATIVE, async () => (asked++ === 0 ? first : second)));
    expect(report).toMatchObject({ result, controlled: true, calls: { v1: 1, v2: 2 } });
  });

  test("a share of equal answers is controlled as well, and what native differs in is counted", async () => {
    const { report, shadow } = await compared(platform(), { native: async () => other("later") }, control);
    expect(report).toMatchObject({ result: "equal", controlled: true, calls: { v1: 1, v2: 1 } });
    expect(shadow.tally.rows()[0]).toMatchObject({ comparisons: 1, controls: 1, noisy: 1, differences: 0 });
    const half = await compared(platform(), { random: () => 0.5 }, { sample: 1, control: 0.5 });
    expect(half.report).toMatchObject({ controlled: false });
  });
});

describe("bounds", () => {
  const more = (length: number) => json(200, { items: [], padding: "x".repeat(length) });

  test("a longer answer than is compared is let go at once, known or not", async () => {
    const { shadow, ask, reports } = await createRig(platform(), { limits: { answerBytes: 1024 } });
    const watch = shadow.watch(ask(READ));
    watch?.head(200, []);
    for (let i = 0; i < 4; i++) watch?.data(Buffer.alloc(256));
    expect(shadow.state().heldBytes).toBe(1024);
    watch?.data(Buffer.alloc(1));
    expect(shadow.state().heldBytes).toBe(0);
    watch?.data(Buffer.alloc(1));
    expect([shadow.state().heldBytes, reports.length]).toEqual([0, 0]);
    watch?.over(true);
    const told = shadow.watch(ask(READ));
    told?.head(200, [["content-length", "1025", "Content-Length"]]);
    told?.data(Buffer.alloc(10));
    expect(shadow.state().heldBytes).toBe(0);
    told?.over(true);
    expect(reports.map(({ failure }) => failure)).toEqual(["too-large", "too-large"]);
  });

  test("the same for a request's body, and for the translated answer, whole or in pieces", async () => {
    const { shadow, ask, reports } = await createRig(platform());
    const watch = shadow.watch(ask({ ...READ, method: "POST", target: "/iam/v1/groups/g1" }));
    watch?.sent(Buffer.alloc(2 ** 20));
    watch?.sent(Buffer.alloc(1));
    expect(shadow.state().heldBytes).toBe(0);
    watch?.over(true);
    expect(reports.map(({ failure }) => failure)).toEqual(["too-large"]);
    let ended = 0;
    const pieces = async function* () {
      try {
        for (;;) yield Buffer.alloc(512);
      } finally {
        ended++;
      }
    };
    for (const body of [pieces, () => Buffer.alloc(2000)]) {
      const translate = translating(async () => ({ ...more(0), body: body() as Uint8Array }));
      const { report } = await compared(platform(), { translate, limits: { answerBytes: 1024 } });
      expect(report).toMatchObject({ result: "failed", failure: "too-large" });
    }
    expect(ended).toBe(1);
  });

  test("all comparisons together hold no more than they may", async () => {
    const { shadow, ask, reports } = await createRig(platform(), { limits: { memoryBytes: 3000 } });
    const watches = ["a", "b", "c"].map((client) => shadow.watch(ask(READ, { client })));
    for (const watch of watches) {
      watch?.head(200, []);
      watch?.data(Buffer.alloc(1200));
      expect(shadow.state().heldBytes).toBeLessThanOrEqual(3000);
    }
    watches[2]?.over(true);
    expect(reports.map(({ failure }) => failure)).toEqual(["memory"]);
    watches[0]?.over(false);
    expect(shadow.state()).toMatchObject({ heldBytes: 1200, passed: { aborted: 1 } });
    watches[1]?.over(false);
    expect(shadow.state().heldBytes).toBe(0);
  });

  test("and one client's no more than half of it, so that another's are compared", async () => {
    const { shadow, ask, reports, idle } = await createRig(platform(), { limits: { memoryBytes: 4096 } });
    const watches = [1, 2].map(() => shadow.watch(ask(READ, { client: "greedy" })));
    for (const watch of watches) {
      watch?.head(200, []);
      watch?.data(Buffer.alloc(1200));
    }
    expect(shadow.state().heldBytes).toBe(1200);
    byHand(shadow.watch(ask(READ, { client: "other" })));
    await idle();
    expect(reports).toMatchObject([{ client: "other", result: "equal" }]);
    watches[0]?.over(false);
    byHand(shadow.watch(ask(READ, { client: "greedy" })));
    await idle();
    expect(reports[1]).toMatchObject({ client: "greedy", result: "equal" });
    watches[1]?.over(true);
    expect(reports[2]).toMatchObject({ client: "greedy", failure: "memory" });
    expect(shadow.state().heldBytes).toBe(0);
  });

  test("an answer that breaks off is not compared", async () => {
    const { shadow, ask, v2, reports, idle } = await createRig(platform());
    byHand(shadow.watch(ask(READ)), NATIVE, false);
    await idle();
    expect([v2, reports]).toEqual([[], []]);
    expect(shadow.state()).toMatchObject({ heldBytes: 0, passed: { aborted: 1 } });
  });

  test("nothing begins before the answer is over, nor in the same turn", async () => {
    const { shadow, ask, v2, idle } = await createRig(platform());
    const watch = shadow.watch(ask(READ));
    watch?.head(200, []);
    watch?.data(NATIVE.body);
    await settled();
    expect(shadow.state()).toMatchObject({ running: 0, waiting: 0 });
    watch?.over(true);
    await Promise.resolve();
    expect([v2.length, shadow.state().running]).toEqual([0, 1]);
    await idle();
    expect(v2.length).toBe(1);
  });

  test("turns are given back between the steps of a comparison", async () => {
    let turns = 0;
    const turn = async () => void turns++;
    const items = (last: string) => ({
      items: Array.from({ length: 20_000 }, (_, i) => ({ id: `g${i}`, name: last })),
    });
    const translate = translating(async () => json(200, items("b")));
    const { report } = await compared(platform(json(200, items("a"))), { turn, translate });
    expect(report?.result).toBe("value");
    expect(turns).toBeGreaterThan(20);
  });

  test("a comparison that breaks is a failed one, and a listener that throws ends nothing", async () => {
    const turn = () => Promise.reject(new Error("turn"));
    const { report, shadow } = await compared(platform(), { turn });
    expect(report).toMatchObject({ result: "failed", failure: "internal" });
    expect(shadow.state()).toMatchObject({ running: 0, heldBytes: 0 });
    let told = 0;
    const throwing = await compared(platform(), {
      report: () => {
        told++;
        throw new Error("full");
      },
    });
    expect([told, throwing.shadow.state().running, throwing.shadow.state().heldBytes]).toEqual([1, 0, 0]);
  });
});

describe("a v2 that hangs", () => {
  const LIMITS = { concurrent: 4, seconds: 20, memoryBytes: 64 * 1024, answerBytes: 4096 };

  test("1,000 answers go by unchanged, few are held, and all places are free at the end", async () => {
    const rig = await createRig(platform(undefined, HANGS), { limits: LIMITS });
    let most = 0;
    for (let i = 0; i < 1000; i++) {
      expect(await rig.pass(READ, { client: `c${i % 100}` })).toBe(NATIVE);
      most = Math.max(most, rig.shadow.state().heldBytes);
      const { running, waiting } = rig.shadow.state();
      expect(running).toBeLessThanOrEqual(4);
      expect(waiting).toBeLessThanOrEqual(8);
    }
    expect(most).toBeLessThanOrEqual(13 * 2 * NATIVE.body.length);
    expect(rig.shadow.state()).toMatchObject({ running: 4, waiting: 8, passed: { busy: 1000 - 12 } });
    expect(rig.reports).toEqual([]);
    await rig.clock.pass(20_000);
    expect(rig.shadow.state()).toMatchObject({ running: 0, waiting: 0, heldBytes: 0 });
    expect(rig.clock.timers()).toBe(0);
    expect(rig.reports.map(({ failure }) => failure).toSorted()).toEqual([
      ...Array(8).fill("busy"),
      ...Array(4).fill("timeout"),
    ]);
    expect(rig.v2.length).toBe(4);
  });

  test("where no place is left, nothing is copied", async () => {
    const rig = await createRig(platform(undefined, HANGS), { limits: LIMITS });
    for (let i = 0; i < 12; i++) byHand(rig.shadow.watch(rig.ask(READ, { client: `c${i}` })));
    const held = rig.shadow.state().heldBytes;
    expect(rig.shadow.watch(rig.ask(READ, { client: "late" }))).toBeUndefined();
    expect(rig.shadow.follow(rig.ask(READ, { client: "late" }), NATIVE)).toBe(NATIVE);
    expect(rig.shadow.state()).toMatchObject({ heldBytes: held, passed: { busy: 2 } });
    expect(rig.reports).toEqual([]);
    await rig.shadow.close();
  });

  test("requests whose answers are slow keep no place from others, and those that find none then are let go", async () => {
    const rig = await createRig(platform(undefined, HANGS), { limits: LIMITS });
    const slow = Array.from({ length: 100 }, (_, i) => rig.shadow.watch(rig.ask(READ, { client: `slow${i}` })));
    for (const watch of slow) watch?.sent(Uint8Array.of(0x7b));
    for (let i = 0; i < 12; i++) byHand(rig.shadow.watch(rig.ask(READ, { client: `c${i}` })));
    expect(rig.shadow.state()).toMatchObject({ running: 4, waiting: 8, passed: { busy: 0 } });
    for (const watch of slow) byHand(watch);
    expect(rig.shadow.state()).toMatchObject({ running: 4, waiting: 8, passed: { busy: 100 } });
    await rig.shadow.close();
    expect(rig.shadow.state().heldBytes).toBe(0);
  });

  test("a stream that nobody takes holds nothing, and one that finds no place goes out uncopied", async () => {
    const rig = await createRig(platform(undefined, HANGS), { limits: { ...LIMITS, concurrent: 1 } });
    const pieces = async function* () {
      for (const byte of NATIVE.body) yield Uint8Array.of(byte);
    };
    for (let i = 0; i < 3; i++) byHand(rig.shadow.watch(rig.ask(READ, { client: `c${i}` })));
    const held = rig.shadow.state().heldBytes;
    const [taken] = Array.from({ length: 9 }, (_, i) =>
      rig.shadow.follow(rig.ask(READ, { client: `d${i}` }), { ...NATIVE, body: pieces() }),
    );
    expect(rig.shadow.state()).toMatchObject({ heldBytes: held, passed: { busy: 0 } });
    const bytes: number[] = [];
    for await (const piece of (taken as { body: AsyncIterable<Uint8Array> }).body) bytes.push(...piece);
    expect(Uint8Array.from(bytes)).toEqual(Uint8Array.from(NATIVE.body));
    expect(rig.shadow.state()).toMatchObject({ heldBytes: held, passed: { busy: 1 } });
    await rig.shadow.close();
  });

  test.each([429, 503])(
    "a platform that asks for rest with %i gets it, for that credential, and not for ever",
    async (status) => {
      const asks = { ...json(status, {}), headers: [["retry-after", "3600"] as const] };
      const rig = await createRig(platform(undefined, asks));
      await rig.pass(READ, { client: "quick" });
      await rig.idle();
      const calls = rig.v2.length;
      for (let i = 0; i < 30; i++) await rig.pass(READ, { client: "quick" });
      await rig.idle();
      expect([rig.v2.length, rig.shadow.state().passed.busy]).toEqual([calls, 30]);
      await rig.pass(READ, { client: "other" });
      await rig.idle();
      expect(rig.v2.length).toBeGreaterThan(calls);
      await rig.clock.pass(60_000);
      expect(rig.shadow.watch(rig.ask(READ, { client: "quick" }))).toBeDefined();
    },
  );

  test("its calls are told to stop, and the next comparison gets the place", async () => {
    let stopped = 0;
    let hangs = true;
    const v2: Send = (_request, { signal }) => {
      if (!hangs) return Promise.resolve(json(200, V2_LIST));
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          stopped++;
          reject(signal.reason);
        });
      });
    };
    const rig = await createRig(platform(undefined, v2), { limits: { ...LIMITS, concurrent: 1 } });
    await rig.pass(READ);
    await rig.clock.pass(15_000);
    await rig.pass(READ);
    hangs = false;
    await rig.clock.pass(5_000);
    await rig.idle();
    expect(stopped).toBe(1);
    expect(rig.reports.map(({ result, failure, ms }) => [result, failure, ms])).toEqual([
      ["failed", "timeout", 20_000],
      ["equal", undefined, 5_000],
    ]);
  });

  test("closing ends everything and tells nobody", async () => {
    const rig = await createRig(platform(undefined, HANGS), { limits: { ...LIMITS, concurrent: 1 } });
    for (let i = 0; i < 3; i++) await rig.pass(READ);
    const watch = rig.shadow.watch(rig.ask(READ));
    watch?.head(200, []);
    watch?.data(NATIVE.body);
    const closing = rig.shadow.close();
    await rig.clock.pass(1_000);
    await closing;
    watch?.over(true);
    expect(rig.shadow.state()).toMatchObject({ running: 0, waiting: 0, heldBytes: 0 });
    expect([rig.clock.timers(), rig.reports]).toEqual([0, []]);
    expect(rig.shadow.watch(rig.ask(READ))).toBeUndefined();
    expect(rig.shadow.follow(rig.ask(READ), NATIVE)).toBe(NATIVE);
  });
});

describe("carryover serves, and native is asked", () => {
  const translated = json(200, { items: [{ ...GROUP, description: "d" }] });
  const pieces = async function* (fail = false) {
    for (const byte of NATIVE.body) yield Uint8Array.of(byte);
    if (fail) throw new Error("cut off");
  };
  async function translatedBy(send: Send, options: RigOptions = {}) {
    const rig = await createRig(send, options);
    const answer = await rig.follow(READ);
    await gathered(answer);
    await rig.idle();
    return { ...rig, answer, report: rig.reports[0] };
  }

  test("an answer that native gives as well is equal", async () => {
    const { report, v1 } = await translatedBy(platform());
    expect(report).toMatchObject({ result: "equal", served: "translate", kind: "read", calls: { v1: 1, v2: 0 } });
    expect(v1[0]).toMatchObject({ method: "GET", target: READ.target });
  });

  test("a whole answer is handed on as it is; pieces are the same pieces, and compared at their end", async () => {
    const rig = await createRig(platform());
    expect(rig.shadow.follow(rig.ask(READ), translated)).toBe(translated);
    const answer = rig.shadow.follow(rig.ask(READ), { ...translated, body: pieces() });
    expect([answer.status, answer.headers]).toEqual([200, translated.headers]);
    await rig.idle();
    rig.reports.length = 0;
    expect((await gathered(answer)).body).toEqual(NATIVE.body);
    await rig.idle();
    expect(rig.reports).toMatchObject([{ result: "equal" }]);
  });

  test("an answer that breaks off, or that nobody takes to the end, breaks off as before and is not compared", async () => {
    const rig = await createRig(platform());
    const broken = rig.shadow.follow(rig.ask(READ), { ...translated, body: pieces(true) });
    await expect(gathered(broken)).rejects.toThrow("cut off");
    let ended = false;
    const endless = async function* () {
      try {
        for (;;) yield Buffer.alloc(10);
      } finally {
        ended = true;
      }
    };
    const left = rig.shadow.follow(rig.ask(READ), { ...translated, body: endless() });
    for await (const _piece of left.body as AsyncIterable<Uint8Array>) break;
    await rig.idle();
    expect([ended, rig.reports, rig.v1]).toEqual([true, [], []]);
    expect(rig.shadow.state()).toMatchObject({ heldBytes: 0, passed: { aborted: 2 } });
  });

  test("a longer list than is compared goes out whole", async () => {
    const rig = await createRig(platform(), { limits: { answerBytes: 100 } });
    const answer = rig.shadow.follow(rig.ask(READ), { ...translated, body: pieces() });
    expect((await gathered(answer)).body).toEqual(NATIVE.body);
    rig.shadow.follow(rig.ask(READ), NATIVE);
    expect(rig.reports.map(({ failure }) => failure)).toEqual(["too-large", "too-large"]);
    expect(rig.shadow.state().heldBytes).toBe(0);
  });

  test("a write is never asked twice", async () => {
    const rig = await createRig(platform());
    for (const more of [{ write: true }, { head: { ...READ, method: "PUT" } }]) {
      expect(rig.shadow.follow(rig.ask(READ, more), translated)).toBe(translated);
    }
    await rig.idle();
    expect([rig.v1, rig.reports, rig.shadow.state().heldBytes]).toEqual([[], [], 0]);
  });

  test("a difference is what carryover still says when native said the same before and after", async () => {
    const send = platform(json(200, withZeros({ items: [{ ...GROUP, name: "native's" }] })));
    const { report } = await translatedBy(send);
    expect(report).toMatchObject({ result: "value", controlled: true, calls: { v1: 2, v2: 1 } });
  });

  test("a record that changed after carryover's answer is noise", async () => {
    const old = json(200, withZeros({ items: [{ ...GROUP, name: "before" }] }));
    expect((await followed(platform(), old)).report).toMatchObject({ result: "noise", controlled: true });
  });

  test.each([
    ["trouble", async () => json(500, {}), "native"],
    ["a refused token", async () => json(401, {}), "native"],
    ["no answer", async () => Promise.reject(new Problem("UPSTREAM_UNREACHABLE", "down")), "unreachable"],
    ["none in time", async () => Promise.reject(new Problem("UPSTREAM_TIMEOUT", "late")), "timeout"],
    ["nonsense", async () => Promise.reject(new Problem("UPSTREAM_INVALID", "what")), "native"],
    ["more than is compared", async () => json(200, "x".repeat(2 ** 22 + 1)), "too-large"],
  ] as [string, Send, string][])("native that has %s fails the comparison", async (_name, native, failure) => {
    const { report, shadow } = await translatedBy(platform(), { native });
    expect(report).toMatchObject({ result: "failed", failure, calls: { v1: 1, v2: 0 } });
    expect(shadow.state().heldBytes).toBe(0);
  });

  test.each([
    ["native lets in is a difference", async () => NATIVE, { result: "status" }],
    ["native refuses too is a stranger's", async () => json(401, {}), { result: "failed", failure: "refused" }],
  ] as [string, Send, object][])("a token that v2 refuses and %s", async (_name, native, expected) => {
    const refused = json(401, { code: 16, message: "", details: [] });
    expect((await followed(platform(native, refused), refused)).report).toMatchObject(expected);
  });

  test("those who invent tokens take half of the places together", async () => {
    const refused = json(401, { code: 16, message: "", details: [] });
    const limits = { concurrent: 4, seconds: 20, memoryBytes: 64 * 1024, answerBytes: 4096 };
    const rig = await createRig(platform(HANGS), { limits });
    for (let i = 0; i < 50; i++) rig.shadow.follow(rig.ask(READ, { client: `stranger${i}` }), refused);
    expect(rig.shadow.state()).toMatchObject({ running: 2, waiting: 4, passed: { busy: 44 } });
    for (let i = 0; i < 4; i++) rig.shadow.follow(rig.ask(READ, { client: `c${i}` }), NATIVE);
    expect(rig.shadow.state()).toMatchObject({ running: 4, waiting: 6, passed: { busy: 44 } });
    await rig.shadow.close();
  });

  test("v2's own trouble, passed on, is not compared", async () => {
    const { report } = await followed(platform(), json(503, {}));
    expect(report).toMatchObject({ result: "failed", failure: "platform" });
  });
});
