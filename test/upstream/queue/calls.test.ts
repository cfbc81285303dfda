import { describe, expect, it } from "vitest";
import {
  type ApiRequest,
  type ApiResponse,
  type Caller,
  compose,
  type HeaderList,
  type Send,
} from "../../../src/model/http.ts";
import { Problem } from "../../../src/model/problem.ts";
import { createSignalController, type Signal } from "../../../src/model/signal.ts";
import {
  type CallOrigin,
  type CallQueueOptions,
  createCallQueue,
  type LongQueue,
} from "../../../src/upstream/call-queue.ts";
import { createPageRetry } from "../../../src/upstream/retry.ts";
import { fakeClock, settled } from "../clock.ts";

const DATE = Date.parse("2026-11-21T12:00:00Z");
const PAGE = "/iam/v2beta1/groups?page_size=200";

function answer(status: number, headers: HeaderList = []): ApiResponse {
  return { status, headers, body: new Uint8Array(0) };
}

/** A call that has reached the upstream and waits for its response. */
interface Held {
  readonly credential: string;
  readonly at: number;
  give(response: ApiResponse): Promise<void>;
  fail(error: unknown): Promise<void>;
}

function subject(options: Partial<CallQueueOptions> = {}) {
  const clock = fakeClock();
  const told: LongQueue[] = [];
  const wall = () => DATE + clock.now();
  const calls = createCallQueue({
    ...{ connections: 128, pages: 32, start: 32, now: clock.now, wall, later: clock.later },
    long: (facts) => told.push(facts),
    ...options,
  });
  const repeat = createPageRetry({ wall, now: clock.now, maxSeconds: 45, random: () => 0.5, sleep: clock.sleep });
  const held: Held[] = [];
  const done: (number | string)[] = [];
  const upstream =
    (credential: string): Send =>
    (_, { signal }) =>
      new Promise((resolve, reject) => {
        const end = (settle: () => void) => {
          held.splice(held.indexOf(call), 1);
          signal.removeEventListener("abort", gone);
          settle();
          return settled();
        };
        const gone = () => void end(() => reject(signal.reason));
        const call: Held = {
          ...{ credential, at: clock.now() },
          give: (response) => end(() => resolve(response)),
          fail: (error) => end(() => reject(error)),
        };
        held.push(call);
        signal.addEventListener("abort", gone, { once: true });
      });
  /** One call; what became of it is in `done`: a status, or the message of an error. */
  async function call(
    credential = "a",
    given: Partial<CallOrigin> = {},
    signal: Signal = createSignalController().signal,
  ) {
    const since = clock.now();
    const origin: CallOrigin = { credential, kind: "short", begun: false, since, deadline: since + 50_000, ...given };
    const caller = { ...origin, begun: () => origin.begun, ended: () => {} };
    const layers = [...(origin.kind === "page" ? [repeat] : []), calls.layer(origin.kind)];
    const request: ApiRequest = { method: "GET", target: PAGE, headers: [] };
    await compose(layers, upstream(credential))(request, { signal, caller }).then(
      ({ status }) => done.push(status),
      (error: Error) => done.push(error.message),
    );
  }
  const start = async (count: number, credential?: string, given?: Partial<CallOrigin>) => {
    for (let i = 0; i < count; i++) void call(credential, given);
    await settled();
  };
  const giveAll = async (response = answer(200)) => {
    for (const one of [...held]) await one.give(response);
  };
  return { clock, calls, held, done, told, call, start, giveAll };
}

const page = { kind: "page" } as const;

describe("calls under way", () => {
  it("get fewer while others wait and the event loop never idles, and as many again when it does", async () => {
    const loop = { busy: 1 };
    const { clock, held, start, giveAll } = subject({ connections: 32, busy: () => loop.busy });
    await start(200, "a");
    const atOnce: number[] = [];
    for (const busy of [1, 1, 1, 1, 0.5, 0.5, 0.5]) {
      loop.busy = busy;
      await clock.pass(100);
      await giveAll();
      atOnce.push(held.length);
    }
    expect(atOnce).toEqual([24, 18, 16, 16, 22, 30, 30]);
  });

  it("tell when short work with a small response was there last", async () => {
    const { calls, held, start, clock } = subject();
    await clock.pass(7);
    await start(1, "a");
    await held[0]?.give({ ...answer(200), body: new Uint8Array(64 * 1024) });
    await start(1, "a", page);
    await held[0]?.give(answer(200));
    expect(calls.shortAt()).toBe(Number.NEGATIVE_INFINITY);
    await start(1, "a");
    await held[0]?.give(answer(200));
    expect(calls.shortAt()).toBe(7);
  });
});

