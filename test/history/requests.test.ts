import { describe, expect, test } from "vitest";
import { createRequestHistory, type RequestHistory, readTimes } from "../../src/history/requests.ts";
import { finished } from "../telemetry/exchange.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2026, 10, 21, 21, 30);
const ALL = { from: undefined, to: undefined };

/** As it is read from a file. */
function savedOf(requests: RequestHistory) {
  const history = JSON.parse([...requests.saved()].join(""));
  return { history, totals: JSON.parse(JSON.stringify(requests.snapshot())) };
}

function counter() {
  const clock = { ms: 1000 };
  return { clock, totals: createRequestHistory(() => clock.ms) };
}

describe("totals", () => {
  test("requests of one kind are counted together, with the time of the last", () => {
    const { clock, totals } = counter();
    totals.observe(finished({ status: 200 }));
    clock.ms = 2000;
    totals.observe(finished({ status: 204 }));
    totals.observe(finished({ status: 404, mode: "native" }));
    clock.ms = 3000;
    const row = { apiVersion: "v1", resource: "group", operation: "list" };
    expect(totals.snapshot()).toEqual({
      since: 1000,
      at: 3000,
      rows: [
        { ...row, mode: "translate", codes: "2xx", requests: 2, lastSeen: 2000 },
        { ...row, mode: "native", codes: "4xx", requests: 1, lastSeen: 2000 },
      ],
    });
  });

  test("each of version, resource, operation, mode and class of code makes a row of its own", () => {
    const { totals } = counter();
    const facts = [
      {},
      { apiVersion: "v2" },
      { resource: "role" },
      { operation: "get" },
      { mode: "shadow" },
      { status: 500 },
      { status: 0 },
    ] as const;
    for (const fact of facts) totals.observe(finished(fact));
    const { rows } = totals.snapshot();
    expect(rows).toHaveLength(facts.length);
    expect(rows.map(({ codes }) => codes)).toEqual(["2xx", "2xx", "2xx", "2xx", "2xx", "5xx", "none"]);
  });

  test("a client that did not wait has no answer", () => {
    const { totals } = counter();
    totals.observe(finished({ status: 499, aborted: true }));
    expect(totals.snapshot().rows.map(({ codes }) => codes)).toEqual(["none"]);
  });

  test("a clock that is set back forgets no request", () => {
    const { clock, totals } = counter();
    clock.ms = 5000;
    totals.observe(finished());
    clock.ms = 10;
    totals.observe(finished());
    expect(totals.snapshot().rows[0]).toMatchObject({ requests: 2, lastSeen: 5000 });
  });

  test("whatever is sent, there is an end to the rows, and no request is lost", () => {
    const { totals } = counter();
    for (let i = 0; i < 5000; i++) {
      totals.observe(finished({ resource: `r${i}`, operation: `o${i}`, status: 200 + (i % 4) * 100 }));
    }
    const { rows } = totals.snapshot();
    expect(rows.length).toBeLessThan(1100);
    expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(5000);
    expect(rows.find(({ resource, codes }) => resource === "other" && codes === "5xx")?.requests).toBeGreaterThan(500);
  });

  test("of a window have the same kinds, each with the time of its last request there", () => {
    const { clock, totals } = counter();
    clock.ms = START;
    totals.observe(finished({ times: 3 }));
    clock.ms += HOUR;
    totals.observe(finished());
    totals.observe(finished({ mode: "native" }));
    clock.ms += HOUR;
    const window = totals.window({ from: -1.5 * HOUR, to: undefined });
    expect([window.from, window.to]).toEqual([START + HOUR / 2, clock.ms]);
    expect(window.rows.map(({ mode, requests, lastSeen }) => [mode, requests, lastSeen])).toEqual([
      ["translate", 1, START + HOUR],
      ["native", 1, START + HOUR],
    ]);
    const before = totals.window({ from: START, to: START + 5 * MINUTE });
    expect(before.rows).toMatchObject([{ requests: 3, lastSeen: START + 5 * MINUTE - 1 }]);
    expect(totals.snapshot().rows[0]?.requests).toBe(4);
  });

  test("go on after a restart from what was saved, since when it was", () => {
    const before = counter();
    before.totals.observe(finished({ times: 3 }));
    before.totals.observe(finished({ mode: "native", status: 404 }));
    const saved = savedOf(before.totals);
    const clock = { ms: 9000 };
    const after = createRequestHistory(() => clock.ms);
    expect(after.restore(saved.totals, saved.history)).toBeUndefined();
    expect(after.snapshot()).toEqual({ ...before.totals.snapshot(), at: 9000 });
    expect(after.window(ALL).rows).toEqual(before.totals.window(ALL).rows);
    expect(after.window(ALL)).toMatchObject({ from: 1000, to: 9000 });
    after.observe(finished());
    expect(after.snapshot()).toMatchObject({ since: 1000, rows: [{ requests: 4, lastSeen: 9000 }, { requests: 1 }] });
    expect(savedOf(after).history).not.toEqual(saved.history);
  });

  test("of a file without a history keep the totals, and count over time from now", () => {
    const before = counter();
    before.totals.observe(finished());
    const after = createRequestHistory(() => 9000);
    expect(after.restore(savedOf(before.totals).totals)).toBeUndefined();
    expect(after.snapshot().rows).toHaveLength(1);
    expect(after.window(ALL)).toEqual({ from: 9000, to: 9000, rows: [] });
  });

  test("of a file with a history that cannot be read keep the totals, and say why", () => {
    const before = counter();
    before.totals.observe(finished());
    const { totals, history } = savedOf(before.totals);
    const [fine, ...rest] = history.tiers;
    const bad = (buckets: unknown) => ({ ...history, tiers: [{ ...fine, buckets }, ...rest] });
    const wrong: readonly (readonly [unknown, string])[] = [
      [{ ...history, version: 2 }, "history.version: expected 1"],
      [{ ...history, tiers: rest }, "history.tiers: expected the buckets of this version"],
      [bad([[1, 0]]), "history.tiers[0].buckets[0]: expected a number, then pairs of a kind and a count"],
      [bad([[1, 7, 1]]), "history: it has kinds that totals lacks"],
      [bad([[1, 0, -1]]), "history.tiers[0].buckets[0][2]"],
      [bad(Array.from({ length: 400 }, (_, n) => [n])), "history.tiers: expected"],
      [null, "history: "],
    ];
    for (const [damaged, why] of wrong) {
      const after = createRequestHistory(() => 9000);
      expect(after.restore(totals, damaged)).toContain(why);
      expect(after.snapshot().rows).toHaveLength(1);
      expect(after.window(ALL).rows).toEqual([]);
    }
  });

  test("are restored before the first request or not at all, and from nothing that is damaged", () => {
    const { totals } = counter();
    const good = { since: 5, at: 6, rows: [{ ...totals.snapshot(), apiVersion: "v1" }] };
    for (const saved of [null, [], { since: 5 }, { since: -1, rows: [] }, { since: 0.5, rows: [] }, good]) {
      expect(() => totals.restore(saved)).toThrow(/^totals/);
    }
    expect(totals.snapshot()).toEqual({ since: 1000, at: 1000, rows: [] });
    totals.observe(finished());
    expect(() => totals.restore({ since: 5, at: 6, rows: [] })).toThrow("before the first request");
  });

  test("what no label may be is counted as other", () => {
    const { totals } = counter();
    totals.observe(finished({ resource: "a\nb", operation: "x".repeat(100), status: 999 }));
    expect(totals.snapshot().rows[0]).toMatchObject({ resource: "other", operation: "other", codes: "other" });
  });
});

describe("a window is asked for", () => {
  const asked = (query: string) => readTimes(new URLSearchParams(query));

  test("by times since 1970, or by how long ago", () => {
    expect(asked("")).toBeUndefined();
    expect(asked("from=5&to=7")).toEqual({ from: 5, to: 7 });
    expect(asked("from=-7200000&to=-3600000")).toEqual({ from: -7_200_000, to: -3_600_000 });
    expect(asked("from=-7200000&to=1795000000000")).toEqual({ from: -7_200_000, to: 1_795_000_000_000 });
    expect(asked("to=0")).toEqual({ from: undefined, to: 0 });
  });

  test.each([
    "from=",
    "from=x",
    "to=1.5",
    "from=1e3",
    "from=99999999999999999",
    "from=9000000000000000",
    "from=1&from=2",
  ])("%s is refused", (query) => {
    expect(() => asked(query)).toThrow("expected one time in milliseconds since 1970");
  });

  test("an end that is not after the beginning is refused", () => {
    expect(() => asked("from=7&to=7")).toThrow("from: expected a time before `to`");
    expect(() => asked("from=-1&to=-2")).toThrow("from: expected a time before `to`");
  });
});
