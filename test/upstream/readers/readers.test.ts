import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ApiRequest, ApiResponse, HeaderList, Send } from "../../../src/model/message.ts";
import { Problem } from "../../../src/model/problem.ts";
import { createStopper, type Signal } from "../../../src/model/signal.ts";
import { createReaders, type ReadersOptions } from "../../../src/upstream/readers/readers.ts";
import { fakeClock, settled, watchedStopper } from "../clock.ts";

const DATE = Date.parse("2026-11-21T12:00:00Z");
const PAGE = "/iam/v2beta1/groups?page_size=200";
const IDLE = { inFlight: 0, waiting: 0, gatedMs: 0, pausedMs: 0 };

function answer(status: number, headers: HeaderList = []): ApiResponse {
  return { status, headers, body: new Uint8Array(0) };
}

/** A call that has reached the upstream and waits for its answer. */
interface Held {
  readonly at: number;
  give(response: ApiResponse): Promise<void>;
  fail(error: unknown): Promise<void>;
}

function subject(options: Partial<ReadersOptions> = {}) {
  const clock = fakeClock();
  const readers = createReaders({
    perCredential: 8,
    perUpstream: 32,
    now: clock.now,
    wall: () => DATE + clock.now(),
    random: () => 0.5,
    sleep: clock.sleep,
    ...options,
  });
  const held: Held[] = [];
  const upstream: Send = (_, { signal }) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const gone = () => void end(() => reject(signal.reason));
      const end = (settle: () => void) => {
        held.splice(held.indexOf(call), 1);
        signal.removeEventListener("abort", gone);
        settle();
        return settled();
      };
      const call: Held = {
        at: clock.now(),
        give: (response) => end(() => resolve(response)),
        fail: (error) => end(() => reject(error)),
      };
      held.push(call);
      signal.addEventListener("abort", gone, { once: true });
    });
  /** Reads one page; what became of it is in `done`: a status, or the message of an error. */
  const done: (number | string)[] = [];
  async function read(credential = "a", signal: Signal = createStopper().signal, target = PAGE): Promise<void> {
    const send = readers.layer(credential)(upstream);
    const request: ApiRequest = { method: "GET", target, headers: [] };
    await send(request, { signal }).then(
      ({ status }) => done.push(status),
      (error: Error) => done.push(error.message),
    );
  }
  const start = async (count: number, credential?: string) => {
    for (let i = 0; i < count; i++) void read(credential);
    await settled();
  };
  /** Answers what is held now, each with `response`. */
  const giveAll = async (response = answer(200)) => {
    for (const call of [...held]) await call.give(response);
  };
  return { clock, readers, held, done, read, start, giveAll };
}

describe("calls under way", () => {
  it("are four at first, then twice as many after each clean round", async () => {
    const { held, start, giveAll, readers } = subject({ perCredential: 100 });
    await start(100);
    const seen: number[] = [];
    for (let round = 0; round < 5; round++) {
      seen.push(held.length);
      await giveAll();
    }
    expect(seen).toEqual([4, 8, 16, 32, 32]);
    expect(readers.state()).toMatchObject({ limit: 32, inFlight: 8, waiting: 0 });
  });

  it("give their place to the next, however they end", async () => {
    const { held, start, done, readers } = subject({ start: 1 });
    await start(4);
    await held[0]?.fail(new Problem("UPSTREAM_UNREACHABLE", "reset"));
    await held[0]?.give(answer(404));
    await held[0]?.give(answer(500));
    await held[0]?.give(answer(200));
    expect(done).toEqual(["reset", 404, 500, 200]);
    expect(readers.state()).toMatchObject({ ...IDLE, limit: 2 });
  });
});

