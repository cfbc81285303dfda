/** With `state.dir` an invalid rules file does not keep an instance from starting (docs/cutover.md). */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCommand } from "../../../scripts/command.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, cutover, type Front, folder } from "./rig.ts";

takeDownAfterEach();

const rules = (mode: string) => `version: carryover/v1
rules:
  - { name: rest, match: {}, mode: ${mode}, shadow: { sample: 0 } }
`;
const modeOf = async (one: Front) => (await one.ask("GET", "/iam/v1/groups", as("ci"))).field("carryover-mode");
const isUsable = (one: Front) => one.metric("carryover_config_last_reload_successful");
const kindsOf = async (one: Front): Promise<string[]> =>
  (await one.view("/events")).events.map(({ kind }: { kind: string }) => kind);

it("it serves by the last good rules, says so everywhere, and takes the file when it is good again", async () => {
  const stateDir = join(await folder(), "state");
  const rig = await cutover({ rules: rules("translate"), flags: { stateDir } });
  await rig.close();
  await writeFile(rig.rulesPath, rules("tranzlate"));
  const next = await rig.replica();
  expect([await modeOf(next), await isUsable(next)]).toEqual(["translate", 0]);
  const { out } = await runCommand(["status", next.adminUrl]);
  expect(out).toMatch(/has an invalid rules file since \d\d:\d\dZ and keeps the\s+rules before it:/);
  const { rulesFault } = await next.view("/progress");
  expect(rulesFault.says).toMatch(/rules\.yaml:3:.*tranzlate/);
  const [refused] = (await next.view("/events?kind=rules-refused")).events;
  expect(refused.reason).toMatch(
    /^the rules that were saved before the restart are in force: .*rules\.yaml:3:.*tranzlate/,
  );
  expect(next.lines.filter((line) => line.includes(refused.id)).map((line) => JSON.parse(line).level)).toEqual([
    "error",
  ]);
  await next.close();

  // Nothing was learnt from the invalid file.
  const third = await rig.replica();
  expect(await modeOf(third)).toBe("translate");
  await writeFile(rig.rulesPath, rules("native"));
  await third.reload();
  expect([await modeOf(third), await isUsable(third)]).toEqual(["native", 1]);
  expect((await kindsOf(third)).slice(-3)).toEqual(["started", "rules", "rules-recovered"]);
  expect((await third.view("/rules")).rulesFile.failing).toBeUndefined();
  await third.close();

  await writeFile(rig.rulesPath, rules("tranzlate"));
  expect(await modeOf(await rig.replica())).toBe("native");
});

it("it does not start with a missing file, without saved rules, or without state.dir", async () => {
  const stateDir = join(await folder(), "state");
  const rig = await cutover({ rules: rules("translate"), flags: { stateDir } });
  await rig.close();
  await writeFile(rig.rulesPath, rules("tranzlate"));
  await expect(rig.replica({ stateDir: join(await folder(), "new") })).rejects.toThrow(/tranzlate/);
  // Rules that the configuration no longer allows are not in force either: there is no native v1 now.
  await rm(rig.rulesPath);
  await expect(rig.replica()).rejects.toThrow(/cannot be read/);
});

it("starts and stops are events that name each other, and an end that was no stop is said", async () => {
  const stateDir = join(await folder(), "state");
  const rig = await cutover({ rules: rules("translate"), flags: { stateDir } });
  const { digest } = (await rig.view("/rules")).file;
  await rig.close();
  const next = await rig.replica();
  expect(await kindsOf(next)).toEqual(["rules", "started", "stopped", "started"]);
  const { events } = await next.view("/events");
  expect(events.at(-1).reason).toMatch(new RegExp(`^version \\S+, rules ${digest}, cutover\\.mode translate$`));
  expect(await next.metric("carryover_events_total")).toBe(1);
  const bad = await next.view("/events?from=yesterday");
  expect(bad.message).toContain('"from" is not a time');
});
