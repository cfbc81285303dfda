/**
 * Five processes under load, and everything that may befall them and their store: no client notices, and no decision is lost. Takes some four
 * minutes. FLEET_MINUTES=30 repeats the scenes of the store for as long.
 */
import { setTimeout } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { VERSION } from "../../../src/version.ts";
import { takeDownAfterAll } from "../../support/take-down.ts";
import { EVIDENCE_RULES, unavailable, wrongRecords } from "./evidence-scenes.ts";
import { AHEAD, decideAt, replace, replicasSeenBy } from "./mixed-scenes.ts";
import { type Killed, killAndRestart, translated } from "./process-scenes.ts";
import { COUNT, type Rig, startRig, timesOf } from "./rig.ts";
import { play, SCENES } from "./store-scenes.ts";
import { installedAs } from "./version.ts";

takeDownAfterAll();

let rig: Rig;
const kills: Killed[] = [];
const begun = performance.now();
beforeAll(async () => {
  rig = await startRig(EVIDENCE_RULES);
  // The first requests of a process are slow.
  await setTimeout(5_000);
});

describe("no request fails and no decision is lost at", () => {
  it.each(SCENES.map((scene, at) => [scene.name, scene, at] as const))(
    "%s",
    async (_, scene, at) => console.log(await play(rig, scene, at)),
    120_000,
  );

  it("all of these, for FLEET_MINUTES minutes", async () => {
    const minutes = Number(process.env["FLEET_MINUTES"] ?? 0);
    while (performance.now() - begun < minutes * 60_000) {
      await rig.nextRound();
      for (const [at, scene] of SCENES.entries()) console.log(await play(rig, scene, at));
    }
  }, 3_600_000);
});

it("replicas count together what clients sent, to the request", async () => {
  await rig.load.pause();
  // A request is counted after its response was sent.
  await setTimeout(500);
  const rows = (await Promise.all(rig.processes.map((one) => one.view("/progress")))).flatMap(
    ({ totals }) => totals.rows,
  );
  const counted = (version: string): number =>
    rows.reduce((sum, row) => sum + (row.apiVersion === version ? row.requests : 0), 0);
  const [v2, all] = [rig.load.sent.filter(({ kind }) => kind === "v2").length, rig.load.sent.length];
  rig.load.resume();
  expect([counted("v1"), counted("v2")]).toEqual([all - v2, v2]);
  console.log(`${all - v2} requests of v1 and ${v2} of v2 were sent and counted`);
});

it("kill -9 of each process fails only requests that were sent to it, and the next one knows all decisions", async () => {
  await rig.stepBackAt(rig.process(1));
  await rig.process(0).command("force", "native", "--reason", "kills", "--by", "operator");
  await rig.msUntil(async (one) => (await one.following()).force === "native", 2_000);
  // So that each process has requests in flight.
  rig.sick.slowMs = 200;
  const kill = async (at: number, forced: "native" | "none"): Promise<void> => {
    const { killed, text } = await killAndRestart(rig, at, forced);
    kills.push(killed);
    console.log(text);
  };
  for (const at of [0, 1]) await kill(at, "native");
  await rig.process(0).command("force", "none");
  await rig.msUntil(async (one) => (await one.following()).force === "none", 2_000);
  for (const at of [2, 3, 4]) await kill(at, "none");
  rig.sick.slowMs = 0;
}, 60_000);

it("one replica's sums agree with what clients sent, but for the last second of processes that were killed", async () => {
  await rig.load.pause();
  await setTimeout(2_500);
  const { all, unreported } = translated(rig, kills);
  // Sums of ten rules are read every fifth second, in turn.
  let requests = 0;
  for (const begun = performance.now(); requests < all - unreported && performance.now() - begun < 30_000; ) {
    await setTimeout(500);
    const { rules } = await rig.process(3).view("/progress");
    requests = rules.find(({ name }: { name: string }) => name === "everyone")?.evidence.requests ?? 0;
  }
  console.log(`${all} translated requests were sent, ${requests} counted; ${unreported} in last seconds`);
  // A process counts a request whose response it could not send any more.
  expect(requests).toBeLessThanOrEqual(all + rig.load.sent.filter(({ fault }) => fault !== undefined).length);
  expect(requests).toBeGreaterThanOrEqual(all - unreported);
  rig.load.resume();
}, 60_000);

it("two versions share a store: both serve, decisions of each hold for the other, and status names both", async () => {
  const main = await installedAs("9.8.7");
  await replace(rig, [0, 1], { main }, "upgrade of two processes");
  console.log(`decisions held everywhere after ${await decideAt(rig, [rig.process(0), rig.process(4)])}`);
  for (const at of [1, 3]) {
    const seen = await replicasSeenBy(rig.process(at));
    expect(seen.map(({ version }) => version).toSorted()).toEqual([VERSION, VERSION, VERSION, "9.8.7", "9.8.7"]);
  }
  const { out } = await rig.process(3).command("status");
  expect(out).toMatch(/different versions: .*9\.8\.7/s);
  await replace(rig, [0, 1], {}, "return of two processes to their version");
}, 120_000);

it("a clock that is an hour ahead changes no decision, and no time that replicas show", async () => {
  await replace(rig, [2], AHEAD, "a process whose clock is ahead");
  const [ahead, other] = [rig.process(2), rig.process(3)];
  const difference = (await ahead.view("/progress")).at - (await other.view("/progress")).at;
  expect(Math.round(difference / 60_000)).toBe(60);
  console.log(`decisions held everywhere after ${await decideAt(rig, [ahead, other])}`);
  for (const one of [ahead, other]) {
    const seen = await replicasSeenBy(one);
    expect(seen.map(({ isJustHeard }) => isJustHeard)).toEqual(Array(COUNT).fill(true));
  }
  await replace(rig, [2], {}, "return of the clock");
}, 60_000);

it("evidence that no replica has alone steps a rule back on all of them: v2 returns wrong records", async () => {
  console.log(await wrongRecords(rig));
}, 60_000);

it("evidence that no replica has alone steps a rule back on all of them: v2 returns 503", async () => {
  console.log(await unavailable(rig));
}, 60_000);

it("requests take as long as without a fault", async () => {
  console.log(timesOf(rig, [...new Set(SCENES.map(({ name }) => name))]));
});