describe("a caller who gives up", () => {
  it("behind the gate leaves at once", async () => {
    const { start, held, read, done, readers } = subject();
    await start(1);
    await held[0]?.give(answer(503, [["retry-after", "3"]]));
    const stopper = createStopper();
    void read("a", stopper.signal);
    await settled();
    stopper.abort(new Error("gone"));
    await settled();
    expect([done, readers.state()]).toMatchObject([[503, "gone"], { waiting: 0, gatedMs: 3_000 }]);
  });

  it("in the pause before a repeat leaves at once, and no timer stays", async () => {
    const { read, held, done, clock, readers } = subject();
    const stopper = createStopper();
    void read("a", stopper.signal);
    await settled();
    await held[0]?.give(answer(429));
    expect([clock.timers(), readers.state().inFlight]).toEqual([1, 0]);
    stopper.abort(new Error("gone"));
    await settled();
    expect([done, clock.timers(), held.length]).toEqual([["gone"], 0, 0]);
  });
});

describe("an upstream that refuses", () => {
  it.each([
    ["429", (call: Held) => call.give(answer(429))],
    ["503", (call: Held) => call.give(answer(503))],
    ["504", (call: Held) => call.give(answer(504))],
    ["a timeout", (call: Held) => call.fail(new Problem("UPSTREAM_TIMEOUT", "slow"))],
  ])("with %s is called half as much, once for each round trip", async (_, end) => {
    const { held, start, readers } = subject({ start: 8 });
    await start(8);
    for (const call of [...held].slice(0, 3)) await end(call);
    expect(readers.state().limit).toBe(4);
    await start(8, "b");
    for (const call of [...held].slice(0, 5)) await call.give(answer(200));
    expect([held.length, readers.state().limit]).toEqual([4, 4]);
    const [first] = held;
    if (first !== undefined) await end(first);
    expect(readers.state().limit).toBe(2);
  });

  it.each([503, 504])("with %i is told so at once: a repeat is not decided here", async (status) => {
    const { start, held, done, clock } = subject();
    await start(1);
    await held[0]?.give(answer(status));
    expect([done, clock.timers()]).toEqual([[status], 0]);
  });

  it.each([400, 401, 403, 404, 500, 502])("with %i for another reason is not called less", async (status) => {
    const { start, giveAll, readers } = subject();
    await start(4);
    await giveAll(answer(status));
    expect(readers.state().limit).toBe(4);
  });
});

describe("Retry-After", () => {
  it.each([
    [429, "1", 1_000],
    [503, "1", 1_000],
    [503, "Sat, 21 Nov 2026 12:00:02 GMT", 2_000],
  ])("of a %i (%s) keeps every reader of the upstream away until then", async (status, value, ms) => {
    const { start, held, clock, readers, giveAll } = subject();
    await start(2, "a");
    await start(6, "b");
    await held[0]?.give(answer(status, [["retry-after", value]]));
    expect(readers.state().gatedMs).toBe(ms);
    await giveAll();
    await start(3, "c");
    await clock.pass(ms - 1);
    expect([held.length, readers.state().gatedMs]).toEqual([0, 1]);
    await clock.pass(1);
    const { limit } = readers.state();
    // Perhaps one more than the limit: whoever has nothing under way need not wait for others.
    expect([limit, limit + 1]).toContain(held.length);
    expect(held.every(({ at }) => at === ms)).toBe(true);
    expect([readers.state().gatedMs, clock.timers()]).toEqual([0, 0]);
  });

  it("of a later answer counts from then, and a shorter one opens nothing", async () => {
    const { start, held, clock } = subject();
    await start(3);
    await held[0]?.give(answer(503, [["retry-after", "2"]]));
    await clock.pass(1_000);
    await held[0]?.give(answer(503, [["retry-after", "3"]]));
    await held[0]?.give(answer(503, [["retry-after", "1"]]));
    expect(clock.timers()).toBe(1);
    await start(1);
    await clock.pass(2_999);
    expect(held).toEqual([]);
    await clock.pass(1);
    expect(held.map(({ at }) => at)).toEqual([4_000]);
  });

  it("is kept though a timer comes early", async () => {
    const clock = fakeClock();
    const { start, held, readers } = subject({
      now: clock.now,
      sleep: (ms, signal) => clock.sleep(Math.max(0.25, ms - 0.5), signal),
    });
    await start(1);
    await held[0]?.give(answer(503, [["retry-after", "1"]]));
    await start(1);
    await clock.pass(999.75);
    expect(held).toEqual([]);
    await clock.pass(1);
    expect([held.length, readers.state().gatedMs]).toEqual([1, 0]);
  });

  it("T-DRN-20: longer than five seconds gives the 429 back at once, and keeps the others away for five", async () => {
    const { start, held, done, readers, clock } = subject();
    await start(2);
    await held[0]?.give(answer(429, [["retry-after", "600"]]));
    expect([done, clock.now(), readers.state().gatedMs]).toEqual([[429], 0, 5_000]);
    await held[0]?.give(answer(200));
    await start(1);
    await clock.pass(5_000);
    expect(held.map(({ at }) => at)).toEqual([5_000]);
  });

  it.each(["soon", "-1", "1.5", "0", "Sat, 21 Nov 2020 12:00:00 GMT"])("%s closes nothing", async (value) => {
    const { start, held, readers } = subject();
    await start(1);
    await held[0]?.give(answer(503, [["retry-after", value]]));
    expect(readers.state().gatedMs).toBe(0);
  });
});

