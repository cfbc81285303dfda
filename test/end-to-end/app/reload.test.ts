/** Rules change while carryover serves, without any other effect on clients. (The whole carryover, with real files.) */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { carryover } from "./process.ts";
import { reloadUnderLoad, rules, until } from "./reload.ts";
import { later, rigForTest, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const SERVE = [
  ...["serve", "--listen-host", "127.0.0.1", "--listen-port", "0", "--admin-port", "0"],
  ...["--listen-shutdown-delay-seconds", "0"],
  ...["--upstream-v2-url", "http://127.0.0.1:9", "--upstream-v1-url", "http://127.0.0.1:9"],
  ...["--cutover-mode", "translate"],
];

/** The admin port that the command names. */
const adminOf = (said: string): string => / admin at (\S+),/.exec(said)?.[1] ?? "";

/** A directory of its own for rules, removed after the test. */
function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "reload-"));
  later(async () => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function reloadMetric(adminUrl: string): Promise<string | undefined> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return /^carryover_config_last_reload_successful(?:\{[^}]*\})? (\S+)$/m.exec(text)?.[1];
}

describe("reloads under load", () => {
  it("by two replicas of one file, every fifth change of it a bad one, fail no request and cut no connection", () =>
    reloadUnderLoad({ path: join(folder(), "rules.yaml"), replicas: 2, changes: 9 }));
});

describe("one switch", () => {
  it("force: native is in effect on the next request after it is reported, and so is the way back", async () => {
    const path = join(folder(), "rules.yaml");
    writeFileSync(path, rules("translate"));
    const { ask, adminUrl } = await rigForTest({ flags: { cutoverRulesFile: path }, reloadMs: 50 });
    const mode = async () => (await ask("GET", "/iam/v1/groups")).field("carryover-mode");
    expect(await mode()).toBe("translate");
    writeFileSync(path, rules("translate", "", "force: native\n"));
    await until(adminUrl, ({ reloads }) => reloads === 1);
    expect(await mode()).toBe("native");
    writeFileSync(path, rules("translate"));
    await until(adminUrl, ({ reloads }) => reloads === 2);
    expect(await mode()).toBe("translate");
  });
});

describe("a bad file", () => {
  it("keeps the last good rules in force; metric, log and admin port say so until it is right again", async () => {
    const path = join(folder(), "rules.yaml");
    writeFileSync(path, rules("native"));
    const { ask, adminUrl, lines } = await rigForTest({ flags: { cutoverRulesFile: path }, reloadMs: 50 });
    const mode = async () => (await ask("GET", "/iam/v1/groups")).field("carryover-mode");
    const { digest } = await until(adminUrl, () => true);
    expect([await mode(), await reloadMetric(adminUrl)]).toEqual(["native", "1"]);
    const bad: readonly (readonly [() => void, RegExp])[] = [
      [() => writeFileSync(path, rules("translat")), /rules\.yaml:5:/],
      [() => writeFileSync(path, `${rules("translate")}    percent: 5\n`), /rules\.yaml:\d+:/],
      [() => writeFileSync(path, rules("translate").slice(0, 30)), /rules\.yaml/],
      [() => rmSync(path), /rules\.yaml/],
    ];
    for (const [spoil, where] of bad) {
      spoil();
      const { failing } = await until(adminUrl, (state) => state.failing !== undefined);
      expect(failing?.faults[0]).toEqual({
        where: expect.stringMatching(where),
        what: expect.stringMatching(/./),
        remedy: expect.stringMatching(/./),
      });
      expect([await mode(), await reloadMetric(adminUrl), (await until(adminUrl, () => true)).digest]).toEqual([
        "native",
        "0",
        digest,
      ]);
      writeFileSync(path, rules("native"));
      const { reloads } = await until(adminUrl, (state) => state.failing === undefined);
      expect([reloads, await reloadMetric(adminUrl)]).toEqual([0, "1"]);
    }
    for (const said of ["rules file cannot be used", "holds the rules in force again"]) {
      expect([said, lines.filter((line) => line.includes(said)).length]).toEqual([said, bad.length]);
    }
  });
});

describe("the built process", () => {
  const serve = (flags: readonly string[]) => carryover([...SERVE, ...flags]);

  it("lives on after SIGHUP, whatever a mounted ConfigMap holds", async () => {
    const dir = folder();
    const publish = (stamp: number, text: string): void => {
      mkdirSync(join(dir, `..${stamp}`));
      writeFileSync(join(dir, `..${stamp}`, "rules.yaml"), text);
      symlinkSync(`..${stamp}`, join(dir, "..data_tmp"));
      renameSync(join(dir, "..data_tmp"), join(dir, "..data"));
      if (stamp === 1) symlinkSync(join("..data", "rules.yaml"), join(dir, "rules.yaml"));
      else rmSync(join(dir, `..${stamp - 1}`), { recursive: true });
    };
    publish(1, rules("native"));
    const run = serve(["--cutover-rules-file", join(dir, "rules.yaml")]);
    const admin = adminOf(await run.until(/resources\n/));
    publish(2, rules("translate"));
    run.stop("SIGHUP");
    const second = await until(admin, ({ reloads }) => reloads === 1);
    publish(3, rules("neither"));
    run.stop("SIGHUP");
    const third = await until(admin, ({ failing }) => failing !== undefined);
    expect([third.digest, third.reloads]).toEqual([second.digest, 1]);
    await run.until(/rules file cannot be used/);
    publish(4, rules("native", "again"));
    for (let at = 0; at < 5; at++) run.stop("SIGHUP");
    await until(admin, ({ reloads, failing }) => reloads === 2 && failing === undefined);
    run.stop("SIGTERM");
    expect(await run.ended).toEqual({ code: 0, signal: null });
  });
});
