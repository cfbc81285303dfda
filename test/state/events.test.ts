/** Events and the last good rules over restarts, in `state.dir`. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rule } from "../rollout/control-rig.ts";
import { takeDownAfterEach } from "../support/take-down.ts";
import { type StateProcess, stateFolder, stateProcess } from "./state-rig.ts";

takeDownAfterEach();

const kinds = ({ history }: StateProcess) => history.select().map(({ kind }) => kind);

/** A process that ran in `folder` and stopped, or was killed. */
async function ran(folder: string, end: "stopped" | "killed"): Promise<void> {
  const one = stateProcess(folder, { rules: [rule()] });
  await one.start();
  one.history.record({ kind: "started", reason: "" });
  one.lastRules.take(Buffer.from("rules"));
  if (end === "stopped") one.history.record({ kind: "stopped", reason: "" });
  await one.saved.close();
}

test("events and the last good rules survive a restart", async () => {
  const folder = stateFolder();
  await ran(folder, "stopped");
  const two = stateProcess(folder);
  await two.start();
  expect([kinds(two), Buffer.from(two.lastRules.bytes() ?? []).toString(), two.saved.before(), two.lines]).toEqual([
    ["rules", "started", "stopped"],
    "rules",
    { version: undefined, ended: undefined },
    [],
  ]);
});

test("a process that restarts still knows which others were in the shared store", async () => {
  const folder = stateFolder();
  const one = stateProcess(folder);
  await one.start();
  one.known.found([{ id: "b", name: "web/b", goneSince: undefined, isEmpty: false }]);
  await one.saved.close();
  const two = stateProcess(folder);
  await two.start();
  two.known.found([]);
  expect(two.known.returning()).toEqual(["web/b"]);
});

test("an end that was no stop is known, with the time since when nothing was saved", async () => {
  const folder = stateFolder();
  await ran(folder, "killed");
  const two = stateProcess(folder);
  await two.start();
  expect(two.saved.before().ended).toMatch(
    /^the process before it did not stop properly: it was last heard of at 2026-11-21 00:00:00Z, and nothing was saved since$/,
  );
});

test("a change is on disk once it is reported", async () => {
  const folder = stateFolder();
  const { saved, control, at } = stateProcess(folder);
  await saved.start();
  control.forceByHand("native", at, { reason: "v2 returns 503", by: "anna" });
  expect(await new Promise((resolve) => saved.afterSaving(resolve))).toBe(true);
  expect(JSON.parse(readFileSync(join(folder, "events.json"), "utf8")).events).toMatchObject([
    { kind: "forced", from: "none", to: "native", by: "anna", reason: "carryover force native: v2 returns 503" },
  ]);
  expect(JSON.parse(readFileSync(join(folder, "rollout.json"), "utf8")).force).toEqual({
    ...{ command: "native", commandAt: at, reason: "v2 returns 503", by: "anna" },
  });
});

test.each([
  [
    "events",
    (text: string) => text.replace("started", "stopped"),
    /events\.json cannot be used \(kept as .*events\.damaged\): events begin now/,
  ],
  ["last-rules", (text: string) => text.slice(0, -9), /last-rules\.json cannot be used .* invalid rules file/],
])("damaged %s are kept aside and said, and nothing else is lost", async (name, damage, said) => {
  const folder = stateFolder();
  await ran(folder, "stopped");
  const path = join(folder, `${name}.json`);
  writeFileSync(path, damage(readFileSync(path, "utf8")));
  const two = stateProcess(folder, { rules: [rule()] });
  await two.start();
  expect([two.lines, existsSync(join(folder, `${name}.damaged`))]).toEqual([[expect.stringMatching(said)], true]);
  expect([two.control.states()[0]?.phase, two.saved.countsLostAt(), two.saved.failing()]).toEqual([
    ...["forward", undefined, false],
  ]);
  expect(two.saved.before()).toEqual({ version: undefined, ended: undefined });
});

test("of an earlier version, missing events frighten nobody, and its latest changes are events", async () => {
  const folder = stateFolder();
  await ran(folder, "stopped");
  for (const name of ["events", "last-rules"]) rmSync(join(folder, `${name}.json`));
  const path = join(folder, "rollout.json");
  const saved = JSON.parse(readFileSync(path, "utf8"));
  const change = { at: Date.UTC(2026, 10, 20), from: "forward", to: "back", reason: "v2 failed" };
  saved.transitions = [{ ...change, kind: "stepped-back", rule: "all" }];
  saved.moreTransitions = [
    { ...change, kind: "confirmed", rule: "all", at: change.at + 1 },
    { ...change, kind: "paused" },
  ];
  writeFileSync(path, JSON.stringify(saved));
  const two = stateProcess(folder, { rules: [rule()] });
  await two.start();
  expect([kinds(two), two.lines, two.saved.before().version]).toEqual([
    ["stepped-back", "confirmed"],
    [],
    "an earlier version",
  ]);
  await two.saved.close();
  const three = stateProcess(folder, { rules: [rule()] });
  await three.start();
  expect([kinds(three), three.saved.before().version]).toEqual([["stepped-back", "confirmed"], undefined]);
});

test("another version that wrote the events is named", async () => {
  const folder = stateFolder();
  await ran(folder, "stopped");
  const path = join(folder, "events.json");
  const saved = JSON.parse(readFileSync(path, "utf8"));
  delete saved.check;
  writeFileSync(path, JSON.stringify({ ...saved, writer: "0.0.9" }));
  const two = stateProcess(folder);
  await two.start();
  expect(two.saved.before().version).toBe("0.0.9");
});

test("storage that fails and comes back is two events, however many files there are", async () => {
  const folder = stateFolder();
  const one = stateProcess(folder);
  await one.start();
  const force = (command: "native" | "none") => {
    one.control.forceByHand(command, one.at);
    return new Promise((resolve) => one.saved.afterSaving(resolve));
  };
  const paths = ["rollout.json", "events.json"].map((name) => join(folder, name));
  for (const path of paths) {
    // No file can come into the place of a full directory.
    rmSync(path);
    mkdirSync(join(path, "full"), { recursive: true });
  }
  expect([await force("native"), one.saved.failing()]).toEqual([false, true]);
  for (const path of paths) rmSync(path, { recursive: true });
  expect([await force("none"), one.saved.failing()]).toEqual([true, false]);
  expect(kinds(one)).toEqual(["rules", "forced", "state-failing", "forced", "state-saved"]);
});
