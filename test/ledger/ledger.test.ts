import { describe, expect, test } from "vitest";
import { difficultyOf } from "../../src/ledger/difficulty.ts";
import { addErrors, type ClientEntry, LedgerSchema, type LedgerSnapshot } from "../../src/ledger/entry.ts";
import { mergeSnapshots } from "../../src/ledger/snapshot.ts";
import { createExchange, type Exchange } from "../../src/model/exchange.ts";
import { readRecord } from "../../src/rules/record.ts";
import { call, exchange, ledgerOf, NO_NEEDS } from "./samples.ts";

const names = (ledger: { snapshot(): { clients: readonly { name: string }[] } }) =>
  ledger.snapshot().clients.map(({ name }) => name);
const first = (ledger: ReturnType<typeof ledgerOf>["ledger"]) => ledger.snapshot().clients[0]!;
const native = (client: string, given: Partial<Exchange> = {}) => exchange(client, { mode: "native", ...given });

describe("what enters", () => {
  test("v1 and v2 requests that the platform answered", () => {
    const { ledger } = ledgerOf();
    ledger.observe(exchange("a"));
    ledger.observe(exchange("b", { apiVersion: "v2", mode: "pass", resource: "unknown", operation: "unknown" }));
    ledger.observe(exchange("c", { status: 403, calls: [call(403)] }));
    expect(names(ledger)).toEqual(["a", "c", "b"]);
    expect(ledger.snapshot().requests).toEqual({ v1: 2, v2: 1 });
    expect(ledger.callers()).toEqual({ v1: 2, v2: 1 });
    ledger.observe(exchange("b"));
    expect(ledger.callers()).toEqual({ v1: 3, v2: 1 });
  });

  test.each<[string, Partial<Exchange>]>([
    ["answered 401 by the platform", { status: 401, calls: [call(401)] }],
    ["answered 401 behind a first call that was let in", { status: 401, calls: [call(200), call(401)] }],
    ["refused before the platform saw it", { mode: "refused", status: 400, reason: "INVALID_PATH", calls: [] }],
    ["a body that the translation refused", { status: 400, reason: "INVALID_BODY", calls: [] }],
    ["answered by nobody", { status: 502, reason: "UPSTREAM_UNREACHABLE", calls: [call(0)] }],
    ["left by its client before an answer", { status: 0, aborted: true, calls: [] }],
    ["a page that broke off behind a 401", { status: 502, reason: "DRAIN_INCOMPLETE", calls: [call(401)] }],
    ["a token exchange", { apiVersion: "sts" }],
    ["under no version", { apiVersion: "none" }],
    [
      "OPTIONS, which needs no credential",
      { ...createExchange("r", 0, "OPTIONS", "/"), apiVersion: "v1", mode: "native", status: 204, calls: [call(204)] },
    ],
  ])("nothing that was %s", (_what, given) => {
    const { ledger } = ledgerOf();
    ledger.observe({ ...exchange("a"), ...given, client: "a" });
    expect(names(ledger)).toEqual([]);
    expect(ledger.snapshot().requests).toEqual({ v1: 0, v2: 0 });
  });

  test("a failure after a response of the platform", () => {
    const { ledger } = ledgerOf();
    ledger.observe(exchange("a", { status: 502, reason: "DRAIN_INCOMPLETE", calls: [call(200), call(0)] }));
    expect(names(ledger)).toEqual(["a"]);
  });

  test("nobody who is excluded", () => {
    const { ledger } = ledgerOf();
    ledger.observe(exchange("probe"));
    expect(names(ledger)).toEqual([]);
  });
});