describe("a 429", () => {
  it("is sent again up to three times, after pauses that grow", async () => {
    const { start, held, done, clock } = subject();
    await start(1);
    const at: number[] = [];
    for (let i = 0; i < 4; i++) {
      at.push(held[0]?.at ?? -1);
      await held[0]?.give(answer(429));
      if (i < 3) await clock.pass([150, 300, 600][i] ?? 0);
    }
    expect([at, done, held.length, clock.timers()]).toEqual([[0, 150, 450, 1050], [429], 0, 0]);
  });

  it("with Retry-After is sent again behind the gate, before others of its credential", async () => {
    const { read, held, done, clock, start } = subject({ start: 1, perUpstream: 1 });
    await start(1);
    void read("a", undefined, "/other").then(() => done.push("other"));
    await held[0]?.give(answer(429, [["retry-after", "2"]]));
    await clock.pass(2_000);
    await held[0]?.give(answer(200));
    expect(done).toEqual([200]);
  });

  it.each([0, 0.999])("is repeated after 100 to 200 ms (%d)", async (random) => {
    const { start, held, clock } = subject({ random: () => random });
    await start(1);
    await held[0]?.give(answer(429));
    await clock.pass(99);
    expect(held).toEqual([]);
    await clock.pass(101);
    expect(held).toHaveLength(1);
  });
});

describe("answers that take much longer than they did", () => {
  /** One call after another with four under way; how long each takes. */
  async function answered(count: number, ms: number, given: ReturnType<typeof subject>, target = PAGE) {
    for (let i = 0; i < count; i++) {
      while (given.held.length < Math.min(4, given.readers.state().limit)) {
        void given.read("a", undefined, target);
        await settled();
      }
      await given.clock.pass(ms / given.held.length);
      await given.held[0]?.give(answer(200));
    }
    while (given.held.length > 0) await given.giveAll();
  }

  it("are compared with answers to the same kind of list only", async () => {
    const given = subject({ start: 4, perUpstream: 4 });
    await answered(100, 20, given);
    const repos = "/registry/v2beta1/repos?page_size=200";
    for (let i = 0; i < 50; i++) {
      await answered(1, 400, given, repos);
      expect(given.readers.state().limit).toBe(4);
    }
  });

  it("are remembered for a bounded number of kinds", async () => {
    const given = subject({ start: 4, perUpstream: 4 });
    await answered(100, 20, given);
    for (let i = 0; i < 64; i++) await answered(1, 20, given, `/kind/${i}`);
    // Forgotten, so that what comes now is usual.
    for (let i = 0; i < 50; i++) {
      await answered(1, 400, given);
      expect(given.readers.state().limit).toBe(4);
    }
  });

  it("are a queue where fewer calls shorten them: then fewer are under way until it is short, and the platform stays busy", async () => {
    const given = subject({ start: 32, perCredential: 64, perUpstream: 64 });
    // The platform works on two calls at a time, 20 ms each; further ones wait there.
    const serve = async (readers: number, count: number) => {
      const limits: number[] = [];
      for (let i = 0; i < count; i++) {
        await given.start(readers - given.readers.state().inFlight - given.readers.state().waiting);
        await given.clock.pass(10);
        await given.held[0]?.give(answer(200));
        limits.push(given.readers.state().limit);
      }
      return limits;
    };
    expect(new Set(await serve(2, 50))).toEqual(new Set([32]));
    const crowded = await serve(64, 600);
    expect(Math.max(...crowded.slice(200))).toBeLessThanOrEqual(8);
    expect(Math.min(...crowded)).toBeGreaterThanOrEqual(2);
  });
});

