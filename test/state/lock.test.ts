import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { later as afterMs } from "../../src/model/clock.ts";
import { createStateLock, holderOf, StateInUse, type StateLock, StateWaitEnded } from "../../src/state/lock.ts";
import { createFolderStore } from "../../src/state/store.ts";
import { later, takeDownAfterEach } from "../support/take-down.ts";
import { stateFolder } from "./state-rig.ts";

takeDownAfterEach();

/** A process whose beats come when the test says so, and whose looks at the file of another follow each other at once. */
function process(folder: string, host: string, over: { readonly isUnchanged?: () => Promise<boolean> } = {}) {
  const beats: (() => void)[] = [];
  /** What happens when a beat takes too long. */
  const late: (() => void)[] = [];
  const seen = { looks: 0, look: async (): Promise<void> => {}, reclaimed: 0 };
  const lines: string[] = [];
  const options = {
    host,
    process: 7,
    later: (ms: number, run: () => void) => {
      if (ms === 3000) {
        beats.push(run);
        return () => {};
      }
      if (ms === 15_000) {
        late.push(run);
        return () => late.splice(late.indexOf(run), 1);
      }
      seen.looks += 1;
      return afterMs(0, () => void seen.look().then(run));
    },
    wall: () => 0,
    warn: (message: string) => lines.push(message),
    isUnchanged: over.isUnchanged ?? (async () => true),
    reclaimed: () => {
      seen.reclaimed += 1;
    },
  };
  const lock = createStateLock({ ...options, folder });
  const isHeld = (): Promise<boolean> =>
    lock.requireHeld().then(
      () => true,
      () => false,
    );
  const beat = async (): Promise<void> => {
    const before = beats.length;
    beats.shift()?.();
    // The next is due, or there is none.
    for (let n = 0; n < 50 && beats.length < before; n++) await new Promise((resolve) => setTimeout(resolve, 2));
  };
  later(() => lock.release());
  return { lock, lines, seen, beat, beats, late, isHeld, options };
}

const text = (folder: string) => readFileSync(join(folder, "owner.json"), "utf8");
const refusal = (lock: StateLock): Promise<unknown> =>
  lock.claim().then(
    () => undefined,
    (error: unknown) => error,
  );

test("a second process refuses to start while the first lives, and names it", async () => {
  const folder = stateFolder();
  const [one, two] = [process(folder, "a"), process(folder, "b")];
  await one.lock.claim();
  two.seen.look = async () => {
    if (two.seen.looks === 4) await one.beat();
  };
  const error = await refusal(two.lock);
  expect(error).toBeInstanceOf(StateInUse);
  expect(String(error)).toContain("is in use by host a, process 7, since 1970-01-01T00:00:00.000Z:");
  expect(two.seen.looks).toBe(4);
  await two.lock.release();
  expect(await one.isHeld()).toBe(true);
});

test("a process that stops properly lets the next in at once, also one that waits", async () => {
  const folder = stateFolder();
  const [one, two, three] = [process(folder, "a"), process(folder, "b"), process(folder, "c")];
  await one.lock.claim();
  await one.lock.release();
  expect(readdirSync(folder)).toEqual([]);
  await two.lock.claim();
  expect([two.seen.looks, two.lines]).toEqual([0, []]);
  three.seen.look = async () => {
    if (three.seen.looks === 2) await two.lock.release();
  };
  await three.lock.claim();
  expect([three.seen.looks, await three.isHeld()]).toEqual([2, true]);
});

test.each([
  ["of a process that was killed", async (folder: string) => process(folder, "a").lock.claim()],
  ["that is empty", async (folder: string) => writeFileSync(join(folder, "owner.json"), "")],
  ["that is no JSON", async (folder: string) => writeFileSync(join(folder, "owner.json"), "{")],
])("a file %s is taken over after 30 looks of half a second, which is said", async (_, leave) => {
  const folder = stateFolder();
  await leave(folder);
  const two = process(folder, "b");
  await two.lock.claim();
  expect([two.seen.looks, await two.isHeld(), await holderOf(folder)]).toEqual([
    30,
    true,
    "host b, process 7, since 1970-01-01T00:00:00.000Z",
  ]);
  expect(two.lines).toEqual([
    expect.stringContaining("waiting up to 15 s to see whether it lives"),
    expect.stringContaining("this process takes over"),
  ]);
});

test("of two that wait for the same file only one takes over", async () => {
  const folder = stateFolder();
  await process(folder, "killed").lock.claim();
  const all = ["b", "c"].map((host) => process(folder, host));
  const errors = await Promise.all(all.map(({ lock }) => refusal(lock)));
  const held = await Promise.all(all.map(({ isHeld }) => isHeld()));
  expect(held.filter(Boolean)).toHaveLength(1);
  expect(errors.filter((error) => error === undefined).length).toBeLessThanOrEqual(2);
});

