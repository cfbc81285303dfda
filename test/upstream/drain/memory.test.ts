import { describe, expect, it, vi } from "vitest";
import { createMemory } from "../../../src/upstream/drain/memory.ts";

const MINUTE = 60_000;

describe("counts", () => {
  it("are remembered for one credential and one list", () => {
    const memory = createMemory();
    memory.of("a").learnCount("/list?size=200", 5);
    expect(memory.of("a").countOf("/list?size=200")).toBe(5);
    expect(memory.of("a").countOf("/list?size=100")).toBeUndefined();
    expect(memory.of("b").countOf("/list?size=200")).toBeUndefined();
    memory.of("a").learnCount("/list?size=200", 7);
    expect(memory.of("a").countOf("/list?size=200")).toBe(7);
  });

  it("of one credential are never taken for another's, however the two are spelled", () => {
    const memory = createMemory();
    memory.of("a").learnCount('","b', 1);
    memory.of('a","').learnCount("b", 2);
    memory.of("ab").learnCount("c", 3);
    memory.of("a").learnCount("bc", 4);
    expect([
      memory.of("a").countOf('","b'),
      memory.of('a","').countOf("b"),
      memory.of("ab").countOf("c"),
      memory.of("a").countOf("bc"),
    ]).toEqual([1, 2, 3, 4]);
  });

  it("are forgotten, those not used longest first, beyond two thousand", () => {
    const memory = createMemory().of("a");
    for (let i = 0; i < 2000; i++) memory.learnCount(`/${i}`, i);
    expect(memory.countOf("/0")).toBe(0);
    memory.learnCount("/2000", 2000);
    expect([memory.countOf("/0"), memory.countOf("/1"), memory.countOf("/2000")]).toEqual([0, undefined, 2000]);
  });

  it("of one upstream are not those of another", () => {
    createMemory().of("a").learnCount("/list", 5);
    expect(createMemory().of("a").countOf("/list")).toBeUndefined();
  });
});

describe("whether skip works", () => {
  it("is known for a resource, whoever saw it", () => {
    const memory = createMemory();
    expect(memory.of("a").heedsSkip("groups")).toBeUndefined();
    memory.of("a").sawSkip("groups", true);
    memory.of("a").sawSkip("roles", false);
    expect(memory.of("b").heedsSkip("groups")).toBe(true);
    expect(memory.of("b").heedsSkip("roles")).toBe(false);
    expect(memory.of("b").heedsSkip("repos")).toBeUndefined();
    memory.of("b").sawSkip("groups", false);
    expect(memory.of("a").heedsSkip("groups")).toBe(false);
  });

  it("is remembered of two hundred resources, as their habit to miscount is", () => {
    const memory = createMemory().of("a");
    for (let i = 0; i <= 200; i++) {
      memory.sawSkip(`r${i}`, true);
      memory.sawMiscount(`r${i}`);
    }
    expect([memory.heedsSkip("r0"), memory.heedsSkip("r1"), memory.heedsSkip("r200")]).toEqual([undefined, true, true]);
    expect([memory.miscounts("r0"), memory.miscounts("r1"), memory.miscounts("r200")]).toEqual([false, true, true]);
  });

  it("is tried again after ten minutes", () => {
    const clock = vi.spyOn(performance, "now");
    try {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      clock.mockReturnValue(1000);
      const memory = createMemory().of("a");
      memory.sawSkip("groups", false);
      memory.sawMiscount("groups");
      const at = (ms: number) => {
        vi.runAllTimers();
        clock.mockReturnValue(1000 + ms);
        return [memory.heedsSkip("groups"), memory.miscounts("groups")];
      };
      expect(at(10 * MINUTE - 1)).toEqual([false, true]);
      expect(at(10 * MINUTE + 2)).toEqual([undefined, false]);
    } finally {
      vi.useRealTimers();
      clock.mockRestore();
    }
  });
});

describe("a count that contradicts itself", () => {
  it("is a habit of a resource, whoever saw it", () => {
    const memory = createMemory();
    memory.of("a").sawMiscount("groups");
    expect([memory.of("b").miscounts("groups"), memory.of("b").miscounts("roles")]).toEqual([true, false]);
  });
});