describe("an entry", () => {
  test("says how often, since when, when last, and by which operations", () => {
    const { ledger, clock } = ledgerOf();
    ledger.observe(exchange("a"));
    clock.at = 2000;
    ledger.observe(exchange("a", { operation: "get" }));
    ledger.observe(exchange("a", { operation: "get" }));
    clock.at = 3000;
    ledger.observe(exchange("a", { apiVersion: "v2", mode: "pass" }));
    expect(first(ledger)).toEqual({
      name: "a",
      label: "c-a",
      firstSeen: 1000,
      lastSeen: 3000,
      lastV1: 2000,
      lastV2: 3000,
      requests: { v1: 3, v2: 1 },
      over: 0,
      operations: [
        { resource: "group", operation: "get", requests: 2, lastSeen: 2000, translated: 2 },
        { resource: "group", operation: "list", requests: 1, lastSeen: 1000, translated: 1 },
      ],
      needs: NO_NEEDS,
    });
  });

  test("counts requests that the translation served without an error, also after a restart and a merge", () => {
    const { ledger } = ledgerOf();
    ledger.observe(exchange("a"));
    for (const given of [{ status: 404 }, { mode: "native" as const }, { mode: "shadow" as const }])
      ledger.observe(exchange("a", given));
    const { ledger: restored } = ledgerOf({ instance: "i2" });
    restored.restore(ledger.snapshot());
    restored.observe(exchange("a"));
    const { ledger: other } = ledgerOf({ instance: "i3" });
    other.observe(exchange("a"));
    const [merged] = mergeSnapshots([restored.snapshot(), other.snapshot()]).clients;
    expect(merged?.operations).toMatchObject([{ requests: 6, translated: 3 }]);
  });

  test("names the longest whole list above a page, per resource", () => {
    const { ledger } = ledgerOf();
    const list = (records: number, given: Partial<Exchange> = {}, outcome: "complete" | "incomplete" = "complete") =>
      ledger.observe(exchange("a", { list: { pages: 1, records, witness: "cover", outcome }, ...given }));
    list(200);
    expect(first(ledger).needs.longLists).toEqual([]);
    list(201);
    list(900);
    list(300);
    list(5000, {}, "incomplete");
    list(1000, { resource: "role" });
    expect(first(ledger).needs.longLists).toEqual([
      { resource: "role", records: 1000 },
      { resource: "group", records: 900 },
    ]);
  });

  test("names fields left to zero, fields nobody knows in requests, and what v2 lacks", () => {
    const { ledger } = ledgerOf();
    ledger.observe(exchange("a", { operation: "update", defaultedFields: ["name", "description"] }));
    ledger.observe(
      exchange("a", {
        unknownFields: [
          { direction: "request", name: "items[3].colour" },
          { direction: "request", name: "items[4].colour" },
        ],
      }),
    );
    ledger.observe(exchange("a", { unknownFields: [{ direction: "response", name: "shape" }] }));
    ledger.observe(native("a", { resource: "repo", operation: "sbom" }));
    expect(first(ledger).needs).toEqual({
      ...NO_NEEDS,
      zeroedFields: [
        { resource: "group", field: "description" },
        { resource: "group", field: "name" },
      ],
      unknownFields: [{ resource: "group", field: "items.colour" }],
      lacking: [{ resource: "repo", operation: "sbom" }],
    });
  });

  test.each([400, 404, 405, 429, 500, 501, 503])(
    "what platforms answer to strangers as well makes no entry: %i",
    (status) => {
      const { ledger } = ledgerOf();
      ledger.observe(native("a", { status, calls: [call(status)] }));
      expect(ledger.snapshot()).toMatchObject({ clients: [], requests: { v1: 0, v2: 0 } });
      ledger.observe(native("a"));
      ledger.observe(native("a", { status, calls: [call(status)] }));
      expect(first(ledger).requests).toEqual({ v1: 2, v2: 0 });
    },
  );

  test.each([200, 204, 304, 403, 409, 412])("what only those get who were let in makes one: %i", (status) => {
    const { ledger } = ledgerOf();
    ledger.observe(native("a", { status, calls: [call(status)] }));
    expect(first(ledger).requests).toEqual({ v1: 1, v2: 0 });
  });

  test("a path that nobody knows is needed only when it was answered", () => {
    const { ledger } = ledgerOf();
    const unknown = { resource: "unknown", operation: "unknown" };
    ledger.observe(native("a"));
    ledger.observe(native("a", { ...unknown, status: 404, calls: [call(404)] }));
    expect(first(ledger).needs.lacking).toEqual([]);
    ledger.observe(native("a", unknown));
    expect(first(ledger).needs.lacking).toEqual([unknown]);
  });

  test("a caller that was not let in adds no field to a client's needs, whichever name it says", () => {
    const { ledger } = ledgerOf();
    ledger.observe(exchange("a"));
    ledger.observe(
      exchange("a", { mode: "refused", reason: "NOT_TRANSLATABLE", status: 501, calls: [], operation: "sbom" }),
    );
    const junk = { unknownFields: [{ direction: "request" as const, name: "bogus" }], defaultedFields: ["name"] };
    for (const status of [400, 404, 501]) {
      ledger.observe(native("a", { operation: "sbom", status, calls: [call(status)], ...junk }));
    }
    const lacking = [{ resource: "group", operation: "sbom" }];
    expect(first(ledger).needs).toEqual({ ...NO_NEEDS, lacking });
  });

  test("what v2 lacks is a need also where native v1 answers 501, and survives with the entry", () => {
    const { ledger } = ledgerOf();
    ledger.observe(native("a"));
    ledger.observe(native("a", { operation: "sbom", status: 501, calls: [call(501)] }));
    const again = ledgerOf();
    again.ledger.restore(ledger.snapshot());
    for (const one of [ledger, again.ledger]) {
      expect(first(one).needs.lacking).toEqual([{ resource: "group", operation: "sbom" }]);
      expect(difficultyOf(first(one))).toBe("lacking");
    }
  });
});

