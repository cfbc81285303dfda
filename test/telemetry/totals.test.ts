import { describe, expect, test } from "vitest";
import { createTotals } from "../../src/telemetry/totals.ts";
import { finished } from "./exchange.ts";

function counter() {
  const clock = { ms: 1000 };
  return { clock, totals: createTotals(() => clock.ms) };
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

  test("go on after a restart from what was saved, since when it was", () => {
    const before = counter();
    before.totals.observe(finished({ times: 3 }));
    before.totals.observe(finished({ mode: "native", status: 404 }));
    const saved: unknown = JSON.parse(JSON.stringify(before.totals.snapshot()));
    const clock = { ms: 9000 };
    const after = createTotals(() => clock.ms);
    after.restore(saved);
    expect(after.snapshot()).toEqual({ ...before.totals.snapshot(), at: 9000 });
    after.observe(finished());
    expect(after.snapshot()).toMatchObject({ since: 1000, rows: [{ requests: 4, lastSeen: 9000 }, { requests: 1 }] });
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
