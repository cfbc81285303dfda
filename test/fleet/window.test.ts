import { describe, expect, test } from "vitest";
import { reportText, warningsOf } from "../../src/commands/report/formats.ts";
import { statusText } from "../../src/commands/status/screen.ts";
import { fleetOf } from "../../src/fleet/fleet.ts";
import type { InstanceResult } from "../../src/fleet/merge.ts";
import { createReport } from "../../src/fleet/report.ts";
import { createStatus } from "../../src/fleet/status.ts";
import { type AskedTimes, createRequestHistory } from "../../src/history/requests.ts";
import type { Exchange } from "../../src/model/exchange.ts";
import type { Progress } from "../../src/telemetry/progress.ts";
import { client, counted, DAY, HOUR, NOW, progress, row, times, totals } from "../commands/report/support.ts";
import { exchange, ledgerOf } from "../ledger/samples.ts";

/** Requests of client `ci`, as `given` says. */
interface Calls {
  readonly ago: number;
  readonly count: number;
  readonly given?: Partial<Exchange>;
}

/** What a real history and ledger tell now, of an instance that began at the first of `calls`, in their order. */
function instance(calls: readonly Calls[], name = "one"): (asked?: AskedTimes) => Progress {
  const clock = { ms: NOW - (calls[0]?.ago ?? 0) };
  const requests = createRequestHistory(() => clock.ms);
  const { ledger } = ledgerOf({ wall: () => clock.ms, instance: name });
  for (const { ago, count, given } of calls) {
    clock.ms = NOW - ago;
    for (let n = 0; n < count; n++) {
      const one = exchange("ci", given);
      requests.observe(one);
      ledger.observe(one);
    }
  }
  clock.ms = NOW;
  return (asked) => ({
    ...progress({ instance: name }),
    totals: requests.snapshot(),
    window: asked && requests.window(asked),
    ledger: ledger.snapshot(),
  });
}

const heard = (...all: readonly Progress[]): readonly InstanceResult[] =>
  all.map((one, at) => ({ address: `http://${String.fromCharCode(97 + at)}:1`, progress: one }));
const NATIVE = { mode: "native" } as const;
const LAST_DAY = times(DAY);
const reported = (told: ReturnType<typeof instance>, asked = LAST_DAY) => createReport(heard(told(asked)), asked);

describe("once everything is translated", () => {
  const told = instance([
    { ago: 5 * DAY, count: 527, given: NATIVE },
    { ago: 4 * DAY, count: 300, given: { ...NATIVE, resource: "role" } },
    { ago: 30 * HOUR, count: 573 },
    { ago: 2 * HOUR, count: 2 },
  ]);

  test("a day ago, status and report say 100 %, not 41 % of all that was ever counted", () => {
    const text = statusText(createStatus(fleetOf(heard(told(LAST_DAY))), LAST_DAY));
    expect(text).toContain("100 % of v1 requests translated in the last 24 h; 0 of 1 client moved;\n");
    expect(text).toContain("in all since 2026-11-16: 41 % of v1 requests translated\n");
    const [first, , , fourth] = reportText(reported(told)).split("\n");
    expect(first).toMatch(/^100 % of v1 requests translated in the last 24 h; /);
    expect(fourth).toContain("in all 1,402 v1 and 0 v2, 41 % of v1 requests translated.");
  });

  test("nothing would break of what native v1 served last week, and counts are those of the window", () => {
    const breaks = ({ breaks: all }: ReturnType<typeof reported>) =>
      all.map(({ kind, resource, requests }) => `${kind} ${resource} ${requests}`);
    expect(breaks(reported(told))).toEqual(["operation group 2"]);
    expect(reportText(reported(told))).not.toContain("527 requests");
    expect(breaks(reported(told, times(7 * DAY)))).toEqual([
      "native group 527",
      "native role 300",
      "unseen role null",
      "operation group 1102",
      "operation role 300",
    ]);
  });

  test("clients count by whole days, which the report says, with all of their requests beside", () => {
    const report = reported(told);
    expect(report.clients).toMatchObject([{ name: "ci", onV1: true, v1: 575, allTime: { v1: 1402 } }]);
    expect(reportText(report)).toContain("  clients: whole days, UTC: 2026-11-20 to 2026-11-21.\n");
    expect(reported(told, times(20 * DAY)).clients[0]?.v1).toBeNull();
  });
});

