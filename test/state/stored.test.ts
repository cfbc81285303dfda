import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { savedCountsOf, savedEventsOf } from "../../src/fleet/document.ts";
import type { StoredBefore } from "../../src/runtime/persistence.ts";
import { exchange } from "../ledger/samples.ts";
import { documentRig, START } from "../runtime/document-rig.ts";
import { takeDownAfterEach } from "../support/take-down.ts";
import { stateFolder, stateProcess } from "./state-rig.ts";

takeDownAfterEach();

/** A directory with three requests of `ci`, saved at `START`. */
async function directory(): Promise<string> {
  const folder = stateFolder();
  const made = stateProcess(folder, { at: START });
  await made.saved.start(async () => undefined);
  for (let n = 0; n < 3; n++) {
    made.ledger.observe(exchange("ci"));
    made.counts.observe(exchange("ci"));
  }
  await made.saved.close();
  return folder;
}

/** What the store has of a process that had counted `requests` of `ci` at `at`. */
async function stored(at: number, requests: number): Promise<StoredBefore> {
  const made = documentRig();
  made.clock.at = at;
  for (let n = 0; n < requests; n++) made.call("ci");
  made.events.record({ kind: "stepped-back", rule: "reads", reason: "too many differences" });
  made.publisher.start();
  made.publisher.publish();
  const document = await made.read();
  const counts = savedCountsOf(document);
  if (counts === undefined) throw new Error("it has all that a restart needs");
  return { at: document.head.ledger.at, counts, events: savedEventsOf(document, "1.0.0") };
}

async function restarted(folder: string, before: StoredBefore | undefined) {
  const made = stateProcess(folder, { at: START + 60_000 });
  const asked: string[] = [];
  await made.saved.start(async (id) => {
    asked.push(id);
    return before;
  });
  const v1 = made.ledger.snapshot().clients.map(({ name, requests }) => [name, requests.v1]);
  const total = made.counts.snapshot().rows.reduce((sum, row) => sum + row.requests, 0);
  const inWindow = made.counts.window({ from: -3_600_000, to: undefined }).rows.map(({ requests }) => requests);
  return { ...made, asked, v1, total, inWindow };
}

test("a process that was killed continues from the store, if that is ahead of its directory", async () => {
  const folder = await directory();
  const made = await restarted(folder, await stored(START + 20_000, 8));
  expect([made.v1, made.total, made.inWindow]).toEqual([[["ci", 8]], 8, [8]]);
  expect(made.history.select().map(({ kind }) => kind)).toEqual(["stepped-back"]);
});

test("a directory that is ahead of the store is worth more", async () => {
  const made = await restarted(await directory(), await stored(START - 20_000, 2));
  expect([made.v1, made.total]).toEqual([[["ci", 3]], 3]);
});

test("without a store that responds, the directory is all there is", async () => {
  const made = await restarted(await directory(), undefined);
  expect([made.v1, made.total]).toEqual([[["ci", 3]], 3]);
});

test("what cannot be used of the store is left, with a warning", async () => {
  const broken = { ...(await stored(START + 20_000, 8)), counts: { version: 1, names: { check: "c", names: [] } } };
  const made = await restarted(await directory(), broken);
  expect([made.v1, made.total]).toEqual([[["ci", 3]], 3]);
  expect(made.lines.join()).toContain("what the store at state.url has of this process's counts cannot be used");
});

test("the id under which the store has the counts stays in the directory", async () => {
  const folder = await directory();
  const kept = JSON.parse(readFileSync(join(folder, "contributor.json"), "utf8")).id;
  const made = await restarted(folder, undefined);
  expect([made.asked, made.saved.contributor()]).toEqual([[kept], kept]);
});
