import { beforeEach, expect, test } from "vitest";
import type { BrownoutSettings } from "../../src/model/rules.ts";
import type { Rules } from "../../src/rules/rule.ts";
import { finished, rulesOf } from "../rollout/control-rig.ts";
import { makeRule } from "../rollout/make-rule.ts";
import type { MemoryStore } from "../state/shared/memory-store.ts";
import { takeDownAfterEach } from "../support/take-down.ts";
import { createStore, type Process, startReplica, until, wall } from "./replica-rig.ts";

takeDownAfterEach();

let store: MemoryStore;
beforeEach(() => {
  store = createStore();
});

/** Its window is open all the time. */
const BROWNOUT: BrownoutSettings = {
  ...{ status: 400, message: "v1 ends", successor: undefined, contact: undefined, exempt: new Set() },
  ...{ stopAbove: 0.5, minRequests: 20, singleReplica: false, allowLong: true },
  schedule: { cron: "0 0 * * *", zone: "UTC", duration: 86_400_000, from: undefined, until: undefined },
};
const RULES: Rules = rulesOf([makeRule("b", {}, { mode: "brownout", brownout: BROWNOUT })]);

async function replica(instance: string): Promise<Process> {
  const made = await startReplica(store, instance, { rules: RULES });
  made.at = wall();
  made.control.lookAtBrownouts();
  await until(() => phaseOf(made) !== "held");
  return made;
}
const phaseOf = ({ control }: Process) => control.brownouts().get("b")?.phase.kind;
const kinds = ({ told }: Process) => told.map(({ kind }) => kind).filter((kind) => kind.startsWith("brownout"));
/** `refused` of `all` requests. */
function serve({ control }: Process, all: number, refused: number): void {
  const facts = { mode: "refused", reason: "BROWNOUT", rule: "b", status: 400 } as const;
  for (let n = 0; n < all; n++) control.observe(finished(`c${n}`, n < refused ? facts : { rule: undefined }));
}

test("replicas stop a brownout together by what all of them refused, and not by what one did", async () => {
  const [a, b] = [await replica("a"), await replica("b")];
  serve(a, 15, 15);
  serve(b, 25, 4);
  await until(() => a.control.states()[0]?.brownout?.counts?.requests === 40);
  expect([phaseOf(a), phaseOf(b)]).toEqual(["running", "running"]);
  serve(b, 4, 4);
  await until(() => phaseOf(a) === "stopped" && phaseOf(b) === "stopped");
  expect(a.told.at(-1)?.reason).toMatch(/^23 of 44 v1 requests were refused/);
});

test("what stops a brownout on one replica stops it on all, and on one that starts later", async () => {
  const [a, b] = [await replica("a"), await replica("b")];
  a.control.forceByHand("native", a.at, { reason: "billing calls" });
  a.control.forceByHand("none", a.at);
  await until(() => phaseOf(b) === "stopped");
  expect(b.told.at(-1)).toMatchObject({ kind: "brownout-stopped", reason: "carryover force native: billing calls" });
  const late = await replica("c");
  await until(() => phaseOf(late) === "stopped");
  expect(kinds(late)).toEqual(["brownout-stopped"]);
});

test("a replica that gets the rule within a window refuses nothing before it knows that no other one stopped it", async () => {
  const a = await replica("a");
  a.control.forceByHand("native", a.at);
  a.control.forceByHand("none", a.at);
  const b = await startReplica(store, "b", { rules: rulesOf([makeRule("other", {}, { mode: "native" })]) });
  b.at = wall();
  // By now the store has what a did.
  await until(() => phaseOf(a) === "stopped" && b.shared.isUp());
  await replica("c");
  b.control.replace(RULES);
  expect(phaseOf(b)).toBe("held");
  await until(() => phaseOf(b) === "stopped");
  expect(kinds(b)).toEqual(["brownout-stopped"]);
});

test("a replica that loses the store refuses nothing until it is back", async () => {
  const a = await replica("a");
  expect(phaseOf(a)).toBe("running");
  a.way.isAway = true;
  await until(() => {
    a.control.lookAtBrownouts();
    return phaseOf(a) === "held";
  });
  a.way.isAway = false;
  await until(() => {
    a.control.lookAtBrownouts();
    return phaseOf(a) === "running";
  });
  expect(kinds(a)).toEqual(["brownout-began", "brownout-stopped", "brownout-began"]);
});