describe("a window of which only a part was counted", () => {
  test("is told so, with what was counted", () => {
    const told = instance([{ ago: 2 * HOUR, count: 3 }]);
    expect(reported(told).window).toMatchObject({
      says: "in the last 24 h",
      limits: "counted for 2 h only",
      counted: { from: new Date(NOW - 2 * HOUR).toISOString(), to: new Date(NOW).toISOString() },
    });
    expect(reported(told, { from: NOW - 2 * DAY, to: NOW - DAY }).window.limits).toBe("not counted then");
    expect(reported(told, times(HOUR)).window.limits).toBeNull();
  });

  test("of several instances is told so for the youngest, and the requests add up", () => {
    const [old, young] = [
      instance(
        [
          { ago: 3 * DAY, count: 3 },
          { ago: 5 * HOUR, count: 4 },
        ],
        "old",
      ),
      instance([{ ago: 2 * HOUR, count: 5 }], "young"),
    ];
    const { window, requests } = createReport(heard(old(LAST_DAY), young(LAST_DAY)), LAST_DAY);
    expect([window.limits, requests.v1]).toEqual(["counted for 2 h only", 9]);
    expect(window.rows).toMatchObject([{ requests: 9, lastSeen: new Date(NOW - 2 * HOUR).toISOString() }]);
  });

  test("is unknown where an instance is older and has no counts over time", () => {
    const told = instance([{ ago: HOUR, count: 3 }]);
    const older = { ...instance([{ ago: HOUR, count: 4 }], "older")(), window: undefined };
    const asked = heard(told(LAST_DAY), older);
    const report = createReport(asked, LAST_DAY);
    expect(report).toMatchObject({
      requests: { v1: null, v2: null },
      resources: [],
      standing: { translatedShare: null, served: null },
      window: { tooOld: ["http://b:1"], counted: null, rows: null },
      allTime: { requests: { v1: 7 } },
      v1Left: "yes",
    });
    expect(report.breaks).toMatchObject([{ kind: "operation", requests: null }]);
    expect(reportText(report)).toContain("unknown how many v1 requests are translated in the last 24 h");
    expect(warningsOf(report, false)).toEqual(["http://b:1 is an older version: requests of a window are unknown"]);
    expect(createStatus(fleetOf(asked), LAST_DAY).attention).toEqual([
      "http://b:1 is an older version, without counts over time: requests of a window are unknown",
    ]);
    expect(createReport(asked, times()).requests.v1).toBe(7);
  });
});

describe("a window in the past", () => {
  const night = { from: NOW - 5 * DAY - HOUR, to: NOW - 5 * DAY + HOUR };
  const told = instance([
    { ago: 6 * DAY, count: 1, given: { operation: "get" } },
    { ago: 5 * DAY, count: 7, given: NATIVE },
    { ago: 2 * DAY, count: 9, given: { resource: "role" } },
    { ago: HOUR, count: 1 },
  ]);

  test("has its requests, and the clients that called on these days", () => {
    const report = reported(told, night);
    expect(report.window.says).toBe("from 2026-11-16 20:30Z to 22:30Z");
    expect(report.requests.v1).toBe(7);
    expect(report.clients).toMatchObject([{ onV1: true, v1: 7 }]);
    expect(report.breaks.map(({ kind, resource }) => `${kind} ${resource}`)).toEqual([
      "native group",
      "operation group",
    ]);
    const quiet = reported(told, { from: NOW - 4 * DAY, to: NOW - 3.5 * DAY });
    expect([quiet.requests.v1, quiet.clients[0]?.onV1, quiet.v1Left]).toEqual([0, false, "no"]);
    expect(reportText(quiet)).toMatch(/no client called v1 since 2026-11-17 21:30Z until 2026-11-18 09:30Z$/);
  });

  test("has a client that called later, where nobody knows whether it called then", () => {
    const caller = client("ci", { days: undefined, firstSeen: NOW - 9 * DAY });
    const report = createReport(
      heard(progress({ ledger: { since: 0, daysSince: undefined, clients: [caller] } })),
      night,
    );
    expect([report.v1Left, report.clients[0]?.v1]).toEqual(["yes", null]);
    const younger = client("ci", { firstSeen: NOW - DAY });
    const later = progress({ ledger: { since: 0, daysSince: undefined, clients: [younger] } });
    expect(createReport(heard(later), night).v1Left).toBe("no");
  });
});

test("a window of some clients has their counts by day, and which operations they called", () => {
  const told = instance([
    { ago: 5 * DAY, count: 4, given: { resource: "role" } },
    { ago: HOUR, count: 3 },
  ]);
  const report = createReport(heard(told(LAST_DAY)), LAST_DAY, { client: "ci" });
  expect(report.requests).toEqual({ v1: 3, v2: 0, v1Share: 1 });
  expect(report.resources.map(({ resource, v1 }) => [resource, v1])).toEqual([["group", null]]);
  expect(report.breaks).toMatchObject([{ kind: "operation", resource: "group", requests: null }]);
});

test("the window follows the clock of the instance that counts", () => {
  const behind = progress({ window: counted([row({ lastSeen: NOW - HOUR })]), totals: totals([row({})]) });
  const ahead = progress({
    instance: "ahead",
    at: NOW + 26 * HOUR,
    window: counted([], NOW + 2 * HOUR, NOW + 26 * HOUR),
  });
  const report = createReport(heard(behind, ahead), LAST_DAY);
  expect([report.requests.v1, report.window.limits]).toEqual([1, null]);
  expect(report.window.counted).toMatchObject({ from: new Date(NOW + 2 * HOUR).toISOString() });
});
