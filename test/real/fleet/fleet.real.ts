/**
 * Five processes under load, and everything that may befall them and their store: no client notices, and no decision is lost. Takes some four
 * minutes. FLEET_MINUTES=30 repeats the scenes of the store for as long.
 */
import { setTimeout } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { takeDownAfterAll } from "../../support/take-down.ts";
import { killAndRestart } from "./process-scenes.ts";
import { COUNT, type Rig, startRig, timesOf } from "./rig.ts";
import { play, SCENES } from "./store-scenes.ts";

takeDownAfterAll();

let rig: Rig;
const begun = performance.now();
beforeAll(async () => {
  rig = await startRig();
  // The first requests of a process are slow.
  await setTimeout(5_000);
});

describe("no request fails and no decision is lost at", () => {
  it.each(SCENES.map((scene, at) => [scene.name, scene, at] as const))(
    "%s",
    async (_, scene, at) => console.log(await play(rig, scene, at)),
    60_000,
  );

  it("all of these, for as many minutes as FLEET_MINUTES says", async () => {
    const minutes = Number(process.env["FLEET_MINUTES"] ?? 0);
    while (performance.now() - begun < minutes * 60_000) {
      await rig.nextRound();
      for (const [at, scene] of SCENES.entries()) console.log(await play(rig, scene, at));
    }
  }, 3_600_000);
});

it("replicas count together what clients sent, to the request", async () => {
  await rig.load.pause();
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
  for (let at = 0; at < COUNT; at++) console.log((await killAndRestart(rig, at)).text);
  rig.sick.slowMs = 0;
  await rig.process(0).command("force", "none");
}, 60_000);

it("requests take as long as without a fault", async () => {
  console.log(timesOf(rig, [...new Set(SCENES.map(({ name }) => name))]));
});
