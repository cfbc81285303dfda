import { describe, expect, it } from "vitest";
import { createAdmission } from "../../src/edge/admission.ts";
import type { CallQueue } from "../../src/upstream/call-queue.ts";

interface Known {
  readonly held?: number;
  readonly streams?: number;
  readonly received?: number;
  readonly accepted?: boolean;
  /** Of the other queue. */
  readonly idleMs?: number;
  readonly long?: boolean;
  readonly waitMs?: number;
  readonly sharers?: number;
}

/** The queues of two upstreams, v1 with nothing in it. */
function subject(known: Known = {}) {
  const turnedAway: boolean[] = [];
  const calls = (of: Known) => ({
    isLong: () => of.long === true,
    predictedMs: () => of.waitMs ?? 0,
    sharers: () => of.sharers ?? 1,
    usedBy: () => of.held ?? 0,
    turnedAway: (overloaded: boolean) => void turnedAway.push(overloaded),
  });
  const idle = { ...known, held: 0, long: false, waitMs: known.idleMs ?? 0 };
  const clock = { now: 0 };
  const both = [calls(idle), calls(known)] as unknown as CallQueue[];
  const admit = createAdmission({
    inFlight: 1_000,
    requestSeconds: 50,
    calls: both,
    crowd: { receivedFrom: () => known.received ?? 0 },
    accepted: () => known.accepted === true,
    streamsOf: () => known.streams ?? 0,
    lists: { usedBy: () => 0, overloaded: () => {} },
    now: () => clock.now,
  });
  return { admit: (here: number) => admit(here, () => "a"), turnedAway, clock };
}

describe("a request is let in", () => {
  it("while there is memory, whoever sends it", () => {
    expect(subject({ held: 499 }).admit(499)).toBeUndefined();
    expect(subject({ accepted: true, held: 800 }).admit(800)).toBeUndefined();
  });

  it("not when there is none left, and all queues hear of it", () => {
    const { admit, turnedAway } = subject({ accepted: true });
    expect([admit(999), admit(1_000), turnedAway]).toEqual([undefined, "shed-in-flight", [true, true]]);
  });

  it("not when its credential holds nearly all that there is", () => {
    expect(subject({ accepted: true, held: 880 }).admit(880)).toBeUndefined();
    expect(subject({ accepted: true, held: 895 }).admit(895)).toBe("shed-in-flight");
    expect(subject({ accepted: true, held: 95, streams: 800 }).admit(895)).toBe("shed-in-flight");
    expect(subject({ accepted: true, held: 100 }).admit(950)).toBeUndefined();
  });

  it("not when nearly all that is here is still being received from its sender", () => {
    expect(subject({ accepted: true, received: 895 }).admit(895)).toBe("shed-in-flight");
  });

  it("by a credential that the platform has not accepted only while a quarter is left to the others", () => {
    expect([subject().admit(749), subject().admit(750)]).toEqual([undefined, "shed-in-flight"]);
  });

  it("not when it would wait beyond its deadline, whichever upstream it is for", () => {
    expect(subject({ long: true, waitMs: 60_000, idleMs: 60_000 }).admit(10)).toBe("shed-wait");
    expect(subject({ long: true, waitMs: 60_000 }).admit(10)).toBeUndefined();
    expect(subject({ long: false, waitMs: 60_000, idleMs: 60_000 }).admit(10)).toBeUndefined();
  });

  it("under overload only when it would wait for a moment, until nobody was turned away for a second", () => {
    const { admit, clock, turnedAway } = subject({ accepted: true, held: 500, long: true, waitMs: 300 });
    expect([admit(499), admit(500), admit(400), turnedAway.every((overloaded) => overloaded)]).toEqual([
      undefined,
      "shed-wait",
      "shed-wait",
      true,
    ]);
    clock.now = 1_000;
    expect(admit(400)).toBeUndefined();
  });

  it("under overload while its credential holds less than its share of half, however long it would wait", () => {
    const overload = { accepted: true, long: true, waitMs: 300 };
    expect(subject({ ...overload, sharers: 2, held: 249 }).admit(600)).toBeUndefined();
    expect(subject({ ...overload, sharers: 2, held: 250 }).admit(600)).toBe("shed-wait");
    expect(subject({ ...overload, sharers: 500 }).admit(600)).toBeUndefined();
    expect(subject({ ...overload, sharers: 501 }).admit(600)).toBe("shed-wait");
  });
});
