import { setTimeout } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { finished, rule, rulesOf } from "../rollout/control-rig.ts";
import { emptyData, type MemoryStore } from "../state/shared/memory-store.ts";
import { takeDownAfterEach } from "../support/take-down.ts";
import { createStore, type Process, phaseOf, startReplica, until, wall } from "./replica-rig.ts";

takeDownAfterEach();

let store: MemoryStore;
beforeEach(() => {
  store = createStore();
});

const eventsOf = ({ told }: Process, kind: string) => told.filter((event) => event.kind === kind);
const all = (replicas: readonly Process[], holds: (one: Process) => boolean) => () => replicas.every(holds);

describe("replicas that share evidence of a rule", () => {
  /** 12 comparisons, of which three clients saw a difference each: a rule needs 20. */
  const seeDifferences = (made: Process): void => {
    made.compare(9);
    made.compare(3, { result: "value" });
  };

  test("step back once, on differences that are too few on each of them", async () => {
    const both = [await startReplica(store, "a"), await startReplica(store, "b")] as const;
    for (const one of both) seeDifferences(one);
    expect(both.map(phaseOf)).toEqual(["forward", "forward"]);
    await until(all(both, (one) => phaseOf(one) === "back"));
    const reasons = both.map((one) => eventsOf(one, "stepped-back")[0]?.reason);
    expect(
      reasons.some((reason) => /^6 differences in 24 comparisons .*; 2 replicas counted together$/.test(reason ?? "")),
    ).toBe(true);
    await setTimeout(200);
    expect(both.map((one) => eventsOf(one, "stepped-back").length)).toEqual([1, 1]);
  });

  test("do not add up what is no evidence of the same responses", async () => {
    const all = [await startReplica(store, "a"), await startReplica(store, "b", { basis: "another version" })];
    for (const one of all) seeDifferences(one);
    await setTimeout(500);
    expect(all.map(phaseOf)).toEqual(["forward", "forward"]);
  });

  test("step back when v2 fails writes of one client on each of them, while native serves those of others", async () => {
    const guard = { action: "stepBack", returnAfter: 900_000, slow: "warn" } as const;
    const rules = rulesOf([rule({ guard, stepBack: undefined })]);
    const both = [await startReplica(store, "a", { rules }), await startReplica(store, "b", { rules })] as const;
    let number = 0;
    const write = (client: string, facts: object) =>
      finished(client, { write: true, operation: "update", path: `/iam/v1/groups/${number++}`, ...facts });
    const native = {
      mode: "native",
      rule: undefined,
      calls: [{ upstream: "v1", method: "PUT", path: "", status: 200, ms: 1 }],
    };
    const isOver = all(both, (one) => phaseOf(one) === "back");
    for (let tries = 0; tries < 400 && !isOver(); tries++) {
      for (const [at, one] of both.entries()) {
        one.at = wall();
        one.control.observe(write("well", native));
        one.control.observe(write(`failing-${at}`, { status: 503 }));
        one.control.ruleStates();
      }
      await setTimeout(10);
    }
    expect(both.map(phaseOf)).toEqual(["back", "back"]);
    const reasons = both.map((one) => eventsOf(one, "stepped-back")[0]?.reason);
    expect(reasons.some((reason) => /group update.*; 2 replicas counted together$/.test(reason ?? ""))).toBe(true);
  });
});

describe("replicas that share the comparisons of a shadow rule", () => {
  const promoteWhen = { differencesBelow: 0.001, minClients: 3, automatic: true };
  const rules = rulesOf([
    rule({ mode: "shadow", stepBack: undefined, shadow: { sample: 1, control: 0 }, promoteWhen }),
  ]);
  const isPromoted = ({ control }: Process): boolean => control.states()[0]?.promoted === true;
  const evidenceOf = ({ control }: Process) => control.states()[0]?.evidence;

  test("promote it by what all of them counted, once", async () => {
    const both = [await startReplica(store, "a", { rules }), await startReplica(store, "b", { rules })] as const;
    for (const one of both) one.compare(1_900);
    expect(both.map(isPromoted)).toEqual([false, false]);
    await until(all(both, isPromoted));
    expect(both.map((one) => eventsOf(one, "promoted").length)).toEqual([1, 1]);
    await until(all(both, (one) => evidenceOf(one)?.comparisons === 3_800));
    expect(evidenceOf(both[0])).toMatchObject({ ofAll: true, differences: 0, clients: 3 });
    expect(await startReplica(store, "c", { rules })).toSatisfy(isPromoted);
  });

  test("keep what they counted when the store is emptied, and when one of them ends", async () => {
    const [a, b] = [await startReplica(store, "a", { rules }), await startReplica(store, "b", { rules })];
    a.compare(30);
    b.compare(12);
    await until(() => evidenceOf(a)?.comparisons === 42);
    store.replace(emptyData());
    await until(() => store.copy().owners.size === 2);
    await b.shared.close();
    await setTimeout(600);
    expect(evidenceOf(a)).toMatchObject({ comparisons: 42, ofAll: true });
  });

  test("promote nothing without the store, and show what they know alone", async () => {
    const made = await startReplica(store, "a", { rules });
    made.compare(10);
    await until(() => evidenceOf(made)?.ofAll === true);
    made.way.isAway = true;
    await until(() => !made.shared.isUp());
    made.compare(4_000);
    await setTimeout(300);
    expect([isPromoted(made), evidenceOf(made)?.comparisons, evidenceOf(made)?.ofAll]).toEqual([
      false,
      4_010,
      undefined,
    ]);
    made.way.isAway = false;
    await until(() => isPromoted(made));
  });
});
