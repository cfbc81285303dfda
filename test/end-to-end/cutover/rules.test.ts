/** Rules in force, over HTTP: each request gets what the first rule that takes it says (docs/rules.md). */
import { writeFile } from "node:fs/promises";
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
  it("its operation, alone or as one of the reads and writes", async () => {
    const one = (name: string, match: string, mode: string) =>
      `  - { name: ${name}, match: { resource: groups, operation: ${match} }, mode: ${mode} }\n`;
    const rig = await ruled(
      one("a-list", "list", "shadow") +
        one("a-read", "reads", "translate") +
        one("an-update", "update", "native") +
        one("a-delete", "delete", "shadow") +
        one("a-write", "writes", "translate"),
    );
    expect(await groupModes(rig)).toEqual({
      create: "translate",
      list: "shadow",
      get: "translate",
      update: "native",
      delete: "shadow",
    });
    expect(chosen(rig).map(([rule]) => rule)).toEqual(["a-write", "a-list", "a-read", "an-update", "a-delete"]);
  });

  it("the first rule that takes it, which the log names with mode and client", async () => {
    const rig = await ruled(`  - name: not-this-one
    match: { client: ci-bot, resource: groups }
    mode: native
  - name: this-one
    match: { client: [ci-bot, ui] }
    mode: translate
  - name: rest
    match: {}
    mode: shadow
`);
    await modeOf(rig, { "user-agent": "ci-bot/1.0" });
    await modeOf(rig, { "user-agent": "ci-bot/1.0" }, "/iam/v1/roles");
    await modeOf(rig);
    await modeOf(rig, { "user-agent": "else/1.0" });
    expect(chosen(rig)).toEqual([
      ["not-this-one", "native", "ci-bot"],
      ["this-one", "translate", "ci-bot"],
      ["this-one", "translate", "ui"],
      ["rest", "shadow", "else"],
    ]);
  });

  it("header, then cookie", async () => {
    const rig = await ruled(`  - name: canary
    match: { header: { x-canary: always }, cookie: { canary: always } }
    mode: translate
`);
    for (const [headers, mode] of [
      [{}, "native"],
      [{ "X-CANARY": "always" }, "translate"],
      [{ "x-canary": "never", cookie: "canary=always" }, "native"],
      [{ "x-canary": "x", cookie: "a=b; canary=always; c=d" }, "translate"],
    ] as const) {
      expect([headers, await modeOf(rig, headers)]).toEqual([headers, mode]);
    }
  });
});

describe("time", () => {
  it("opens and closes the window of a rule without a reload", async () => {
    const clock = { now: NOW };
    const rig = await ruled(
      `  - name: timed
    match: { time: { from: ${new Date(NOW + 1000).toISOString()}, until: ${new Date(NOW + 2000).toISOString()} } }
    mode: translate
`,
      () => clock.now,
    );
    const modes: (string | undefined)[] = [];
    for (const after of [999, 1000, 1999, 2000]) {
      clock.now = NOW + after;
      modes.push(await modeOf(rig));
    }
    expect(modes).toEqual(["native", "translate", "translate", "native"]);
  });

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

  it("that is over when a process starts is a warning", async () => {
    const rig = await ruled(`  - name: over
    match: {}
    mode: translate
    expires: 2020-01-01
`);
    expect(await modeOf(rig)).toBe("native");
    expect(JSON.stringify((await rig.view("/rules")).rulesFile.warnings)).toMatch(/rules\.1\.expires: .* is over/);
  });
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

describe("a file that cannot be used", () => {
  it("leaves the rules before it in force, and is told of again when it is put right", async () => {
    const right = "version: carryover/v1\nrules: [{ name: all, match: {}, mode: translate }]\n";
    const rig = await ruled(right);
    await writeFile(rig.rulesPath, "version: carryover/v1\nrules: 3\n");
    await rig.reload();
    expect((await rig.view("/rules")).rulesFile.failing).toBeDefined();
    expect(await modeOf(rig)).toBe("translate");
    await writeFile(rig.rulesPath, right);
    await rig.reload();
    expect((await rig.view("/rules")).rulesFile.failing).toBeUndefined();
    expect(rig.lines.filter((line) => line.includes("the rules file holds the rules in force again"))).toEqual([
      expect.stringMatching(/"level":"info".*"digest":"[0-9a-f]{12}"/),
    ]);
  });

  it("names a mode without its upstream, at start and later", async () => {
    const file = (mode: string) => `version: carryover/v1\nrules: [{ name: all, match: {}, mode: ${mode} }]\n`;
    const choices = { v1Url: "", sandbox: { organisation: false } };
    const rig = await cutover({ ...choices, rules: file("translate") });
    await expect(rig.change(file("native"))).rejects.toThrow(/upstream\.v1\.url/);
    expect(await groupModes(rig)).toEqual(all("translate"));
    await expect(cutover({ ...choices, rules: file("shadow") })).rejects.toThrow(/upstream\.v1\.url/);
  });
});

it("V41: what is guessed stays native under whatever does not name it, and moves by the rule that does", async () => {
  const everything = "  - { name: all, match: {}, mode: translate }\n";
  const rig = await ruled(everything);
  const summary = () => modeOf(rig, {}, `/registry/v1/repotagssummary/${rig.sandbox.wellKnown.rootGroup}`);
  expect([await summary(), await modeOf(rig)]).toEqual(["native", "translate"]);
  const named = "  - { name: tags, match: { resource: tag, operation: summarise }, mode: translate }\n";
  await rig.change(`version: carryover/v1\nrules:\n${everything}${named}`);
  expect([await summary(), await modeOf(rig)]).toEqual(["translate", "translate"]);
});

describe("one switch", () => {
  it("force: native overrides every rule and the mode without rules on the next request, and back", async () => {
    const rules = "rules: [{ name: all, match: {}, mode: translate }]\n";
    const rig = await cutover({ rules: `version: carryover/v1\n${rules}`, sandbox: { organisation: false } });
    const forced = () => rig.metric("carryover_rules_force", { mode: "native" });
    expect([await groupModes(rig), await forced()]).toEqual([all("translate"), 0]);
    await rig.change(`version: carryover/v1\nforce: native\n${rules}`);
    expect([await groupModes(rig), await forced()]).toEqual([all("native"), 1]);
    expect(await rig.view("/rules")).toMatchObject({ force: "native" });
    expect(await rig.view("/progress")).toMatchObject({ force: "native" });
    await rig.change("version: carryover/v1\nforce: native\nrules: []\n");
    expect(await modeOf(rig)).toBe("native");
    await rig.change("version: carryover/v1\nrules: []\n");
    expect(await modeOf(rig)).toBe("translate");
  });

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
