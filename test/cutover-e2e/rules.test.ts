/** Rules in force, over HTTP: each request gets what the first rule that takes it says (docs/rules.md). */
import { describe, expect, it } from "vitest";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, type CutoverRig, cutover, type Front } from "./rig.ts";

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

/** Every operation of a group, with its mode. */
async function groupModes(rig: CutoverRig) {
  const made = await rig.ask("POST", `${GROUPS}/`, { ...as("ui"), body: { name: "made" } });
  const path = `${GROUPS}/${made.json.id}`;
  const answers = {
    create: made,
    list: await rig.ask("GET", GROUPS, as("ui")),
    get: await rig.ask("GET", path, as("ui")),
    update: await rig.ask("PUT", path, { ...as("ui"), body: { name: "changed" } }),
    delete: await rig.ask("DELETE", path, as("ui")),
  };
  // Native v1 never had a Get of a group by id.
  const got = answers.get.field("carryover-mode") === "translate" ? 200 : 501;
  expect(Object.values(answers).map(({ status }) => status)).toEqual([200, 200, got, 200, 200]);
  return Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, answer.field("carryover-mode")]));
}

const all = (mode: string) => ({ create: mode, list: mode, get: mode, update: mode, delete: mode });

/** `[rule, mode, client]` of each request in the log. */
const chosen = ({ lines }: Front) =>
  lines
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === "request")
    .map(({ rule, mode, client }) => [rule, mode, client]);

describe("a request is chosen by", () => {
  it("operation, client, header and cookie: the first rule that takes it, which the log names with mode and client", async () => {
    const rig = await ruled(`  - name: canary
    match: { header: { x-canary: always }, cookie: { canary: always } }
    mode: translate
  - { name: ci-groups, match: { client: ci-bot, resource: groups }, mode: native }
  - { name: an-update, match: { operation: update, client: [ci-bot, ui] }, mode: native }
  - { name: a-write, match: { operation: writes, client: ui }, mode: translate }
  - { name: rest, match: {}, mode: shadow }
`);
    await groupModes(rig);
    for (const headers of [
      { "user-agent": "ci-bot/1.0" },
      { "X-CANARY": "always" },
      { "x-canary": "never", cookie: "canary=always" },
      { "x-canary": "x", cookie: "a=b; canary=always; c=d" },
    ]) {
      await modeOf(rig, headers);
    }
    expect(chosen(rig)).toEqual([
      ["a-write", "translate", "ui"],
      ["rest", "shadow", "ui"],
      ["rest", "shadow", "ui"],
      ["an-update", "native", "ui"],
      ["a-write", "translate", "ui"],
      ["ci-groups", "native", "ci-bot"],
      ["canary", "translate", "ui"],
      ["rest", "shadow", "ui"],
      ["canary", "translate", "ui"],
    ]);
  });
});

describe("time", () => {
  it("ends a rule while carryover runs, which the log tells, and no other change is kept out", async () => {
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
    expect(rig.lines.filter((line) => line.includes('"cutover: expired"'))).toEqual([
      expect.stringMatching(/"level":"warn".*"rule":"short"/),
    ]);
    await rig.change(file("native"));
    expect((await rig.view("/rules")).rulesFile.warnings).toEqual([
      expect.stringMatching(/rules\.0\.expires: .* is over/),
    ]);
    expect(await rig.view("/rules")).toMatchObject({ force: "native" });
  });

  it("that is over when a process starts is a warning", async () => {
    const rig = await ruled(`  - name: over
    match: {}
    mode: translate
    expires: 2020-01-01
`);
    expect(await modeOf(rig)).toBe("native");
    expect(JSON.stringify((await rig.view("/rules")).rulesFile.warnings)).toMatch(/rules\.0\.expires: .* is over/);
  });
});

describe("a file that cannot be used", () => {
  it("names a mode without its upstream, at start and later", async () => {
    const file = (mode: string) => `version: carryover/v1\nrules: [{ name: all, match: {}, mode: ${mode} }]\n`;
    const choices = { v1Url: "", sandbox: { organisation: false } };
    const rig = await cutover({ ...choices, rules: file("translate") });
    await expect(rig.change(file("native"))).rejects.toThrow(/upstream\.v1\.url/);
    expect(await groupModes(rig)).toEqual(all("translate"));
    await expect(cutover({ ...choices, rules: file("shadow") })).rejects.toThrow(/upstream\.v1\.url/);
  });
});

describe("one switch", () => {
  it("fallback in the file decides about what v2 lacks, overrides the option, and force leaves it alone", async () => {
    const rig = await cutover({
      rules: "version: carryover/v1\nforce: native\nrules: []\n",
      sandbox: { organisation: false },
      flags: { fallback: "refuse" },
    });
    const lacking = () => rig.ask("GET", "/iam/v1/subscriptions");
    const warned = () => rig.lines.filter((line) => line.includes("leaves what v2 lacks refused")).length;
    const refused = await lacking();
    expect([refused.status, refused.json.code]).toEqual([501, 12]);
    expect(refused.json.details[0]).toMatchObject({ reason: "NOT_TRANSLATABLE", domain: "carryover" });
    expect([await modeOf(rig), warned()]).toEqual(["native", 1]);
    expect((await rig.view("/rules")).rulesFile.warnings).toHaveLength(1);
    await rig.change("version: carryover/v1\nforce: native\nfallback: native\nrules: []\n");
    expect((await lacking()).field("carryover-mode")).toBe("native");
    expect((await rig.view("/rules")).rulesFile.warnings).toEqual([]);
    await rig.change("version: carryover/v1\nfallback: refuse\nrules: []\n");
    expect([(await lacking()).status, await modeOf(rig), warned()]).toEqual([501, "translate", 1]);
  });
});
