/** The guard of a rollout: slow, silent and refusing versions of v2. */
import { describe, expect, it, test } from "vitest";
import { createExchange, type Exchange, type NativeOutcome } from "../../src/model/exchange.ts";
import type { GuardSettings, StepBackSettings } from "../../src/model/rules.ts";
import { createRollout } from "../../src/rollout/rollout.ts";
import { rulesOf } from "./control-rig.ts";
import { makeRule } from "./make-rule.ts";

function subject(guard: Partial<GuardSettings> = {}, stepBack?: StepBackSettings) {
  const clock = { now: 1_000 };
  const timers: (() => void)[] = [];
  const events: string[] = [];
  const rule = makeRule(
    "r",
    {},
    { guard: { action: "stepBack", returnAfter: 900_000, slow: "warn", ...guard }, stepBack },
  );
  const rollout = createRollout({
    rules: rulesOf([rule]),
    mode: "native",
    native: true,
    bucketOf: () => 0,
    wall: () => clock.now,
    later: (_, run) => {
      timers.push(run);
      return () => {};
    },
    onEvent: ({ kind }) => events.push(kind),
  });
  let number = 0;
  const made = (over: Partial<Exchange>): Exchange => {
    const exchange = createExchange(`${number++}`, clock.now, "GET", `/iam/v1/roles/${number}`);
    const who = { client: `c${number % 4}`, credential: () => `c${number % 4}` };
    return { ...exchange, apiVersion: "v1", resource: "role", operation: "list", ...who, ...over };
  };
  const translated = (over: Partial<Exchange> = {}) =>
    made({ mode: "translate", rule: "r", ruleId: "r", status: 200, ...over });
  const call = (upstream: "v1" | "v2", ms: number): Pick<Exchange, "calls"> => ({
    calls: [{ upstream, method: "GET", path: "", status: 200, ms }],
  });
  const state = () => rollout.states()[0];
  const tick = (ms: number) => {
    clock.now += ms;
    for (const run of timers.splice(0)) run();
  };
  return { rollout, clock, made, translated, call, state, tick, events };
}

const nativeSays = (outcome: NativeOutcome) => ({ onNative: () => Promise.resolve(outcome) });

describe("v2 is much slower than native v1", () => {
  const slowed = (slow: GuardSettings["slow"]) => {
    const { rollout, clock, made, translated, call, state } = subject({ slow });
    for (let at = 0; at < 21; at++) {
      rollout.observe(made({ mode: "native", status: 200, ...call("v1", 50) }));
      rollout.observe(translated(call("v2", 900)));
      clock.now += 1_000;
    }
    return state();
  };

  it("is said, and steps nothing back by default", () => {
    expect(slowed("warn")).toMatchObject({
      phase: "forward",
      guard: { slow: { operation: "role list", v2Ms: 900, nativeMs: 50, says: expect.stringMatching(/^v2 is slow/) } },
    });
  });

  it("steps the rule back where guard.slow says so", () => {
    expect(slowed("stepBack")).toMatchObject({
      phase: "back",
      cause: "v2 is slow for role list: 900 ms, native v1 takes 50 ms (95th percentiles)",
    });
  });

  it("is measured by a read in ten seconds that native repeats, when no client of native asks", async () => {
    const { rollout, clock, translated, call, state } = subject();
    let asked = 0;
    for (let at = 0; at < 100; at++) {
      const onNative = () => {
        asked += 1;
        return Promise.resolve<NativeOutcome>("served");
      };
      rollout.observe(translated({ ...call("v2", 900), onNative }));
      await Promise.resolve();
      clock.now += 1_000;
    }
    expect([asked, state()?.guard.slow]).toEqual([10, undefined]);
  });
});

describe("the figures of the last ten minutes", () => {
  const NO_FAILURES = { errors: 0, denied: 0, limited: 0 };

  it("count what the rule had translated beside what native served of the same operations", async () => {
    const { rollout, made, translated, state } = subject();
    expect(state()?.guard.figures).toBeUndefined();
    for (const status of [200, 200, 404, 503, 401, 403, 429]) {
      rollout.observe(translated({ status, ...nativeSays(status === 503 ? "failed" : "served") }));
    }
    for (const status of [200, 200, 403]) rollout.observe(made({ mode: "native", status }));
    rollout.observe(made({ mode: "native", status: 200, operation: "get" }));
    await Promise.resolve();
    expect(state()?.guard.figures).toMatchObject({
      translated: { requests: 6, errors: 1, denied: 2, limited: 1 },
      native: { requests: 3, ...NO_FAILURES, denied: 1 },
      // Two reads in a second are repeated.
      repeats: { asked: 2, served: 1 },
    });
  });

  it("are those of retries once, and end after ten minutes", () => {
    const { rollout, translated, state, clock } = subject();
    const retried = { status: 503, path: "/iam/v1/roles/one", credential: () => "c", client: "c" };
    for (let at = 0; at < 3; at++) rollout.observe(translated(retried));
    expect(state()?.guard.figures?.translated).toEqual({ ...NO_FAILURES, requests: 1, errors: 1 });
    clock.now += 601_000;
    expect(state()?.guard.figures).toBeUndefined();
  });

  it("say how near the evidence is to an alarm", async () => {
    const { rollout, translated, state, clock } = subject();
    const evidence: (number | undefined)[] = [];
    for (let second = 0; second < 3; second++) {
      for (let at = 0; at < 8; at++)
        rollout.observe(translated({ status: at < 4 ? 503 : 200, ...nativeSays("served") }));
      await Promise.resolve();
      clock.now += 1_000;
      evidence.push(state()?.guard.figures?.evidence);
    }
    expect(evidence[0]).toBeGreaterThan(0);
    expect(evidence[2]).toBeGreaterThan(evidence[0] ?? 1);
    expect(evidence[2]).toBeLessThan(1);
  });

  it("are not counted where the guard is off", () => {
    const { rollout, translated, state } = subject({ action: "off" });
    rollout.observe(translated());
    expect(state()?.guard.figures).toBeUndefined();
  });
});

