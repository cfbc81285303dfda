/** Does each request get what the first rule that takes it says? (docs/rules.md; every request over a connection.) */
import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { takeDownAfterEach } from "../app/rig.ts";
import { crowd } from "./crowd.ts";
import { type CutoverRig, cutover, type Front, until } from "./rig.ts";

takeDownAfterEach();

const GROUPS = "/iam/v1/groups";
const HOUR = 3_600_000;

/** A small carryover which is native unless a rule says otherwise. */
const ruled = (rules: string, flags: Readonly<Record<string, string>> = {}) =>
  cutover({
    rules: `version: carryover/v1\nrules:\n${rules}`,
    sandbox: { organisation: false },
    flags: { cutoverMode: "native", ...flags },
  });

/** What serves a request of `client` with these headers. */
async function modeOf(rig: Front, headers: Readonly<Record<string, string>> = {}, method = "GET", path = GROUPS) {
  const answer = await rig.ask(method, path, { headers: { "user-agent": "ui/1.0", ...headers } });
  return answer.field("carryover-mode");
}

/** Every operation of a group, with its mode. */
async function groupModes(rig: CutoverRig, client = "ui") {
  const ask = { headers: { "user-agent": `${client}/1.0` } };
  const made = await rig.ask("POST", `${GROUPS}/`, { ...ask, body: { name: `made by ${client}` } });
  const path = `${GROUPS}/${made.json.id}`;
  const answers = {
    create: made,
    list: await rig.ask("GET", GROUPS, ask),
    get: await rig.ask("GET", path, ask),
    update: await rig.ask("PUT", path, { ...ask, body: { name: "changed" } }),
    delete: await rig.ask("DELETE", path, ask),
  };
  // Native v1 never had a Get of a group by id.
  const got = answers.get.field("carryover-mode") === "translate" ? 200 : 501;
  expect(Object.values(answers).map(({ status }) => status)).toEqual([200, 200, got, 200, 200]);
  return Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, answer.field("carryover-mode")]));
}

const all = (mode: string) => ({ create: mode, list: mode, get: mode, update: mode, delete: mode });

describe("one operation of one client at one percent", () => {
  it("is moved while everything else of everybody stays", async () => {
    const one = (client: string) => `  - name: one
    match: { resource: group, operation: list, client: ${client}, percent: 1 }
    mode: translate
`;
    const names = Array.from({ length: 800 }, (_, at) => `bot-${at}`);
    const rig = await ruled(one(`[${names}]`));
    const asks = names.map((name) => ({ method: "GET", path: GROUPS, headers: { "user-agent": `${name}/1.0` } }));
    const modes = await crowd(rig.url, asks);
    const bot = names.find((_, at) => modes[at] === "translate") ?? "none";
    expect(modes.filter((mode) => mode === "translate").length).toBeLessThan(800 / 20);
    await rig.change(`version: carryover/v1\nrules:\n${one(bot)}`);
    const twin = await rig.replica();
    for (const front of [rig, twin]) {
      expect(await groupModes({ ...rig, ...front }, bot)).toEqual({ ...all("native"), list: "translate" });
      expect(await groupModes({ ...rig, ...front }, "ui")).toEqual(all("native"));
      expect(await modeOf(front, { "user-agent": `${bot}/3.0` }, "GET", "/iam/v1/roles")).toBe("native");
    }
    await rig.change("version: carryover/v1\nforce: native\nrules: []\n");
    expect(await groupModes(rig, bot)).toEqual(all("native"));
  });
});

describe("operations", () => {
  it("reads are list and get, writes are create, update and delete", async () => {
    const rig = await ruled(`  - name: reading
    match: { operation: reads }
    mode: translate
`);
    expect(await groupModes(rig)).toEqual({ ...all("native"), list: "translate", get: "translate" });
    await rig.change(`version: carryover/v1
rules:
  - name: writing
    match: { operation: writes, resource: groups }
    mode: translate
`);
    expect(await groupModes(rig)).toEqual({ ...all("translate"), list: "native", get: "native" });
  });

  it.each(["create", "list", "get", "update", "delete"])("%s alone is moved alone", async (operation) => {
    const rig = await ruled(`  - name: one
    match: { operation: ${operation}, resource: group }
    mode: translate
`);
    expect(await groupModes(rig)).toEqual({ ...all("native"), [operation]: "translate" });
  });
});

