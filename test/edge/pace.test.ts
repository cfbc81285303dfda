import { afterEach, describe, expect, it, vi } from "vitest";
import { afterReading, SendRateWatch } from "../../src/edge/send-rate.ts";
import { fakeClock } from "../upstream/clock.ts";

function paced(minRate = 1024) {
  const clock = fakeClock();
  const told: string[] = [];
  const limits = { minRate, graceMs: 10_000, stallMs: 5_000 };
  const pace = new SendRateWatch(limits, clock.later, (what) => told.push(what));
  return { clock, told, pace };
}

describe("a client that sends a body", () => {
  it("DIFF-68: has ten seconds before its rate counts, and is then judged by bytes: one now and then is not enough", async () => {
    const { clock, told, pace } = paced();
    pace.waits(true);
    pace.came(64 * 1024);
    for (let s = 0; s < 8; s += 4) {
      await clock.pass(4_000);
      pace.came(1);
    }
    await clock.pass(2_000);
    expect(told).toEqual([]);
    await clock.pass(2_000);
    pace.came(1);
    await clock.pass(2_999);
    expect(told).toEqual([]);
    await clock.pass(1);
    expect(told).toEqual(["its request's body more slowly than 1024 bytes a second"]);
    expect(clock.timers()).toBe(0);
  });

  it("goes on as long as it likes at that rate", async () => {
    const { clock, told, pace } = paced();
    pace.waits(true);
    for (let s = 0; s < 100; s++) {
      pace.came(1024);
      await clock.pass(1_000);
    }
    expect(told).toEqual([]);
    pace.over();
    expect(clock.timers()).toBe(0);
  });

  it("may send nothing for five seconds only while a connection is held for it", async () => {
    const held = paced();
    held.pace.waits(true);
    await held.clock.pass(5_000);
    expect(held.told).toEqual(["nothing of its request's body for 5 s"]);
    const unheld = paced();
    unheld.pace.waits(false);
    await unheld.clock.pass(9_999);
    expect(unheld.told).toEqual([]);
    await unheld.clock.pass(1);
    expect(unheld.told).toHaveLength(1);
  });

  it("is not to blame for time in which it may not send", async () => {
    const { clock, told, pace } = paced();
    pace.waits(true);
    await clock.pass(4_000);
    pace.rests();
    await clock.pass(60_000);
    expect(told).toEqual([]);
    pace.waits(true);
    await clock.pass(4_999);
    expect(told).toEqual([]);
    await clock.pass(1);
    expect(told).toHaveLength(1);
  });

  it("may be as slow as it likes where the rate is 0, but not silent", async () => {
    const { clock, told, pace } = paced(0);
    pace.waits(true);
    for (let s = 0; s < 100; s += 4) {
      pace.came(1);
      await clock.pass(4_000);
    }
    expect(told).toEqual([]);
    await clock.pass(10_000);
    expect(told).toHaveLength(1);
  });
});

describe("the timer of all watches", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("runs each work after its time, unless it is cancelled by then", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "clearImmediate", "performance"] });
    const later = afterReading(() => performance.now());
    const told: string[] = [];
    let cancel = (): void => {};
    later(200, () => told.push("late"));
    later(100, () => {
      told.push("early");
      cancel();
    });
    cancel = later(100, () => told.push("cancelled after its time"));
    later(100, () => told.push("cancelled"))();
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersToNextTimer();
    // What came meanwhile is read first.
    expect(told).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(told).toEqual(["early"]);
    vi.advanceTimersByTime(101);
    expect(told).toEqual(["early", "late"]);
  });
});
