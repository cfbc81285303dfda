import { describe, expect, test } from "vitest";
import { NO_CALLERS } from "../../src/rollout/evidence-window.ts";
import {
  CALLERS_KEPT,
  type GuardSecond,
  type GuardState,
  guardAlarm,
  initialGuard,
  NO_STAND_INS,
  QUIET_SECONDS,
  stepGuard,
  trouble,
} from "../../src/rollout/guard.ts";
import { createGuardTally, type GuardFailure } from "../../src/rollout/guard-tally.ts";
import { caller } from "./caller.ts";

const HEALTHY: Omit<GuardSecond, "second"> = {
  operation: "groups.list",
  served: 20,
  failed: 0,
  kinds: {},
  callers: NO_CALLERS,
  pairedServed: 0,
  pairedFailed: 0,
};

/** Everything fails, and native serves. */
const SICK: Omit<GuardSecond, "second"> = {
  ...HEALTHY,
  served: 0,
  failed: 20,
  kinds: { unavailable: 20 },
  callers: callers(1),
  pairedServed: 2,
};

const SICK_WRITES: Omit<GuardSecond, "second"> = {
  ...SICK,
  operation: "groups.update",
  pairedServed: 1,
  callers: callers(2),
  standIn: { ...NO_STAND_INS, others: 20 },
};

function callers(count: number) {
  const names = Array.from({ length: count }, (_, n) => `c${n}`);
  return { clients: names, credentials: names };
}

/** `seconds` alike, beginning at `from`. */
function repeat(state: GuardState, second: Omit<GuardSecond, "second">, from: number, seconds: number): GuardState {
  let present = state;
  for (let n = 0; n < seconds; n++) present = stepGuard(present, { ...second, second: from + n });
  return present;
}

/** Repeats `second` until the alarm and returns how often, or undefined after `most` times. */
function alarmAfter(second: Omit<GuardSecond, "second">, most = 100, start = initialGuard()): number | undefined {
  let state = start;
  for (let n = 1; n <= most; n++) {
    state = stepGuard(state, { ...second, second: 1000 + n });
    if (guardAlarm(state) !== undefined) return n;
  }
  return undefined;
}

describe("the alarm", () => {
  test("comes in the seventh second of total failure, however many requests fail", () => {
    expect(alarmAfter(SICK)).toBe(7);
    expect(alarmAfter({ ...SICK, failed: 2_000 })).toBe(7);
  });

  test("several observations of one second weigh no more than one", () => {
    const state = initialGuard();
    const parts = Array.from({ length: 100 }, () => ({ ...SICK, second: 5 }));
    expect(guardAlarm(parts.reduce(stepGuard, state))).toBeUndefined();
  });

  test("needs pairs that native served", () => {
    expect(alarmAfter({ ...SICK, pairedServed: 0 })).toBeUndefined();
    expect(alarmAfter({ ...SICK, pairedServed: 0, pairedFailed: 2 })).toBeUndefined();
    expect(alarmAfter({ ...SICK, pairedServed: 1, pairedFailed: 1 })).toBeLessThan(15);
  });

  test("failures count by the share of recent pairs that native served", () => {
    const lost = (pairedServed: number, pairedFailed: number): number =>
      stepGuard(initialGuard(), { ...SICK, failed: 2, pairedServed, pairedFailed, second: 1 }).reads.lost;
    expect([lost(2, 0), lost(1, 1), lost(0, 2), lost(0, 0)]).toEqual([2, 1, 0, 0]);
  });

  test("a failure waits ten seconds for its pair", () => {
    const lonely = { ...SICK, failed: 1, pairedServed: 0 };
    const pair = { ...HEALTHY, served: 0, pairedServed: 1 };
    const seen = (wait: number): number => {
      const state = stepGuard(stepGuard(initialGuard(), { ...lonely, second: 0 }), { ...pair, second: wait });
      return state.reads.losing.now;
    };
    expect(seen(9)).toBeGreaterThan(1.6);
    expect(seen(10)).toBe(0);
  });

  test("comes from operations together when none fails often enough by itself", () => {
    let state = initialGuard();
    for (let second = 0; second < 20; second++) {
      const operation = `op${second % 10}`;
      state = stepGuard(state, { ...SICK, failed: 3, operation, second });
    }
    expect(guardAlarm(state)).toMatchObject({ operation: undefined, write: false });
  });

  test("stays, with what was known when it was raised", () => {
    const alarmed = repeat(initialGuard(), SICK, 100, 7);
    const cause = guardAlarm(alarmed);
    expect(cause).toEqual({
      operation: "groups.list",
      write: false,
      since: 100,
      lastFailure: 106,
      requests: 140,
      failures: 140,
      kinds: { unavailable: 140 },
      callers: 1,
      clients: ["c0"],
      pairedServed: 14,
      pairedFailed: 0,
      standIn: undefined,
    });
    expect(guardAlarm(repeat(alarmed, HEALTHY, 107, 1000))).toEqual(cause);
  });
});

