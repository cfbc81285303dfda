import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Problem } from "../../../src/model/problem.ts";
import { createStopper } from "../../../src/model/signal.ts";
import { createSlots, type Release, type SlotLimits } from "../../../src/upstream/drain/slots.ts";
import { fakeClock, settled, watchedStopper } from "../clock.ts";

const LIMITS: SlotLimits = { maxConcurrent: 3, maxConcurrentPerCredential: 2, queueSeconds: 5 };
const live = createStopper();
const EMPTY = { drains: 0, credentials: 0, waiting: 0 };

function subject(limits: Partial<SlotLimits> = {}) {
  const clock = fakeClock();
  const slots = createSlots({ ...LIMITS, ...limits }, clock.later);
  const order: string[] = [];
  /** A claim that tells in `order` when it got its slot. */
  const claim = (credential: string, name = credential) =>
    slots.claim(credential, live.signal).then((release) => {
      order.push(name);
      return release;
    });
  return { clock, slots, claim, order };
}

async function refusal(claimed: Promise<Release>): Promise<Problem> {
  const thrown: unknown = await claimed.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof Problem) return thrown;
  throw new Error("not refused");
}

describe("a slot", () => {
  it("given back is free again, and giving it back twice frees no other", async () => {
    const { claim, slots } = subject({ queueSeconds: 0 });
    const first = await claim("a");
    await claim("a");
    first();
    first();
    expect(slots.inUse()).toEqual({ drains: 1, credentials: 1, waiting: 0 });
    await claim("a");
    expect((await refusal(claim("a"))).metadata["scope"]).toBe("credential");
  });
});

describe("without a queue", () => {
  it("one credential over its limit is told when to come back, others are served", async () => {
    const { claim, slots } = subject({ queueSeconds: 0 });
    await claim("a");
    await claim("a");
    const problem = await refusal(claim("a"));
    expect(problem).toMatchObject({ reason: "OVERLOADED", http: 503, metadata: { limit: "2", scope: "credential" } });
    expect(problem.retryAfter).toBeGreaterThan(0);
    await claim("b");
    expect(slots.inUse()).toEqual({ drains: 3, credentials: 2, waiting: 0 });
  });

  it("the process has a limit over all credentials, and a refused claim takes nothing", async () => {
    const { claim, slots } = subject({ queueSeconds: 0 });
    const held = await Promise.all(["a", "b", "c"].map((credential) => claim(credential)));
    expect((await refusal(claim("d"))).metadata).toEqual({ limit: "3", scope: "process" });
    for (const release of held) release();
    expect(slots.inUse()).toEqual(EMPTY);
  });
});

describe("the queue", () => {
  it("gives a slot that comes free to who came first", async () => {
    const { claim, order } = subject();
    const [held] = await Promise.all(["a", "b", "c"].map((credential) => claim(credential)));
    const waiting = ["d", "e"].map((credential) => claim(credential));
    held?.();
    await settled();
    expect(order).toEqual(["a", "b", "c", "d"]);
    (await waiting[0])?.();
    await settled();
    expect(order.at(-1)).toBe("e");
  });

  it("puts a credential with fewer lists under way before one that came earlier", async () => {
    const { claim, order } = subject();
    const [held] = await Promise.all([claim("b"), claim("a"), claim("b")]);
    void claim("a", "second of a");
    void claim("c");
    held?.();
    await settled();
    expect(order.at(-1)).toBe("c");
  });

  it("ends after its seconds, with a refusal that says when to come back", async () => {
    const { claim, clock, slots } = subject({ queueSeconds: 1.5 });
    await Promise.all(["a", "b", "c"].map((credential) => claim(credential)));
    const refused = refusal(claim("d"));
    await clock.pass(1499);
    expect(slots.inUse().waiting).toBe(1);
    await clock.pass(1);
    expect(await refused).toMatchObject({ reason: "OVERLOADED", retryAfter: 2, metadata: { scope: "process" } });
    expect([slots.inUse().waiting, clock.timers()]).toEqual([0, 0]);
  });

  it("is bounded: beyond four for each slot nobody waits", async () => {
    const { claim, slots } = subject({ maxConcurrent: 2, maxConcurrentPerCredential: 2 });
    await Promise.all([claim("a"), claim("b")]);
    for (let i = 0; i < 8; i++) void claim(`c-${i}`).catch(() => {});
    expect((await refusal(claim("d"))).metadata).toEqual({ limit: "2", scope: "process" });
    expect(slots.inUse().waiting).toBe(8);
  });

  it("is bounded for each credential, so that one alone cannot fill it", async () => {
    const { claim, slots } = subject({ maxConcurrent: 100, maxConcurrentPerCredential: 1 });
    await claim("a");
    for (let i = 0; i < 4; i++) void claim("a").catch(() => {});
    expect((await refusal(claim("a"))).metadata).toEqual({ limit: "1", scope: "credential" });
    expect(slots.inUse().waiting).toBe(4);
    await claim("b");
  });

  it("takes nobody who has already given up, though there is room", async () => {
    const { slots } = subject();
    const { signal, abort } = watchedStopper();
    abort(new Error("gone"));
    await expect(slots.claim("a", signal)).rejects.toThrow("gone");
    expect(slots.inUse()).toEqual(EMPTY);
  });
});

