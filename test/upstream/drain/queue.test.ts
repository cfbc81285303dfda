import { describe, expect, it } from "vitest";
import { Problem } from "../../../src/model/problem.ts";
import { type Cut, createQueue, pageOf } from "../../../src/upstream/drain/queue.ts";
import { settled, watchedStopper } from "../clock.ts";
import { firstOf, KEYS, queued, SEGMENTS, taken } from "./queued.ts";
import { pageOf as pageAt, quiet, raw, respond } from "./simulator.ts";
import { knowing, runOf, SMALL } from "./stage.ts";

const WINDOWS: Cut = { overlap: 0, from: 8, step: 8, pages: 1, ahead: 6, readers: 3, aheadBytes: 2 ** 22 };

describe("parts are read", () => {
  it("at once, as many at a time as there are readers", async () => {
    const { asked, open, most } = queued(WINDOWS, 200);
    await settled();
    expect(asked()).toEqual([8, 16, 24]);
    await open[1]?.answer();
    expect(asked()).toEqual([8, 24, 32]);
    expect(most.atOnce).toBe(3);
  });

  it("though nobody waits for them, up to the bound and not beyond", async () => {
    const { asked, flow, queue } = queued(WINDOWS, 200);
    await flow();
    expect(asked()).toEqual([]);
    expect(await taken(queue)).toEqual([KEYS[8]]);
    await settled();
    expect(asked()).toEqual([]);
    expect(queue.advance()).toBe(true);
    await settled();
    expect(asked()).toEqual([8 + 6 * 8]);
  });

  it("by rank, and taken in that order, whichever comes first", async () => {
    const { open, queue } = queued(WINDOWS, 200);
    await settled();
    const step = queue.step();
    let there = false;
    void step.then(() => {
      there = true;
    });
    await open[2]?.answer();
    await open[1]?.answer();
    expect(there).toBe(false);
    await open[0]?.answer();
    expect(firstOf(await step)).toBe(KEYS[8]);
    expect(await queue.step()).toBeUndefined();
    queue.advance();
    expect(await taken(queue)).toEqual([KEYS[16]]);
    queue.advance();
    expect(await taken(queue)).toEqual([KEYS[24]]);
  });

  it("as far as the list is counted to go, and no further", async () => {
    for (const [total, skips] of [
      [8, []],
      [9, [8]],
      [16, [8]],
      [17, [8, 16]],
    ] as const) {
      const { asked, queue } = queued(WINDOWS, total);
      await settled();
      expect(asked()).toEqual(skips);
      if (total === 8) expect(await queue.step()).toBeUndefined();
    }
  });

  it("further on when there are more by now, and less far when there are less", async () => {
    const { asked, open, queue } = queued(WINDOWS, 17);
    await settled();
    queue.until(25);
    await settled();
    expect(asked()).toEqual([8, 16, 24]);
    queue.until(24);
    await open[0]?.answer();
    expect(asked()).toEqual([16, 24]);
    queue.until(33);
    await settled();
    expect(asked()).toEqual([16, 24, 32]);
  });

  it("until none is left", async () => {
    const { flow, queue } = queued(WINDOWS, 17);
    await flow();
    expect(queue.advance()).toBe(true);
    expect(await taken(queue)).toEqual([KEYS[16]]);
    expect(queue.advance()).toBe(false);
    expect(await queue.step()).toBeUndefined();
    expect(queue.advance()).toBe(false);
  });

  it("no more when the queue is closed, and those under way are stopped", async () => {
    const { asked, flow, queue, run } = queued(WINDOWS, 200);
    await settled();
    queue.close();
    await settled();
    expect(asked()).toEqual([]);
    queue.advance();
    queue.until(1000);
    await flow();
    expect([asked(), run.pages]).toEqual([[], 0]);
  });

  it("by queues that leave nothing behind when they are closed", () => {
    const { signal, abort, listeners } = watchedStopper();
    const run = runOf(quiet(KEYS), { limits: SMALL, parts: knowing(true) });
    const queue = createQueue({ ...run, stopper: { signal, abort } }, WINDOWS, 8);
    expect(listeners()).toBe(1);
    queue.close();
    expect(listeners()).toBe(0);
  });

  it("no more when the drain is over", async () => {
    const { asked, flow, run } = queued(WINDOWS, 200);
    await settled();
    run.stopper.abort(new Error("over"));
    await flow();
    expect([asked(), run.pages]).toEqual([[], 0]);
  });

  it("one at a time, until the first was what it should be", async () => {
    const { asked, open, most, queue } = queued(WINDOWS, 200, quiet(KEYS), knowing(undefined));
    await settled();
    expect(asked()).toEqual([8]);
    await open[0]?.answer();
    expect([asked(), most.atOnce]).toEqual([[16], 1]);
    queue.widen();
    await settled();
    expect(asked()).toEqual([16, 24, 32]);
    queue.widen();
    await settled();
    expect(asked()).toEqual([16, 24, 32]);
  });

  it("no more at a time when they are what they should be anyway", async () => {
    const { asked, queue } = queued(WINDOWS, 200);
    queue.widen();
    await settled();
    expect(asked()).toEqual([8, 16, 24]);
  });
});

describe("a part that fails", () => {
  it("tells so in its turn", async () => {
    const boom = new Problem("UPSTREAM_UNREACHABLE", "gone");
    const { open, queue } = queued(WINDOWS, 200);
    await settled();
    await open[1]?.fail(boom);
    await open[0]?.answer();
    expect(firstOf(await queue.step())).toBe(KEYS[8]);
    expect(await queue.step()).toBeUndefined();
    queue.advance();
    const step = await queue.step();
    expect(step).toEqual({ kind: "failed", problem: boom });
    expect(await queue.step()).toBeUndefined();
  });

  it("goes no further, whether it failed or was refused", async () => {
    for (const platform of [
      () => raw(403, "{}"),
      () => respond({ ...pageAt(KEYS, { size: 5 }, "keyset"), skipped: 1 }),
    ]) {
      const { flow, queue } = queued({ ...SEGMENTS, readers: 1, ahead: 1 }, 200, platform);
      await flow();
      expect(await taken(queue)).toHaveLength(1);
    }
  });

  it("throws what it failed with; a stranger is an internal error", () => {
    const boom = new Error("boom");
    expect(() => pageOf({ kind: "failed", problem: boom })).toThrow(boom);
    const stranger = () => pageOf({ kind: "failed", problem: "boom" });
    expect(stranger).toThrow(expect.objectContaining({ reason: "INTERNAL", cause: "boom" }));
    expect(pageOf({ kind: "unskipped" })).toEqual({ kind: "unskipped" });
  });
});
