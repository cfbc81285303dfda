import { describe, expect, test } from "vitest";
import { coveredSince } from "../../src/fleet/coverage.ts";
import { fleetOf } from "../../src/fleet/fleet.ts";
import type { InstanceResult } from "../../src/fleet/merge.ts";
import { merge } from "../../src/fleet/merge.ts";
import { withPeers } from "../../src/fleet/peers.ts";
import { createReport } from "../../src/fleet/report.ts";
import { createStatus } from "../../src/fleet/status.ts";
import type { PeerProgress, Progress } from "../../src/telemetry/progress.ts";
import { client, counted, DAY, HOUR, NOW, progress, row, rule, times, totals } from "../commands/report/support.ts";

const A = "http://10.0.0.1:8081";
const B = "http://10.0.0.2:8081";

/** An instance as another one tells of it. */
function peer(
  instance: string,
  facts: Parameters<typeof progress>[0] & Partial<Pick<PeerProgress, "goneSince" | "watched">> = {},
): PeerProgress {
  const { goneSince, watched, ...rest } = facts;
  const { peers: _, unread: __, ...own } = progress({ instance, contributor: instance, ...rest });
  return { ...own, name: `web/${instance}`, goneSince, watched };
}

const asked = (...all: readonly (readonly [string, Progress])[]): readonly InstanceResult[] =>
  withPeers(all.map(([address, one]) => ({ address, progress: one })));

const calls = (requests: number) => ({
  totals: totals([row({ requests })]),
  ledger: { clients: [client("ci", { requests: { v1: requests, v2: 0 } })], requests: { v1: requests, v2: 0 } },
});

describe("one address", () => {
  const fleet = asked([
    A,
    progress({
      instance: "a",
      contributor: "a",
      ...calls(1),
      rules: [rule("reads")],
      peers: [
        peer("b", { ...calls(2), rules: [rule("reads")] }),
        peer("c", { ...calls(4), goneSince: NOW - DAY, rules: [rule("older")], force: "native", ready: false }),
      ],
    }),
  ]);

  test("tells the counts and clients of all, those that are gone included", () => {
    const report = createReport(fleet, times());
    expect(report.requests.v1).toBe(7);
    expect(report.clients.map(({ name, allTime }) => [name, allTime.v1])).toEqual([["ci", 7]]);
    expect(report.instances.map(({ address, goneSince }) => [address, goneSince])).toEqual([
      [A, null],
      ["web/b", null],
      ["web/c", new Date(NOW - DAY).toISOString()],
    ]);
    expect(report.complete).toBe(true);
  });

  test("tells rules and forced modes of those that are there only", () => {
    const { instances, gone, rules } = fleetOf(fleet);
    expect(rules.map(({ name, on }) => [name, ...on])).toEqual([["reads", A, "web/b"]]);
    expect(instances.map(({ address }) => address)).toEqual([A, "web/b"]);
    expect(gone.map(({ address }) => address)).toEqual(["web/c"]);
    expect(merge([...instances, ...gone])?.force).toBe("none");
  });
});

test("a response is worth more than what the store has of the same instance, whichever address is asked", () => {
  const [a, b] = [
    progress({ instance: "a", contributor: "a", ...calls(10), peers: [peer("b", calls(1)), peer("c", calls(100))] }),
    progress({ instance: "b", contributor: "b", ...calls(20), peers: [peer("a", calls(2)), peer("c", calls(100))] }),
  ];
  const all = asked([A, a], [B, b]);
  expect(all.map(({ address }) => address)).toEqual([A, B, "web/c"]);
  expect(createReport(all, times()).requests.v1).toBe(130);
});

test("a process that was restarted with its state.dir counts once, although its instance is another one", () => {
  const old = peer("b", { ...calls(5), contributor: "of-b" });
  const all = asked(
    [A, progress({ instance: "a", contributor: "a", ...calls(1), peers: [old] })],
    [B, progress({ instance: "b2", contributor: "of-b", ...calls(6), peers: [peer("a")] })],
  );
  expect(createReport(all, times()).requests.v1).toBe(7);
});

test("what could not be read is named, and the report is not complete", () => {
  const unread = [{ name: "web/d", fault: "it takes longer than 2 s" }];
  const report = createReport(asked([A, progress({ peers: [], unread })]), times());
  expect(report.complete).toBe(false);
  expect(report.instances.at(-1)).toMatchObject({
    address: "web/d",
    fault: `cannot be read by carryover at ${A}: it takes longer than 2 s`,
  });
});