describe("whatever the upstream does and whoever gives up", () => {
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant("read" as const), credential: fc.constantFrom("a", "b", "c") }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("good" as const), at: fc.nat(20) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("bad" as const),
        at: fc.nat(20),
        status: fc.constantFrom(429, 500, 503, 504),
        after: fc.constantFrom(undefined, "0", "1", "4", "600"),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("fail" as const), at: fc.nat(20) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("abort" as const), at: fc.nat(20) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 6_000 }) }) },
  );

  it("never more is under way than allowed, nobody waits for ever, and everything is given back", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(step, { maxLength: 60, size: "max" }),
        async (perCredential, steps) => {
          const { clock, readers, held, done, read } = subject({ perCredential, perUpstream: 4 });
          const stoppers: ReturnType<typeof watchedStopper>[] = [];
          const check = (before: number, limitBefore: number) => {
            const { limit, inFlight, waiting, gatedMs } = readers.state();
            expect(inFlight).toBe(held.length);
            // Calls begin only below the limit; after a cut those under way may be more until they end.
            // Or one for a credential that has none: there are three.
            if (inFlight > before) expect(inFlight).toBeLessThanOrEqual(Math.max(limit, limitBefore) + 2);
            if (waiting > 0 && gatedMs === 0) expect(inFlight).toBeGreaterThan(0);
            expect(inFlight).toBeLessThanOrEqual(3 * perCredential);
          };
          for (const each of steps) {
            const [before, { limit }] = [held.length, readers.state()];
            if (each.kind === "pass") await clock.pass(each.ms);
            else if (each.kind === "read") {
              const stopper = watchedStopper();
              stoppers.push(stopper);
              void read(each.credential, stopper.signal);
            } else if (each.kind === "abort")
              stoppers[each.at % Math.max(1, stoppers.length)]?.abort(new Error("gone"));
            else {
              const call = held[each.at % Math.max(1, held.length)];
              if (each.kind === "good") await call?.give(answer(200));
              else if (each.kind === "fail") await call?.fail(new Problem("UPSTREAM_TIMEOUT", "slow"));
              else await call?.give(answer(each.status, each.after === undefined ? [] : [["retry-after", each.after]]));
            }
            await settled();
            check(before, limit);
          }
          // From now on all goes well: everybody is served.
          for (let i = 0; i < 4 * stoppers.length && done.length < stoppers.length; i++) {
            await clock.pass(5_000);
            for (const call of [...held]) await call.give(answer(200));
          }
          expect(done).toHaveLength(stoppers.length);
          await clock.pass(5_000);
          expect(readers.state()).toMatchObject(IDLE);
          expect(clock.timers()).toBe(0);
        },
      ),
      { numRuns: 150 },
    );
  });
});

it("a credential that is refused again as soon as it may call holds up itself, and nobody else", async () => {
  const { start, held, clock, readers } = subject();
  await start(1, "greedy");
  await held[0]?.give(answer(429, [["retry-after", "1"]]));
  expect(readers.state().gatedMs).toBe(1000);
  await clock.pass(1000);
  await held[0]?.give(answer(429, [["retry-after", "1"]]));
  expect(readers.state()).toMatchObject({ gatedMs: 0, pausedMs: 1000 });
  await start(1, "greedy");
  await start(2, "other");
  expect(held).toHaveLength(2);
  await clock.pass(999);
  expect(held).toHaveLength(2);
  await clock.pass(1);
  expect(held.length).toBeGreaterThan(2);
});
