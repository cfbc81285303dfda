import { describe, expect, it } from "vitest";
import { createMemoryBudget } from "../../src/model/memory-budget.ts";
import { createSignalController } from "../../src/model/signal.ts";
import { settled, watchedStopper } from "../upstream/clock.ts";

const { signal } = createSignalController();

describe("a budget of bytes held for clients", () => {
  it("lends one owner half of it at most", async () => {
    const budget = createMemoryBudget(100);
    expect(budget.tryReserve("hog", 50)).toBeDefined();
    expect(budget.tryReserve("hog", 1)).toBeUndefined();
    expect(budget.tryReserve("other", 50)).toBeDefined();
    expect(budget.tryReserve("third", 1)).toBeUndefined();
    expect(budget.held()).toBe(100);
  });

  it("counts what is here already, whether there is room or not, and forgets it at 0", () => {
    const budget = createMemoryBudget(100);
    const hold = budget.open("a");
    hold.resize(300);
    expect(budget.held()).toBe(300);
    expect(budget.tryReserve("b", 1)).toBeUndefined();
    hold.resize(20);
    expect(budget.held()).toBe(20);
    hold.resize(0);
    hold.resize(0);
    expect(budget.held()).toBe(0);
  });

  it("gives room to the owner that holds least, and within one owner to who came first", async () => {
    const budget = createMemoryBudget(100);
    const first = budget.tryReserve("a", 50);
    const second = budget.tryReserve("b", 40);
    const order: string[] = [];
    for (const [owner, bytes] of [
      ["a", 30],
      ["a", 5],
      ["b", 20],
      ["c", 30],
    ] as const) {
      void budget.reserve(owner, bytes, signal).then(() => order.push(`${owner} ${bytes}`));
    }
    await settled();
    expect(order).toEqual([]);
    second?.resize(0);
    await settled();
    expect(order).toEqual(["b 20", "c 30"].filter((name) => order.includes(name)));
    expect(order).toHaveLength(2);
    first?.resize(0);
    await settled();
    expect(order.slice(2)).toEqual(["a 30", "a 5"]);
  });

  it("lets nobody pass those of the same owner that wait", async () => {
    const budget = createMemoryBudget(100);
    const hold = budget.tryReserve("a", 40);
    const large = budget.reserve("a", 50, signal);
    expect(budget.tryReserve("a", 1)).toBeUndefined();
    hold?.resize(0);
    (await large).resize(0);
    expect(budget.tryReserve("a", 1)).toBeDefined();
  });

  it("lets in what is larger than a share when its owner holds nothing", () => {
    const budget = createMemoryBudget(100);
    expect(budget.tryReserve("a", 1_000)).toBeDefined();
    expect(budget.held()).toBe(1_000);
  });

  it("ends the wait with the signal's reason, and forgets it", async () => {
    const budget = createMemoryBudget(100);
    const hold = budget.tryReserve("a", 50);
    const stopper = watchedStopper();
    const waits = budget.reserve("a", 10, stopper.signal);
    stopper.abort("over");
    await expect(waits).rejects.toBe("over");
    expect(stopper.listeners()).toBe(0);
    hold?.resize(0);
    expect(budget.held()).toBe(0);
    await expect(budget.reserve("a", 10, stopper.signal)).resolves.toBeDefined();
    const full = budget.tryReserve("a", 40);
    await expect(budget.reserve("a", 10, stopper.signal)).rejects.toBe("over");
    full?.resize(0);
  });

  describe("that are received", () => {
    const grown = async (growth: Promise<void> | undefined): Promise<boolean> => {
      if (growth === undefined) return true;
      let done = false;
      void growth.then(() => {
        done = true;
      });
      await settled();
      return done;
    };

    it("are taken as they come: a length that is announced takes nothing", () => {
      const budget = createMemoryBudget(100);
      for (let i = 0; i < 100; i++) budget.receive("a", 40);
      expect(budget.held()).toBe(0);
      expect(budget.tryReserve("a", 50)).toBeDefined();
    });

    it("are all received in the end, however many come at once, and beyond no limit", async () => {
      const budget = createMemoryBudget(100);
      // Small ones come first, and take what the large ones need.
      const bodies = Array.from({ length: 24 }, (_, i) => ({
        owner: "abc"[i % 3] ?? "",
        size: i < 12 ? 6 : 40,
        at: 0,
      }));
      const holds = bodies.map(({ owner, size }) => budget.receive(owner, size));
      const waits = new Set<unknown>();
      let most = 0;
      let done = 0;
      for (let turn = 0; turn < 500 && done < bodies.length; turn++) {
        for (const [i, body] of bodies.entries()) {
          if (body.at > body.size || waits.has(body)) continue;
          if (body.at === body.size) {
            holds[i]?.resize(0);
            body.at = Number.POSITIVE_INFINITY;
            done++;
            continue;
          }
          const growth = holds[i]?.grow(body.at + 2, signal);
          const go = (): void => {
            body.at += 2;
            waits.delete(body);
          };
          if (growth === undefined) go();
          else {
            waits.add(body);
            void growth.then(go);
          }
          most = Math.max(most, budget.held());
        }
        await settled();
      }
      expect([done, budget.held()]).toEqual([24, 0]);
      expect(most).toBeGreaterThan(60);
      expect(most).toBeLessThanOrEqual(100);
    });

    it("wait no more once their client has left, and make room for the next", async () => {
      const budget = createMemoryBudget(100);
      const [first, second, third] = [1, 2, 3].map(() => budget.receive("a", 50));
      expect(first?.grow(30, signal) ?? "room").toBe("room");
      const leaving = createSignalController();
      const gone = second?.grow(40, leaving.signal);
      const next = third?.grow(40, signal);
      leaving.abort(new Error("left"));
      await expect(gone).rejects.toThrow("left");
      second?.resize(0);
      expect(await grown(next)).toBe(false);
      first?.resize(0);
      expect(await grown(next)).toBe(true);
    });

    it("may be more than a share while nothing else is held", async () => {
      const budget = createMemoryBudget(100);
      const hold = budget.receive("a", 80);
      for (const bytes of [10, 40, 80]) expect(await grown(hold.grow(bytes, signal))).toBe(true);
      expect(budget.held()).toBe(80);
    });
  });
});
