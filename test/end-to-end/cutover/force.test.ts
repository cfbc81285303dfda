/** `carryover force`, `status` and `gate` about a running instance (docs/status.md; their texts are in test/commands/status). */
import { rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCommand } from "../../../scripts/command.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, type CutoverRig, cutover, folder } from "./rig.ts";

takeDownAfterEach();

const TOKEN = "0123456789-admin-token";
const RULES = `version: carryover/v1
rules:
  - { name: look, match: { resource: role }, mode: shadow, shadow: { sample: 1, control: 0 } }
  - { name: rest, match: {}, mode: translate, shadow: { sample: 0 } }
`;

async function guarded(choices: Parameters<typeof cutover>[0] = {}) {
  const tokenFile = join(await folder(), "token");
  await writeFile(tokenFile, TOKEN);
  const rig = await cutover({ rules: RULES, ...choices, flags: { adminTokenFile: tokenFile, ...choices?.flags } });
  const command = (...argv: readonly string[]) =>
    runCommand([...argv, rig.adminUrl], { env: { CARRYOVER_ADMIN_TOKEN: TOKEN } });
  return { rig, command, view: (path: string) => viewOf(rig.adminUrl, path) };
}

/** A view of the admin port as JSON, with the token. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into views of every shape.
async function viewOf(adminUrl: string, path: string): Promise<any> {
  return (await fetch(`${adminUrl}${path}`, { headers: { authorization: `Bearer ${TOKEN}` } })).json();
}

const modeOf = async (rig: CutoverRig) => (await rig.ask("GET", "/iam/v1/groups", as("ci"))).field("carryover-mode");

it("force decides from the next request on, is visible everywhere, and is lifted by hand", async () => {
  const { rig, command, view } = await guarded();
  expect(await modeOf(rig)).toBe("translate");
  expect((await command("force", "native", "--reason", "v2 returns 503", "--by", "anna")).code).toBe(0);
  expect(await modeOf(rig)).toBe("native");
  expect(await rig.metric("carryover_rules_force", { mode: "native" })).toBe(1);
  const logged = rig.lines.map((line) => JSON.parse(line)).filter(({ reason }) => /force native/.test(reason));
  expect(logged).toMatchObject([{ level: "warn", by: "anna", reason: "carryover force native: v2 returns 503" }]);
  const { out } = await command("events", "--kind", "forced");
  expect(out).toMatch(/Z {2}forced {2}none -> native {2}carryover force native: v2 returns 503, by anna\n/);
  const said = { command: "native", reason: "v2 returns 503", by: "anna" };
  const [{ events }, rules, progress] = await Promise.all(["/events?kind=forced", "/rules", "/progress"].map(view));
  expect([events[0].id, rules.transitions[0].id]).toEqual([logged[0].event, logged[0].event]);
  expect([rules.forcedBy, progress.forcedBy]).toMatchObject([said, said]);
  expect(await rig.metric("carryover_events_total", { kind: "forced" })).toBe(1);
  const since = /native \(by carryover force, since \d\d:\d\dZ by anna: v2 returns 503\)/;
  expect((await command("status")).out.replaceAll(/\s+/g, " ")).toMatch(since);
  expect((await command("gate", "rest")).out).toMatch(since);
  expect((await command("force", "none")).out).toContain("its rules decide");
  expect(await modeOf(rig)).toBe("translate");
  expect(await rig.metric("carryover_rules_force")).toBe(0);
});

it("force survives a restart with state.dir, and is lifted there", async () => {
  const { rig, command } = await guarded({ flags: { stateDir: join(await folder(), "state") } });
  expect((await command("force", "native", "--by", "anna")).out).not.toContain("restart");
  await rig.close();
  const next = await rig.replica();
  expect((await viewOf(next.adminUrl, "/progress")).forcedBy).toMatchObject({ command: "native", by: "anna" });
  const ask = async () => (await next.ask("GET", "/iam/v1/groups", as("ci"))).field("carryover-mode");
  expect(await ask()).toBe("native");
  const env = { CARRYOVER_ADMIN_TOKEN: TOKEN };
  expect((await runCommand(["force", "none", next.adminUrl], { env })).code).toBe(0);
  expect(await ask()).toBe("translate");
});

it("a client that is forgotten is gone from report and metrics, also after a restart, until it calls again", async () => {
  const { rig, command } = await guarded({
    flags: { stateDir: join(await folder(), "state"), clientsNames: "ci-bot=ci" },
  });
  const clients = async (address: string): Promise<unknown[]> => {
    const { out } = await runCommand(["report", "--json", address], { env: { CARRYOVER_ADMIN_TOKEN: TOKEN } });
    return JSON.parse(out).clients.map(({ name, v1 }: { name: string; v1: number }) => [name, v1]);
  };
  const call = (front: Pick<CutoverRig, "ask">) =>
    front.ask("GET", "/iam/v1/groups", { headers: { "user-agent": "ci/1" } });
  for (let n = 0; n < 3; n++) await call(rig);
  expect(await clients(rig.adminUrl)).toEqual([["ci-bot", 3]]);
  const { code, out } = await command("forget", "ci-bot");
  expect([code, out]).toEqual([
    0,
    expect.stringContaining("has forgotten ci-bot: 3 v1 requests of 1 operation and 0 v2 requests"),
  ]);
  expect(await rig.metric("carryover_client_requests_total", { client: "ci-bot" })).toBe(0);
  expect((await command("forget", "ci-bot")).code).toBe(1);
  await rig.close();
  const next = await rig.replica();
  expect(await clients(next.adminUrl)).toEqual([]);
  await call(next);
  expect(await clients(next.adminUrl)).toEqual([["ci-bot", 1]]);
});

it("a rule whose saved state is lost stays on native v1, everywhere visible, until it is confirmed", async () => {
  const stateDir = join(await folder(), "state");
  const { rig } = await guarded({ flags: { stateDir } });
  await rig.close();
  await rm(join(stateDir, "rollout.json"));
  const next = await rig.replica();
  const command = (...argv: readonly string[]) =>
    runCommand([...argv, next.adminUrl], { env: { CARRYOVER_ADMIN_TOKEN: TOKEN } });
  const ask = async () => (await next.ask("GET", "/iam/v1/groups", as("ci"))).field("carryover-mode");
  expect((await command("force", "none")).code).toBe(0);
  expect(await ask()).toBe("native");
  expect(await next.metric("carryover_rule_state", { rule: "rest", state: "unknown" })).toBe(1);
  expect(await next.metric("carryover_rule_mode", { rule: "rest", mode: "native" })).toBe(1);
  expect(next.lines.filter((line) => line.includes("cutover: unknown") && line.includes('"rest"'))).toHaveLength(1);
  expect((await command("status")).out).toMatch(/next: find out what rest did .*then\s+carryover\s+confirm rest/s);
  expect((await command("confirm", "rst")).code).toBe(2);
  expect((await command("confirm", "rest")).out).toContain("lets rest go on: it does translate");
  expect(await ask()).toBe("translate");
  await next.close();
  const last = await rig.replica();
  expect((await last.ask("GET", "/iam/v1/groups", as("ci"))).field("carryover-mode")).toBe("translate");
});

it("force and confirm work without admin.tokenFile where the instance runs, by a token in its state.dir that no other user can read", async () => {
  const dir = join(await folder(), "state");
  const rig = await cutover({ rules: RULES, flags: { stateDir: dir } });
  const env = { CARRYOVER_STATE_DIR: dir, CARRYOVER_ADMIN_PORT: new URL(rig.adminUrl).port };
  expect((await stat(join(dir, "change-token"))).mode & 0o777).toBe(0o600);
  expect(await runCommand(["force", "native"], { env, files: "disk" })).toMatchObject({ code: 0 });
  expect(await modeOf(rig)).toBe("native");
  expect((await runCommand(["status"], { env, files: "disk" })).out).toMatch(
    /is forced to native \(by carryover force, since/,
  );
  expect(await runCommand(["force", "none"], { env, files: "disk" })).toMatchObject({ code: 0 });
  expect(await modeOf(rig)).toBe("translate");
  expect(await runCommand(["confirm", "rest"], { env, files: "disk" })).toMatchObject({ code: 0 });
  // The token is not sent to an address: that may be another instance.
  expect((await runCommand(["force", "native", rig.adminUrl], { env, files: "disk" })).code).toBe(64);
});

it("evidence ends where an option changes the responses, and lasts over a restart otherwise", async () => {
  const rig = await cutover({ rules: RULES, flags: { stateDir: join(await folder(), "state") } });
  await rig.ask("GET", "/iam/v1/roles?name=viewer", as("ci"));
  await rig.compared(1);
  await rig.close();
  const comparisonsOf = async (flags: Readonly<Record<string, string>>) => {
    const next = await rig.replica(flags);
    const { rules } = await next.view("/rules");
    await next.close();
    return rules[0].comparisons;
  };
  expect(await comparisonsOf({})).toBe(1);
  expect(await comparisonsOf({ v1RecordTimes: "published" })).toBe(0);
});

it("status and gate say what the evidence of a running rule is", async () => {
  const { rig, command } = await guarded();
  for (let at = 0; at < 3; at++) {
    await rig.ask("GET", "/iam/v1/roles?name=viewer", as("ci"));
    await rig.compared(at + 1);
  }
  expect((await command("status")).out).toContain("  look             shadow    role\n");
  expect(await command("gate", "look")).toMatchObject({ code: 1 });
  const enough = await command("gate", "look", "--differences-below", "0.9");
  expect([enough.code, enough.out]).toEqual([0, expect.stringContaining("0 of 3 comparisons differed")]);
});

it("force native is refused where there is no native v1", async () => {
  const { rig, command } = await guarded({ v1Url: "", rules: RULES.replace(/.*look.*\n/, "") });
  expect(await command("force", "native")).toMatchObject({ code: 2, out: expect.stringContaining("upstream.v1.url") });
  expect(await modeOf(rig)).toBe("translate");
});