describe("page reads", () => {
  it("are few at first, then twice as many after each clean round, and leave some to newcomers", async () => {
    const { held, start, giveAll, calls } = subject({ start: 4 });
    await start(100, "a", page);
    const seen: number[] = [];
    for (let round = 0; round < 5; round++) {
      seen.push(held.length);
      await giveAll();
    }
    expect(seen).toEqual([4, 8, 16, 30, 30]);
    await start(20, "a", page);
    expect(held).toHaveLength(30);
    await start(2, "b", page);
    expect(held).toHaveLength(31);
    expect(calls.state()).toMatchObject({ reading: 31 });
  });

  it("leave connections to short calls, however few there are", async () => {
    const { held, start } = subject({ connections: 4 });
    await start(10, "a", page);
    expect(held).toHaveLength(3);
    await start(1, "b");
    expect(held.at(-1)?.credential).toBe("b");
  });

  it("T-DRN-19: of a credential that is refused pause as the platform says, and go on; nobody else waits", async () => {
    const { clock, held, start, done } = subject();
    await start(2, "a", page);
    for (const one of [...held]) await one.give(answer(429, [["retry-after", "5"]]));
    expect(held).toEqual([]);
    await start(8, "b", page);
    expect(held).toHaveLength(8);
    await clock.pass(4_900);
    expect(held).toHaveLength(8);
    await clock.pass(200);
    expect(held.filter(({ credential }) => credential === "a")).toHaveLength(1);
    for (let i = 0; i < 2; i++) for (const one of [...held]) await one.give(answer(200));
    expect(done).toEqual(Array(10).fill(200));
  });

  it("DIFF-71, T-DRN-20: that are told to come back in ten minutes tell their client at once, and hold up no other page of the list", async () => {
    const { held, start, done, clock } = subject();
    await start(4, "a", page);
    await held[1]?.give(answer(429, [["retry-after", "600"]]));
    expect([done, clock.now()]).toEqual([[429], 0]);
    await start(1, "a", page);
    for (let i = 0; i < 2; i++) for (const one of [...held]) await one.give(answer(429, [["retry-after", "600"]]));
    expect([done, clock.now()]).toEqual([[429, 429, 429, 429, 429], 0]);
  });

  it.each<[string, number, HeaderList, most: number]>([
    ["429", 429, [], 30],
    ["429 and Retry-After", 429, [["retry-after", "1"]], 46],
    ["503 and Retry-After", 503, [["retry-after", "1"]], 46],
  ])(
    "that are always refused with %s are asked for until the list's time is over, ever more slowly",
    async (_, status, headers, most) => {
      const { held, start, done, clock } = subject();
      await start(1, "a", page);
      let calls = 0;
      while (done.length === 0 && clock.now() < 60_000) {
        calls += held.length;
        await held[0]?.give(answer(status, headers));
        if (done.length === 0) await clock.next();
      }
      expect([done, calls < most, calls > 10]).toEqual([[status], true, true]);
      expect(clock.now()).toBeGreaterThan(39_000);
      expect(clock.now()).toBeLessThanOrEqual(45_000);
    },
  );

  it("that were refused go before other pages of their list", async () => {
    const { held, start, calls, clock, done } = subject({ start: 1, pages: 1 });
    await start(3, "a", page);
    await held[0]?.give(answer(429, [["retry-after", "1"]]));
    expect([held.length, calls.state().waiting.page]).toEqual([0, 3]);
    await clock.pass(1_000);
    await held[0]?.give(answer(429));
    for (let i = 0; i < 3; i++) await held[0]?.give(answer(200));
    await clock.pass(500);
    await held[0]?.give(answer(200));
    expect(done).toEqual([200, 200, 200]);
  });

  it.each<[string, most: number, perSecond: number, HeaderList]>([
    ["one at a time", 1, 1e9, [["retry-after", "1"]]],
    ["two at a time", 2, 1e9, [["retry-after", "1"]]],
    ["three at a time", 3, 1e9, [["retry-after", "1"]]],
    ["two at a time, refusing for two seconds", 2, 1e9, [["retry-after", "2"]]],
    ["five a second", 4, 5, []],
    ["five a second, with Retry-After", 4, 5, [["retry-after", "1"]]],
    ["ten a second", 4, 10, []],
  ])(
    "of a platform that serves %s come within the list's time, four readers or not",
    async (_, most, perSecond, headers) => {
      const { clock, held, start, done } = subject({ start: 4 });
      const PAGES = 64;
      let [begun, atOnce] = [0, 0];
      const served: number[] = [];
      const answers = new Set<Held>();
      for (let ms = 0; ms < 40_000 && done.length < PAGES; ms += 10) {
        for (; begun < PAGES && begun - done.length < 4; begun++)
          void start(1, "a", { ...page, since: 0, deadline: 50_000 });
        await settled();
        for (const call of [...held]) {
          if (answers.has(call)) continue;
          answers.add(call);
          const recent = served.filter((at) => at > clock.now() - 1_000).length;
          if (atOnce >= most || recent >= perSecond) {
            clock.later(5, () => void call.give(answer(429, headers)));
            continue;
          }
          atOnce += 1;
          served.push(clock.now());
          clock.later(20, () => {
            atOnce -= 1;
            void call.give(answer(200));
          });
        }
        await clock.pass(10);
      }
      expect(done).toEqual(Array(PAGES).fill(200));
    },
  );

  it.each([503, 504])("with %i are given back at once: a repeat is not decided here", async (status) => {
    const { start, held, done } = subject();
    await start(1, "a", page);
    await held[0]?.give(answer(status));
    expect(done).toEqual([status]);
  });
});

