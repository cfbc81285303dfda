import { describe, expect, it } from "vitest";
import {
  drainedByCursor as drained,
  keysOf,
  type Platform,
  pageOf,
  planOf,
  quiet,
  respond,
  uidsOf,
} from "./simulator.ts";

const KEYS = keysOf(40);
const counting =
  (total: unknown): Platform =>
  (s) =>
    respond({ ...pageOf(KEYS, s, "keyset"), total });

describe("limits", () => {
  it.each([
    ["a list whose count is above the ceiling", 40, { maxRecords: 39 }, { limit: "39", count: "40", unit: "records" }],
    [
      "a list whose count needs more pages than allowed",
      40,
      { maxPages: 3 },
      { limit: "3", count: "4", unit: "pages" },
    ],
    ["a last page with a single record", 31, { maxPages: 3 }, { limit: "3", count: "4", unit: "pages" }],
  ])("T-DRN-25 %s is refused after page one", async (_, count, limits, metadata) => {
    const outcome = await drained(quiet(keysOf(count)), { limits: { pageSize: 10, ...limits } });
    expect(outcome.problem).toMatchObject({ reason: "DRAIN_TOO_LARGE", http: 422, metadata });
    expect(outcome.requests).toHaveLength(1);
    expect(outcome.facts).toEqual([{ pages: 1, records: 10, witness: "none", outcome: "too-large" }]);
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

  it("T-DRN-12 a single page is not too large for a count that lies, where counts are ignored", async () => {
    expect(uidsOf(await drained(counting("999999999"), { parts: { totals: "ignore" } }))).toEqual(KEYS);
  });

  it.each([
    ["longer than its count says", "5", { maxRecords: 25 }, { count: "30", unit: "records" }],
    [
      "without a count, and not for what is shown of it",
      undefined,
      { maxRecords: 25 },
      { count: "30", unit: "records" },
    ],
    [
      "without a count, at the last allowed page",
      undefined,
      { maxPages: 3 },
      { limit: "3", count: "4", unit: "pages" },
    ],
  ])("a list that is %s is refused when it passes the ceiling", async (_, total, limits, metadata) => {
    const outcome = await drained(counting(total), {
      limits: { pageSize: 10, ...limits },
      plan: planOf(true, () => true),
    });
    expect(outcome.problem).toMatchObject({ reason: "DRAIN_TOO_LARGE", metadata });
    expect(outcome.requests).toHaveLength(3);
  });

  it.each([
    ["that takes too long is a timeout, and asks no further page", 2000, 3, quiet(KEYS), 2],
    ["that is read again has no time of its own", 2000, 5, () => respond({ items: [{ uid: "a" }], next: "same" }), 3],
    [
      "whose last page arrives late is whole and served",
      9000,
      3,
      () => respond(pageOf(KEYS, { size: 200 }, "keyset")),
      0,
    ],
  ] as const satisfies [string, number, number, Platform, number][])(
    "a list %s",
    async (_, each, maxSeconds, platform, requests) => {
      let ms = 0;
      const outcome = await drained(
        (s, call) => {
          ms += each;
          return platform(s, call);
        },
        { limits: { pageSize: requests === 0 ? 200 : 10, maxSeconds }, parts: { now: () => ms } },
      );
      if (requests === 0) return expect(uidsOf(outcome)).toEqual(KEYS);
      const metadata = { limit: String(maxSeconds) };
      expect(outcome.problem).toMatchObject({ reason: "UPSTREAM_TIMEOUT", http: 504, metadata });
      expect(outcome.requests).toHaveLength(requests);
    },
  );
});
