import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { difficultyOf, difficultyWords } from "../../src/ledger/difficulty.ts";
import {
  type ClientEntry,
  type ClientNeeds,
  DIFFICULTIES,
  type Difficulty,
  type LedgerSnapshot,
} from "../../src/ledger/entry.ts";
import { mergeSnapshots } from "../../src/ledger/snapshot.ts";
import { exchange, ledgerOf, NO_NEEDS, snapshots } from "./samples.ts";

function entry(name: string, v1: number, given: Partial<ClientEntry> = {}): ClientEntry {
  return {
    name,
    label: `c-${name}`,
    firstSeen: 1,
    lastSeen: 2,
    lastV1: 2,
    requests: { v1, v2: 0 },
    over: 0,
    operations: [],
    needs: NO_NEEDS,
    ...given,
  };
}
function snapshot(
  instance: string,
  clients: readonly ClientEntry[],
  given: Partial<LedgerSnapshot> = {},
): LedgerSnapshot {
  return {
    version: 1,
    instances: [instance],
    since: 1,
    at: 2,
    requests: { v1: 10, v2: 5 },
    bound: 0,
    clients,
    ...given,
  };
}

describe("merging", () => {
  test("does not depend on the order", () => {
    fc.assert(
      fc.property(snapshots, (list) => {
        expect(mergeSnapshots([...list].reverse())).toEqual(mergeSnapshots(list));
      }),
    );
  });

  test("does not depend on what is merged first", () => {
    fc.assert(
      fc.property(snapshots, fc.nat(3), (list, at) => {
        const [left, right] = [mergeSnapshots(list.slice(0, at)), mergeSnapshots(list.slice(at))];
        const parts = [left, right].filter(({ instances }) => instances.length > 0);
        expect(mergeSnapshots(parts)).toEqual(mergeSnapshots(list));
      }),
    );
  });

  test("has watched what every one of them has, and needs no word when that is all", () => {
    const [long, gap, young] = [
      snapshot("a", [], { since: 10 }),
      snapshot("b", [], { since: 5, watchedSince: 40 }),
      snapshot("c", [], { since: 30 }),
    ];
    expect(mergeSnapshots([long, gap])).toMatchObject({ since: 5, watchedSince: 40 });
    expect(mergeSnapshots([long, young])).toMatchObject({ since: 10, watchedSince: 30 });
    expect(mergeSnapshots([long, { ...long, instances: ["d"] }]).watchedSince).toBeUndefined();
  });

  test("with itself adds nothing, alone or as a part", () => {
    fc.assert(
      fc.property(snapshots, (list) => {
        const whole = mergeSnapshots(list);
        expect(mergeSnapshots([whole, whole])).toEqual(whole);
        expect(mergeSnapshots([...list, whole])).toEqual(whole);
      }),
    );
  });

  test("adds counts, bounds and errors, and widens times", () => {
    const a = snapshot("i1", [entry("x", 3, { over: 1, firstSeen: 5, lastSeen: 9, lastV1: undefined })], {
      bound: 1,
      since: 4,
      at: 9,
    });
    const b = snapshot("i2", [entry("x", 4, { over: 2, firstSeen: 2, lastSeen: 6, lastV1: 6 }), entry("y", 9)], {
      bound: 2,
      since: 1,
      at: 7,
    });
    const merged = mergeSnapshots([a, b]);
    expect(merged).toMatchObject({ instances: ["i1", "i2"], since: 1, at: 9, requests: { v1: 20, v2: 10 }, bound: 3 });
    expect(merged.clients.map(({ name, requests }) => [name, requests.v1])).toEqual([
      ["y", 9],
      ["x", 7],
    ]);
    expect(merged.clients[1]).toMatchObject({ over: 3, firstSeen: 2, lastSeen: 9, lastV1: 6 });
  });

  test("adds what one brownout refused, keeps the later of two, and the last call of v2", () => {
    const refused = { rule: "b", start: 10, end: 20, requests: 3, first: 12, last: 15 };
    const one = snapshot("i1", [entry("x", 1, { refused, lastV2: 30 }), entry("y", 1, { refused })]);
    const same = { ...refused, requests: 2, first: 11, last: 14 };
    const later = { ...refused, start: 40, end: 50 };
    const other = snapshot("i2", [entry("x", 1, { refused: same, lastV2: 25 }), entry("y", 1, { refused: later })]);
    const { clients } = mergeSnapshots([one, other]);
    expect(clients).toMatchObject([
      { name: "x", refused: { ...refused, requests: 5, first: 11 }, lastV2: 30 },
      { name: "y", refused: later },
    ]);
    expect(mergeSnapshots([other, one]).clients).toEqual(clients);
  });

  test("of one instance in two states the later counts", () => {
    const early = snapshot("i1", [entry("x", 3)], { at: 5 });
    const late = snapshot("i1", [entry("x", 8)], { at: 6 });
    for (const list of [
      [early, late],
      [late, early],
    ]) {
      expect(mergeSnapshots(list).clients[0]?.requests.v1).toBe(8);
    }
  });

  test("a need that one replica looked into is unseen for none", () => {
    const operations = [{ resource: "group", operation: "list", requests: 1, lastSeen: 1 }];
    const unseen = entry("x", 1, {
      operations,
      needs: { ...NO_NEEDS, unseen: [{ resource: "group", operation: "list" }] },
    });
    const seen = entry("x", 1, { operations });
    const needs = (list: readonly ClientEntry[]) =>
      mergeSnapshots(list.map((one, n) => snapshot(`i${n}`, [one]))).clients[0]?.needs.unseen;
    expect(needs([unseen, unseen])).toHaveLength(1);
    expect(needs([unseen, seen])).toEqual([]);
    expect(needs([unseen, entry("x", 1)])).toHaveLength(1);
  });

  test("operations beyond 63 go to `other`, and none of their requests is lost", () => {
    const operations = (from: number) =>
      Array.from({ length: 60 }, (_, n) => ({
        resource: "r",
        operation: `o${from + n}`,
        requests: n + 1,
        lastSeen: n,
      }));
    const merged = mergeSnapshots([
      snapshot("i1", [entry("x", 1, { operations: operations(0) })]),
      snapshot("i2", [entry("x", 1, { operations: operations(60) })]),
    ]);
    const found = merged.clients[0]!.operations;
    expect(found).toHaveLength(64);
    expect(found.filter(({ operation }) => operation === "other")).toHaveLength(1);
    expect(found.reduce((sum, { requests }) => sum + requests, 0)).toBe(2 * 30 * 61);
  });

  test("what is cut raises the bound", () => {
    const merged = mergeSnapshots(
      [snapshot("i1", [entry("x", 9), entry("y", 4), entry("z", 2)], { bound: 1 }), snapshot("i2", [], { bound: 2 })],
      1,
    );
    expect(merged.clients.map(({ name }) => name)).toEqual(["x"]);
    expect(merged.bound).toBe(1 + 2 + 4);
  });

  test("who called v2 only comes last, and is cut without raising the bound", () => {
    const user = (name: string, v2: number) => entry(name, 0, { requests: { v1: 0, v2 }, lastV1: undefined });
    const all = [snapshot("i1", [user("a", 900), entry("x", 1)]), snapshot("i2", [user("b", 901), entry("y", 2)])];
    expect(mergeSnapshots(all).clients.map(({ name }) => name)).toEqual(["y", "x", "b", "a"]);
    const merged = mergeSnapshots(all, 2);
    expect(merged.clients.map(({ name }) => name)).toEqual(["y", "x"]);
    expect(merged.bound).toBe(0);
  });

  test("nobody who is missing, or cut, called more than the bound, and nobody's sum is further off than stated", () => {
    const request = fc.tuple(fc.nat(2), fc.nat(15));
    fc.assert(
      fc.property(
        fc.array(request, { maxLength: 300, size: "max" }),
        fc.integer({ min: 1, max: 6 }),
        (requests, max) => {
          const replicas = [0, 1, 2].map((n) => ledgerOf({ max: 4, instance: `i${n}` }).ledger);
          const exact = new Map<string, number>();
          for (const [replica, client] of requests) {
            replicas[replica]!.observe(exchange(`c${client}`));
            exact.set(`c${client}`, (exact.get(`c${client}`) ?? 0) + 1);
          }
          const merged = mergeSnapshots(
            replicas.map((ledger) => ledger.snapshot()),
            max,
          );
          const listed = new Map(merged.clients.map((client) => [client.name, client]));
          for (const [name, truth] of exact) {
            const { requests: counted, over } = listed.get(name) ?? { requests: { v1: 0 }, over: 0 };
            expect(counted.v1 - over).toBeLessThanOrEqual(truth);
            expect(truth).toBeLessThanOrEqual(counted.v1 + merged.bound);
            expect(over).toBeLessThanOrEqual(merged.bound);
          }
        },
      ),
    );
  });

  test("of nothing is an empty ledger", () => {
    expect(mergeSnapshots([])).toEqual({
      version: 1,
      instances: [],
      since: 0,
      at: 0,
      requests: { v1: 0, v2: 0 },
      bound: 0,
      clients: [],
    });
  });
});

