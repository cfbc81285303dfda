import { describe, expect, it } from "vitest";
import { Problem } from "../../../src/model/problem.ts";
import { type Cut, createQueue, pageOf, type Step } from "../../../src/upstream/drain/queue.ts";
import type { DrainParts } from "../../../src/upstream/drain/run.ts";
import { settled } from "../clock.ts";
import { keysOf, type Platform, pageOf as pageAt, quiet, raw, respond } from "./simulator.ts";
import { changed, holding, knowing, moving, runOf, SMALL } from "./stage.ts";

const KEYS = keysOf(200);
const WINDOWS: Cut = { overlap: 0, from: 8, step: 8, pages: 1, ahead: 6, readers: 3 };
const SEGMENTS: Cut = { overlap: 0, from: 8, step: 28, pages: 3, ahead: 4, readers: 4 };

/** A queue over `platform` whose calls wait for the test. */
function subject(
  cut: Cut,
  total: number,
  platform: Platform = quiet(KEYS),
  parts: Partial<DrainParts> = knowing(true),
) {
  const calls = holding(platform);
  const run = runOf(calls.served, { limits: SMALL, parts });
  const queue = createQueue(run, cut, total);
  const asked = () => calls.open.map((call) => call.selector.skip ?? call.selector.token);
  return { ...calls, run, queue, asked };
}

const firstOf = (step: Step | undefined) => (step?.kind === "page" ? step.keys[0] : step?.kind);

/** Takes whatever the part in front brings, as its first keys. */
async function taken(queue: ReturnType<typeof createQueue>): Promise<unknown[]> {
  const all: unknown[] = [];
  for (let step = await queue.step(); step !== undefined; step = await queue.step()) all.push(firstOf(step));
  return all;
}

describe("parts are read", () => {
  it("at once, as many at a time as there are readers", async () => {
    const { asked, open, most } = subject(WINDOWS, 200);
    await settled();
    expect(asked()).toEqual([8, 16, 24]);
    await open[1]?.answer();
    expect(asked()).toEqual([8, 24, 32]);
    expect(most.atOnce).toBe(3);
  });

  it("though nobody waits for them, up to the bound and not beyond", async () => {
    const { asked, flow, queue } = subject(WINDOWS, 200);
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
    const { open, queue } = subject(WINDOWS, 200);
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
      const { asked, queue } = subject(WINDOWS, total);
      await settled();
      expect(asked()).toEqual(skips);
      if (total === 8) expect(await queue.step()).toBeUndefined();
    }
  });

  it("further on when there are more by now, and less far when there are less", async () => {
    const { asked, open, queue } = subject(WINDOWS, 17);
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
    const { flow, queue } = subject(WINDOWS, 17);
    await flow();
    expect(queue.advance()).toBe(true);
    expect(await taken(queue)).toEqual([KEYS[16]]);
    expect(queue.advance()).toBe(false);
    expect(await queue.step()).toBeUndefined();
    expect(queue.advance()).toBe(false);
  });

  it("no more when the queue is closed, and those under way are stopped", async () => {
    const { asked, flow, queue, run } = subject(WINDOWS, 200);
    await settled();
    queue.close();
    await settled();
    expect(asked()).toEqual([]);
    queue.advance();
    queue.until(1000);
    await flow();
    expect([asked(), run.pages]).toEqual([[], 0]);
  });

  it("no more when the drain is over", async () => {
    const { asked, flow, run } = subject(WINDOWS, 200);
    await settled();
    run.stopper.abort(new Error("over"));
    await flow();
    expect([asked(), run.pages]).toEqual([[], 0]);
  });

  it("one at a time, until the first was what it should be", async () => {
    const { asked, open, most, queue } = subject(WINDOWS, 200, quiet(KEYS), knowing(undefined));
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
    const { asked, queue } = subject(WINDOWS, 200);
    queue.widen();
    await settled();
    expect(asked()).toEqual([8, 16, 24]);
  });
});

