import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { mergeSnapshots } from "../../src/ledger/snapshot.ts";
import { exchange, ledgerOf, v2Exchange } from "./samples.ts";

interface Request {
  readonly name: string;
  readonly version: "v1" | "v2";
}

const traffic = (names: number) =>
  fc.array(
    fc.record({
      name: fc.nat(names - 1).map((n) => `c${n}`),
      version: fc.constantFrom<"v1" | "v2">("v1", "v2", "v2"),
    }),
    { maxLength: 200, size: "max" },
  );

function send(ledger: Ledger, requests: readonly Request[]): void {
  for (const { name, version } of requests) ledger.observe(version === "v1" ? exchange(name) : v2Exchange(name));
}

function calls(name: string, count: number): readonly Request[] {
  return Array.from({ length: count }, () => ({ name, version: "v1" }));
}

/** How often each called `version`. */
function tally(requests: readonly Request[], version: "v1" | "v2"): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const one of requests) {
    if (one.version === version) counts.set(one.name, (counts.get(one.name) ?? 0) + 1);
  }
  return counts;
}

/** The rules as they are written, without a heap: who has a place, with [name, v1, v2, over], and the bound. */
function slowly(requests: readonly Request[], max: number) {
  let places: { name: string; v1: number; v2: number; over: number; used: number }[] = [];
  let bound = 0;
  for (const [used, { name, version }] of requests.entries()) {
    let found = places.find((one) => one.name === name);
    if (found === undefined) {
      if (places.length === max) {
        const [loser] = [...places].sort((a, b) => a.v1 - b.v1 || a.used - b.used);
        if (version === "v2" && loser!.v1 > 0) continue;
        places = places.filter((one) => one !== loser);
        bound = Math.max(bound, loser!.v1);
      }
      found = { name, v1: 0, v2: 0, over: 0, used };
      places.push(found);
    }
    if (version === "v1" && found.v1 === 0) found.v1 = found.over = bound;
    if (version === "v1" || found.v1 === 0) found.used = used;
    found[version] += 1;
  }
  return { bound, places: new Map(places.map(({ name, v1, v2, over }) => [name, [v1, v2, over]])) };
}

/** Every promise of the ledger about `requests`, all that it was sent. */
function holds(ledger: Ledger, requests: readonly Request[]): void {
  const { clients, bound } = ledger.snapshot();
  const listed = new Map(clients.map((client) => [client.name, client]));
  const [v1, v2] = [tally(requests, "v1"), tally(requests, "v2")];
  for (const [name, truth] of v1) {
    const { requests: counted, over } = listed.get(name) ?? { requests: { v1: bound }, over: bound };
    if (truth > counted.v1 || truth < counted.v1 - over || over > bound)
      throw new Error(`${name}: ${truth}, not ${counted.v1} - ${over}, bound ${bound}`);
  }
  for (const { name, requests: counted, lastV1, over } of clients) {
    if (counted.v2 > (v2.get(name) ?? 0)) throw new Error(`${name}: ${counted.v2} v2 requests are too many`);
    if (v1.has(name)) continue;
    expect({ v1: counted.v1, lastV1, over }).toEqual({ v1: 0, lastV1: undefined, over: 0 });
  }
}

describe("a caller of v1", () => {
  test("is not pushed out by 200 users of v2, and its number is exact", () => {
    const { ledger } = ledgerOf({ max: 20 });
    for (let n = 0; n < 3; n++) ledger.observe(exchange("last-v1-client"));
    for (let n = 0; n < 200; n++) ledger.observe(v2Exchange(`v2-user-${n}`));
    const { clients, bound, requests } = ledger.snapshot();
    expect(clients[0]).toMatchObject({ name: "last-v1-client", requests: { v1: 3, v2: 0 }, over: 0 });
    expect(bound).toBe(0);
    expect(requests).toEqual({ v1: 3, v2: 200 });
    // The latest users of v2 have the rest.
    expect(clients.slice(1).map(({ name }) => name)).toEqual(
      Array.from({ length: 19 }, (_, n) => `v2-user-${181 + n}`).sort(),
    );
  });
});

describe("a user of v2", () => {
  test("without a place is counted in the sums only", () => {
    const { ledger } = ledgerOf({ max: 1 });
    ledger.observe(exchange("a"));
    const before = ledger.revision();
    ledger.observe(v2Exchange("b"));
    expect(ledger.snapshot()).toMatchObject({ bound: 0, requests: { v1: 1, v2: 1 } });
    expect(ledger.snapshot().clients.map(({ name }) => name)).toEqual(["a"]);
    expect(ledger.callers()).toEqual({ v1: 1, v2: 0 });
    // The sums are to be saved.
    expect(ledger.revision()).toBeGreaterThan(before);
  });

  test("that calls v1 at last may have done so before it had its place, as often as the bound says", () => {
    const { ledger: before } = ledgerOf({ max: 1 });
    for (const name of ["a", "a", "b"]) before.observe(exchange(name));
    const { ledger } = ledgerOf({ max: 2, instance: "i2" });
    ledger.restore(before.snapshot());
    ledger.observe(v2Exchange("a"));
    expect(ledger.snapshot().clients[1]).toMatchObject({ name: "a", requests: { v1: 0, v2: 1 }, over: 0 });
    ledger.observe(exchange("a"));
    expect(ledger.snapshot().clients[0]).toMatchObject({ name: "a", requests: { v1: 3, v2: 1 }, over: 2 });
  });
});