describe("a call that waits", () => {
  it("starts when one has ended, however it ended", async () => {
    const { held, start, done } = subject({ connections: 1 });
    await start(4);
    await held[0]?.fail(new Problem("UPSTREAM_UNREACHABLE", "reset"));
    await held[0]?.give(answer(404));
    await held[0]?.give(answer(500));
    await held[0]?.give(answer(200));
    expect(done).toEqual(["reset", 404, 500, 200]);
  });

  it("is never sent once its caller has left", async () => {
    const { held, start, call, done, calls } = subject({ connections: 1 });
    await start(1);
    const stopper = createSignalController();
    void call("b", {}, stopper.signal);
    await settled();
    stopper.abort(new Error("gone"));
    await settled();
    expect([done, calls.state().waiting.short]).toEqual([["gone"], 0]);
    await held[0]?.give(answer(200));
    expect(held).toEqual([]);
  });

  it("is refused shortly before its request's time is over, and the log is told", async () => {
    const { start, done, clock, told } = subject({ connections: 1 });
    await start(1);
    await start(2, "b", { deadline: 10_000 });
    await clock.pass(10_000);
    expect(done).toEqual(Array(2).fill("more requests are waiting than can be served in time"));
    expect(told).toEqual([
      { waiting: 2, longestSeconds: 1, refused: 0 },
      { waiting: 2, longestSeconds: 6, refused: 0 },
    ]);
  });
});

it("tells of each call that is over how long it took, its wait included, and what came of it", async () => {
  const { calls, clock, held, start } = subject({ connections: 1 });
  const ended: unknown[] = [];
  const caller: Caller = {
    ...{ credential: "b", begun: () => false, since: 0, deadline: 50_000 },
    ended: ({ target }, response, ms) => ended.push([target, response?.status, ms]),
  };
  const send = calls.layer("short")(async ({ target }) => {
    await clock.sleep(5, createSignalController().signal);
    if (target === "/gone") throw new Error("gone");
    return answer(404);
  });
  const { signal } = createSignalController();
  const ask = (target: string) => send({ method: "GET", target, headers: [] }, { signal, caller }).catch(() => {});
  await start(1);
  const both = [ask("/a"), ask("/gone")];
  await clock.pass(30);
  await held[0]?.give(answer(200));
  for (let i = 0; i < 4; i++) await clock.pass(5);
  await Promise.all(both);
  expect(ended).toEqual([
    ["/a", 404, 35],
    ["/gone", undefined, 40],
  ]);
});

describe("many that wait", () => {
  /** Of 400 calls 9 are done in each 100 ms. */
  async function busy(overloaded: boolean) {
    const here = subject({ connections: 9 });
    await here.start(400);
    for (let i = 0; i < 8; i++) {
      await here.clock.pass(100);
      if (overloaded) here.calls.turnedAway(true);
      await here.giveAll();
    }
    return here;
  }

  it("are a crowd: the oldest are next, and nobody is refused", async () => {
    const { calls, done, clock, giveAll } = await busy(false);
    expect(Math.round(calls.predictedMs("a") / 1_000)).toBe(3);
    for (let i = 0; i < 40; i++) {
      await clock.pass(100);
      await giveAll();
    }
    expect(done).toEqual(Array(400).fill(200));
  });

  it("under overload: the newest are next, and those that have waited for a second are told to come again", async () => {
    const { start, calls, clock, giveAll, held, done } = await busy(true);
    await start(1, "a");
    await giveAll();
    expect(held.some(({ at }) => at === clock.now())).toBe(true);
    await clock.pass(300);
    expect(done.filter((one) => one !== 200).length).toBeGreaterThan(300);
    expect([calls.state().waiting.short, calls.isLong()]).toEqual([0, false]);
  });
});
