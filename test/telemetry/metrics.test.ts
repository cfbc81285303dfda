import { describe, expect, test } from "vitest";
import type { Exchange } from "../../src/model/exchange.ts";
import { PROBLEMS } from "../../src/model/problem.ts";
import { createMetrics, type MetricsOptions } from "../../src/telemetry/metrics.ts";
import { scale } from "../support/scale.ts";
import { finished } from "./exchange.ts";
import { IDLE } from "./metrics-options.ts";
import { parsePrometheus, sampleValue } from "./prometheus.ts";

const RESOURCES = [
  { resource: "group", operations: ["list", "update"] },
  { resource: "role", operations: ["list"] },
  { resource: "native-thing", operations: ["a"] },
  { resource: "native-thing", operations: ["b"] },
];

function metrics(options: Partial<MetricsOptions> = {}) {
  return createMetrics({ ...IDLE, version: "1.2.3", resources: RESOURCES, now: () => 250, ...options });
}

async function scraped(exchanges: readonly Exchange[], options: Partial<MetricsOptions> = {}) {
  const made = metrics(options);
  for (const exchange of exchanges) made.observe(exchange);
  return parsePrometheus(await made.text());
}

const KIND = { api_version: "v1", resource: "group", operation: "list", mode: "translate" };

describe("the text", () => {
  test("every series has HELP and TYPE, is there once, and begins with carryover_", async () => {
    const { types, samples } = await scraped([finished(), finished({ status: 404 })]);
    expect([...types.keys()].filter((name) => !name.startsWith("carryover_"))).toEqual([]);
    expect(samples.length).toBeGreaterThan(40);
    expect(metrics().contentType).toContain("text/plain");
  });

  test("asking twice counts nothing twice", async () => {
    const made = metrics({ droppedLogLines: () => 3 });
    made.observe(finished({ notes: ["gzip"], responseBytes: 5 }));
    await made.text();
    const parsed = parsePrometheus(await made.text());
    expect(sampleValue(parsed, "carryover_requests_total", { ...KIND, code: "200" })).toBe(1);
    expect(sampleValue(parsed, "carryover_response_bytes_total", { api_version: "v1" })).toBe(5);
    expect(sampleValue(parsed, "carryover_notes_total", { note: "gzip" })).toBe(1);
    expect(sampleValue(parsed, "carryover_log_lines_dropped_total")).toBe(3);
  });
});

