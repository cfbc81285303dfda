import { describe, expect, it, vi } from "vitest";
import { createListHints } from "../../src/drain/hints.ts";

const MINUTE = 60_000;

describe("counts", () => {
  it("are remembered for one credential and one list", () => {
    const memory = createListHints();
    memory.of("a").learnCount("/list?size=200", 5);
    expect(memory.of("a").countOf("/list?size=200")).toBe(5);
    expect(memory.of("a").countOf("/list?size=100")).toBeUndefined();
    expect(memory.of("b").countOf("/list?size=200")).toBeUndefined();
    memory.of("a").learnCount("/list?size=200", 7);
    expect(memory.of("a").countOf("/list?size=200")).toBe(7);
  });

  it("of one credential are never taken for another's, however the two are spelled", () => {
    const memory = createListHints();
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
    const memory = createListHints().of("a");
    for (let i = 0; i < 2000; i++) memory.learnCount(`/${i}`, i);
    expect(memory.countOf("/0")).toBe(0);
    memory.learnCount("/2000", 2000);
    expect([memory.countOf("/0"), memory.countOf("/1"), memory.countOf("/2000")]).toEqual([0, undefined, 2000]);
  });

  it("of one upstream are not those of another", () => {
    createListHints().of("a").learnCount("/list", 5);
    expect(createListHints().of("a").countOf("/list")).toBeUndefined();
  });
});

describe("whether skip works", () => {
  it("is known of a resource, for one credential", () => {
    const memory = createListHints();
    expect(memory.of("a").heedsSkip("groups")).toBeUndefined();
    memory.of("a").sawSkip("groups", true);
    memory.of("a").sawSkip("roles", false);
    expect([memory.of("a").heedsSkip("groups"), memory.of("a").heedsSkip("roles")]).toEqual([true, false]);
    expect([memory.of("a").heedsSkip("repos"), memory.of("b").heedsSkip("groups")]).toEqual([undefined, undefined]);
    memory.of("a").sawSkip("groups", false);
    expect(memory.of("a").heedsSkip("groups")).toBe(false);
  });

  it("is forgotten, what was not used longest first, beyond two thousand", () => {
    const memory = createListHints().of("a");
    for (let i = 0; i <= 2000; i++) memory.sawSkip(`r${i}`, true);
    expect(["r0", "r1", "r2000"].map((resource) => memory.heedsSkip(resource))).toEqual([undefined, true, true]);
  });

  it("is tried again after ten minutes", () => {
    const clock = vi.spyOn(performance, "now");
    try {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      clock.mockReturnValue(1000);
      const memory = createListHints().of("a");
      memory.sawSkip("groups", false);
      const at = (ms: number) => {
        vi.runAllTimers();
        clock.mockReturnValue(1000 + ms);
        return memory.heedsSkip("groups");
      };
      expect(at(10 * MINUTE - 1)).toBe(false);
      expect(at(10 * MINUTE + 2)).toBeUndefined();
    } finally {
      vi.useRealTimers();
      clock.mockRestore();
    }
  });
});
