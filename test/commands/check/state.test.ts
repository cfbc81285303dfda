import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verdictOf } from "../../../src/commands/check/finding.ts";
import { checkState } from "../../../src/commands/check/state.ts";
import type { Config } from "../../../src/config/config.ts";
import { rule, rulesOf } from "../../rollout/control-rig.ts";
import { stateFolder, stateProcess } from "../../state/state-rig.ts";
import { takeDownAfterEach } from "../../support/take-down.ts";

takeDownAfterEach();

const RULES = [rule({ name: "reads" })];

async function check(dir: string | undefined, native = true, storage?: Parameters<typeof checkState>[3]) {
  const config = {
    state: { dir },
    upstream: native ? { v1: {} } : {},
    cutover: { mode: "native" },
  } as unknown as Config;
  const findings = await checkState(config, rulesOf(RULES), 0, storage);
  return findings.map(({ level, what }) => `${level} ${what.replace(dir ?? "-", "DIR")}`);
}

test("says nothing where no state was kept", async () => {
  expect([await check(undefined), await check(stateFolder()), await check("/nowhere")]).toEqual([[], [], []]);
});

test("names rules whose saved state cannot be read, reads only, and may run while a carryover lives", async () => {
  const folder = stateFolder();
  const one = stateProcess(folder, { rules: RULES });
  await one.start();
  await new Promise((resolve) => one.saved.afterSaving(resolve));
  const names = readdirSync(folder);
  expect(await check(folder)).toEqual(["ok DIR can be read"]);
  writeFileSync(join(folder, "rollout.json"), "{");
  expect(await check(folder)).toEqual([
    "warn the saved state of reads cannot be read: served by native v1",
    "warn what carryover force said cannot be read: everything is served by native v1",
  ]);
  expect(await check(folder, false)).toEqual([
    "warn the saved state of reads cannot be read: translated all the same, without a native v1",
    "warn carryover force native is kept, and has no effect without upstream.v1.url",
  ]);
  expect(readdirSync(folder)).toEqual(names);
  expect(
    verdictOf([
      { probe: "state", level: "warn", what: "", remedy: "" },
      { probe: "lists", level: "ok", what: "", remedy: "" },
    ]),
  ).toBe("warn");
});

test.each([
  ["is read-only", { access: "EROFS", bavail: 1 }],
  ["is on a full disk", { access: undefined, bavail: 0 }],
])("warns of a directory that %s", async (text, { access, bavail }) => {
  const folder = stateFolder();
  await stateProcess(folder, { rules: RULES }).start();
  const storage = {
    access: async () => {
      if (access !== undefined) throw Object.assign(new Error(access), { code: access });
    },
    statfs: async () => ({ blocks: 1, bavail }),
  };
  expect(await check(folder, true, storage)).toEqual([
    expect.stringContaining(`warn DIR ${text}: carryover would go on`),
  ]);
});

test.runIf(process.getuid?.() !== 0)("judges nothing that its user may not read", async () => {
  const folder = join(stateFolder(), "state");
  mkdirSync(folder, { mode: 0 });
  expect(await check(folder)).toEqual([expect.stringMatching(/^skipped state.dir: DIR cannot be read \(EACCES/)]);
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true });
});
