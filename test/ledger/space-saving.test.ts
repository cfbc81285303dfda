import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSpaceSaving, type MonitoredItem, type SpaceSaving } from "../../src/ledger/space-saving.ts";

function summary(max: number, dropped: (item: MonitoredItem) => void = () => {}): SpaceSaving<MonitoredItem> {
  return createSpaceSaving<MonitoredItem>(
    max,
    (name) => ({ name, count: 0, over: 0, lastUse: 0, heapIndex: 0 }),
    dropped,
  );
}

/** Adds `stream` and holds every promise against exact counts. */
function check(stream: readonly string[], max: number): void {
  const exact = new Map<string, number>();
  const found = summary(max);
  for (const name of stream) {
    found.add(name);
    exact.set(name, (exact.get(name) ?? 0) + 1);
  }
  const bound = found.bound();
  expect(bound).toBeLessThanOrEqual(stream.length / max);
  expect(found.size).toBe(Math.min(max, exact.size));
  let sum = 0;
  const kept = new Set<string>();
  for (const { name, count, over } of found.items()) {
    const truth = exact.get(name) ?? 0;
    if (count < truth || count - over > truth || over > bound)
      throw new Error(`${name}: ${count} (${over}) of ${truth}`);
    kept.add(name);
    sum += count;
  }
  expect(sum).toBe(stream.length);
  for (const [name, truth] of exact) if (!kept.has(name) && truth > bound) throw new Error(`${name}: ${truth} is lost`);
}

describe("the bound", () => {
  test("holds for any stream", () => {
    const name = fc.integer({ min: 0, max: 40 }).map((n) => `c${n}`);
    fc.assert(
      fc.property(
        fc.array(name, { size: "max", maxLength: 200 }),
        fc.integer({ min: 1, max: 24 }),
        (stream, max) => void check(stream, max),
      ),
    );
  });
});

test("names are removed from anywhere, and the rest keeps its order, its counts and the bound", () => {
  const name = fc.integer({ min: 0, max: 12 }).map((n) => `c${n}`);
  const step = fc.record({ name, remove: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 8 }), (steps, max) => {
      const found = summary(max);
      const exact = new Map<string, number>();
      for (const { name, remove } of steps) {
        if (remove) {
          found.remove(name);
          exact.delete(name);
          expect(found.find(name)).toBeUndefined();
        } else {
          found.add(name);
          exact.set(name, (exact.get(name) ?? 0) + 1);
        }
        const items = [...found.items()];
        expect(found.bound()).toBeLessThanOrEqual(steps.length / max);
        for (const [at, { name, count, over, heapIndex }] of items.entries()) {
          const truth = exact.get(name) ?? 0;
          expect([heapIndex, count >= truth, count - over <= truth]).toEqual([at, true, true]);
          expect(items[(at - 1) >> 1]?.count ?? 0).toBeLessThanOrEqual(count);
        }
        for (const [name, truth] of exact)
          if (found.find(name) === undefined) expect(truth).toBeLessThanOrEqual(found.bound());
      }
    }),
  );
});

test("the last name takes the place of a removed one, and moves up where it is rarer than what is above", () => {
  const found = summary(6);
  for (const count of [1, 10, 2, 11, 12, 3])
    found.load({ name: `c${count}`, count, over: 0, lastUse: 0, heapIndex: 0 });
  found.remove("c11");
  expect([...found.items()].map(({ count }) => count)).toEqual([1, 3, 2, 10, 12]);
});

describe("room", () => {
  test("is made by the rarest, of equally rare ones by the one longest unused", () => {
    const gone: string[] = [];
    const found = summary(3, ({ name }) => gone.push(name));
    for (const name of ["a", "b", "c", "a", "c", "d"]) found.add(name);
    expect(gone).toEqual(["b"]);
    // a and c were used twice, d at most twice: a was used before the others.
    found.add("e");
    expect(gone).toEqual(["b", "a"]);
    expect(found.find("a")).toBeUndefined();
    expect(found.find("e")).toMatchObject({ count: 3, over: 2 });
  });

  test("is made for who is seen only by who was never counted, the one longest unseen first", () => {
    const gone: string[] = [];
    const found = summary(3, ({ name }) => gone.push(name));
    found.add("a");
    for (const name of ["b", "c", "b"]) expect(found.see(name)).toMatchObject({ name, count: 0, over: 0 });
    found.see("d");
    expect(gone).toEqual(["c"]);
    found.add("d");
    found.add("e");
    expect(gone).toEqual(["c", "b"]);
    expect(found.see("f")).toBeUndefined();
    expect(found.size).toBe(3);
    expect(found.bound()).toBe(0);
    // Seen last, but counted first.
    expect(found.see("a")).toMatchObject({ count: 1 });
    expect(found.add("f")).toMatchObject({ count: 2, over: 1 });
    expect(gone).toEqual(["c", "b", "a"]);
  });

  test("who is seen first and counted then may have been counted before as often as the bound says", () => {
    const found = summary(2);
    found.raiseBound(3);
    found.see("a");
    expect(found.add("a")).toMatchObject({ count: 4, over: 3 });
    expect(found.add("a")).toMatchObject({ count: 5, over: 3 });
  });

  test("what is loaded keeps its count and its place, and a raised bound counts for new names", () => {
    const found = summary(2);
    found.load({ name: "a", count: 5, over: 1, lastUse: 0, heapIndex: 0 });
    found.raiseBound(3);
    expect(found.add("b")).toMatchObject({ count: 4, over: 3 });
    expect(found.add("a")).toMatchObject({ count: 6, over: 1 });
    found.add("c");
    expect(found.find("b")).toBeUndefined();
    expect(found.bound()).toBe(4);
    found.raiseBound(1);
    expect(found.bound()).toBe(4);
    found.load({ name: "z", count: 9, over: 0, lastUse: 0, heapIndex: 0 });
    expect(found.find("z")).toBeUndefined();
  });
});
