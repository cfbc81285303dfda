import { describe, expect, test } from "vitest";
import { reportText, warningsOf } from "../../src/commands/report/formats.ts";
import { createReport } from "../../src/fleet/report.ts";
import type { Progress } from "../../src/telemetry/progress.ts";
import { client, DAY, HOUR, NOW, progress, row, rule, times, totals } from "../commands/report/support.ts";

const MINUTE = 60_000;

const reportOf = (all: readonly Progress[], windowMs?: number) =>
  createReport(
    all.map((one, at) => ({ address: `http://10.0.0.${at + 1}:8081`, progress: one })),
    times(windowMs),
  );

/** An instance whose clock is ahead by so much, with no client. */
const ahead = (ms: number, ledger: Partial<Progress["ledger"]> = {}) =>
  progress({ instance: "ahead", at: NOW + ms, ledger: { since: NOW + ms - 30 * DAY, ...ledger } });

const caller = (facts: Partial<Progress> = {}) =>
  progress({ ...facts, ledger: { since: NOW - 30 * DAY, clients: [client("ci", { lastV1: NOW - MINUTE })] } });

describe("with a clock that is ahead by more than the window", () => {
  test("v1 is in use on the other instance, whose own clock says so", () => {
    expect(reportOf([caller(), ahead(26 * HOUR)], DAY).v1Left).toBe("yes");
    expect(reportOf([ahead(26 * HOUR), caller()], DAY).v1Left).toBe("yes");
    expect(reportOf([caller(), ahead(3 * MINUTE)], 2 * MINUTE).v1Left).toBe("yes");
  });

  test("comparisons are counted since the earliest time by the latest clock", () => {
    const told = progress({ instance: "told", comparedSince: NOW - DAY });
    const other = { ...ahead(HOUR), comparedSince: NOW };
    expect(reportOf([told, other]).comparedSince).toBe(new Date(NOW + HOUR - DAY).toISOString());
  });

  test("what broke, what native v1 serves and what nobody knows the caller of is in the window as well", () => {
    const failing = totals([row({ mode: "native", codes: "5xx", lastSeen: NOW - MINUTE })]);
    const told = progress({ totals: failing, ledger: { since: NOW - 30 * DAY } });
    const report = reportOf([told, ahead(26 * HOUR)], DAY);
    expect(report.v1Left).toBe("unknown");
    expect(report.breaks.map(({ kind }) => kind)).toEqual(["native"]);
  });

  test("and a client that moved long ago is on v1 by no clock", () => {
    const gone = client("gone", { lastV1: NOW + 26 * HOUR - 2 * DAY });
    expect(reportOf([progress({ ledger: { since: 0 } }), ahead(26 * HOUR, { clients: [gone] })], DAY).v1Left).toBe(
      "no",
    );
  });

  test("an instance has watched for as long as its own clock says", () => {
    const young = progress({ ledger: { since: NOW - 2 * HOUR } });
    expect(reportOf([young, ahead(26 * HOUR)], DAY).v1Left).toBe("unknown");
    expect(reportOf([progress({ ledger: { since: 0 } }), ahead(26 * HOUR)], 20 * DAY).v1Left).toBe("no");
    const late = progress({ ledger: { since: NOW - 25 * HOUR } });
    expect(reportOf([late, ahead(26 * HOUR)], DAY).v1Left).toBe("no");
  });
});

describe("clocks that differ by more than a few minutes", () => {
  const report = reportOf([caller({ rules: [rule("a", { since: NOW - HOUR })] }), ahead(26 * HOUR), caller()]);

  test("are told, each by how much it is behind the latest", () => {
    expect(report.instances.map(({ clockBehind }) => clockBehind)).toEqual([26 * 3600, 0, 26 * 3600]);
    expect(warningsOf(report, false)).toEqual([
      "http://10.0.0.1:8081 has a clock that is 26 h behind the latest: set the clocks (times in the report are by the latest)",
    ]);
    expect(reportText(report)).toMatch(/10\.0\.0\.1:8081 .* heard; its clock is 26 h behind the latest/);
  });

  test("times of clients and rules are those of the latest", () => {
    expect(report.at).toBe(new Date(NOW + 26 * HOUR).toISOString());
    expect(report.clients[0]?.lastV1).toBe(new Date(NOW + 26 * HOUR - MINUTE).toISOString());
    expect(report.rules[0]?.since).toBe(new Date(NOW + 25 * HOUR).toISOString());
  });

  test("by less are nobody's business", () => {
    const near = reportOf([caller(), ahead(4 * MINUTE)]);
    expect(warningsOf(near, false)).toEqual([]);
    expect(reportText(near)).not.toContain("clock");
  });

  test("by as much as numbers can still make a report", () => {
    const last = 8.64e15;
    const odd = progress({ at: 0, ledger: { since: last, clients: [client("x", { lastV1: last })] } });
    expect(reportOf([odd, ahead(last - NOW)], DAY).v1Left).toBe("yes");
  });

  test("and an address that was not heard has no clock", () => {
    const silent = createReport([{ address: "http://a", fault: "cannot be reached" }], times());
    expect(silent.instances[0]?.clockBehind).toBeNull();
  });
});
