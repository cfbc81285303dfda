import { describe, expect, test } from "vitest";
import { beginFleetGuard, type FleetGuard, stepFleetGuard } from "../../src/rollout/fleet-guard.ts";
import { type GuardSecond, guardAlarm, NO_STAND_INS } from "../../src/rollout/guard.ts";

const START = 1_000;

/** A write of one client that v2 fails, and that native v1 serves to others. */
function failedWrite(client: string, second: number): GuardSecond {
  return {
    operation: "group update",
    second,
    served: 0,
    failed: 5,
    kinds: { unavailable: 5 },
    callers: { clients: [client], credentials: [client] },
    pairedServed: 1,
    pairedFailed: 0,
    standIn: { ...NO_STAND_INS, others: 5 },
  };
}

/** What is judged at each second up to `until`, if replicas repeat the last minute of what they see each time. */
function judge(guard: FleetGuard, clients: readonly string[], until: number, late = 0): FleetGuard {
  let present = guard;
  for (let now = START; now <= until; now++) {
    const seconds = Array.from({ length: Math.max(0, now - late - START) }, (_, at) => START + at);
    const seen = clients.flatMap((client) => seconds.map((second) => failedWrite(client, second)));
    present = stepFleetGuard(present, seen, now);
  }
  return present;
}

const alarm = (guard: FleetGuard) => guardAlarm(guard.state);

describe("the guard over several replicas", () => {
  test("finds what one replica alone may not judge, and names the sums", () => {
    const begun = beginFleetGuard(START, false);
    expect(alarm(judge(begun, ["a"], START + 60))).toBeUndefined();
    expect(alarm(judge(begun, ["a", "b"], START + 60))).toHaveProperty("clients", ["a", "b"]);
  });

  test("counts each second once, however often it is told", () => {
    const found = alarm(judge(beginFleetGuard(START, false), ["a", "b"], START + 60));
    const seconds = (found?.failures ?? 0) / 10;
    expect(seconds).toBe((found?.lastFailure ?? 0) - START + 1);
  });

  test("waits for what a slow replica tells two seconds later", () => {
    const guard = judge(beginFleetGuard(START, false), ["a", "b"], START + 12, 2);
    expect(alarm(guard)).toHaveProperty("clients", ["a", "b"]);
  });

  test("forgets what was before, when a rule goes forward again", () => {
    const seen = (until: number) =>
      ["a", "b"].flatMap((client) => Array.from({ length: 20 }, (_, at) => failedWrite(client, until - 20 + at)));
    expect(alarm(stepFleetGuard(beginFleetGuard(START, false), seen(START), START + 3))).toBeDefined();
    expect(alarm(stepFleetGuard(beginFleetGuard(START, true), seen(START), START + 3))).toBeUndefined();
  });
});
