import { describe, expect, it } from "vitest";
import { settled, watchedStopper } from "../upstream/clock.ts";
import { keysOf, planOf, quiet, raw, stage } from "./simulator.ts";
import { holding, knowing, pull, SMALL } from "./stage.ts";

const KEYS = keysOf(300);

/** A long list whose calls wait for the test, once its first chunk is there. */
async function begun(heeds: boolean, bufferBytes = 0) {
  const calls = holding(quiet(KEYS));
  const stopper = watchedStopper();
  const on = stage(calls.served, {
    limits: { ...SMALL, bufferBytes },
    parts: { ...knowing(heeds), signal: stopper.signal },
  });
  const listed = on.longDrain(planOf());
  await settled();
  await calls.open.find((call) => call.selector.skip === undefined)?.answer();
  const { iterator, rest } = pull(await listed);
  await settled();
  const over = async () => {
    await settled();
    expect(calls.open).toEqual([]);
    expect(on.claims).toEqual({ taken: 1, released: 1 });
    expect(stopper.listeners()).toBe(0);
    expect(on.facts).toHaveLength(2);
    const asked = on.requests.length;
    await calls.flow();
    expect(on.requests).toHaveLength(asked);
  };
  return { ...on, ...calls, stopper, iterator, rest, over };
}

for (const [way, heeds] of [
  ["in parallel", true],
  ["by its cursor", false],
] as const) {
  describe(`T-DRN-21 a list read ${way}, which nobody wants any more,`, () => {
    it("ends before a byte of it was taken: no further call, the slot given back, all told once", async () => {
      const list = await begun(heeds);
      expect(list.open.length).toBeGreaterThan(0);
      await list.iterator.return?.();
      await list.over();
      expect(list.facts[1]).toMatchObject({ outcome: "aborted", witness: "none" });
      expect(await list.iterator.next()).toEqual({ done: true, value: undefined });
      await list.iterator.return?.();
      await list.over();
    });

    it("ends when the client leaves, though nobody asks for its chunks", async () => {
      const list = await begun(heeds);
      list.stopper.abort(new Error("client left"));
      await list.over();
      expect(list.facts[1]).toMatchObject({ outcome: "aborted" });
      const { error } = await list.rest();
      expect(error).toMatchObject({ message: "client left" });
      await list.over();
    });

    it("ends for who waits for a chunk with the reason why the client left", async () => {
      const list = await begun(heeds);
      await list.iterator.next();
      const next = list.iterator.next();
      await settled();
      list.stopper.abort(new Error("client left"));
      await expect(next).rejects.toThrow("client left");
      await list.over();
    });

    it("is over once: leaving after the end changes nothing", async () => {
      const list = await begun(heeds);
      const [{ uids, error }] = await Promise.all([list.rest(), list.flow()]);
      expect([uids, error]).toEqual([KEYS, undefined]);
      await list.iterator.return?.();
      list.stopper.abort(new Error("too late"));
      await list.over();
      expect(list.facts[1]).toMatchObject({ outcome: "complete", records: 300 });
    });

    it("is over once when it failed, too", async () => {
      const list = await begun(heeds);
      const rest = list.rest();
      await settled();
      await list.open[0]?.answer(raw(403, "{}"));
      expect((await rest).error).toMatchObject({ reason: "DRAIN_INCOMPLETE" });
      await list.iterator.return?.();
      await list.over();
      expect(list.facts[1]).toMatchObject({ outcome: "refused" });
    });

    it("T-DRN-22: stops asking while nobody takes its chunks, and goes on when somebody does", async () => {
      const list = await begun(heeds);
      await list.flow();
      const ahead = list.requests.length;
      // Beyond page one: what is read ahead of the commit point, and the chunk that is under way.
      expect(ahead).toBeLessThanOrEqual(1 + (heeds ? 8 + 2 : 2));
      await list.flow();
      expect(list.requests).toHaveLength(ahead);
      await list.iterator.next();
      await list.flow();
      await list.iterator.next();
      await list.flow();
      expect(list.requests.length).toBeGreaterThan(ahead);
      expect(list.requests.length).toBeLessThanOrEqual(ahead + 2);
      const [{ uids }] = await Promise.all([list.rest(), list.flow()]);
      expect(uids).toEqual(KEYS.slice(18 - (heeds ? 0 : -2)));
    });
  });
}

describe("a client that leaves before its list is there", () => {
  it("is told its own reason, and all is given back at once", async () => {
    for (const heeds of [true, false]) {
      const calls = holding(quiet(KEYS));
      const stopper = watchedStopper();
      const on = stage(calls.served, { limits: SMALL, parts: { ...knowing(heeds), signal: stopper.signal } });
      const listed = on.longDrain(planOf());
      await settled();
      await calls.open[0]?.answer();
      await calls.open[0]?.answer();
      stopper.abort(new Error("client left"));
      expect(on.facts).toHaveLength(1);
      expect(on.facts[0]).toMatchObject({ outcome: "aborted", witness: "none" });
      expect(on.claims).toEqual({ taken: 1, released: 1 });
      await expect(listed).rejects.toThrow("client left");
      await settled();
      expect([calls.open, stopper.listeners(), on.facts.length]).toEqual([[], 0, 1]);
    }
  });

  it("asks for nothing when it had left already", async () => {
    const stopper = watchedStopper();
    stopper.abort(new Error("client left"));
    const on = stage(quiet(KEYS), { parts: { ...knowing(true), signal: stopper.signal } });
    await expect(on.drain(planOf())).rejects.toThrow("client left");
    expect([on.requests, on.claims.taken, on.facts.length]).toEqual([[], 0, 1]);
    expect(on.facts[0]).toMatchObject({ outcome: "aborted" });
  });

  it("gives back the slot that it got too late", async () => {
    const stopper = watchedStopper();
    const given = { back: 0 };
    let grant: (release: () => void) => void = () => {};
    const on = stage(quiet(KEYS), {
      limits: SMALL,
      parts: {
        ...knowing(true),
        signal: stopper.signal,
        claim: () =>
          new Promise((resolve) => {
            grant = resolve;
          }),
      },
    });
    const listed = on.longDrain(planOf());
    await settled();
    stopper.abort(new Error("client left"));
    grant(() => {
      given.back += 1;
    });
    await expect(listed).rejects.toThrow("client left");
    expect(given.back).toBeGreaterThanOrEqual(1);
    expect(on.requests).toHaveLength(1);
  });

  it("leaves no listener behind a list that was whole", async () => {
    for (const count of [3, 40]) {
      const stopper = watchedStopper();
      const on = stage(quiet(keysOf(count)), { limits: SMALL, parts: { ...knowing(true), signal: stopper.signal } });
      await on.longDrain(planOf());
      expect(stopper.listeners()).toBe(0);
      stopper.abort(new Error("too late"));
      expect(on.facts).toHaveLength(1);
    }
  });
});