describe("errors", () => {
  test("do not include the refusals of a brownout", () => {
    const { ledger } = ledgerOf();
    ledger.observe(exchange("a"));
    const brownout = { start: 0, end: 60_000 };
    ledger.observe(exchange("a", { mode: "refused", status: 400, reason: "BROWNOUT", rule: "b", brownout }));
    expect(first(ledger)).toMatchObject({ requests: { v1: 2 }, refused: { requests: 1 } });
    expect(first(ledger).operations[0]?.errors).toBe(undefined);
  });

  test("are v2's once native v1 is known to have served the request", () => {
    const { ledger } = ledgerOf();
    ledger.observe(exchange("a"));
    const failed = exchange("a", { status: 503, calls: [call(503)] });
    for (const one of [failed, failed, exchange("a", { status: 403, calls: [call(403)] })]) ledger.observe(one);
    ledger.blameV2({ ...failed, native: "served" });
    ledger.blameV2({ ...failed, client: "stranger", native: "served" });
    ledger.observe({ ...failed, native: "served" });
    expect(first(ledger).operations).toMatchObject([{ requests: 5, errors: { client: 1, platform: 1, v2: 2 } }]);
  });

  test("are counted by operation and fault, also those that no call was made for, of known clients", () => {
    const { ledger } = ledgerOf();
    const failures: readonly Partial<Exchange>[] = [
      { status: 404, calls: [call(404)] },
      { status: 400, reason: "INVALID_BODY", calls: [] },
      { status: 501, reason: "NOT_TRANSLATABLE", calls: [], mode: "refused", operation: "sbom" },
      { status: 400, reason: "INVALID_PATH", calls: [], mode: "refused" },
      { status: 503, reason: "OVERLOADED", calls: [] },
      { status: 502, reason: "UPSTREAM_UNREACHABLE", calls: [call(0)] },
      { status: 401, calls: [call(401)] },
      { status: 502, reason: "DRAIN_INCOMPLETE", calls: [call(401)] },
    ];
    for (const given of failures) ledger.observe(exchange("a", given));
    expect(names(ledger)).toEqual([]);
    ledger.observe(exchange("a"));
    for (const given of failures) ledger.observe(exchange("a", given));
    const needs = { ...NO_NEEDS, lacking: [{ resource: "group", operation: "sbom" }] };
    expect(first(ledger)).toMatchObject({ requests: { v1: 6 }, needs });
    expect(first(ledger).operations.map(({ operation, requests, errors }) => [operation, requests, errors])).toEqual([
      ["list", 5, { client: 2, platform: 1, capacity: 1 }],
      ["sbom", 1, { translation: 1 }],
    ]);
  });

  test("stay through restarts and merges, also those of the operations summed up as `other`", () => {
    const { ledger } = ledgerOf();
    const failed = { status: 403, calls: [call(403)] };
    for (let n = 0; n < 70; n++) ledger.observe(exchange("a", { operation: `o${n}`, ...failed }));
    const { ledger: restored } = ledgerOf({ instance: "i2" });
    restored.restore(ledger.snapshot());
    restored.observe(exchange("a", { operation: "o1", ...failed }));
    expect(addErrors(first(restored).operations.map(({ errors }) => errors))).toEqual({ client: 71 });
    const { ledger: other } = ledgerOf({ instance: "i3" });
    for (let n = 0; n < 7; n++) other.observe(exchange("a", { operation: "new", ...failed }));
    const [merged] = mergeSnapshots([restored.snapshot(), other.snapshot()]).clients;
    expect(merged?.operations.slice(0, 2)).toMatchObject([
      { operation: "other", errors: { client: 8 } },
      { operation: "new", errors: { client: 7 } },
    ]);
  });
});

