import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { later as afterMs } from "../../src/model/clock.ts";
import { exchange } from "../ledger/samples.ts";
import { finished, rule } from "../rollout/control-rig.ts";
import { takeDownAfterEach } from "../support/take-down.ts";
import { stateFolder, stateProcess } from "./state-rig.ts";

takeDownAfterEach();

test("a directory holds five sections and a marker, and while a process lives its name", async () => {
  const folder = stateFolder();
  const { saved, start } = stateProcess(folder);
  await start();
  const files = ["counts.json", "events.json", "last-rules.json", "replicas.json", "rollout.json", "used.txt"];
  expect(readdirSync(folder)).toEqual([...files, "owner.json"].sort());
  await saved.close();
  expect(readdirSync(folder)).toEqual(files);
});

test("a process that dies in its first start leaves nothing that looks lost", async () => {
  const folder = stateFolder();
  // Sections are written before the marker, and rules before counts.
  await stateProcess(folder).start();
  for (const name of ["used.txt", "counts.json", "owner.json"]) rmSync(join(folder, name));
  const two = stateProcess(folder, { rules: [rule()] });
  await two.start();
  expect([two.control.states()[0]?.phase, two.control.force().effective, two.lines]).toEqual(["forward", "none", []]);
});

test.each([
  [1, ["counts.json", "owner.json", "rollout.json", "used.txt"]],
  [2, ["counts.damaged", "counts.json", "owner.json", "rollout.json", "used.txt"]],
])("counts of version %i: %j", async (version, files) => {
  const folder = stateFolder();
  const ledger = { version: 1, instances: [], since: 0, at: 0, requests: { v1: 0, v2: 0 }, bound: 0, clients: [] };
  const totals = { since: 0, rows: [] };
  writeFileSync(join(folder, "rollout.json"), '{"version":1}');
  writeFileSync(join(folder, "counts.json"), JSON.stringify({ version, ledger, totals, comparisons: [] }));
  await stateProcess(folder).saved.start();
  expect(readdirSync(folder).filter((name) => !/^(?:rollout\.damaged|events|last-rules|replicas)/.test(name))).toEqual(
    files,
  );
});

test("a client that is forgotten does not come back with a restart, and how long others were overdue does", async () => {
  const folder = stateFolder();
  const one = stateProcess(folder);
  await one.start();
  for (const name of ["ann", "ben"]) one.ledger.observe(exchange(name));
  await one.saved.saveCounts();
  one.ledger.forget(["ann"]);
  one.at += 181 * 24 * 3_600_000;
  expect(one.retention.due(one.ledger.seen())).toEqual([]);
  expect(await one.saved.saveCounts()).toBe(true);
  expect(readFileSync(join(folder, "counts.json"), "utf8")).not.toContain("ann");
  await one.saved.close();
  const two = stateProcess(folder);
  await two.start();
  expect(two.ledger.snapshot().clients.map(({ name }) => name)).toEqual(["ben"]);
  expect(two.retention.memory()).toEqual([["ben", 0]]);
});

test("comparisons that are kept over a restart are counted since before it", async () => {
  const folder = stateFolder();
  const one = stateProcess(folder);
  await one.start();
  const since = one.saved.comparedSince();
  await one.saved.close();
  const two = stateProcess(folder, { at: one.at + 3_600_000 });
  await two.start();
  expect(two.saved.comparedSince()).toBe(since);
});

test("counts over time that cannot be read begin again, and everything else is kept", async () => {
  const folder = stateFolder();
  const one = stateProcess(folder);
  await one.start();
  one.counts.observe(finished("ci"));
  one.ledger.observe(finished("ci"));
  await one.saved.close();
  const file = join(folder, "counts.json");
  const { check: _, ...counts } = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...counts, history: { version: 2 } }));
  const two = stateProcess(folder);
  await two.start();
  expect(two.lines.join()).toMatch(
    /parts of .*counts\.json cannot be used \(it is kept as .*\): history\.version: expected 1/,
  );
  expect(two.saved.countsLostAt()).toBeUndefined();
  const all = { from: undefined, to: undefined };
  expect([two.counts.snapshot().rows[0]?.requests, two.counts.window(all).rows]).toEqual([1, []]);
  expect(two.ledger.snapshot().clients.map(({ name }) => name)).toEqual(["ci"]);
});

test.each([
  ["on disk", true, false, true],
  ["on a disk that is slow", true, true, false],
  ["in memory only", false, false, false],
])("what is kept %s survives: %s", async (_, hasDir, isSlow, survives) => {
  const timer = (ms: number, run: () => void): (() => void) => {
    // The time that a save may take is over at once.
    if (isSlow && ms === 1000) run();
    return afterMs(ms, run);
  };
  const { saved, control, at } = stateProcess(hasDir ? stateFolder() : undefined, { timer });
  await saved.start();
  control.forceByHand("native", at);
  expect(await new Promise((resolve) => saved.afterSaving(resolve))).toBe(survives);
});

test.runIf(process.getuid?.() !== 0)(
  "a directory that can no longer be written keeps the last good file, and it is said",
  async () => {
    const folder = stateFolder();
    const { saved, control, at, lines } = stateProcess(folder);
    await saved.start();
    const before = readFileSync(join(folder, "rollout.json"), "utf8");
    chmodSync(folder, 0o500);
    control.forceByHand("native", at);
    expect(await new Promise((resolve) => saved.afterSaving(resolve))).toBe(false);
    expect([saved.failing(), lines[0]]).toEqual([true, expect.stringContaining("rollout.json cannot be written")]);
    expect(readFileSync(join(folder, "rollout.json"), "utf8")).toBe(before);
    chmodSync(folder, 0o700);
    expect(await new Promise((resolve) => saved.afterSaving(resolve))).toBe(true);
    expect(saved.failing()).toBe(false);
  },
);

test.each([
  ["removed", (folder: string) => rmSync(folder, { recursive: true })],
  ["replaced", (folder: string) => renameSync(folder, `${folder}-old`)],
])("a directory that was %s while carryover runs is written whole again once it is there", async (_, take) => {
  const folder = stateFolder();
  const ticks: (() => void)[] = [];
  const timer = (ms: number, run: () => void): (() => void) => {
    if (ms === 3000) ticks.push(run);
    return ms === 3000 ? () => {} : afterMs(ms, run);
  };
  const { saved, control, at, lines } = stateProcess(folder, { timer });
  await saved.start();
  take(folder);
  control.forceByHand("native", at);
  expect(await new Promise((resolve) => saved.afterSaving(resolve))).toBe(false);
  expect(saved.failing()).toBe(true);
  mkdirSync(folder);
  ticks.shift()?.();
  while (!existsSync(join(folder, "used.txt")) || !existsSync(join(folder, "rollout.json")))
    await new Promise((go) => setTimeout(go, 5));
  expect(lines.join()).toContain("were removed or replaced while this process ran");
  expect(JSON.parse(readFileSync(join(folder, "rollout.json"), "utf8")).force.command).toBe("native");
  rmSync(`${folder}-old`, { recursive: true, force: true });
});