test("a process that has only just created its file is named, and not the one before it", async () => {
  const folder = stateFolder();
  await process(folder, "killed").lock.claim();
  const two = process(folder, "b");
  two.seen.look = async () => {
    if (two.seen.looks === 3) writeFileSync(join(folder, "owner.json"), "");
    if (two.seen.looks === 4)
      writeFileSync(join(folder, "owner.json"), JSON.stringify({ host: "c", process: 8, since: "now", token: "t" }));
  };
  expect(String(await refusal(two.lock))).toContain("in use by host c, process 8,");
});

test("a wait for the directory can be ended, and takes nothing over", async () => {
  const folder = stateFolder();
  await process(folder, "killed").lock.claim();
  const before = text(folder);
  const two = process(folder, "b");
  two.seen.look = async () => {
    if (two.seen.looks === 2) two.lock.endWait();
  };
  expect(await refusal(two.lock)).toBeInstanceOf(StateWaitEnded);
  expect([two.seen.looks, text(folder)]).toEqual([2, before]);
});

test("a pipe in the place of its file stops no beat, and no shutdown", async () => {
  const folder = stateFolder();
  const one = process(folder, "a");
  await one.lock.claim();
  rmSync(join(folder, "owner.json"));
  execFileSync("mkfifo", [join(folder, "owner.json")]);
  await one.beat();
  await one.lock.release();
  expect(one.lines).toEqual([expect.stringContaining("has taken over")]);
});

test("a beat that takes longer than another process would wait is said", async () => {
  const folder = stateFolder();
  const one = process(folder, "a");
  await one.lock.claim();
  one.beats[0]?.();
  one.late[0]?.();
  expect(one.lines).toEqual([expect.stringContaining("could not be changed for 15 s")]);
  await one.lock.release();
  expect(one.late).toEqual([]);
});

test("a process that was paused while another took over notices before it writes, and never writes again", async () => {
  const folder = stateFolder();
  const one = process(folder, "a");
  const store = createFolderStore(folder, one.options);
  await store.prepare();
  await store.write("rollout", ["first"]);
  const two = process(folder, "b");
  await two.lock.claim();
  writeFileSync(join(folder, "rollout.json"), "second");
  await expect(store.write("rollout", ["third"])).rejects.toThrow("another process has taken the directory over");
  expect(one.lines).toEqual([
    expect.stringContaining("host b, process 7, since 1970-01-01T00:00:00.000Z has taken over"),
  ]);
  await two.lock.release();
  // Nor when the other one is gone.
  await expect(store.write("rollout", ["third"])).rejects.toThrow("another process has taken the directory over");
  await store.release();
  expect([readFileSync(join(folder, "rollout.json"), "utf8"), readdirSync(folder)]).toEqual([
    "second",
    ["rollout.json"],
  ]);
});

test("a beat goes into the file that was looked at, and a beat of a paused process shows that another took over", async () => {
  const folder = stateFolder();
  const [one, two] = [process(folder, "a"), process(folder, "b")];
  await one.lock.claim();
  await two.lock.claim();
  const before = text(folder);
  await one.beat();
  expect([text(folder), one.lines.length, await one.isHeld(), await two.isHeld()]).toEqual([before, 1, false, true]);
});

test.each([
  ["and nothing else was written there, it claims it again", true, 1],
  ["and another process wrote there, it never writes again", false, 0],
])("when its file is removed, %s", async (_, unchanged, reclaimed) => {
  const folder = stateFolder();
  const one = process(folder, "a", { isUnchanged: async () => unchanged });
  await one.lock.claim();
  rmSync(join(folder, "owner.json"));
  expect(await one.isHeld()).toBe(false);
  await one.beat();
  expect([one.seen.reclaimed, await one.isHeld(), one.lines.length]).toEqual([reclaimed, unchanged, 1]);
});

test("a directory that is away is claimed again when it is back", async () => {
  const folder = stateFolder();
  const one = process(folder, "a");
  await one.lock.claim();
  rmSync(folder, { recursive: true });
  await one.beat();
  await one.beat();
  expect([await one.isHeld(), one.lines.length]).toEqual([false, 1]);
  mkdirSync(folder);
  await one.beat();
  expect([await one.isHeld(), one.seen.reclaimed]).toEqual([true, 1]);
});

test("names from the file are shown without control characters", async () => {
  const folder = stateFolder();
  writeFileSync(join(folder, "owner.json"), JSON.stringify({ host: "a\u001b[31m", process: 1, since: "now" }));
  expect(await holderOf(folder)).toBe("host a?[31m, process 1, since now");
});