describe("the first rule that matches", () => {
  it("decides, whatever later ones say", async () => {
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
    const bot = { "user-agent": "ci-bot/1.0" };
    expect(await modeOf(rig, bot)).toBe("native");
    expect(await modeOf(rig, bot, "GET", "/iam/v1/roles")).toBe("translate");
    expect(await modeOf(rig)).toBe("translate");
    expect(await modeOf(rig, { "user-agent": "else/1.0" })).toBe("shadow");
    const lines = rig.lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "request");
    expect(lines.map(({ rule, mode, client }) => [rule, mode, client])).toEqual([
      ["not-this-one", "native", "ci-bot"],
      ["this-one", "translate", "ci-bot"],
      ["this-one", "translate", "ui"],
      ["rest", "shadow", "else"],
    ]);
  });

  it("takes resources by name and by the spelling of their paths", async () => {
    const rig = await ruled(`  - name: by-path
    match: { resource: [rolebindings, group] }
    mode: translate
`);
    expect(await modeOf(rig)).toBe("translate");
    expect(await modeOf(rig, {}, "GET", "/iam/v1/rolebindings")).toBe("translate");
    expect(await modeOf(rig, {}, "GET", "/iam/v1/roleBindings")).toBe("translate");
    expect(await modeOf(rig, {}, "GET", "/iam/v1/roles")).toBe("native");
  });
});

describe("header, then cookie, then percentage", () => {
  const match = (percent: number | undefined) =>
    `{ header: { x-canary: always }, cookie: { canary: always }${percent === undefined ? "" : `, percent: ${percent}`} }`;
  const rule = (percent: number | undefined) => `  - name: canary
    match: ${match(percent)}
    mode: translate
`;
  /** `[headers, mode at 100 percent, mode at 0 or without a percentage]` */
  const table: readonly (readonly [string, Readonly<Record<string, string>>, string, string])[] = [
    ["nothing said", {}, "translate", "native"],
    ["header selects", { "x-canary": "always" }, "translate", "translate"],
    ["header in capitals", { "X-CANARY": "always" }, "translate", "translate"],
    ["header deselects", { "x-canary": "never" }, "native", "native"],
    ["header says something else", { "x-canary": "perhaps" }, "translate", "native"],
    ["header's value in capitals is something else", { "x-canary": "Always" }, "translate", "native"],
    ["empty header is something else", { "x-canary": "" }, "translate", "native"],
    ["cookie selects", { cookie: "canary=always" }, "translate", "translate"],
    ["cookie among others", { cookie: "a=b; canary=always; c=d" }, "translate", "translate"],
    ["cookie deselects", { cookie: "canary=never" }, "native", "native"],
    ["cookie says something else", { cookie: "canary=1" }, "translate", "native"],
    ["first cookie of the name counts", { cookie: "canary=never; canary=always" }, "native", "native"],
    ["cookie whose name only ends so", { cookie: "xcanary=always" }, "translate", "native"],
    ["header before cookie", { "x-canary": "never", cookie: "canary=always" }, "native", "native"],
    ["header before cookie, too", { "x-canary": "always", cookie: "canary=never" }, "translate", "translate"],
    ["cookie behind a header of no meaning", { "x-canary": "x", cookie: "canary=never" }, "native", "native"],
  ];

  it("decide in this order, the first that says something", async () => {
    const rig = await ruled(rule(100));
    const seen = async () => {
      const modes: (string | undefined)[] = [];
      for (const [, headers] of table) modes.push(await modeOf(rig, headers));
      return table.map(([name], at) => [name, modes[at]]);
    };
    expect(await seen()).toEqual(table.map(([name, , all]) => [name, all]));
    await rig.change(`version: carryover/v1\nrules:\n${rule(0)}`);
    expect(await seen()).toEqual(table.map(([name, , , none]) => [name, none]));
    await rig.change(`version: carryover/v1\nrules:\n${rule(undefined)}`);
    expect(await seen()).toEqual(table.map(([name, , , none]) => [name, none]));
  });

  it("cannot bring in what resource, operation or client leave out", async () => {
    const rig = await ruled(`  - name: canary
    match: { resource: group, operation: list, client: ui, header: { x-canary: always } }
    mode: translate
`);
    const selects = { "x-canary": "always" };
    expect(await modeOf(rig, selects)).toBe("translate");
    expect(await modeOf(rig, { ...selects, "user-agent": "other/1" })).toBe("native");
    expect(await modeOf(rig, selects, "GET", "/iam/v1/roles")).toBe("native");
  });
});

