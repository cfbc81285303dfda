import { mkdtempSync, rmSync } from "node:fs";
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
  const counts = { ledger: { revision: () => 0 }, shadow: undefined };
  return createSavedState({ state: { dir }, upstream: {} } as never, { ...parts, ...counts } as unknown as Parts, {
    later,
    log: log as never,
  });
}

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
