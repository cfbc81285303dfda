import { describe, expect, it } from "vitest";
import { drainedByCursor as drained, keysOf, pageOf, planOf, quiet, respond, uidsOf } from "./simulator.ts";

const KEYS = keysOf(40);

describe("limits", () => {
  it("T-DRN-25 a list whose count is above the ceiling is refused after page one", async () => {
    const outcome = await drained(quiet(KEYS), { limits: { pageSize: 10, maxRecords: 39 } });
    expect(outcome.problem).toMatchObject({
      reason: "DRAIN_TOO_LARGE",
      http: 422,
      metadata: { limit: "39", count: "40", unit: "records" },
    });
    expect(outcome.requests).toHaveLength(1);
    expect(outcome.facts).toEqual([{ pages: 1, records: 10, witness: "none", outcome: "too-large" }]);
  });

  it("T-DRN-25 a list whose count needs more pages than allowed is refused after page one", async () => {
    const outcome = await drained(quiet(KEYS), { limits: { pageSize: 10, maxPages: 3 } });
    expect(outcome.problem).toMatchObject({
      reason: "DRAIN_TOO_LARGE",
      metadata: { limit: "3", count: "4", unit: "pages" },
    });
    expect(outcome.requests).toHaveLength(1);
  });

  it("T-DRN-25 a last page with a single record is a page too", async () => {
    const outcome = await drained(quiet(keysOf(31)), { limits: { pageSize: 10, maxPages: 3 } });
    expect(outcome.problem).toMatchObject({ reason: "DRAIN_TOO_LARGE", metadata: { count: "4", unit: "pages" } });
    expect(outcome.requests).toHaveLength(1);
  });

  it("a list exactly at every ceiling is served", async () => {
    const bytes = keysOf(40).length * '{"uid":"u000000"}'.length + 36;
    const limits = { pageSize: 10, maxPages: 4, maxRecords: 40, maxBytes: bytes };
    expect(uidsOf(await drained(quiet(KEYS), { limits }))).toEqual(KEYS);
    const less = await drained(quiet(KEYS), { limits: { ...limits, maxBytes: bytes - 1 } });
    expect(less.problem).toMatchObject({
      reason: "DRAIN_TOO_LARGE",
      metadata: { limit: String(bytes - 1), count: String(bytes), unit: "bytes" },
    });
  });

  it("T-DRN-12 a single page is not refused for a count that lies", async () => {
    const outcome = await drained(() => respond({ ...pageOf(KEYS, { size: 200 }, "keyset"), total: "999999999" }));
    expect(uidsOf(outcome)).toEqual(KEYS);
  });

  it("a list that is longer than its count says is refused when it passes the ceiling", async () => {
    const outcome = await drained((s) => respond({ ...pageOf(KEYS, s, "keyset"), total: "5" }), {
      limits: { pageSize: 10, maxRecords: 25 },
    });
    expect(outcome.problem).toMatchObject({ reason: "DRAIN_TOO_LARGE", metadata: { count: "30", unit: "records" } });
    expect(outcome.requests).toHaveLength(3);
  });

  it("hidden records fill the ceiling too", async () => {
    const outcome = await drained((s) => respond({ ...pageOf(KEYS, s, "keyset"), total: undefined }), {
      limits: { pageSize: 10, maxRecords: 25 },
      plan: planOf(true, () => true),
    });
    expect(outcome.problem?.reason).toBe("DRAIN_TOO_LARGE");
  });

  it("pages without a count are refused at the last allowed page", async () => {
    const outcome = await drained((s) => respond({ ...pageOf(KEYS, s, "keyset"), total: undefined }), {
      limits: { pageSize: 10, maxPages: 3 },
    });
    expect(outcome.problem).toMatchObject({ reason: "DRAIN_TOO_LARGE", metadata: { limit: "3", count: "4" } });
    expect(outcome.requests).toHaveLength(3);
  });

  it("a drain that takes too long is a timeout, and asks no further page", async () => {
    let ms = 0;
    const outcome = await drained(
      (s, call) => {
        ms += 2000;
        return quiet(KEYS)(s, call);
      },
      { limits: { pageSize: 10, maxSeconds: 3 }, parts: { now: () => ms } },
    );
    expect(outcome.problem).toMatchObject({ reason: "UPSTREAM_TIMEOUT", http: 504, metadata: { limit: "3" } });
    expect(outcome.requests).toHaveLength(2);
  });

  it("a second reading has no time of its own", async () => {
    let ms = 0;
    const outcome = await drained(
      () => {
        ms += 2000;
        return respond({ items: [{ uid: "a" }], next: "same" });
      },
      { limits: { maxSeconds: 5 }, parts: { now: () => ms } },
    );
    expect(outcome.problem?.reason).toBe("UPSTREAM_TIMEOUT");
    expect(outcome.requests).toHaveLength(3);
  });

  it("a list whose last page arrives late is whole and served", async () => {
    let ms = 0;
    const outcome = await drained(
      (s, call) => {
        ms += 9000;
        return quiet(KEYS)(s, call);
      },
      { limits: { maxSeconds: 3 }, parts: { now: () => ms } },
    );
    expect(uidsOf(outcome)).toEqual(KEYS);
  });
});