describe("writes", () => {
  test("writes need two callers, or three when only the rule's own day shows that they were served", () => {
    expect(alarmAfter({ ...SICK_WRITES, callers: callers(1) })).toBeUndefined();
    expect(alarmAfter(SICK_WRITES)).toBe(7);
    const ownDay = { ...SICK_WRITES, pairedServed: 0, standIn: { ...NO_STAND_INS, ownDay: 20 } };
    expect(alarmAfter(ownDay)).toBeUndefined();
    expect(alarmAfter({ ...ownDay, callers: callers(3) })).toBe(7);
  });

  test("do not count while native is not known to serve them", () => {
    const writes = { ...SICK_WRITES, callers: callers(3) };
    expect(alarmAfter({ ...writes, standIn: { ...NO_STAND_INS, unknown: 20 } })).toBeUndefined();
    expect(alarmAfter({ ...writes, standIn: { ...NO_STAND_INS, fails: 20 } })).toBeUndefined();
  });

  test("other callers' writes before the accident do not show at once that native survived it", () => {
    expect(alarmAfter({ ...SICK_WRITES, pairedServed: 0 })).toBe(11);
    const reads = repeat(initialGuard(), { ...SICK, pairedServed: 0, pairedFailed: 2 }, 990, 10);
    expect(alarmAfter({ ...SICK_WRITES, pairedServed: 0 }, 100, reads)).toBeUndefined();
    const failing = { ...SICK_WRITES, pairedServed: 0, pairedFailed: 1 };
    expect(alarmAfter(failing)).toBeUndefined();
  });

  test("of the only client that a returning rule translates are enough", () => {
    const one = { ...SICK_WRITES, callers: callers(1) };
    const alarmOf = (seconds: number, translated: number) => {
      let state = initialGuard();
      for (let n = 1; n <= seconds; n++) state = stepGuard(state, { ...one, second: n }, translated);
      return guardAlarm(state);
    };
    expect(alarmOf(20, 1)).toBeDefined();
    expect(alarmOf(20, 2)).toBeUndefined();
  });

  test("what native did within the hour is not believed while it fails reads", () => {
    const writes = { ...SICK_WRITES, pairedServed: 0, standIn: { ...NO_STAND_INS, hour: 20 } };
    expect(alarmAfter(writes)).toBe(7);
    const reads = repeat(initialGuard(), { ...SICK, pairedServed: 0, pairedFailed: 2 }, 990, 10);
    expect(alarmAfter(writes, 100, reads)).toBeUndefined();
  });
});

describe("the state", () => {
  test("stays the same object while nothing fails", () => {
    const state = initialGuard();
    expect(repeat(state, HEALTHY, 0, 10)).toBe(state);
  });

  test("forgets operations that are well again, and keeps a bounded number of callers", () => {
    const many = repeat(initialGuard(), { ...SICK, callers: callers(100) }, 0, 3);
    expect(many.reads.episode?.callers.credentials).toHaveLength(CALLERS_KEPT);
    const well = repeat(many, HEALTHY, 3, 100);
    expect(stepGuard(well, { ...SICK, operation: "repos.list", second: 200 }).operations).toHaveLength(1);
  });
});