describe("a client that is forgotten", () => {
  test("begins again as a new one, and v1 counts as watched only since its last v1 call", () => {
    const { ledger, clock } = ledgerOf();
    for (const [at, name] of [
      [2000, "a"],
      [3000, "b"],
      [4000, "b"],
    ] as const) {
      clock.at = at;
      ledger.observe(exchange(name));
    }
    clock.at = 5000;
    const before = ledger.revision();
    expect(ledger.forget(["a", "nobody"]).map(({ name, requests }) => [name, requests.v1])).toEqual([["a", 1]]);
    expect(ledger.revision()).toBeGreaterThan(before);
    expect(ledger.snapshot()).toMatchObject({ watchedSince: 2001, bound: 0, clients: [{ name: "b" }] });
    ledger.observe(exchange("a"));
    expect(ledger.snapshot().clients[1]).toMatchObject({ name: "a", firstSeen: 5000, requests: { v1: 1 }, over: 0 });
    ledger.forget(["b"]);
    expect(ledger.snapshot().watchedSince).toBe(4001);
  });

  test("is shown with its owner, who is in no saved entry", () => {
    const { ledger } = ledgerOf({ identity: { ownerOf: () => ({ owner: "Build team", contact: "#build" }) } });
    ledger.observe(exchange("a"));
    expect(first(ledger)).toMatchObject({ owner: "Build team", contact: "#build" });
    expect(JSON.stringify([...ledger.stream().entries])).not.toContain("Build");
  });
});

describe("what nobody looked into", () => {
  const unseen = (ledger: ReturnType<typeof ledgerOf>["ledger"]) =>
    first(ledger).needs.unseen.map(({ operation }) => operation);

  test("lists and updates that native served, until one is looked into", () => {
    const { ledger } = ledgerOf();
    for (const operation of ["list", "update", "get", "sbom"]) ledger.observe(native("a", { operation }));
    expect(unseen(ledger)).toEqual(["list", "update"]);
    ledger.observe(exchange("a"));
    expect(unseen(ledger)).toEqual(["update"]);
    ledger.observe(native("a"));
    expect(unseen(ledger)).toEqual(["update"]);
  });

  test("a request that failed has nothing to be looked into", () => {
    const { ledger } = ledgerOf();
    ledger.observe(native("a", { status: 403, calls: [call(403)] }));
    expect(unseen(ledger)).toEqual([]);
    const failedOnly = ledger.snapshot();
    // Nor does it tell of those that did not fail, before a restart and after it.
    const { ledger: restarted } = ledgerOf();
    restarted.restore(failedOnly);
    for (const one of [ledger, restarted]) {
      one.observe(native("a"));
      expect(unseen(one)).toEqual(["list"]);
    }
    const { ledger: replica } = ledgerOf({ instance: "i2" });
    replica.observe(native("a"));
    const merged = mergeSnapshots([failedOnly, replica.snapshot()]);
    expect(merged.clients[0]?.needs.unseen).toEqual([{ resource: "group", operation: "list" }]);
  });

  test("is learnt from a comparison, which counts nothing and makes no entry", () => {
    const { ledger } = ledgerOf();
    const learnt = exchange("a", { operation: "update", defaultedFields: ["name"] });
    ledger.learn(learnt);
    expect(names(ledger)).toEqual([]);
    ledger.observe(exchange("a", { mode: "shadow", operation: "update" }));
    expect(unseen(ledger)).toEqual(["update"]);
    ledger.learn(learnt);
    expect(unseen(ledger)).toEqual([]);
    expect(first(ledger)).toMatchObject({
      requests: { v1: 1 },
      needs: { zeroedFields: [{ resource: "group", field: "name" }] },
    });
    expect(first(ledger).operations).toHaveLength(1);
  });
});

