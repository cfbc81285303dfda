/** Do rules change under load without anybody noticing but by what they say? (The whole carryover, and files of this machine.) */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createSandbox, type Sandbox } from "../../src/sandbox/sandbox.ts";
import { startCarryover } from "../support/carryover.ts";
import { carryover } from "./process.ts";
import { later, rigForTest, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

/** Between two questions: what is tested is to have the processor. */
const POLL_MS = 20;
/** Between two requests of one client. */
const PACE_MS = 5;

/** A directory of its own for rules, removed after the test. */
function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "reload-"));
  later(async () => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function rules(mode: string, remark = "", top = ""): string {
  return `version: carryover/v1\n${top}rules:\n  - name: all\n    match: {}\n    mode: ${mode}\n# ${remark}\n`;
}

interface FileState {
  readonly digest: string;
  readonly reloads: number;
  readonly failing?: {
    readonly message: string;
    readonly faults: readonly { readonly where: string; readonly what: string; readonly remedy: string }[];
  };
}

/** What the admin port says of the rules file. */
async function stateOf(adminUrl: string): Promise<FileState> {
  const response = await fetch(`${adminUrl}/rules`);
  return ((await response.json()) as { rulesFile: FileState }).rulesFile;
}

/** Resolves when the admin port says that it is so; the test's own time is the limit. */
async function until(adminUrl: string, holds: (state: FileState) => boolean): Promise<FileState> {
  for (;;) {
    const state = await stateOf(adminUrl);
    if (holds(state)) return state;
    await sleep(POLL_MS);
  }
}

async function reloadMetric(adminUrl: string): Promise<string | undefined> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return /^carryover_config_last_reload_successful(?:\{[^}]*\})? (\S+)$/m.exec(text)?.[1];
}

interface Load {
  readonly requests: number;
  /** Everything that was not 200, or no answer at all. */
  readonly failed: readonly string[];
  readonly modes: ReadonlyMap<string, number>;
  /** Connections that were opened. */
  readonly connections: number;
}

/** One client that asks one thing after another on one connection, until it is stopped. */
function client(url: string, sandbox: Sandbox): () => Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const authorization = `Bearer ${sandbox.token("admin")}`;
  const { someGroup, emptyGroup } = sandbox.wellKnown;
  const asks = [
    // (Native v1 has no Get of a group.)
    ["GET", `/iam/v1/groups?id=${someGroup}`],
    ["GET", "/iam/v1/groups"],
    ["PUT", `/iam/v1/groups/${emptyGroup}`, '{"name":"kept"}'],
    ["GET", "/iam/v1/roles?name=viewer"],
  ] as const;
  const failed: string[] = [];
  const modes = new Map<string, number>();
  const state = { stopped: false, requests: 0, connections: 0 };
  const send = (method: string, path: string, body: string | undefined) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const sent = httpRequest(`${url}${path}`, { method, agent, headers: { authorization } });
      sent.on("error", reject);
      sent.on("socket", () => {
        if (!sent.reusedSocket) state.connections += 1;
      });
      sent.on("response", (response) => {
        response.on("error", reject);
        response.on("end", () => resolve(response));
        response.resume();
      });
      sent.end(body);
    });
  const running = (async () => {
    while (!state.stopped) {
      const [method, path, body] = asks[state.requests % asks.length] ?? asks[0];
      state.requests += 1;
      try {
        const { statusCode, headers } = await send(method, path, body);
        const mode = String(headers["carryover-mode"]);
        modes.set(mode, (modes.get(mode) ?? 0) + 1);
        if (statusCode !== 200) failed.push(`${method} ${path}: ${statusCode} (${mode})`);
      } catch (error) {
        failed.push(`${method} ${path}: ${String(error)}`);
      }
      await sleep(PACE_MS);
    }
    agent.destroy();
  })();
  return async () => {
    state.stopped = true;
    await running;
    return { requests: state.requests, failed, modes, connections: state.connections };
  };
}

/** Each reloads each change. */
const REPLICAS = 8;
const CHANGES = 125;