describe("what is counted", () => {
  test("gRPC calls by what they call and their status; names that are not known share one series", async () => {
    const rpc = { service: "acme.iam.Groups", method: "List" };
    const parsed = await scraped([
      finished({ rpc: { ...rpc, code: 0, known: true } }),
      finished({ rpc: { ...rpc, code: 8, known: true } }),
      ...["Invented", "Guessed"].map((method) => finished({ rpc: { ...rpc, method, code: 16, known: false } })),
    ]);
    const counted = (labels: Record<string, string>) => sampleValue(parsed, "carryover_grpc_requests_total", labels);
    expect(counted({ ...rpc, code: "OK" })).toBe(1);
    expect(counted({ ...rpc, code: "RESOURCE_EXHAUSTED" })).toBe(1);
    expect(counted({ service: "unknown", method: "unknown", code: "UNAUTHENTICATED" })).toBe(2);
  });

  test("requests by kind and status, their time and their bytes", async () => {
    const parsed = await scraped([
      finished({ upstreamMs: 200, requestBytes: 10, responseBytes: 100 }),
      finished({ upstreamMs: 100, requestBytes: 1, responseBytes: 2, aborted: true }),
      finished({ status: 503, upstreamMs: 1000 }),
    ]);
    expect(sampleValue(parsed, "carryover_requests_total", { ...KIND, code: "200" })).toBe(2);
    expect(sampleValue(parsed, "carryover_requests_total", { ...KIND, code: "503" })).toBe(1);
    expect(sampleValue(parsed, "carryover_request_duration_seconds_count", KIND)).toBe(3);
    expect(sampleValue(parsed, "carryover_request_duration_seconds_sum", KIND)).toBeCloseTo(0.75);
    expect(sampleValue(parsed, "carryover_request_duration_seconds_bucket", { ...KIND, le: "0.1" })).toBe(0);
    expect(sampleValue(parsed, "carryover_request_duration_seconds_bucket", { ...KIND, le: "0.25" })).toBe(3);
    expect(sampleValue(parsed, "carryover_upstream_seconds_total", { api_version: "v1" })).toBeCloseTo(1.3);
    expect(sampleValue(parsed, "carryover_own_seconds_total", { api_version: "v1" })).toBeCloseTo(0.2);
    expect(sampleValue(parsed, "carryover_request_bytes_total", { api_version: "v1" })).toBe(11);
    expect(sampleValue(parsed, "carryover_response_bytes_total", { api_version: "v1" })).toBe(102);
    expect(sampleValue(parsed, "carryover_aborted_requests_total", { api_version: "v1" })).toBe(1);
  });

  test("calls, lists, fields, problems and notes", async () => {
    const call = { upstream: "v2", method: "GET", path: "/x", ms: 1 } as const;
    const parsed = await scraped([
      finished({
        calls: [
          { ...call, status: 200 },
          { ...call, status: 200 },
          { ...call, status: 0 },
        ],
        list: { pages: 2, records: 300, witness: "count", outcome: "complete" },
        unknownFields: [
          { direction: "response", name: "x" },
          { direction: "response", name: "y" },
        ],
        defaultedFields: ["description"],
        mismatches: ["name"],
        reason: "LIST_UNPROVEN",
        notes: ["gzip", "gzip"],
      }),
    ]);
    const value = (name: string, labels: Record<string, string> = {}) =>
      sampleValue(parsed, `carryover_${name}`, labels);
    expect(value("upstream_requests_total", { upstream: "v2", code: "200" })).toBe(2);
    expect(value("upstream_requests_total", { upstream: "v2", code: "none" })).toBe(1);
    expect(
      value("request_calls_total", { api_version: "v1", resource: "group", operation: "list", mode: "translate" }),
    ).toBe(3);
    expect(value("lists_total", { resource: "group", witness: "count", outcome: "complete" })).toBe(1);
    expect(value("list_pages_sum")).toBe(2);
    expect(value("list_records_bucket", { le: "200" })).toBe(0);
    expect(value("list_records_bucket", { le: "1000" })).toBe(1);
    expect(value("unknown_fields_total", { resource: "group", direction: "response" })).toBe(2);
    expect(value("update_defaulted_fields_total", { resource: "group", field: "description" })).toBe(1);
    expect(value("update_mismatches_total", { resource: "group", field: "name" })).toBe(1);
    expect(value("problems_total", { reason: "LIST_UNPROVEN" })).toBe(1);
    expect(value("notes_total", { note: "gzip" })).toBe(2);
  });

  test("an error that never happened, as 0: of a series that begins at 1 no increase is seen", async () => {
    const { samples } = await scraped([finished({ reason: "INTERNAL" })]);
    const problems = samples.filter(({ name }) => name === "carryover_problems_total");
    expect(problems).toHaveLength(Object.keys(PROBLEMS).length);
    expect(problems.filter(({ value }) => value > 0).map(({ labels }) => labels.get("reason"))).toEqual(["INTERNAL"]);
  });

  test("the state of the process", async () => {
    const recording = () => ({ lines: 5, bytes: 600, dropped: 2, isFailing: true, beyondRate: 4 });
    const made = metrics({
      inFlight: () => 7,
      inFlightLimit: 9,
      ready: () => false,
      droppedLogLines: () => 3,
      recording,
    });
    made.reloaded(false, 1);
    const parsed = parsePrometheus(await made.text());
    expect(sampleValue(parsed, "carryover_in_flight_requests")).toBe(7);
    expect(sampleValue(parsed, "carryover_in_flight_requests_limit")).toBe(9);
    expect(sampleValue(parsed, "carryover_ready")).toBe(0);
    expect(sampleValue(parsed, "carryover_log_lines_dropped_total")).toBe(3);
    expect(sampleValue(parsed, "carryover_recording_lines_total")).toBe(5);
    expect(sampleValue(parsed, "carryover_recording_bytes_total")).toBe(600);
    expect(sampleValue(parsed, "carryover_recording_left_out_total", { why: "rate" })).toBe(4);
    expect(sampleValue(parsed, "carryover_recording_left_out_total", { why: "disk" })).toBe(2);
    expect(sampleValue(parsed, "carryover_recording_failing")).toBe(1);
    expect(sampleValue(parsed, "carryover_config_last_reload_successful")).toBe(0);
    expect(sampleValue(parsed, "carryover_build_info", { version: "1.2.3", node: process.version })).toBe(1);
    expect(sampleValue(await scraped([]), "carryover_config_last_reload_successful")).toBe(1);
  });
});