describe("bounds", () => {
  test("63 operations of a client by name, the rest as `other`, no request lost", () => {
    const { ledger } = ledgerOf();
    for (let n = 0; n < 200; n++) ledger.observe(exchange("a", { operation: `op${n}` }));
    const { operations, needs } = first(ledger);
    expect(operations).toHaveLength(64);
    expect(operations[0]).toMatchObject({ resource: "other", operation: "other", requests: 200 - 63 });
    expect(operations.reduce((sum, { requests }) => sum + requests, 0)).toBe(200);
    expect(needs.lacking).toHaveLength(32);
  });

  test("names of unknown fields are few, short and printable, and show no token", () => {
    const { ledger } = ledgerOf();
    const names = ["a\u0000b\n", "x".repeat(10_000), "eyJhbGciOi.eyJzdWI.c2ln", "\ud800", "\u202ecod", "y".repeat(60)];
    const unknownFields = names.map((name) => ({ direction: "request" as const, name }));
    ledger.observe(exchange("a", { unknownFields }));
    for (let n = 0; n < 100; n++)
      ledger.observe(exchange("a", { unknownFields: [{ direction: "request", name: `n${n}` }] }));
    const shown = first(ledger).needs.unknownFields.map(({ field }) => field);
    expect(shown).toHaveLength(32);
    for (const name of shown) expect(name).toMatch(/^[^\p{C}\p{Zl}\p{Zp}]{1,80}$/u);
    expect(shown).toContain("[redacted]");
    expect(shown).toContain("a\ufffdb\ufffd");
    expect(shown.join()).not.toContain("eyJ");
  });

  test("20,000 clients with fields of their own leave `max` entries, a bounded sum of facts, and room again", () => {
    const { ledger } = ledgerOf({ max: 10 });
    for (let n = 0; n < 20_000; n++) {
      ledger.observe(
        exchange(`c${n}`, { operation: `o${n % 90}`, unknownFields: [{ direction: "request", name: `f${n}` }] }),
      );
    }
    const { clients, bound, requests } = ledger.snapshot();
    expect(clients).toHaveLength(10);
    expect(requests.v1).toBe(20_000);
    expect(bound).toBeLessThanOrEqual(2_000);
    for (const client of clients) expect(client.over).toBeLessThanOrEqual(bound);
    // Places of clients that made room were given back: more facts than there is room for have passed by.
    expect(clients.every(({ needs }) => needs.unknownFields.length === 1)).toBe(true);
  });

  test("when all room for facts is taken, requests are still counted, under `other`", () => {
    const { ledger } = ledgerOf({ max: 4000 });
    for (let client = 0; client < 4000; client++) {
      for (let n = 0; n < 45; n++)
        ledger.observe(exchange(`c${client}`, { operation: `o${n}`, resource: "unknown", status: 404 }));
    }
    const { clients } = ledger.snapshot();
    expect(
      clients.reduce((sum, { operations }) => sum + operations.filter((one) => one.operation !== "other").length, 0),
    ).toBe(164_000);
    for (const { operations } of clients) expect(operations.reduce((sum, one) => sum + one.requests, 0)).toBe(45);
  });
});

