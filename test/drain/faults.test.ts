import { describe, expect, it } from "vitest";
import { Problem } from "../../src/model/problem.ts";
import {
  broken,
  drainedByCursor as drained,
  drained as inParallel,
  keysOf,
  type Platform,
  pageOf,
  quiet,
  raw,
  respond,
  uidsOf,
} from "./simulator.ts";
import { knowing, SMALL, streamed } from "./stage.ts";

const KEYS = keysOf(40);
const TEN = { limits: { pageSize: 10 } };

/** Answers like page one, with a token of its own. */
const pageOne: Platform = (selector, call) => {
  return respond({ ...pageOf(KEYS, { size: selector.size }, "keyset"), next: `k:u000009 ${call}` });
};

describe("pages that go in a circle", () => {
  it("TRAP-53, T-DRN-07: a token that restarts at page one costs a second reading, and the list is exact", async () => {
    const outcome = await drained(broken(quiet(KEYS), 2, pageOne), TEN);
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.result).toMatchObject({ witness: "count", pages: 3 + 4 });
    expect(outcome.notes).toEqual(["list-read-again"]);
  });

  it("TRAP-53, T-DRN-07: a platform that restarts for ever is an error, not a short list", async () => {
    const outcome = await drained(pageOne, TEN);
    expect(outcome.problem).toMatchObject({ reason: "DRAIN_INCOMPLETE", http: 502 });
    expect(outcome.requests).toHaveLength(4);
    expect(outcome.facts[0]).toMatchObject({ outcome: "incomplete", witness: "none" });
  });

  it("T-DRN-07 known pages that come again and again with new tokens are no progress", async () => {
    const second: Platform = (s, call) => {
      return respond({ ...pageOf(KEYS, { ...s, token: "k:u000009" }, "keyset"), next: `again ${call}` });
    };
    const outcome = await drained((s, call) => (s.token === undefined ? quiet(KEYS) : second)(s, call), TEN);
    expect(outcome.problem?.reason).toBe("DRAIN_INCOMPLETE");
    expect(outcome.requests).toHaveLength(6);
  });

  it("T-DRN-07 a restart that also lost its token is not taken for the end", async () => {
    const cut: Platform = (selector) => respond({ ...pageOf(KEYS, { size: selector.size }, "keyset"), next: "" });
    expect(uidsOf(await drained(broken(quiet(KEYS), 2, cut), TEN))).toEqual(KEYS);
    const always = await drained((selector, call) => (selector.token ? cut : quiet(KEYS))(selector, call), TEN);
    expect(always.problem?.reason).toBe("DRAIN_INCOMPLETE");
  });

  it("T-DRN-07 a restart under churn is followed to the end, each record once", async () => {
    const later = ["a", ...KEYS];
    const platform: Platform = (selector, call) => {
      if (call < 2) return respond(pageOf(KEYS, selector, "keyset"));
      return respond(pageOf(later, call === 2 ? { size: selector.size } : selector, "keyset"));
    };
    const outcome = await drained(platform, TEN);
    expect(outcome.problem?.reason ?? uidsOf(outcome).toSorted()).toEqual(later);
  });

  for (const cycle of ["AA", "ABAB", "ABCA", "ABCB"]) {
    it(`T-DRN-08 tokens ${[...cycle].join(", ")} are noticed within one cycle`, async () => {
      const outcome = await drained((_, call) => {
        const next = cycle[call % cycle.length]!;
        return respond({ items: [{ uid: `new${call}` }], next });
      });
      expect(outcome.problem?.reason).toBe("DRAIN_INCOMPLETE");
      // The client's list was begun twice; each time the repeated token was never followed.
      expect(outcome.requests.length).toBeLessThanOrEqual(2 * cycle.length);
    });
  }
});

describe("answers that are not the page asked for", () => {
  const page = pageOf(KEYS, { size: 10, token: "k:u000009" }, "keyset");
  const faults: readonly (readonly [string, Platform])[] = [
    ["cut short", () => raw(200, JSON.stringify(page).slice(0, 60))],
    ["not JSON", () => raw(200, "<html>")],
    ["one record longer than asked", (s) => respond(pageOf(KEYS, { ...s, size: s.size + 1 }, "keyset"))],
    ["with a record without uid", () => respond({ ...page, items: [{ name: "x" }] })],
    ["without its array", () => raw(200, "{}")],
    ["with an object for its array", () => raw(200, '{"items":{}}')],
  ];
  for (const [name, fault] of faults) {
    it(`T-DRN-17 a page ${name} is asked for again, once`, async () => {
      const outcome = await drained(broken(quiet(KEYS), 1, fault), TEN);
      expect(uidsOf(outcome)).toEqual(KEYS);
      expect(outcome.notes).toEqual(["list-page-again"]);
      expect(outcome.requests).toHaveLength(5);
    });
    it(`T-DRN-17 a first page ${name} is read again with its list, once`, async () => {
      const outcome = await drained(broken(quiet(KEYS), 0, fault), TEN);
      expect(uidsOf(outcome)).toEqual(KEYS);
      expect(outcome.notes).toEqual(["list-read-again"]);
    });
    it(`T-DRN-17 a page that stays ${name} is a clean 502`, async () => {
      const platform: Platform = (s, call) => (s.token === "k:u000009" ? fault : quiet(KEYS))(s, call);
      const outcome = await drained(platform, TEN);
      expect(outcome.problem).toMatchObject({ reason: "UPSTREAM_INVALID", http: 502 });
      // The page twice, the list again, the page twice.
      expect(outcome.requests).toHaveLength(6);
    });
  }

  it("T-DRN-11 a first page that skipped records is never the left edge of a list", async () => {
    const outcome = await drained(() => respond({ items: [{ uid: "z" }], next: "", skipped: 5 }));
    expect(outcome.problem?.reason).toBe("UPSTREAM_INVALID");
  });

  it("T-DRN-26 a page that the connection refuses to read is its own 502", async () => {
    const tooBig = new Problem("UPSTREAM_INVALID", "answer too large");
    const outcome = await drained((s, call) => {
      if (s.token !== undefined) throw tooBig;
      return quiet(KEYS)(s, call);
    }, TEN);
    expect(outcome.problem).toBe(tooBig);
  });
});