describe("after a restart", () => {
  test("who makes room is who would have, and v2 requests of callers of v1 do not count", () => {
    const again = (requests: readonly Request[]) => {
      const { ledger: before, clock } = ledgerOf({ max: 2 });
      for (const one of requests) {
        clock.at += 1000;
        send(before, [one]);
      }
      const { ledger } = ledgerOf({ max: 2, instance: "i2" });
      ledger.restore(before.snapshot());
      ledger.observe(requests[0]!.version === "v1" ? exchange("new") : v2Exchange("new"));
      return ledger.snapshot().clients.map(({ name }) => name);
    };
    const by = (version: "v1" | "v2", ...names: readonly string[]) => names.map((name) => ({ name, version }));
    expect(again([...by("v1", "b", "a"), ...by("v2", "b")]).sort()).toEqual(["a", "new"]);
    expect(again(by("v2", "b", "a")).sort()).toEqual(["a", "new"]);
  });

  test("a client that one of several ledgers had dropped is not taken for rarer than it may have been", () => {
    const parts = [calls("x", 5), [...calls("x", 3), ...calls("y", 1)]].map((requests, n) => {
      const { ledger } = ledgerOf({ max: 1, instance: `i${n}` });
      send(ledger, requests);
      return ledger.snapshot();
    });
    const { ledger } = ledgerOf({ max: 2, instance: "i2" });
    ledger.restore(mergeSnapshots(parts));
    ledger.observe(exchange("z"));
    ledger.observe(exchange("w"));
    const { clients, bound } = ledger.snapshot();
    expect(clients.map(({ name }) => name)).not.toContain("x");
    expect(bound).toBeGreaterThanOrEqual(8);
  });
});

describe("of mixed traffic", () => {
  test("the ledger holds what the rules say, worked out slowly", () => {
    fc.assert(
      fc.property(traffic(14), fc.integer({ min: 1, max: 8 }), (requests, max) => {
        const { ledger } = ledgerOf({ max });
        send(ledger, requests);
        const { clients, bound, requests: sums } = ledger.snapshot();
        const found = clients.map(({ name, requests: { v1, v2 }, over }) => [name, [v1, v2, over]] as const);
        expect({ bound, places: new Map(found) }).toEqual(slowly(requests, max));
        const total = (version: "v1" | "v2") => requests.filter((one) => one.version === version).length;
        expect(sums).toEqual({ v1: total("v1"), v2: total("v2") });
        expect(bound).toBeLessThanOrEqual(sums.v1 / max);
        expect(clients).toEqual(
          [...clients].sort((a, b) => b.requests.v1 - a.requests.v1 || b.requests.v2 - a.requests.v2),
        );
        holds(ledger, requests);
      }),
      { numRuns: 300 },
    );
  });

  test("what is restored, into more room or less, goes on keeping the promises", () => {
    const room = fc.integer({ min: 1, max: 8 });
    fc.assert(
      fc.property(traffic(10), traffic(10), room, room, (early, late, max, next) => {
        const { ledger: before } = ledgerOf({ max });
        send(before, early);
        const { ledger } = ledgerOf({ max: next, instance: "i2" });
        ledger.restore(before.snapshot());
        send(ledger, late);
        const { clients, bound } = ledger.snapshot();
        const listed = new Map(clients.map((client) => [client.name, client]));
        for (const [name, truth] of tally([...early, ...late], "v1")) {
          const { requests, over } = listed.get(name) ?? { requests: { v1: 0 }, over: 0 };
          // A name that only called v2 since it has its place may have called v1 before, as any that is missing.
          expect(truth).toBeLessThanOrEqual(requests.v1 === 0 ? bound : requests.v1);
          expect(requests.v1 - over).toBeLessThanOrEqual(truth);
        }
      }),
    );
  });

  test("what several ledgers said together, restored into one, goes on keeping them", () => {
    fc.assert(
      fc.property(traffic(10), traffic(10), traffic(10), (a, b, late) => {
        const parts = [a, b].map((requests, n) => {
          const { ledger } = ledgerOf({ max: 3, instance: `i${n}` });
          send(ledger, requests);
          return ledger.snapshot();
        });
        const { ledger } = ledgerOf({ max: 4, instance: "i2" });
        ledger.restore(mergeSnapshots(parts));
        send(ledger, late);
        const { clients, bound } = ledger.snapshot();
        const listed = new Map(clients.map((client) => [client.name, client]));
        for (const [name, truth] of tally([...a, ...b, ...late], "v1")) {
          const { requests, over } = listed.get(name) ?? { requests: { v1: 0 }, over: 0 };
          expect(truth).toBeLessThanOrEqual(requests.v1 + bound);
          expect(requests.v1 - over).toBeLessThanOrEqual(truth);
        }
      }),
    );
  });
});