describe("whatever happens in whatever order", () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("claim" as const), credential: fc.integer({ min: 0, max: 3 }) }),
    fc.record({ kind: fc.constant("release" as const), at: fc.nat(20) }),
    fc.record({ kind: fc.constant("abort" as const), at: fc.nat(20) }),
    fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 3000 }) }),
  );
  const limits = fc.record({
    maxConcurrent: fc.integer({ min: 1, max: 4 }),
    maxConcurrentPerCredential: fc.integer({ min: 1, max: 3 }),
    queueSeconds: fc.constantFrom(0, 1, 5),
  });

  it("no limit is passed, no slot lies idle while somebody may have it, and all is given back", async () => {
    await fc.assert(
      fc.asyncProperty(limits, fc.array(step, { maxLength: 40, size: "max" }), async (given, steps) => {
        const clock = fakeClock();
        const slots = createSlots(given, clock.later);
        const held = new Map<Release, string>();
        const waiting = new Map<ReturnType<typeof watchedStopper>, string>();
        const count = (credential: string) => [...held.values()].filter((own) => own === credential).length;
        const check = () => {
          expect(held.size).toBeLessThanOrEqual(given.maxConcurrent);
          for (const own of held.values()) expect(count(own)).toBeLessThanOrEqual(given.maxConcurrentPerCredential);
          expect(slots.inUse()).toEqual({
            drains: held.size,
            credentials: new Set(held.values()).size,
            waiting: waiting.size,
          });
          expect(clock.timers()).toBe(waiting.size);
          if (held.size === given.maxConcurrent) return;
          for (const own of waiting.values()) expect(count(own)).toBe(given.maxConcurrentPerCredential);
        };
        for (const each of steps) {
          if (each.kind === "pass") await clock.pass(each.ms);
          else if (each.kind === "release") {
            const [release] = [...held.keys()].slice(each.at % Math.max(1, held.size));
            if (release !== undefined) {
              held.delete(release);
              release();
            }
          } else if (each.kind === "abort") {
            [...waiting.keys()][each.at % Math.max(1, waiting.size)]?.abort(new Error("gone"));
          } else {
            const stopper = watchedStopper();
            const credential = String(each.credential);
            waiting.set(stopper, credential);
            void slots
              .claim(credential, stopper.signal)
              .then(
                (release) => void held.set(release, credential),
                (error: unknown) =>
                  expect(error instanceof Problem ? "refused" : String(error)).toMatch(/refused|gone/),
              )
              .then(() => {
                waiting.delete(stopper);
                expect(stopper.listeners()).toBe(0);
              });
          }
          await settled();
          check();
        }
        while (held.size > 0) {
          const [[release]] = held as unknown as [[Release]];
          held.delete(release);
          release();
          await settled();
        }
        expect([slots.inUse(), waiting.size, clock.timers()]).toEqual([EMPTY, 0, 0]);
      }),
      { numRuns: 200 },
    );
  });
});