describe("answers other than 200", () => {
  for (const status of [401, 403, 429, 206, 204]) {
    it(`T-DRN-18 a ${status} on page one or later is handed on as the platform sent it`, async () => {
      for (const n of [0, 3]) {
        const answer = raw(status, '{"code":7}');
        const outcome = await drained(
          broken(quiet(KEYS), n, () => answer),
          TEN,
        );
        expect(outcome.result).toEqual({ kind: "refused", response: answer });
        expect(outcome.facts[0]).toMatchObject({ outcome: "refused", witness: "none" });
        expect(outcome.requests).toHaveLength(n + 1);
      }
    });
  }

  describe.each([400, 404, 410])("T-DRN-18 %i", (status) => {
    const answer = raw(status, '{"code":5}');
    const once = (n: number) => broken(quiet(KEYS), n, () => answer);
    const ways = [
      ["by cursor", { limits: SMALL, parts: knowing(false) }],
      ["in windows", { limits: SMALL, parts: knowing(true) }],
      ["in segments", { limits: { ...SMALL, windowRecords: 20 }, parts: knowing(true, "keyset") }],
    ] as const;

    it("on page one is the platform's refusal", async () => {
      const outcome = await drained(once(0), TEN);
      expect(outcome.result).toEqual({ kind: "refused", response: answer });
      expect(outcome.requests).toHaveLength(1);
    });

    it.each(ways)("on a later page costs the list another reading, %s", async (_, options) => {
      for (const n of [1, 2, 3]) {
        expect(uidsOf(await inParallel(once(n), options))).toEqual(KEYS);
        expect(await streamed(once(n), options)).toMatchObject({ uids: KEYS, error: undefined });
      }
    });

    it.each(ways)("on every later page is an error, and never the client's fault, %s", async (_, options) => {
      const always: Platform = (s) => (s.token === undefined && s.skip === undefined ? quiet(KEYS)(s, 0) : answer);
      const outcome = await inParallel(always, options);
      expect(outcome.problem).toMatchObject({ reason: "DRAIN_INCOMPLETE", metadata: { status: String(status) } });
      expect(outcome.requests.filter((s) => s.token === undefined && s.skip === undefined)).toHaveLength(2);
    });

    it.each(ways)("on every later page once a part went out breaks the list off, %s", async (_, options) => {
      let calls = 0;
      const always: Platform = (s) => {
        calls += 1;
        return calls < 4 || (s.token === undefined && s.skip === undefined) ? quiet(KEYS)(s, 0) : answer;
      };
      const { uids, error } = await streamed(always, options);
      expect(error).toMatchObject({ reason: "DRAIN_INCOMPLETE" });
      expect(uids.length).toBeGreaterThan(0);
    });
  });

  for (const status of [500, 503]) {
    it(`T-DRN-18 a ${status} on page one is handed on, a later one is asked for once more`, async () => {
      const answer = raw(status, '{"code":7}');
      const first = await drained(
        broken(quiet(KEYS), 0, () => answer),
        TEN,
      );
      expect(first.result).toEqual({ kind: "refused", response: answer });
      expect(first.requests).toHaveLength(1);
      const later = await drained((s, call) => (s.token === "k:u000019" ? answer : quiet(KEYS)(s, call)), TEN);
      expect(later.result).toEqual({ kind: "refused", response: answer });
      expect(later.requests).toHaveLength(4);
    });
  }

  it("T-DRN-13 an error on page 37 is healed by asking for it again", async () => {
    const keys = keysOf(400);
    const outcome = await drained(
      broken(quiet(keys), 36, () => raw(500, "{}")),
      TEN,
    );
    expect(uidsOf(outcome)).toEqual(keys);
    expect(outcome.notes).toEqual(["list-page-again"]);
  });

  it("T-DRN-13 an error on a page of a list that is not counted is healed as well", async () => {
    const uncounted: Platform = (s) => respond({ ...pageOf(KEYS, s, "keyset"), total: undefined });
    const outcome = await drained(
      broken(uncounted, 2, () => raw(500, "{}")),
      TEN,
    );
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.notes).toEqual(["list-page-again"]);
  });

  it("T-DRN-14 an error on page 37 for ever gives the platform's error and no list", async () => {
    const keys = keysOf(400);
    const outcome = await drained((s, call) => (call >= 36 ? raw(500, "{}") : quiet(keys)(s, call)), TEN);
    expect(outcome.result).toMatchObject({ kind: "refused", response: { status: 500 } });
    expect(outcome.facts).toEqual([{ pages: 36, records: 360, witness: "none", outcome: "refused" }]);
  });
});
