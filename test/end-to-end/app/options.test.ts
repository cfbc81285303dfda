import { describe, expect, it } from "vitest";
import { createDouble, type Double, ok, type Script } from "../../server/support/double.ts";
import { later, type Rig, reasonOf, rigForTest, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const GROUP = "/iam/v1/groups/abc";

async function inFrontOf(script: Script, flags: Record<string, string>): Promise<{ rig: Rig; double: Double }> {
  const double = await createDouble(script);
  later(double.close);
  return { rig: await rigForTest({ v2Url: double.url, native: false, flags }), double };
}

describe("listen.extraPrefixes", () => {
  it("pass to v2 untouched, and nothing else does", async () => {
    const { rig, double } = await inFrontOf(ok(), { listenExtraPrefixes: "/extra,/more/of" });
    for (const target of ["/extra", "/extra/a?b=%2f", "/more/of/it"]) {
      expect((await rig.ask("GET", target)).status).toBe(200);
      expect(double.requests.at(-1)?.line).toBe(`GET ${target} HTTP/1.1`);
    }
    for (const target of ["/extras", "/more", "/of"]) expect((await rig.ask("GET", target)).status).toBe(404);
  });
});

describe("listen.trustedProxies", () => {
  it("are believed by translated calls and pass-through", async () => {
    const { rig, double } = await inFrontOf(ok('{"uid":"abc"}'), { listenTrustedProxies: "127.0.0.0/8" });
    for (const target of [GROUP, "/iam/v2beta1/groups/abc"]) {
      await rig.ask("GET", target, { headers: { "x-forwarded-for": "203.0.113.9" } });
      expect(double.requests.at(-1)?.head).toMatch(/^x-forwarded-for: 203\.0\.113\.9, 127\.0\.0\.1$/im);
    }
  });
});

describe("upstream.v2.omitsZeros", () => {
  it.each([
    ["auto", ""],
    ["yes", ""],
    ["no", undefined],
  ])("%s decides whether a v1 client gets the zeros that v2 left out", async (omits, description) => {
    const { rig } = await inFrontOf(ok('{"uid":"abc","name":"a"}'), { upstreamV2OmitsZeros: omits });
    expect((await rig.ask("GET", GROUP)).json.description).toBe(description);
  });
});

describe("DIFF-10: v1.recordTimes", () => {
  it.each([
    ["all", { id: "abc", createdAt: "2026-03-01T09:30:00Z" }],
    ["published", { id: "abc" }],
  ])("%s decides whether a record shows a time that its published v1 message lacks", async (recordTimes, shown) => {
    const record = '{"uid":"abc","createTime":"2026-03-01T09:30:00Z"}';
    const flags = { v1RecordTimes: recordTimes, upstreamV2OmitsZeros: "no" };
    const { rig } = await inFrontOf(ok(record), flags);
    expect((await rig.ask("GET", GROUP)).json).toEqual(shown);
  });
});

describe("upstream.v2", () => {
  it(".version stands in every path", async () => {
    const { rig, double } = await inFrontOf(ok('{"uid":"abc"}'), { upstreamV2Version: "v2" });
    expect((await rig.ask("GET", GROUP)).status).toBe(200);
    expect(double.requests[0]?.line).toBe("GET /iam/v2/groups/abc HTTP/1.1");
  });

  it(".url may have a path, which stands before every other", async () => {
    const double = await createDouble(ok('{"uid":"abc"}'));
    later(double.close);
    const rig = await rigForTest({ v2Url: `${double.url}/api`, native: false });
    await rig.ask("GET", GROUP);
    await rig.ask("GET", "/iam/v2beta1/x?y");
    expect(double.requests.map(({ line }) => line)).toEqual([
      "GET /api/iam/v2beta1/groups/abc HTTP/1.1",
      "GET /api/iam/v2beta1/x?y HTTP/1.1",
    ]);
  });

  it(".connections is the most at a time, for translated calls and pass-through together", async () => {
    const { rig, double } = await inFrontOf(ok('{"uid":"abc"}'), { upstreamV2Connections: "1" });
    const targets = [GROUP, GROUP, "/iam/v2beta1/groups/abc", GROUP, "/iam/v2beta1/groups/abc"];
    const answers = await Promise.all(targets.map((target) => rig.ask("GET", target)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(double.connections()).toBe(1);
  });

  it("is asked once more for a read that it could not serve, and both calls are told to operators", async () => {
    const busy = '{"code":14,"message":"busy","details":[]}';
    const { rig } = await inFrontOf((_, socket, index) => {
      socket.write(index === 0 ? ok(busy).replace("200 OK", "503 Busy") : ok('{"uid":"abc"}'));
    }, {});
    expect((await rig.ask("GET", GROUP)).status).toBe(200);
    expect(rig.exchanges[0]?.calls.map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
      "GET /iam/v2beta1/groups/abc 503",
      "GET /iam/v2beta1/groups/abc 200",
    ]);
    expect(JSON.parse(rig.lines.at(-1) ?? "").calls).toEqual({ "v2 GET 503": 1, "v2 GET 200": 1 });
  });
});

describe("limits", () => {
  it("DIFF-70: limits.inFlight: one more is 503 with Retry-After", async () => {
    let release = () => {};
    const { rig, double } = await inFrontOf(
      (_, socket) => {
        release = () => socket.write(ok('{"uid":"abc"}'));
      },
      { limitsInFlight: "1" },
    );
    const first = rig.ask("GET", GROUP);
    await double.until(() => double.requests.length === 1);
    const second = await rig.ask("GET", GROUP);
    expect([second.status, reasonOf(second)]).toEqual([503, "OVERLOADED"]);
    expect(Number(second.field("retry-after"))).toBeGreaterThan(0);
    release();
    expect((await first).status).toBe(200);
  });

  it("limits.uriBytes and limits.headerBytes are what the operator says", async () => {
    const { rig } = await inFrontOf(ok(), { limitsUriBytes: "256", limitsHeaderBytes: "2048" });
    expect((await rig.ask("GET", `${GROUP}${"a".repeat(300)}`)).status).toBe(414);
    expect((await rig.ask("GET", GROUP, { headers: { "x-a": "a".repeat(3000) } })).status).toBe(431);
  });
});

/** Each waits for about a second: all wait at the same time. */
describe("time", () => {
  async function platformTime(name: "Headers" | "Body", script: Script) {
    const flags = { [`upstreamV2Timeouts${name}Seconds`]: "60ms", limitsRequestSeconds: "5s", listsMaxSeconds: "4s" };
    const { rig } = await inFrontOf(script, flags);
    const answer = await rig.ask("GET", GROUP);
    expect([name, answer.status, answer.json.message]).toEqual([name, 504, "the platform did not answer in time"]);
  }

  async function listTime() {
    const rig = await rigForTest({ sandbox: { latencyMs: 1_100 }, flags: { listsMaxSeconds: "1s" } });
    const answer = await rig.ask("GET", "/iam/v1/groups");
    expect([answer.status, reasonOf(answer)]).toEqual([504, "UPSTREAM_TIMEOUT"]);
    expect(answer.json.message).toMatch(/longer than 1 s: narrow it with a filter/);
    const metrics = await (await fetch(`${rig.adminUrl}/metrics`)).text();
    for (const left of ["lists_in_progress", "lists_waiting", "list_readers", "in_flight_requests"]) {
      expect(metrics).toMatch(new RegExp(`^carryover_${left} 0$`, "m"));
    }
  }

  async function requestTime() {
    const { rig } = await inFrontOf(() => {}, { limitsRequestSeconds: "1010ms", listsMaxSeconds: "1s" });
    const answer = await rig.ask("PUT", GROUP, { body: "{}" });
    expect([answer.status, reasonOf(answer), answer.json.message]).toEqual([
      504,
      "UPSTREAM_TIMEOUT",
      "the request's time is over",
    ]);
    expect(answer.json.details[0].metadata).toEqual({ state: "unknown", option: "limits.requestSeconds" });
  }

  it("T-TMO-07, DIFF-03, DIFF-69: of one call, of a list and of a request are what the operator says, and a list says what to do", async () => {
    const half: Script = (_, socket) => void socket.write(ok('{"uid":"abc"}').slice(0, -3));
    await Promise.all([platformTime("Headers", () => {}), platformTime("Body", half), listTime(), requestTime()]);
  });
});

describe("DIFF-51: fallback", () => {
  it("refuse leaves to native v1 the paths that listen.extraPrefixes names", async () => {
    const { ask, arrived } = await rigForTest({ flags: { fallback: "refuse", listenExtraPrefixes: "v1:/legacy" } });
    expect((await ask("GET", "/legacy/x")).field("carryover-mode")).toBe("native");
    expect(reasonOf(await ask("GET", "/billing/v1/x"))).toBe("UNKNOWN_PATH");
    expect(arrived.map(({ target }) => target)).toEqual(["/legacy/x"]);
  });
});

it("listen.keepAliveSeconds is what clients are told of idle connections", async () => {
  const { rig } = await inFrontOf(ok(), { listenKeepAliveSeconds: "600" });
  const answer = await rig.ask("GET", "/iam/v2beta1/groups", { headers: { connection: "keep-alive" } });
  expect(answer.field("keep-alive")).toBe("timeout=600");
});