describe("since when nothing was missed", () => {
  const since = (from: number) => ({ ledger: { since: from, watchedSince: from, daysSince: from } });
  const watched = (...peers: readonly PeerProgress[]) =>
    merge(
      asked([A, progress({ instance: "a", contributor: "a", ...since(NOW - HOUR), peers })]).flatMap((one) =>
        "fault" in one ? [] : [one],
      ),
    );

  test("an instance that started an hour ago goes on where those before it ended", () => {
    const old = peer("b", { ...since(NOW - 20 * DAY), goneSince: NOW - 2 * HOUR });
    const next = peer("c", { ...since(NOW - 3 * HOUR), goneSince: NOW - HOUR - 5 * 60_000 });
    const merged = watched(old, next);
    expect(merged?.watchedSince).toBe(NOW - 20 * DAY);
    expect(merged?.ledger.daysSince).toBe(NOW - 20 * DAY);
    expect(watched(old)?.watchedSince).toBe(NOW - HOUR);
  });

  test("a client that was forgotten is not covered by those who never saw it", () => {
    const forgotten = peer("b", { ledger: { since: NOW - 20 * DAY, forgottenBefore: NOW - 5 * DAY } });
    expect(watched(forgotten)?.watchedSince).toBe(NOW - 5 * DAY);
  });

  test("times of a document of several contributors count one by one", () => {
    const several = peer("f", {
      ...since(NOW - 90 * DAY),
      goneSince: NOW - HOUR,
      watched: [
        { from: NOW - 90 * DAY, until: NOW - 60 * DAY },
        { from: NOW - 30 * DAY, until: NOW - HOUR },
      ],
    });
    expect(watched(several)?.watchedSince).toBe(NOW - 30 * DAY);
  });

  test("without a store, the last that started decides", () => {
    const merged = merge([
      { address: A, progress: progress(since(NOW - HOUR)) },
      { address: B, progress: progress({ instance: "b", ...since(NOW - DAY) }) },
    ]);
    expect(merged?.watchedSince).toBe(NOW - HOUR);
  });

  test("a window is counted from where the chain begins, not from the last start", () => {
    const rows = [row({ requests: 3 })];
    const old = peer("b", { goneSince: NOW - 2 * HOUR, window: counted(rows, NOW - DAY) });
    const own = progress({ instance: "a", contributor: "a", window: counted(rows, NOW - 2 * HOUR), peers: [old] });
    const { limits, counted: found } = createReport(asked([A, own]), times(DAY)).window;
    expect(limits).toBeNull();
    expect(found?.since).toBe(new Date(NOW - DAY).toISOString());
  });
});

test.each([
  [[], undefined],
  [[[5, 9]], 5],
  [
    [
      [5, 9],
      [1, 6],
    ],
    1,
  ],
  [
    [
      [700_000, 900_000],
      [1, 100_000],
    ],
    1,
  ],
  [
    [
      [700_001, 900_000],
      [1, 100_000],
    ],
    700_001,
  ],
  [
    [
      [0, 900_000],
      [300_000, 400_000],
    ],
    0,
  ],
] as const)("the intervals %j are without a gap since %j", (intervals, since) => {
  expect(coveredSince(intervals.map(([from, until]) => ({ from, until })))).toBe(since);
});

test("what troubles several instances in the same way is one line of the status", () => {
  const facts = { force: "native" as const, openBreakers: ["v2"] };
  const peers = [peer("b", facts), peer("c", { openBreakers: ["v1"] })];
  const own = progress({ instance: "a", contributor: "a", ...facts, peers });
  const { attention } = createStatus(fleetOf(asked([A, own])), times());
  expect(attention.filter((text) => /is forced|circuit breaker/.test(text))).toEqual([
    `${A} (and 1 more) gets no response from upstream v2: its circuit breaker is open`,
    "web/c gets no response from upstream v1: its circuit breaker is open",
    `${A} (and 1 more) is forced to native: no rule decides`,
  ]);
});

describe("what a store has lost", () => {
  const lost = [
    { contributor: "b", name: "web/b", seen: NOW - 2 * HOUR, until: NOW - HOUR },
    { contributor: "c", name: "web/c", seen: NOW - 20 * DAY, until: NOW - 20 * DAY },
  ];
  const since = { ledger: { since: NOW - 30 * DAY, watchedSince: NOW - 30 * DAY } };

  test("is named in report and status, and opens a gap until it may have counted", () => {
    const fleet = asked([A, progress({ instance: "a", contributor: "a", ...since, lost, peers: [] })]);
    const report = createReport(fleet, times());
    expect(report.lost.map(({ name, until }) => [name, Date.parse(until)])).toEqual([
      ["web/b", NOW - HOUR],
      ["web/c", NOW - 20 * DAY],
    ]);
    expect(report.window.watchedSince).toBe(new Date(NOW - HOUR).toISOString());
    expect(createStatus(fleetOf(fleet), times()).attention).toEqual([
      expect.stringMatching(/^lost with the store: what web\/b counted, last seen \S/),
    ]);
  });

  test("is not lost if it is there, whoever misses it; and a replica that is gone tells what it missed, too", () => {
    const gone = peer("d", { ...since, goneSince: NOW - HOUR, lost });
    const fleet = asked([A, progress({ instance: "a", contributor: "a", ...since, peers: [peer("b"), gone] })]);
    expect(createReport(fleet, times()).lost.map(({ name }) => name)).toEqual(["web/c"]);
  });
});