describe("restoring", () => {
  const filled = () => {
    const { ledger } = ledgerOf({ max: 3 });
    for (const name of ["a", "a", "a", "b", "b", "c", "d", "e"]) {
      ledger.observe(native(name, { operation: "update" }));
      ledger.observe(exchange(name, { list: { pages: 2, records: 300, witness: "cover", outcome: "complete" } }));
    }
    ledger.observe(exchange("a", { defaultedFields: ["x"], unknownFields: [{ direction: "request", name: "y" }] }));
    return ledger.snapshot();
  };

  test("gives the same snapshot again, under the same instance", () => {
    const before = filled();
    expect(before.bound).toBeGreaterThan(0);
    const { ledger } = ledgerOf({ max: 3, instance: "i2" });
    ledger.restore(before);
    expect(ledger.snapshot()).toEqual(before);
  });

  test("goes on counting, and a new client may have called as often as the bound says", () => {
    const before = filled();
    const { ledger } = ledgerOf({ max: 10, instance: "i2" });
    ledger.restore(before);
    ledger.observe(exchange("new"));
    ledger.observe(exchange("a"));
    const after = ledger.snapshot();
    expect(after.clients.find(({ name }) => name === "new")).toMatchObject({
      over: before.bound,
      requests: { v1: before.bound + 1 },
    });
    expect(after.requests.v1).toBe(before.requests.v1 + 2);
  });

  test("into less room keeps the most frequent, and raises the bound to what was cut", () => {
    const before = filled();
    const { ledger } = ledgerOf({ max: 1 });
    ledger.restore(before);
    const after = ledger.snapshot();
    expect(after.clients.map(({ name }) => name)).toEqual(["a"]);
    const cut = before.clients[1]!.requests.v1;
    expect(after.bound).toBe(before.bound + cut);
  });

  test("whoever goes by another name now is one client with what it was before", () => {
    const { ledger: before } = ledgerOf();
    for (const name of ["ann", "ann", "h-ann", "bob"]) before.observe(exchange(name));
    const { ledger } = ledgerOf({ identity: { nameNow: (name) => (name === "ann" ? "h-ann" : name) } });
    const revision = ledger.revision();
    ledger.restore(before.snapshot());
    expect(names(ledger)).toEqual(["h-ann", "bob"]);
    expect(first(ledger).requests.v1).toBe(3);
    expect(ledger.revision()).not.toBe(revision);
  });

  test("clients that get one name while it runs are one entry from then on", () => {
    const now = { name: (name: string) => name };
    const { ledger, clock } = ledgerOf({ identity: { nameNow: (name) => now.name(name) } });
    for (const name of ["ann", "builder", "ann"]) ledger.observe(exchange(name));
    const { revision, since } = { revision: ledger.revision(), since: ledger.snapshot().since };
    now.name = () => "ci-bot";
    clock.at += 5_000_000;
    ledger.rename(now.name);
    expect(names(ledger)).toEqual(["ci-bot"]);
    // It began before, and ends after.
    ledger.observe(exchange("ann"));
    expect(names(ledger)).toEqual(["ci-bot"]);
    expect(first(ledger).requests.v1).toBe(4);
    expect(ledger.revision()).toBeGreaterThan(revision);
    expect(ledger.snapshot()).toMatchObject({ since, requests: { v1: 4 } });
    expect(ledger.snapshot().watchedSince).toBeUndefined();
  });

  test("from entries that were read while requests went on finds each client once, and no more requests than there were", () => {
    const { ledger } = ledgerOf({ max: 3 });
    for (const name of ["a", "a", "a", "b", "b", "c"]) ledger.observe(exchange(name));
    const { entries, head } = ledger.stream();
    const read: ClientEntry[] = [];
    for (const entry of entries) {
      read.push(entry);
      // The rarest becomes the most frequent.
      for (let n = 0; n < 10; n++) ledger.observe(exchange(entry.name));
    }
    const saved = readRecord(LedgerSchema, JSON.parse(JSON.stringify({ ...head(), clients: read })));
    expect(saved.clients.map(({ name }) => name).sort()).toEqual(["a", "b", "c"]);
    expect(saved.requests.v1).toBe(36);
  });

  test("a request that ends under a name that is gone counts for its client, but later the name is somebody else's", () => {
    const { ledger, clock } = ledgerOf();
    ledger.observe(exchange("old"));
    ledger.rename((name) => (name === "old" ? "new" : name));
    clock.at += 59_999;
    ledger.observe(exchange("old"));
    expect(names(ledger)).toEqual(["new"]);
    clock.at += 1;
    ledger.observe(exchange("old"));
    expect(names(ledger)).toEqual(["new", "old"]);
  });

  test("after ten minutes off it has watched since the start only, and after the next short restart still", () => {
    const before = filled();
    const startedAt = (at: number, snapshot: LedgerSnapshot) => {
      const { ledger } = ledgerOf({ max: 3, wall: () => at });
      ledger.restore(snapshot);
      return ledger.snapshot();
    };
    const soon = startedAt(before.at + 600_000, before);
    expect([soon.since, soon.watchedSince]).toEqual([before.since, undefined]);
    const late = startedAt(before.at + 600_001, before);
    expect([late.since, late.watchedSince]).toEqual([before.since, before.at + 600_001]);
    expect(startedAt(late.at + 1000, late).watchedSince).toBe(late.at);
    expect(startedAt(late.at + 700_000, late).watchedSince).toBe(late.at + 700_000);
  });

  test("drops who is excluded by now, and is refused once there was a request", () => {
    const before = filled();
    const { ledger } = ledgerOf({ identity: { isExcluded: (name) => name === "a" } });
    ledger.restore(before);
    expect(names(ledger)).not.toContain("a");
    ledger.observe(exchange("b"));
    expect(() => ledger.restore(before)).toThrow("before its first request");
  });
});