describe("time", () => {
  const inHours = (hours: number) => new Date(Date.now() + hours * HOUR);
  const clock = (hours: number) => inHours(hours).toISOString().slice(11, 16);
  const day = (offset: number) => ["sun", "mon", "tue", "wed", "thu", "fri", "sat"][inHours(24 * offset).getUTCDay()];

  it("opens and closes a window: from, until, days and hours", async () => {
    const rig = await ruled(`  - name: nobody
    match: { client: nobody }
    mode: translate
`);
    const windows: readonly (readonly [string, string])[] = [
      [`{ from: ${inHours(-1).toISOString()} }`, "translate"],
      [`{ from: ${inHours(1).toISOString()} }`, "native"],
      [`{ until: ${inHours(1).toISOString()} }`, "translate"],
      [`{ from: ${inHours(-1).toISOString()}, until: ${inHours(1).toISOString()} }`, "translate"],
      [`{ days: [${day(-1)}, ${day(0)}, ${day(1)}] }`, "translate"],
      [`{ days: [${day(2)}, ${day(3)}, ${day(4)}] }`, "native"],
      [`{ hours: ${clock(-2)}-${clock(2)} }`, "translate"],
      [`{ hours: ${clock(2)}-${clock(4)} }`, "native"],
      [`{ hours: ${clock(-4)}-${clock(-2)} }`, "native"],
      [`{ from: ${inHours(-1).toISOString()}, hours: ${clock(2)}-${clock(4)} }`, "native"],
    ];
    const seen: (readonly [string, string | undefined])[] = [];
    for (const [time] of windows) {
      await rig.change(`version: carryover/v1
rules:
  - name: timed
    match: { time: ${time} }
    mode: translate
`);
      seen.push([time, await modeOf(rig)]);
    }
    expect(seen).toEqual(windows);
  });

  it("a rule that has expired takes nothing, and is told as a warning when a process starts with it", async () => {
    const rig = await ruled(`  - name: over
    match: {}
    mode: translate
    expires: 2020-01-01
  - name: next
    match: {}
    mode: shadow
`);
    expect(await modeOf(rig)).toBe("shadow");
    const view = await rig.view("/rules");
    expect(view.rules[0]).toMatchObject({ name: "over", expired: true });
    expect(JSON.stringify(view.rulesFile.warnings)).toMatch(/over|expired|2020/);
    expect(await rig.metric("carryover_rule_expired", { rule: "over" })).toBe(1);
  });

  it("a rule that expired while it was in force keeps no other change out, the switch least of all", async () => {
    const expires = Date.now() + 1500;
    const file = (force: string) => `version: carryover/v1
force: ${force}
rules:
  - name: trial
    match: { client: nobody }
    mode: native
    expires: ${new Date(expires).toISOString()}
  - name: all
    match: {}
    mode: translate
`;
    const rig = await cutover({ rules: file("none"), sandbox: { organisation: false } });
    await until(
      () => rig.metric("carryover_rule_expired", { rule: "trial" }),
      (expired) => expired === 1,
    );
    await rig.change(file("native"));
    expect(await modeOf(rig)).toBe("native");
    const { warnings } = (await rig.view("/rules")).rulesFile;
    expect(warnings).toEqual([expect.stringMatching(/rules\.0\.expires: .* is over/)]);
  });

  it("a rule stops at its expiry while carryover runs, without a reload", async () => {
    const rig = await ruled(`  - name: nobody
    match: { client: nobody }
    mode: translate
`);
    const expires = Date.now() + 1500;
    await rig.change(`version: carryover/v1
rules:
  - name: short
    match: {}
    mode: translate
    expires: ${new Date(expires).toISOString()}
`);
    const first = await modeOf(rig);
    if (Date.now() < expires) expect(first).toBe("translate");
    await until(
      () => modeOf(rig),
      (mode) => mode === "native",
    );
    expect(Date.now()).toBeGreaterThanOrEqual(expires);
    expect(await rig.view("/rules")).toMatchObject({
      rules: [{ name: "short", expired: true, effective: "nothing" }],
      rulesFile: { reloads: 1 },
    });
    expect(await rig.metric("carryover_rule_mode", { rule: "short", mode: "nothing" })).toBe(1);
    expect((await rig.view("/progress")).rules).toMatchObject([
      { mode: "translate", doing: "nothing", state: "expired" },
    ]);
    expect(rig.lines.filter((line) => line.includes('"cutover: expired"'))).toEqual([
      expect.stringMatching(/"level":"warn".*"rule":"short"/),
    ]);
  });

  it("a file that is put right again is told of, although nothing changes", async () => {
    const right = "version: carryover/v1\nrules: [{ name: all, match: {}, mode: translate }]\n";
    const rig = await cutover({ rules: right, sandbox: { organisation: false } });
    const failing = (wanted: boolean) =>
      until(
        () => rig.view("/rules"),
        ({ rulesFile }) => (rulesFile.failing !== undefined) === wanted,
      );
    await writeFile(rig.rulesPath, "version: carryover/v1\nrules: 3\n");
    await failing(true);
    await writeFile(rig.rulesPath, right);
    await failing(false);
    expect(rig.lines.filter((line) => line.includes("the rules file holds the rules in force again"))).toEqual([
      expect.stringMatching(/"level":"info".*"digest":"[0-9a-f]{12}"/),
    ]);
  });
});