describe("difficulty", () => {
  const field = [{ resource: "group", field: "name" }];
  const operation = [{ resource: "repo", operation: "sbom" }];
  const calls = (name: string) => ({ resource: name, operation: name, requests: 1, lastSeen: 1 });
  const operations = [calls("group")];
  const needs = {
    ...NO_NEEDS,
    unknownFields: field,
    longLists: [{ resource: "group", records: 900 }],
    zeroedFields: field,
    lacking: operation,
  };

  test("is the hardest need", () => {
    expect(difficultyOf({ operations, lastV1: 1, needs })).toBe("lacking");
    expect(difficultyOf({ operations, lastV1: 1, needs: { ...needs, lacking: [] } })).toBe("full-replace");
    expect(difficultyOf({ operations, lastV1: 1, needs: { ...needs, lacking: [], zeroedFields: [] } })).toBe(
      "long-lists",
    );
    expect(difficultyOf({ operations, lastV1: 1, needs: { ...NO_NEEDS, unknownFields: field } })).toBe(
      "unknown-fields",
    );
    expect(difficultyOf({ operations, lastV1: 1, needs: NO_NEEDS })).toBe("renames");
    expect(difficultyOf({ operations, lastV1: undefined, needs: NO_NEEDS })).toBe("none");
  });

  test("is unknown while nobody looked into some requests, unless no need that they may hide is harder", () => {
    const hidden = { ...needs, unseen: [{ resource: "group", operation: "update" }] };
    const of = (given: Partial<ClientNeeds>) => difficultyOf({ operations, lastV1: 1, needs: { ...hidden, ...given } });
    expect(of({})).toBe("lacking");
    expect(of({ lacking: [] })).toBe("full-replace");
    expect(of({ lacking: [], zeroedFields: [] })).toBe("unknown");
    const only = { operations, lastV1: 1, needs: { ...NO_NEEDS, unseen: hidden.unseen } };
    expect(difficultyOf(only)).toBe("unknown");
    expect(difficultyWords(only)).toBe("unknown, nobody looked into: group update");
    const rank = (one: Difficulty) => DIFFICULTIES.indexOf(one);
    // No easier than what it may hide, and no need that is found later makes a client easier.
    expect([rank("unknown"), rank("unknown")]).toEqual([rank("long-lists") + 1, rank("full-replace") - 1]);
  });

  test("says every reason, and what nobody looked into", () => {
    expect(difficultyWords({ operations, lastV1: 1, needs: { ...needs, unseen: operation } })).toBe(
      "uses operations that v2 lacks: repo sbom · relies on full-replace PUT, left to zero: group name · perhaps more, nobody looked into: repo sbom · relies on unpaginated lists, longest: group 900 · sends fields that v2 does not know: group name",
    );
    expect(difficultyWords({ operations, lastV1: 1, needs: NO_NEEDS })).toBe("renames only");
    expect(difficultyWords({ operations, lastV1: undefined, needs: NO_NEEDS })).toBe("does not call v1");
    const many = [1, 2, 3, 4, 5].map((n) => ({ resource: "r", field: `f${n}` }));
    expect(difficultyWords({ operations, lastV1: 1, needs: { ...NO_NEEDS, unknownFields: many } })).toBe(
      "sends fields that v2 does not know: r f1, r f2, r f3, and 2 more",
    );
  });

  test("is lacking where carryover does not know what is called, and says so, whether that was answered or not", () => {
    const unknown = [{ resource: "unknown", operation: "unknown" }];
    const alone = { lastV1: 1, operations: [calls("unknown")], needs: NO_NEEDS };
    const answered = { ...alone, needs: { ...NO_NEEDS, lacking: unknown } };
    const beside = { ...alone, operations: [calls("group"), calls("unknown")] };
    for (const entry of [alone, answered, beside]) {
      expect(difficultyOf(entry)).toBe("lacking");
      expect(difficultyWords(entry)).toBe("calls paths that carryover does not know");
    }
    expect(difficultyWords({ ...beside, needs: { ...NO_NEEDS, lacking: [...operation, ...unknown] } })).toBe(
      "uses operations that v2 lacks: repo sbom · calls paths that carryover does not know",
    );
  });
});
