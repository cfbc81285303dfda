import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSavedState } from "../../src/persistence.ts";
import { rig, rulesOf } from "../control/control-rig.ts";

type Parts = Parameters<typeof createSavedState>[1];

/** Only rule states are saved here. `passes`: the time that a save may take is over at once. */
function savedState(dir: string | undefined, passes: boolean) {
  const rollout = rig(rulesOf([])).control;
  let revision = 0;
  const parts = { rollout: { ...rollout, revision: () => revision++ }, digests: { key: () => "0".repeat(64) } };
  const later = (ms: number, run: () => void): (() => void) => {
    if (passes && ms === 1000) run();
    return () => {};
  };
  const log = { warn: () => {} };
  const ledger = { revision: () => 0, restore: () => {} };
  const identity = { nameSince: () => (name: string) => name };
  const counts = { ledger, identity, totals: { restore: () => {} }, shadow: undefined };
  return createSavedState(
    { state: { dir }, upstream: { v2: {} }, shadow: {} } as never,
    { ...parts, ...counts } as unknown as Parts,
    {
      later,
      log: log as never,
    },
  );
}

test.each([
  [1, ["counts.json"]],
  [2, ["counts.damaged"]],
])("counts of version %i: %j", async (version, files) => {
  const folder = mkdtempSync(join(tmpdir(), "carryover-state-"));
  const ledger = { version: 1, instances: [], since: 0, at: 0, requests: { v1: 0, v2: 0 }, bound: 0, clients: [] };
  writeFileSync(join(folder, "counts.json"), JSON.stringify({ version, ledger, comparisons: [] }));
  await savedState(folder, false).start();
  expect(readdirSync(folder)).toEqual(files);
  rmSync(folder, { recursive: true, force: true });
});

test.each([
  ["on disk", true, false, true],
  ["on a disk that is slow", true, true, false],
  ["in memory only", false, false, false],
])("what is kept %s survives: %s", async (_, hasDir, passes, survives) => {
  const folder = mkdtempSync(join(tmpdir(), "carryover-state-"));
  const saved = savedState(hasDir ? folder : undefined, passes);
  await saved.start();
  expect(await new Promise((resolve) => saved.afterSaving(resolve))).toBe(survives);
  rmSync(folder, { recursive: true, force: true });
});