describe("reads that wait for a v2 that does not respond", () => {
  const hang = async (alsoResponds: boolean, giveUpV2?: () => void) => {
    const { rollout, translated, call, state, tick } = subject();
    for (let second = 0; second < 16; second++) {
      for (let at = 0; at < 20; at++) rollout.begins(translated({ ...nativeSays("served"), giveUpV2 }), "r");
      if (alsoResponds) rollout.observe(translated(call("v2", 20)));
      tick(1_000);
      await Promise.resolve();
    }
    return state()?.phase;
  };

  it("count before their timeout", async () => expect(await hang(false)).toBe("back"));
  it("do not wait any longer where native may serve them", async () => {
    let given = 0;
    await hang(false, () => {
      given += 1;
    });
    expect(given).toBeGreaterThan(100);
  });
  const hangAtOnce = async (seconds: number) => {
    const { rollout, translated, state, tick } = subject();
    for (let at = 0; at < 200; at++) rollout.begins(translated(nativeSays("served")), "r");
    for (let second = 0; second < seconds; second++) {
      tick(1_000);
      await Promise.resolve();
    }
    return state();
  };

  it("count for as long as they hang, when no client has a connection left", async () => {
    expect(await hangAtOnce(10)).toMatchObject({ phase: "forward", guard: { trouble: { failures: 200 } } });
    expect(await hangAtOnce(13)).toMatchObject({ phase: "back", cause: expect.stringContaining("200 of 200") });
  });
  it("do not count while it responds to others", async () => expect(await hang(true)).toBe("forward"));
});

test("a rule that stepped back for its translation fails no clients any more", () => {
  const { rollout, clock, translated, state } = subject(
    {},
    { failures: 0.1, minRequests: 20, minComparisons: 20, minClients: 1, window: 60_000 },
  );
  for (let at = 0; at < 20; at++) {
    rollout.observe(
      translated({
        status: 502,
        reason: "LIST_UNPROVEN",
        calls: [{ upstream: "v2", method: "GET", path: "", status: 200, ms: 1 }],
      }),
    );
    if (at % 5 === 4) clock.now += 1_000;
    if (at === 14) expect(state()?.guard.trouble).toBeDefined();
  }
  expect(state()).toMatchObject({ phase: "back", byGuard: false });
  expect(state()?.guard.trouble).toBeUndefined();
});

test("failures that are over are remembered until nothing has failed for a quarter of an hour", () => {
  const { rollout, clock, translated, state } = subject();
  const observe = (status: number, seconds: number) => {
    for (let at = 0; at < seconds * 20; at++) {
      rollout.observe(translated({ status }));
      clock.now += 50;
    }
  };
  observe(503, 6);
  observe(200, 120);
  const ended = clock.now - 120_000;
  expect(state()?.guard).toMatchObject({
    trouble: undefined,
    past: {
      until: expect.closeTo(ended, -4),
      quietAt: expect.closeTo(ended + 900_000, -4),
      says: expect.stringMatching(/v2 failed 1\d\d of/),
    },
  });
  clock.now += 780_000;
  expect(state()?.guard.past).toBeUndefined();
});

test("nothing fails clients of a rule while native v1 is forced", () => {
  const { rollout, clock, translated, state } = subject();
  for (let at = 0; at < 20; at++) {
    rollout.observe(translated({ status: 503 }));
    clock.now += 200;
  }
  expect(state()?.guard.trouble).toBeDefined();
  rollout.forceByHand("native", clock.now);
  expect(state()).toMatchObject({ doing: "native", guard: { trouble: undefined } });
});

describe("writes that v2 refuses", () => {
  const refuse = (nativeServes: boolean) => {
    const { rollout, clock, made, translated, call, state, events } = subject();
    for (let second = 0; second < 30; second++) {
      for (let at = 0; at < 10; at++) {
        if (nativeServes) rollout.observe(made({ write: true, mode: "native", status: 200, ...call("v1", 5) }));
        rollout.observe(translated({ write: true, status: 403 }));
      }
      clock.now += 1_000;
    }
    return { ...state(), events };
  };

  it("step the rule back while native serves such writes of others", () => {
    expect(refuse(true)).toMatchObject({
      phase: "back",
      cause: expect.stringMatching(/requests for role list|writes/),
    });
  });

  it("are shown and reported once, and step nothing back, when nothing is known of native", () => {
    expect(refuse(false)).toMatchObject({
      phase: "forward",
      events: ["failing"],
      guard: { trouble: { kinds: { forbidden: expect.any(Number) } } },
    });
  });
});