describe("a part of several pages", () => {
  it("is a chain of tokens, which ends where it meets the next one", async () => {
    const { flow, queue, asked } = subject({ ...SEGMENTS, readers: 2, ahead: 2 }, 200);
    await settled();
    expect(asked()).toEqual([8, 36]);
    await flow();
    expect(await taken(queue)).toEqual([KEYS[8], KEYS[18], KEYS[28]]);
    queue.advance();
    expect(await taken(queue)).toEqual([KEYS[36], KEYS[46], KEYS[56]]);
  });

  it("is taken page by page, as they come", async () => {
    const { open, queue } = subject(SEGMENTS, 200);
    await settled();
    await open[0]?.answer();
    expect(firstOf(await queue.step())).toBe(KEYS[8]);
    let there = false;
    const next = queue.step();
    void next.then(() => {
      there = true;
    });
    await settled();
    expect(there).toBe(false);
    await open.find((call) => call.selector.token !== undefined)?.answer();
    expect(firstOf(await next)).toBe(KEYS[18]);
  });

  it("ends early when it meets the next one early", async () => {
    const { flow, queue } = subject(SEGMENTS, 200, moving(changed(KEYS, 4, KEYS.slice(20, 34))));
    await flow();
    // Of what was behind rank 20 there is only the next part.
    expect(await taken(queue)).toEqual([KEYS[8], KEYS[18]]);
  });

  it("ends where it meets the next one exactly, and not a record before", async () => {
    const cut = { ...SEGMENTS, step: 29 };
    const { flow, queue } = subject(cut, 200);
    await flow();
    expect(await taken(queue)).toEqual([KEYS[8], KEYS[18], KEYS[28]]);
    const apart = subject({ ...SEGMENTS, step: 30 }, 200);
    await apart.flow();
    expect(await taken(apart.queue)).toEqual([KEYS[8], KEYS[18], KEYS[28], KEYS[38]]);
  });

  it("goes on where records were put into it, for as many pages again", async () => {
    const more = (count: number) => Array.from({ length: count }, (_, i) => `u000020-${String(i).padStart(3, "0")}`);
    for (const [count, pages] of [
      [10, 4],
      [25, 6],
      [60, 6],
    ] as const) {
      const { flow, queue } = subject({ ...SEGMENTS, readers: 2 }, 60, moving(changed(KEYS, 2, [], more(count))));
      await flow();
      expect(await taken(queue)).toHaveLength(pages);
    }
  });

  it("ends with its last page when nothing is known of a next one", async () => {
    const last = subject(SEGMENTS, 30);
    await last.flow();
    expect(await taken(last.queue)).toEqual([KEYS[8], KEYS[18], KEYS[28]]);
    const narrow = subject(SEGMENTS, 200, quiet(KEYS), knowing(undefined));
    await settled();
    for (const asked of [8, `k:${KEYS[17]}`, `k:${KEYS[27]}`, 36]) {
      expect(narrow.asked()).toEqual([asked]);
      await narrow.open[0]?.answer();
    }
  });

  it("ends with the end of the list", async () => {
    const { flow, queue } = subject(SEGMENTS, 30, quiet(KEYS.slice(0, 22)));
    await flow();
    expect(await taken(queue)).toEqual([KEYS[8], KEYS[18]]);
  });

  it("is known by the first record of its first page that has one", async () => {
    const platform: Platform = (s) => {
      if (s.skip === 36) return respond({ items: [], next: `k:${KEYS[35]}`, total: "200", skipped: 36 });
      return respond(pageAt(KEYS, s, "keyset"));
    };
    const { open, flow, queue } = subject({ ...SEGMENTS, readers: 2, ahead: 2 }, 200, platform);
    await settled();
    await open[1]?.answer();
    await open[1]?.answer();
    await flow();
    expect(await taken(queue)).toEqual([KEYS[8], KEYS[18], KEYS[28]]);
  });

  it("that is empty for a page still knows how far it came", async () => {
    const platform: Platform = (s) => {
      if (s.token === `k:${KEYS[37]}`) return respond({ items: [], next: "e:", total: "200", skipped: 0 });
      return respond(pageAt(KEYS, s, "keyset"));
    };
    // The third page ends with the head of the next part only when that is known: here it comes late.
    const { open, queue } = subject({ ...SEGMENTS, readers: 2, ahead: 2 }, 200, platform);
    await settled();
    for (let i = 0; i < 3; i++) await open.find((call) => call.selector.skip !== 36)?.answer();
    await open.find((call) => call.selector.skip === 36)?.answer();
    expect(await taken(queue)).toEqual([KEYS[8], KEYS[18], KEYS[28]]);
  });

  it("is not read on when it is dropped, and what it brought is forgotten", async () => {
    const { asked, flow, open, queue } = subject({ ...SEGMENTS, readers: 2, ahead: 2 }, 200);
    await settled();
    await open[0]?.answer();
    expect(asked()).toEqual([36, `k:${KEYS[17]}`]);
    queue.drop();
    expect(await queue.step()).toBeUndefined();
    await flow();
    expect(await queue.step()).toBeUndefined();
    expect(queue.advance()).toBe(true);
    expect(await taken(queue)).toEqual([KEYS[36], KEYS[46], KEYS[56]]);
  });

  it("may be dropped when there is none", async () => {
    const { queue } = subject(SEGMENTS, 8);
    queue.drop();
    expect(await queue.step()).toBeUndefined();
  });

  it("follows no token when the queue was closed meanwhile", async () => {
    const { asked, open, queue } = subject({ ...SEGMENTS, readers: 1 }, 200);
    await settled();
    queue.close();
    await open[0]?.answer();
    expect(asked()).toEqual([]);
  });
});

describe("a part that fails", () => {
  it("tells so in its turn", async () => {
    const boom = new Problem("UPSTREAM_UNREACHABLE", "gone");
    const { open, queue } = subject(WINDOWS, 200);
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
      const { flow, queue } = subject({ ...SEGMENTS, readers: 1, ahead: 1 }, 200, platform);
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
