import { describe, expect, it } from "vitest";
import { Problem } from "../../../src/model/problem.ts";
import type { Step } from "../../../src/upstream/drain/part.ts";
import { type Cut, createQueue, pageOf, type Queue } from "../../../src/upstream/drain/queue.ts";
import type { DrainParts } from "../../../src/upstream/drain/run.ts";
import { settled, watchedStopper } from "../clock.ts";
import { drained, keysOf, type Platform, pageOf as pageAt, quiet, raw, respond, uidsOf } from "./simulator.ts";
import { holding, knowing, SEGMENTS as LIMITS, runOf, SMALL } from "./stage.ts";

const KEYS = keysOf(200);
const SEGMENTS: Cut = { overlap: 0, from: 8, step: 28, pages: 3, ahead: 4, readers: 4, aheadBytes: 2 ** 22 };

/** A queue over `platform` whose calls wait for the test. */
function queued(cut: Cut, total: number, platform: Platform = quiet(KEYS), parts: Partial<DrainParts> = knowing(true)) {
  const calls = holding(platform);
  const run = runOf(calls.served, { limits: SMALL, parts });
  const queue = createQueue(run, cut, total);
  const asked = () => calls.open.map((call) => call.selector.skip ?? call.selector.token);
  return { ...calls, run, queue, asked };
}

const firstOf = (step: Step | undefined) => (step?.kind === "page" ? step.keys[0] : step?.kind);

/** Takes whatever the part in front brings, as its first keys. */
async function taken(queue: Queue): Promise<unknown[]> {
  const all: unknown[] = [];
  for (let step = await queue.step(); step !== undefined; step = await queue.step()) all.push(firstOf(step));
  return all;
}

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

describe("bytes that lie ahead", () => {
  it("hold up all parts but the one in front, until they are taken", async () => {
    // A page is ten records of 17 bytes and their commas.
    const { flow, open, queue, asked } = queued({ ...SEGMENTS, aheadBytes: 300 }, 200);
    await settled();
    expect(open).toHaveLength(4);
    for (const call of [...open]) await call.answer();
    await settled();
    // One page of each has come: only the part in front goes on.
    expect(asked()).toEqual([`k:${KEYS[17]}`]);
    await flow();
    expect(asked()).toEqual([]);
    expect(await taken(queue)).toEqual([KEYS[8], KEYS[18], KEYS[28]]);
    expect(queue.advance()).toBe(true);
    await flow();
    expect(await taken(queue)).toEqual([KEYS[36], KEYS[46], KEYS[56]]);
  });

  it("are held by nobody after the queue is closed: who waited for room goes", async () => {
    const { flow, open, queue } = queued({ ...SEGMENTS, aheadBytes: 1 }, 200);
    await flow();
    queue.close();
    await settled();
    expect(open).toEqual([]);
    expect(await queue.step()).toBeUndefined();
  });
});

describe("an end behind which something was seen", () => {
  /** The page that holds the record of that rank says that it is the last. */
  const cutAt = (rank: number, times: number): Platform => {
    let left = times;
    return (s) => {
      const page = pageAt(KEYS, s, "keyset");
      const holds = page.items.some((item) => (item as { uid: string }).uid === KEYS[rank]);
      if (!holds || left <= 0) return respond(page);
      left -= 1;
      return respond({ ...page, next: "", total: undefined });
    };
  };

  it("is asked about again, and the list goes on when it was none", async () => {
    for (const limits of [SMALL, LIMITS]) {
      const outcome = await drained(cutAt(60, 1), { limits, parts: knowing(true, "keyset") });
      expect(uidsOf(outcome)).toEqual(KEYS);
      expect(outcome.notes).toContain("list-page-again");
    }
  });

  it("is believed when it is said again: it may really have gone", async () => {
    const gone = KEYS.slice(0, 60);
    const outcome = await drained((s, call) => quiet(call < 6 ? KEYS : gone)(s, call), {
      limits: SMALL,
      parts: knowing(true),
    });
    expect(gone.filter((key) => !uidsOf(outcome).includes(key))).toEqual([]);
  });
});

describe("an answer of nothing at all", () => {
  it("is no end of a part: the list is read again, and refused when it stays so", async () => {
    for (const tokens of ["keyset", "unknown"] as const) {
      const nothing = (times: number): Platform => {
        let left = times;
        return (s, call) =>
          s.token === `k:${KEYS[47]}` && left-- > 0 ? raw(200, '{"items":[],"next":""}') : quiet(KEYS)(s, call);
      };
      const once = await drained(nothing(1), { limits: LIMITS, parts: knowing(true, tokens) });
      expect(uidsOf(once)).toEqual(KEYS);
      const always = await drained(nothing(Infinity), { limits: LIMITS, parts: knowing(true, tokens) });
      if (always.result?.kind === "list") expect(uidsOf(always)).toEqual(KEYS);
      else expect(always.problem?.http).toBe(502);
    }
  });
});