describe("a thousand reloads under load", () => {
  it(`by ${REPLICAS} replicas of one file, every tenth change of it a bad one, fail no request and cut no connection`, async () => {
    const path = join(folder(), "rules.yaml");
    writeFileSync(path, rules("native", "start"));
    const sandbox = createSandbox();
    later(sandbox.close);
    const { url: platform } = await sandbox.listen();
    const replicas = await Promise.all(
      Array.from({ length: REPLICAS }, async () => {
        const one = await startCarryover({
          v2Url: platform,
          v1Url: platform,
          flags: { cutoverRulesFile: path, cutoverReloadSeconds: "0.05" },
        });
        later(one.close);
        return one;
      }),
    );
    const clients = replicas.map(({ url }) => client(url, sandbox));
    const good = { digests: new Set<string>(), changes: 0 };
    for (let change = 1; good.changes < CHANGES; change++) {
      const bad = change % 10 === 0;
      const mode = bad ? "neither" : change % 2 === 0 ? "native" : "translate";
      writeFileSync(path, rules(mode, `change ${change}`));
      if (!bad) good.changes += 1;
      const states = await Promise.all(
        replicas.map(({ adminUrl }) =>
          until(adminUrl, ({ reloads, failing }) => reloads === good.changes && (failing !== undefined) === bad),
        ),
      );
      // What is bad leaves the one before it in force.
      for (const { digest } of states) good.digests.add(digest);
      expect(good.digests.size).toBe(good.changes);
    }
    const loads = await Promise.all(clients.map((stop) => stop()));
    expect(loads.flatMap(({ failed }) => failed).slice(0, 5)).toEqual([]);
    expect(loads.map(({ connections }) => connections)).toEqual(clients.map(() => 1));
    const all = (await Promise.all(replicas.map(({ adminUrl }) => stateOf(adminUrl)))).map(({ reloads }) => reloads);
    expect(all.reduce((sum, reloads) => sum + reloads)).toBe(1000);
    // Each of them saw both.
    for (const { modes, requests } of loads) {
      expect([...modes.keys()].toSorted()).toEqual(["native", "translate"]);
      expect([...modes.values()].reduce((sum, count) => sum + count)).toBe(requests);
    }
  }, 180_000);
});

describe("one switch", () => {
  it("force: native is in effect on the next request after it is reported, and so is the way back", async () => {
    const path = join(folder(), "rules.yaml");
    writeFileSync(path, rules("translate"));
    const { ask, adminUrl } = await rigForTest({ flags: { cutoverRulesFile: path, cutoverReloadSeconds: "0.05" } });
    const mode = async () => (await ask("GET", "/iam/v1/groups")).field("carryover-mode");
    expect(await mode()).toBe("translate");
    for (let at = 1; at <= 3; at++) {
      writeFileSync(path, rules("translate", "", "force: native\n"));
      await until(adminUrl, ({ reloads }) => reloads === 2 * at - 1);
      expect(await mode()).toBe("native");
      writeFileSync(path, rules("translate"));
      await until(adminUrl, ({ reloads }) => reloads === 2 * at);
      expect(await mode()).toBe("translate");
    }
  });
});

describe("a bad file", () => {
  it("keeps the last good rules in force; metric, log and admin port say so until it is right again", async () => {
    const path = join(folder(), "rules.yaml");
    writeFileSync(path, rules("native"));
    const { ask, adminUrl, lines } = await rigForTest({
      flags: { cutoverRulesFile: path, cutoverReloadSeconds: "0.05" },
    });
    const mode = async () => (await ask("GET", "/iam/v1/groups")).field("carryover-mode");
    const { digest } = await stateOf(adminUrl);
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
      expect([await mode(), await reloadMetric(adminUrl), (await stateOf(adminUrl)).digest]).toEqual([
        "native",
        "0",
        digest,
      ]);
      writeFileSync(path, rules("native"));
      const { reloads } = await until(adminUrl, (state) => state.failing === undefined);
      expect([reloads, await reloadMetric(adminUrl)]).toEqual([0, "1"]);
    }
    expect(lines.filter((line) => line.includes("rules file cannot be used"))).toHaveLength(bad.length);
  });
});

describe("the built process", () => {
  const serve = (flags: readonly string[]) =>
    carryover([
      ...["serve", "--listen-host", "127.0.0.1", "--listen-port", "0", "--admin-port", "0"],
      ...[
        "--listen-drain-seconds",
        "0",
        "--upstream-v2-url",
        "http://127.0.0.1:9",
        "--upstream-v1-url",
        "http://127.0.0.1:9",
      ],
      ...flags,
    ]);

  it("looks at a mounted ConfigMap at once on SIGHUP, and lives on whatever it holds", async () => {
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
    const run = serve(["--cutover-rules-file", join(dir, "rules.yaml"), "--cutover-reload-seconds", "3600"]);
    const admin = / admin at (\S+),/.exec(await run.until(/resources\n/))?.[1] ?? "";
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

  it("does not start with rules that are wrong: it says where, and ends as with any wrong configuration", async () => {
    const path = join(folder(), "rules.yaml");
    writeFileSync(path, rules("neither"));
    const run = serve(["--cutover-rules-file", path]);
    expect((await run.ended).code).toBe(64);
    expect(run.err()).toMatch(/rules\.yaml:5:\d+/);
    expect(run.err()).not.toMatch(/^ +at /m);
  });
});
