import { describe, expect, it } from "vitest";
import { takeDownAfterEach } from "../app/rig.ts";
import { cutover, type Front } from "./rig.ts";

takeDownAfterEach();

const GROUPS = "/iam/v1/groups";
const NOW = Date.UTC(2026, 10, 21, 12);

/** A small carryover under these rules, or under a whole file; native where no rule says otherwise. */
const ruled = (rules: string, wall?: () => number) =>
  cutover({
    rules: rules.startsWith("version") ? rules : `version: carryover/v1\nrules:\n${rules}`,
    sandbox: { organisation: false },
    flags: { cutoverMode: "native" },
    ...(wall === undefined ? {} : { wall }),
  });

/** What serves a request of `client` with these headers. */
async function modeOf(rig: Front, headers: Readonly<Record<string, string>> = {}, path = GROUPS) {
  return (await rig.ask("GET", path, { headers: { "user-agent": "ui/1.0", ...headers } })).field("carryover-mode");
}

describe("time", () => {
  it("ends a rule while carryover runs, which every view, metric and log tells, and no other change is kept out", async () => {
    const clock = { now: NOW };
    const file = (force: string) => `version: carryover/v1
force: ${force}
rules:
  - name: short
    match: {}
    mode: translate
    expires: ${new Date(NOW + 1500).toISOString()}
`;
    const rig = await ruled(file("none"), () => clock.now);
    expect(await modeOf(rig)).toBe("translate");
    clock.now += 1500;
    expect(await modeOf(rig)).toBe("native");
    expect(await rig.view("/rules")).toMatchObject({
      rules: [{ name: "short", expired: true, effective: "nothing" }],
      rulesFile: { reloads: 0 },
    });
    expect(await rig.metric("carryover_rule_expired", { rule: "short" })).toBe(1);
    expect(await rig.metric("carryover_rule_mode", { rule: "short", mode: "nothing" })).toBe(1);
    expect((await rig.view("/progress")).rules).toMatchObject([
      { mode: "translate", doing: "nothing", state: "expired" },
    ]);
    expect(rig.lines.filter((line) => line.includes('"cutover: expired"'))).toEqual([
      expect.stringMatching(/"level":"warn".*"rule":"short"/),
    ]);
    await rig.change(file("native"));
    expect((await rig.view("/rules")).rulesFile.warnings).toEqual([
      expect.stringMatching(/rules\.1\.expires: .* is over/),
    ]);
    expect(await rig.view("/rules")).toMatchObject({ force: "native" });
  });
});

it("a rule that is over when a process starts is a warning", async () => {
  const rig = await ruled("  - { name: over, match: {}, mode: translate, expires: 2020-01-01 }\n");
  expect(await modeOf(rig)).toBe("native");
  expect(JSON.stringify((await rig.view("/rules")).rulesFile.warnings)).toMatch(/rules\.1\.expires: .* is over/);
});

it("a mode without its upstream is refused, at start and later", async () => {
  const file = (mode: string) => `version: carryover/v1\nrules: [{ name: all, match: {}, mode: ${mode} }]\n`;
  const choices = { v1Url: "", sandbox: { organisation: false } };
  const rig = await cutover({ ...choices, rules: file("translate") });
  await expect(rig.change(file("native"))).rejects.toThrow(/upstream\.v1\.url/);
  expect(await modeOf(rig)).toBe("translate");
  await expect(cutover({ ...choices, rules: file("shadow") })).rejects.toThrow(/upstream\.v1\.url/);
});

it("a client that clients.names almost has is warned of at the start and with each change", async () => {
  const rules = (client: string) =>
    `version: carryover/v1\nrules:\n  - { name: ci, match: { client: ${client} }, mode: native }\n`;
  const rig = await cutover({ rules: rules("cibot"), flags: { clientsNames: "ci-bot=ci@example.com" } });
  const warnings = async () => (await rig.view("/rules")).rulesFile.warnings;
  expect(await warnings()).toEqual([expect.stringContaining("did you mean ci-bot?")]);
  expect(rig.lines.filter((line) => line.includes("did you mean ci-bot?"))).toHaveLength(1);
  await rig.change(rules("ci-bot"));
  expect(await warnings()).toEqual([]);
  await rig.change(rules("ci_bot"));
  expect(await warnings()).toEqual([expect.stringContaining("did you mean ci-bot?")]);
});
