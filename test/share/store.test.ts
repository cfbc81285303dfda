import { describe, expect, it } from "vitest";
import type { SharedResponse } from "../../src/drain/cache-policy.ts";
import { type CredentialLists, createListStore } from "../../src/drain/list-sharing.ts";

const BYTES = 1_000_000;

function shelf(digest: string): CredentialLists {
  return { digest, keys: new Set(), bytes: 0, sharedReads: new Map(), working: 0 };
}

function copy(bytes: number): SharedResponse {
  return { answer: { status: 200, headers: [], body: new Uint8Array(bytes) }, began: 0, freshMs: 1e9, age: 0 };
}

function build() {
  const emptied: string[] = [];
  const clock = { ms: 1 };
  const store = createListStore({ bytes: BYTES, now: () => clock.ms }, ({ digest }) => emptied.push(digest));
  return { store, emptied, clock };
}

describe("the store of finished lists", () => {
  it("K9: never holds more than its bytes, and lets go of what nobody has used for longest", () => {
    const { store } = build();
    const shelves = Array.from({ length: 40 }, (_, i) => shelf(String(i)));
    for (const each of shelves) {
      store.keep(each, each.digest, copy(90_000), 1e6);
      store.find("0");
      expect(store.size().bytes).toBeLessThanOrEqual(BYTES);
    }
    const left = shelves.filter(({ digest }) => store.find(digest) !== undefined).map(({ digest }) => digest);
    expect(left).toEqual(["0", ...shelves.slice(-9).map(({ digest }) => digest)]);
    expect(shelves.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(store.size().bytes);
  });

  it("T-ISO-11, K9: gives one credential a tenth, and makes room for it among its own lists only", () => {
    const { store } = build();
    const [modest, greedy] = [shelf("modest"), shelf("greedy")];
    store.keep(modest, "m", copy(10), 1e6);
    for (let i = 0; i < 1000; i++) {
      store.keep(greedy, `g${i}`, copy(20_000), 1e6);
      store.find("g0");
      expect(greedy.bytes).toBeLessThanOrEqual(BYTES / 10);
    }
    expect(store.find("m")).toBeDefined();
    expect([...greedy.keys].sort()).toEqual(["g0", "g997", "g998", "g999"].sort());
  });

  it("K9: keeps nothing that is more than a tenth by itself, and loses nothing for it", () => {
    const { store } = build();
    const one = shelf("one");
    store.keep(one, "small", copy(10), 1e6);
    store.keep(one, "large", copy(BYTES / 10), 1e6);
    expect([...one.keys]).toEqual(["small"]);
  });

  it("K9: counts keys and header fields too", () => {
    const { store } = build();
    store.keep(shelf("one"), "k".repeat(1000), copy(0), 1e6);
    expect(store.size().bytes).toBeGreaterThan(2000);
  });

  it("counts a list once that is kept again", () => {
    const { store, emptied } = build();
    const one = shelf("one");
    store.keep(one, "a", copy(10), 1e6);
    const before = one.bytes;
    store.keep(one, "a", copy(10), 1e6);
    expect([one.bytes, one.keys.size, store.size().lists]).toEqual([before, 1, 1]);
    store.clear(one);
    expect([one.bytes, one.keys.size, store.size()]).toEqual([0, 0, { lists: 0, bytes: 0 }]);
    expect(emptied.at(-1)).toBe("one");
  });

  it("K6: gives nothing from its last moment on, and forgets it", () => {
    const { store, clock } = build();
    const one = shelf("one");
    store.keep(one, "a", copy(10), 100);
    clock.ms = 99.9;
    expect(store.find("a")).toBeDefined();
    clock.ms = 100;
    expect(store.find("a")).toBeUndefined();
    expect(one.keys.size).toBe(0);
    store.keep(one, "a", copy(10), 100);
    expect(store.size().lists).toBe(0);
  });
});
