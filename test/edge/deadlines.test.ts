import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createDeadlines } from "../../src/edge/deadlines.ts";
import type { IncomingRequest } from "../../src/server/incoming-request.ts";

const USUAL_MS = 1_000;

describe("the deadlines of requests", () => {
  const expired: string[] = [];
  const begin = (requestId: string, ms = USUAL_MS): IncomingRequest => {
    const startedAt = performance.now();
    return { deadline: startedAt + ms, exchange: { requestId, startedAt } } as IncomingRequest;
  };
  const create = () =>
    createDeadlines(
      USUAL_MS,
      () => performance.now(),
      (request) => expired.push(request.exchange.requestId),
    );

  beforeEach(() => {
    vi.useFakeTimers();
    expired.length = 0;
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("each ends its own request, unless that was over before", () => {
    const watch = create();
    const first = watch(begin("first"));
    vi.advanceTimersByTime(400.5);
    watch(begin("second"));
    const third = watch(begin("third"));
    watch(begin("fourth"));
    first.clear();
    third.clear();
    vi.advanceTimersByTime(999);
    expect(expired).toEqual([]);
    vi.advanceTimersByTime(2);
    expect(expired).toEqual(["second", "fourth"]);
  });

  it("come one after another, also after a pause", () => {
    const watch = create();
    watch(begin("first"));
    vi.advanceTimersByTime(600);
    watch(begin("second"));
    vi.advanceTimersByTime(401);
    expect(expired).toEqual(["first"]);
    vi.advanceTimersByTime(600);
    expect(expired).toEqual(["first", "second"]);
    vi.advanceTimersByTime(5_000);
    watch(begin("third"));
    vi.advanceTimersByTime(1_001);
    expect(expired).toEqual(["first", "second", "third"]);
  });

  it("a client's own comes before those of requests that began earlier", () => {
    const watch = create();
    watch(begin("usual"));
    watch(begin("soon", 10));
    watch(begin("over", 20)).clear();
    vi.advanceTimersByTime(30);
    expect(expired).toEqual(["soon"]);
  });
});
