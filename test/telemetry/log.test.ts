import { describe, expect, test } from "vitest";
import type { Exchange } from "../../src/model/exchange.ts";
import { Problem } from "../../src/model/problem.ts";
import { createLog, type LogOptions } from "../../src/telemetry/log.ts";
import { finished } from "./exchange.ts";

function lines(level: LogOptions["level"] = "info") {
  const written: string[] = [];
  const log = createLog({ level, destination: { write: (line) => written.push(line) }, now: () => 12.5 });
  return { log, written, parsed: () => written.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

function oneLine(facts: Partial<Exchange>): Record<string, unknown> {
  const { log, parsed } = lines();
  log.request(finished(facts));
  const [line, ...more] = parsed();
  expect(more).toEqual([]);
  return line ?? {};
}

describe("the line of a request", () => {
  test("one line says what was asked, who served it and what it cost", () => {
    const line = oneLine({ upstreamMs: 10.1234, requestBytes: 3, responseBytes: 4 });
    expect(line).toEqual({
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      msg: "request",
      requestId: "r-1",
      method: "GET",
      path: "/iam/v1/groups",
      apiVersion: "v1",
      resource: "group",
      operation: "list",
      mode: "translate",
      status: 200,
      durationMs: 12.5,
      upstreamMs: 10.123,
      requestBytes: 3,
      responseBytes: 4,
    });
  });

  test("a call over gRPC has its code", () => {
    expect(oneLine({ rpc: { service: "iam.Groups", method: "List", code: 5 } })["grpcStatus"]).toBe(5);
  });

  test("calls are summed by kind, a hundred pages stay one entry", () => {
    const call = { upstream: "v2", method: "GET", path: "/x", ms: 1 } as const;
    const calls = [...Array.from({ length: 100 }, () => ({ ...call, status: 200 })), { ...call, status: 0 }];
    expect(oneLine({ calls })["calls"]).toEqual({ "v2 GET 200": 100, "v2 GET no answer": 1 });
  });

  test("upstreams that answer with ever new statuses do not make the line long", () => {
    const calls = Array.from({ length: 400 }, (_, at) => ({
      upstream: "v2" as const,
      method: "GET",
      path: "/x",
      status: 200 + at,
      ms: 1,
    }));
    const summary = oneLine({ calls })["calls"] as Record<string, number>;
    expect(Object.keys(summary).length).toBeLessThanOrEqual(13);
    expect(Object.values(summary).reduce((sum, count) => sum + count)).toBe(400);
  });

  test("a list says what it proved, an update what it left to zero", () => {
    const list = { pages: 3, records: 401, witness: "count", outcome: "complete" } as const;
    const line = oneLine({
      list,
      defaultedFields: ["description"],
      mismatches: ["name"],
      notes: ["gzip"],
      aborted: true,
    });
    expect(line).toMatchObject({
      list,
      defaultedFields: ["description"],
      mismatches: ["name"],
      notes: ["gzip"],
      aborted: true,
    });
  });

  test("names of unknown fields are few and short", () => {
    const unknownFields = Array.from({ length: 1000 }, (_, at) => ({
      direction: "request" as const,
      name: `${at}-${"x".repeat(1000)}`,
    }));
    const shown = oneLine({ unknownFields })["unknownFields"] as string[];
    expect(shown).toHaveLength(21);
    expect(shown.at(-1)).toBe("and 980 more");
    expect(Math.max(...shown.map((name) => name.length))).toBeLessThanOrEqual(80);
  });

  test.each([
    [{ status: 200 }, "info", undefined, undefined],
    [{ status: 404 }, "info", "client", undefined],
    [{ status: 400, reason: "INVALID_BODY" }, "info", "client", "INVALID_BODY"],
    [{ status: 400, notes: ["own-words-refused"] }, "warn", "translation", undefined],
    // A failure that native v1 would not have had is logged as a warning, even when the client caused it.
    [{ status: 422, reason: "DRAIN_TOO_LARGE" }, "warn", "translation", "DRAIN_TOO_LARGE"],
    [{ status: 422, reason: "DRAIN_TOO_LARGE", fault: "client" }, "warn", "client", "DRAIN_TOO_LARGE"],
    [{ status: 500 }, "warn", "platform", "UPSTREAM_ERROR"],
    [{ status: 503, mode: "native" }, "warn", "platform", "UPSTREAM_ERROR"],
    [{ status: 500, reason: "INTERNAL" }, "error", "translation", "INTERNAL"],
    [{ status: 501, reason: "NOT_TRANSLATABLE" }, "warn", "translation", "NOT_TRANSLATABLE"],
    [{ status: 501, reason: "METHOD_NOT_ALLOWED" }, "info", "client", "METHOD_NOT_ALLOWED"],
    [{ status: 502, reason: "UPSTREAM_INVALID" }, "warn", "translation", "UPSTREAM_INVALID"],
    [{ status: 503, reason: "OVERLOADED" }, "warn", "capacity", "OVERLOADED"],
    [{ status: 504, reason: "UPSTREAM_TIMEOUT" }, "warn", "platform", "UPSTREAM_TIMEOUT"],
    // An answer that had begun, and was cut off.
    [{ status: 200, reason: "DRAIN_INCOMPLETE" }, "warn", "translation", "DRAIN_INCOMPLETE"],
    [{ status: 200, reason: "REQUEST_TIMEOUT" }, "warn", "client", "REQUEST_TIMEOUT"],
  ] as const)("%j is logged at %s, as the fault of the %s, with reason %s", (facts, level, fault, reason) => {
    const line = oneLine(facts as Partial<Exchange>);
    expect([line["level"], line["fault"], line["reason"]]).toEqual([level, fault, reason]);
  });

  test("an error names the options that change it, where there are any", () => {
    const options = ["lists.require", "upstream.v2.pageTokens"];
    expect(oneLine({ status: 502, reason: "LIST_UNPROVEN", options })["options"]).toEqual(options);
    expect(oneLine({ status: 500, reason: "INTERNAL", options: [] })).not.toHaveProperty("options");
  });

  test("a stack is given for carryover's own mistakes only", () => {
    const cause = new Error("boom");
    expect(oneLine({ status: 500, reason: "INTERNAL", cause })["stack"]).toMatch(/^at /);
    expect(oneLine({ status: 502, reason: "UPSTREAM_INVALID", cause })).not.toHaveProperty("stack");
  });

  test("whatever a path, a method or a note holds, the line is one line of JSON", () => {
    const odd = `/a"b\\c\n\u2028é\ud800`;
    const line = oneLine({ resource: odd, operation: odd, notes: [odd as "grpc"], reason: odd });
    expect(line).toMatchObject({ resource: odd, operation: odd, reason: odd });
    expect(oneLine(Object.assign(finished(), { path: odd, method: odd, requestId: odd }))).toMatchObject({
      path: odd,
      method: odd,
      requestId: odd,
    });
  });

  test("below the level nothing is written", () => {
    const { log, written } = lines("warn");
    log.request(finished());
    log.info("hello");
    log.request(finished({ reason: "INTERNAL", status: 500 }));
    expect(written).toHaveLength(1);
  });
});

describe("secrets", () => {
  const secrets = ["hunter2", "eyJhbGciOiJSUzI1NiJ9"];
  const jwt = `${secrets[1]}.eyJzdWIiOiJhIn0.c2ln`;

  test("no member of an exchange carries a token, a page token or a query value into the log", () => {
    const { log, written } = lines();
    const cause = new Problem("UPSTREAM_UNREACHABLE", "no answer", {
      cause: new Error(`GET https://u:hunter2@h/iam/v2beta1/groups?page_token=hunter2 Authorization: Bearer ${jwt}`),
    });
    const hostile = Object.assign(
      finished({
        cause,
        reason: "UPSTREAM_UNREACHABLE",
        status: 502,
        calls: [{ upstream: "v2", method: "GET", path: "/x?page_token=hunter2", status: 0, ms: 1 }],
        unknownFields: [{ direction: "request", name: "token=hunter2" }],
      }),
      { path: `/iam/v1/groups/${jwt}?q=hunter2`, requestId: `Bearer hunter2`, headers: { authorization: "hunter2" } },
    );
    log.request(hostile);
    log.error(`failed with Bearer ${jwt}`, new Error("cookie: sid=hunter2"), { target: "/x?access_token=hunter2" });
    log.warn("page_token=hunter2");
    log.info("a", { url: "https://h/?hunter2" });
    expect(written).toHaveLength(4);
    for (const secret of secrets) expect(written.join("")).not.toContain(secret);
  });
});

test("messages carry facts and causes", () => {
  const { log, parsed } = lines();
  log.error("lost", new Error("why"), { port: 1 });
  log.info("up", { url: "http://h" });
  expect(parsed()).toMatchObject([
    { level: "error", msg: "lost", cause: "Error: why", port: 1, stack: expect.stringMatching(/^at /) },
    { level: "info", msg: "up", url: "http://h" },
  ]);
});
