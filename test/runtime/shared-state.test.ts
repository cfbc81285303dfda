import { setTimeout } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { MINUTE, type Rig, rule, rulesOf } from "../rollout/control-rig.ts";
import { emptyData, type MemoryStore } from "../state/shared/memory-store.ts";
import { takeDownAfterEach } from "../support/take-down.ts";
import { createStore, type Process, phaseOf, RULES, startReplica, until, wall } from "./replica-rig.ts";

takeDownAfterEach();

let store: MemoryStore;
beforeEach(() => {
  store = createStore();
});

const replica = (instance: string, options?: Parameters<typeof startReplica>[2]): Promise<Process> =>
  startReplica(store, instance, options);
const fail = (made: Rig): void => made.compare(40, { result: "value" });
const eventsOf = ({ told }: Process, kind: string) => told.filter((event) => event.kind === kind);

describe("replicas that share a store", () => {
  test("all follow a step back, and name the replica that found the reason", async () => {
    const [a, b] = [await replica("aaaaaaaa-1"), await replica("bbbbbbbb-2")];
    fail(a);
    expect(phaseOf(a)).toBe("back");
    await until(() => phaseOf(b) === "back");
    const [event] = eventsOf(b, "stepped-back");
    expect(event?.reason).toMatch(/^replica .*\/aaaaaaaa found: \d+ differences in \d+ comparisons/);
    expect(b.control.states()[0]).toMatchObject({ state: "stepped-back", cause: event?.reason });
    // Its own reason stays its own.
    expect(a.control.states()[0]?.cause).not.toContain("replica");
    await setTimeout(100);
    expect([eventsOf(a, "stepped-back"), eventsOf(b, "stepped-back")].map(({ length }) => length)).toEqual([1, 1]);
  });

  test("do not follow a step back of a rule that takes other requests", async () => {
    const other = rulesOf([rule({ evidenceKey: "2" })]);
    const [a, b] = [await replica("a"), await replica("b", { rules: other })];
    fail(a);
    await setTimeout(100);
    expect(phaseOf(b)).toBe("forward");
    b.control.replace({ ...RULES, digest: "bbbbbbbbbbbb" });
    expect(phaseOf(b)).toBe("back");
  });

  test("follow a step back that happened before they started", async () => {
    const a = await replica("a");
    fail(a);
    await until(() => store.copy().rules.size === 1);
    await a.shared.close();
    expect(phaseOf(await replica("b"))).toBe("back");
  });

  test("learn of a step back that a restarted replica remembers and the store does not", async () => {
    const a = await replica("a", { before: fail });
    expect(phaseOf(a)).toBe("back");
    await until(() => store.copy().rules.size === 1);
    expect(phaseOf(await replica("b"))).toBe("back");
  });

  test("let a rule go forward that was removed and is there again, where its file says so", async () => {
    const [a, b] = [await replica("a"), await replica("b")];
    fail(a);
    await until(() => phaseOf(b) === "back");
    b.control.replace(rulesOf([], { digest: "bbbbbbbbbbbb" }));
    b.control.replace(rulesOf([rule()], { digest: "cccccccccccc" }));
    await until(() => [...store.copy().rules.values()][0]?.what === "forward");
    await setTimeout(100);
    expect([phaseOf(a), phaseOf(b), phaseOf(await replica("c"))]).toEqual(["back", "forward", "forward"]);
  });

  test("do not follow a step back that is over where it was found", async () => {
    const a = await replica("a");
    fail(a);
    await until(() => store.copy().rules.size === 1);
    for (let steps = 0; phaseOf(a) !== "forward" && steps < 10; steps++) {
      a.at += 100 * MINUTE;
      a.choose();
      a.requests(300, { status: 200 });
    }
    expect(phaseOf(a)).toBe("forward");
    await until(() => [...store.copy().rules.values()][0]?.what === "forward");
    expect(phaseOf(await replica("b"))).toBe("forward");
  });

  test("learn of a step back that was made while the store was away", async () => {
    const [a, b] = [await replica("a"), await replica("b")];
    a.way.isAway = true;
    await until(() => !a.shared.isUp());
    fail(a);
    await setTimeout(50);
    expect(phaseOf(b)).toBe("forward");
    expect(a.lines.some((line) => line.includes("decides alone: connect ECONNREFUSED"))).toBe(true);
    expect(a.shared.progress()).toMatchObject({ up: false, fault: "connect ECONNREFUSED" });
    a.way.isAway = false;
    await until(() => phaseOf(b) === "back");
    expect(a.lines.filter((line) => line.startsWith("state-"))).toEqual(["state-failing", "state-saved"]);
  });

  test("give a store that was emptied what it lost, also from a replica that only followed", async () => {
    const [a, b] = [await replica("a"), await replica("b")];
    fail(a);
    await a.shared.force("native", { reason: "v2 is down", by: "anna" });
    await until(() => phaseOf(b) === "back" && b.control.force().command === "native");
    await a.shared.close();
    store.replace(emptyData());
    await until(() => store.copy().rules.size === 1 && store.copy().force !== undefined);
    expect([...store.copy().rules.values()]).toMatchObject([{ what: "back", replica: "a", generation: 1 }]);
    const c = await replica("c");
    expect([phaseOf(c), c.control.force().reason]).toEqual(["back", "v2 is down"]);
  });

  test("all follow carryover force, and say where it was given", async () => {
    const [a, b] = [await replica("aaaaaaaa-1"), await replica("bbbbbbbb-2")];
    a.control.forceByHand("native", 1, { reason: "v2 is down", by: "anna" });
    expect(await a.shared.force("native", { reason: "v2 is down", by: "anna" })).toBe(true);
    await until(() => b.control.force().command === "native");
    expect(b.control.force()).toMatchObject({ effective: "native", reason: "v2 is down", by: "anna" });
    expect(eventsOf(b, "forced")[0]?.reason).toMatch(/^carryover force native on replica .*\/aaaaaaaa: v2 is down$/);
    const c = await replica("c");
    expect(c.control.force()).toMatchObject({ effective: "native", by: "anna" });
    await b.shared.force("none", {});
    await until(() => a.control.force().effective === "none" && c.control.force().effective === "none");
  });

  test("report that a command of force did not reach the store", async () => {
    const a = await replica("a", { isAway: true });
    expect(await a.shared.force("native", {})).toBe(false);
  });

  test("start without the store after a moment, at the configured mode", async () => {
    const a = await replica("a", { isAway: true });
    expect([phaseOf(a), a.shared.isUp()]).toEqual(["forward", false]);
  });

  test("know each other, and which of them is gone", async () => {
    const [a, b] = [await replica("a"), await replica("b")];
    await until(() => a.shared.progress()?.replicas.length === 2);
    expect(a.shared.progress()?.replicas).toMatchObject([
      { instance: "a", rules: "aaaaaaaaaaaa" },
      { instance: "b", version: expect.stringMatching(/^\d/) },
    ]);
    await b.shared.close();
    await until(() => a.shared.progress()?.replicas[1]?.left === true);
    expect(a.shared.progress()?.replicas[1]?.goneSince).toBeGreaterThan(wall() - 10_000);
  });

  test("follow nothing that they cannot read, and do not stop at it", async () => {
    const [a, b] = [await replica("a"), await replica("b")];
    fail(a);
    await until(() => phaseOf(b) === "back");
    const [row] = store.copy().rules.values();
    const data = store.copy();
    const mark = data.mark as NonNullable<typeof data.mark>;
    if (row !== undefined)
      data.rules.set(row.key, { ...row, generation: 9, version: mark.version, detail: '{"cause":7}' });
    data.force = { number: 1, version: mark.version, at: 1, replica: "x", detail: '{"command":"erase"}' };
    store.replace(data);
    const c = await replica("c");
    expect([phaseOf(c), c.control.force().command]).toEqual(["forward", "none"]);
    expect(c.lines).toHaveLength(2);
  });

  test("put no secret into the store that a person wrote or v2 named", async () => {
    const a = await replica("a");
    await a.shared.force("native", { reason: "token=hunter2hunter2", by: "Bearer abcdefghijklmnop" });
    expect(JSON.stringify([...store.copy().rules.values(), store.copy().force])).not.toMatch(/hunter2|abcdefgh/);
  });
});