describe("labels", () => {
  test("what is not in the catalogue is other, what nobody matched is unknown", async () => {
    const parsed = await scraped([
      finished({ resource: "evil" }),
      finished({ operation: "evil" }),
      finished({ resource: "role", operation: "update" }),
      finished({ resource: "unknown", operation: "unknown" }),
      finished({ resource: "native-thing", operation: "a" }),
      finished({ resource: "native-thing", operation: "b" }),
      finished({ status: 799 }),
    ]);
    const count = (resource: string, operation: string, code = "200") =>
      sampleValue(parsed, "carryover_requests_total", { ...KIND, resource, operation, code });
    expect(count("other", "other")).toBe(1);
    expect(count("group", "other")).toBe(1);
    expect(count("role", "other")).toBe(1);
    expect(count("unknown", "unknown")).toBe(1);
    expect(count("native-thing", "a")).toBe(1);
    expect(count("native-thing", "b")).toBe(1);
    expect(count("group", "list", "other")).toBe(1);
  });

  test("very many hostile exchanges do not pass the cap, and none is lost", async () => {
    const count = scale(30_000, 100_000);
    const many = Array.from({ length: 60 }, (_, at) => ({
      resource: `resource${at}`,
      operations: Array.from({ length: 10 }, (__, op) => `op${op}`),
    }));
    const made = createMetrics({ ...IDLE, resources: many, now: () => 1 });
    const versions = ["v1", "v2", "sts", "none", "evil\n"] as Exchange["apiVersion"][];
    const modes = ["native", "shadow", "translate", "pass", "refused", 'evil"'] as Exchange["mode"][];
    for (let at = 0; at < count; at++) {
      const name = `f${at}`;
      made.observe(
        finished({
          method: `M${at}`,
          path: `/secret-${at}`,
          apiVersion: versions[at % 5] ?? "v1",
          mode: modes[at % 6] ?? "pass",
          resource: at % 7 === 0 ? `evil${at}` : `resource${at % 60}`,
          operation: at % 11 === 0 ? `evil\\${at}` : `op${(at * 3) % 10}`,
          status: at % 1000,
          reason: `REASON_${at}`,
          calls: [
            { upstream: (at % 2 ? "v2" : `u${at}`) as "v2", method: "GET", path: "/x", status: at % 1000, ms: 1 },
          ],
          list: { pages: at, records: at, witness: `w${at}` as "none", outcome: `o${at}` as "refused" },
          unknownFields: [{ direction: `d${at}` as "request", name }],
          defaultedFields: [name],
          mismatches: [`${name}"} 1\nevil 1`],
          notes: [`note-${at}` as "grpc"],
        }),
      );
    }
    const text = await made.text();
    const { samples } = parsePrometheus(text);
    expect(samples.length).toBeLessThan(7_000);
    expect(samples.length).toBeGreaterThan(1_000);
    expect(text).not.toMatch(/secret|evil/);
    const total = (name: string) =>
      samples.filter((sample) => sample.name === `carryover_${name}`).reduce((sum, sample) => sum + sample.value, 0);
    for (const name of ["requests_total", "request_duration_seconds_count", "upstream_requests_total", "notes_total"]) {
      expect(total(name), name).toBe(count);
    }
    for (const name of ["lists_total", "update_defaulted_fields_total", "update_mismatches_total", "problems_total"]) {
      expect(total(name), name).toBe(count);
    }
  });
});

test("what long lists take up is read when it is asked for", async () => {
  let limit = 4;
  let pausedMs = 500;
  const waits = {
    short: { count: 7, seconds: 0.5 },
    page: { count: 3, seconds: 2 },
    background: { count: 0, seconds: 0 },
  };
  const waiting = { short: 1, page: 2, background: 0 };
  const state = () => ({ waiting, waits, longestMs: 250, limit, reading: 3, gatedMs: 1500, pausedMs });
  const made = metrics({ queues: new Map([["v2", { state }]]), lists: () => ({ reading: 5, waiting: 1 }) });
  limit = 8;
  const { samples } = parsePrometheus(await made.text());
  const value = (name: string) => samples.find((sample) => sample.name === `carryover_${name}`)?.value;
  expect(value("queue_longest_wait_seconds")).toBe(0.25);
  expect(value("list_readers_limit")).toBe(8);
  expect(value("list_readers")).toBe(3);
  expect(value("list_readers_waiting")).toBe(2);
  expect(value("list_readers_paused_seconds")).toBe(1.5);
  const short = samples.filter(({ labels }) => labels.get("upstream") === "v2" && labels.get("kind") === "short");
  expect(Object.fromEntries(short.map((sample) => [sample.name, sample.value]))).toEqual({
    carryover_queue_waiting: 1,
    carryover_queue_calls_total: 7,
    carryover_queue_wait_seconds_total: 0.5,
  });
  pausedMs = 2000;
  expect(await made.text()).toContain("\ncarryover_list_readers_paused_seconds 2\n");
  expect(value("lists_in_progress")).toBe(5);
  expect(value("lists_waiting")).toBe(1);
});

test.each([Number.NaN, -250])("a clock that says %d costs no request its count, and takes no time off", async (now) => {
  const metrics = createMetrics({ ...IDLE, now: () => now });
  metrics.observe(finished());
  const text = await metrics.text();
  expect(text).toMatch(/carryover_request_duration_seconds_count\{[^}]*\} 1\n/);
  expect(text).toMatch(/carryover_request_duration_seconds_sum\{[^}]*\} 0\n/);
});