describe("one switch", () => {
  it("force: native overrides every rule and the mode without rules on the next request, and back", async () => {
    const rules = `rules:
  - name: all
    match: {}
    mode: translate
`;
    const rig = await cutover({ rules: `version: carryover/v1\n${rules}`, sandbox: { organisation: false } });
    const forced = () => rig.metric("carryover_rules_force", { mode: "native" });
    expect(await groupModes(rig)).toEqual(all("translate"));
    expect(await forced()).toBe(0);
    await rig.change(`version: carryover/v1\nforce: native\n${rules}`);
    expect(await groupModes(rig)).toEqual(all("native"));
    expect(await forced()).toBe(1);
    expect(await rig.view("/rules")).toMatchObject({ force: "native" });
    expect(await rig.view("/progress")).toMatchObject({ force: "native" });
    await rig.change(`version: carryover/v1\nforce: none\n${rules}`);
    expect(await groupModes(rig)).toEqual(all("translate"));
    await rig.change(`version: carryover/v1\nforce: native\nrules: []\n`);
    expect(await modeOf(rig)).toBe("native");
    await rig.change(`version: carryover/v1\nrules: []\n`);
    expect(await modeOf(rig)).toBe("translate");
  });

  it("fallback: refuse in the rules file answers 501 by name for what v2 lacks, and everything else as before", async () => {
    const rig = await cutover({ rules: "version: carryover/v1\nrules: []\n", sandbox: { organisation: false } });
    const lacking = "/iam/v1/subscriptions";
    const native = await rig.ask("GET", lacking);
    expect(native.field("carryover-mode")).toBe("native");
    await rig.change("version: carryover/v1\nfallback: refuse\nrules: []\n");
    const refused = await rig.ask("GET", lacking);
    expect([refused.status, refused.json.code]).toEqual([501, 12]);
    expect(refused.json.details[0]).toMatchObject({ reason: "NOT_TRANSLATABLE", domain: "carryover" });
    expect(refused.json.message).toMatch(/subscription/i);
    expect(await modeOf(rig)).toBe("translate");
    await rig.change("version: carryover/v1\nfallback: native\nrules: []\n");
    expect((await rig.ask("GET", lacking)).status).toBe(native.status);
  });
});

describe("one switch beside fallback: refuse", () => {
  it("gives native what both versions have, leaves refused what v2 lacks, and warns of it", async () => {
    const rig = await cutover({
      rules: "version: carryover/v1\nforce: native\nrules: []\n",
      sandbox: { organisation: false },
      flags: { fallback: "refuse" },
    });
    expect(await groupModes(rig)).toEqual(all("native"));
    expect((await rig.ask("GET", "/iam/v1/subscriptions")).status).toBe(501);
    const warned = () => rig.lines.filter((line) => line.includes("leaves what v2 lacks refused")).length;
    expect(warned()).toBe(1);
    expect((await rig.view("/rules")).rulesFile.warnings).toHaveLength(1);
    await rig.change("version: carryover/v1\nforce: native\nfallback: native\nrules: []\n");
    expect((await rig.ask("GET", "/iam/v1/subscriptions")).field("carryover-mode")).toBe("native");
    expect((await rig.view("/rules")).rulesFile.warnings).toEqual([]);
    expect(warned()).toBe(1);
  });
});

describe("rules without anything to fall back on", () => {
  it("translate what they say where there is no native v1", async () => {
    const rig = await cutover({
      rules: "version: carryover/v1\nrules:\n  - name: all\n    match: {}\n    mode: translate\n",
      v1Url: "",
      sandbox: { organisation: false },
    });
    expect(await groupModes(rig)).toEqual(all("translate"));
    await writeFile(rig.rulesPath, "version: carryover/v1\nforce: native\nrules: []\n");
    const { rulesFile } = await until(
      () => rig.view("/rules"),
      (view) => view.rulesFile.failing !== undefined,
    );
    expect(JSON.stringify(rulesFile.failing)).toMatch(/upstream\.v1\.url/);
    expect(await modeOf(rig)).toBe("translate");
  });
});