describe("trouble", () => {
  test("is reported whether or not native would have served", () => {
    const both = { ...SICK, pairedServed: 0, pairedFailed: 2 };
    expect(trouble(repeat(initialGuard(), both, 10, 5), 15)).toMatchObject({
      isCertain: true,
      since: 10,
      lastFailure: 14,
      alarm: undefined,
      operations: [{ operation: "groups.list", failures: 100, pairedServed: 0, pairedFailed: 10 }],
    });
  });

  test("is likely from five failures on, if they are a fifth of the requests", () => {
    const one = { ...SICK, failed: 1, served: 0 };
    expect(trouble(repeat(initialGuard(), one, 10, 4), 14)).toBeUndefined();
    expect(trouble(repeat(initialGuard(), one, 10, 5), 15)).toMatchObject({ isCertain: false });
    expect(trouble(repeat(initialGuard(), { ...one, served: 5 }, 10, 5), 15)).toBeUndefined();
  });

  test("ends with the evidence, or after a quarter of an hour without a failure", () => {
    const sick = repeat(initialGuard(), SICK, 0, 6);
    expect(trouble(sick, 5 + QUIET_SECONDS - 1)).toBeDefined();
    expect(trouble(sick, 5 + QUIET_SECONDS)).toBeUndefined();
    expect(trouble(repeat(sick, HEALTHY, 6, 60), 66)).toBeUndefined();
  });
});

describe("the tally", () => {
  const FAILURE: GuardFailure = {
    operation: "groups.list",
    at: 0,
    kind: "unavailable",
    who: caller("a"),
    requestKey: "same",
  };
  const noWrites = () => ({ served: 0, failed: 0 });

  test("closes seconds, also when no request follows", () => {
    const tally = createGuardTally();
    tally.served("groups.list", 100, false);
    tally.failed({ ...FAILURE, at: 900 });
    tally.pair({ ...FAILURE, at: 1_100, nativeServed: true });
    expect(tally.take(1_999, noWrites)).toEqual([
      {
        ...HEALTHY,
        second: 0,
        served: 1,
        failed: 1,
        hanging: 0,
        kinds: { unavailable: 1 },
        callers: expect.anything(),
      },
    ]);
    expect(tally.take(2_000, noWrites)).toEqual([{ ...HEALTHY, second: 1, served: 0, hanging: 0, pairedServed: 1 }]);
    expect(tally.take(9_000, noWrites)).toEqual([]);
  });

  test("counts a request and its three retries once, and a fifth attempt or a later one again", () => {
    const tally = createGuardTally();
    const counted = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((second) => tally.failed({ ...FAILURE, at: second * 1000 }));
    expect(counted).toEqual([true, false, false, false, true, false, false, false, true]);
    expect(tally.failed({ ...FAILURE, at: 18_000 })).toBe(true);
  });

  test("leaves a caller out for a minute when native refuses it as well", () => {
    const tally = createGuardTally();
    const refused = { ...FAILURE, kind: "unauthenticated" } as const;
    tally.pair({ ...refused, nativeServed: false });
    const counts = (at: number, who = caller("a"), kind = refused.kind as GuardFailure["kind"]): boolean =>
      tally.failed({ ...refused, kind, who, at, requestKey: `${at}` });
    expect([counts(1), counts(2, caller("b")), counts(3, caller("a"), "unavailable")]).toEqual([false, true, true]);
    expect(counts(60_000)).toBe(true);
  });

  test("reports native's own writes with each second of writes", () => {
    const tally = createGuardTally();
    tally.failed({ ...FAILURE, operation: "groups.update", standIn: "others" });
    const [second] = tally.take(1000, (operation, at) => ({
      served: operation === "groups.update" ? 3 : 0,
      failed: at,
    }));
    expect(second).toMatchObject({ pairedServed: 3, pairedFailed: 0, standIn: { ...NO_STAND_INS, others: 1 } });
  });
});
