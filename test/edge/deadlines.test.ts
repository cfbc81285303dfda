import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createDeadlines, Timed } from "../../src/edge/deadlines.ts";

const USUAL_MS = 1_000;

class Named extends Timed {
  readonly name: string;

  constructor(name: string, clientMs: number) {
    super(performance.now(), USUAL_MS, performance.now() + clientMs);
    this.name = name;
  }
}

describe("the deadlines of requests", () => {
  const expired: string[] = [];
  const create = () => {
    const deadlines = createDeadlines<Named>(
      USUAL_MS,
      () => performance.now(),
      ({ name }) => expired.push(name),
    );
    const begin = (name: string, clientMs = Number.POSITIVE_INFINITY): Named => {
      const one = new Named(name, clientMs);
      deadlines.add(one);
      return one;
    };
    return { ...deadlines, begin };
  };

  beforeEach(() => {
    vi.useFakeTimers();
    expired.length = 0;
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("each ends its own request, unless that was over before", () => {
    const { begin } = create();
    const first = begin("first");
    vi.advanceTimersByTime(400.5);
    begin("second");
    const third = begin("third");
    begin("fourth");
    first.clear();
    third.clear();
    vi.advanceTimersByTime(999);
    expect(expired).toEqual([]);
    vi.advanceTimersByTime(2);
    expect(expired).toEqual(["second", "fourth"]);
  });

  it("come one after another, also after a pause", () => {
    const { begin } = create();
    begin("first");
    vi.advanceTimersByTime(600);
    begin("second");
    vi.advanceTimersByTime(401);
    expect(expired).toEqual(["first"]);
    vi.advanceTimersByTime(600);
    expect(expired).toEqual(["first", "second"]);
    vi.advanceTimersByTime(5_000);
    begin("third");
    vi.advanceTimersByTime(1_001);
    expect(expired).toEqual(["first", "second", "third"]);
  });

  it("a client's own comes before those of requests that began earlier", () => {
    const { begin } = create();
    begin("usual");
    begin("soon", 10);
    begin("over", 20).clear();
    vi.advanceTimersByTime(30);
    expect(expired).toEqual(["soon"]);
  });

  it("move on with a request that moves, but not beyond its client's own", () => {
    const { begin, change } = create();
    const [moving, own] = [begin("moving"), begin("own", 1_500)];
    begin("usual");
    change(begin("endless"), Number.POSITIVE_INFINITY);
    change(begin("short"), 300);
    vi.advanceTimersByTime(900);
    for (const one of [moving, own]) one.aliveAt = performance.now();
    vi.advanceTimersByTime(200);
    expect(expired).toEqual(["short", "usual"]);
    vi.advanceTimersByTime(1_000);
    expect(expired).toEqual(["short", "usual", "own", "moving"]);
    vi.advanceTimersByTime(100_000);
    expect(expired).toHaveLength(4);
  });

  it("know every request that is open, late ones included", () => {
    const { begin, all } = create();
    const late = begin("late", 10);
    begin("gone").clear();
    begin("usual");
    vi.advanceTimersByTime(20);
    expect(
      all()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(["late", "usual"]);
    late.clear();
    expect(all().map(({ name }) => name)).toEqual(["usual"]);
  });
});
