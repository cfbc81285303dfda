import { chmodSync, chownSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { build, type Container, eventually, IMAGE, LOCKED, must, start, takeDown, tool } from "./podman.ts";

beforeAll(() => build());
afterEach(takeDown);

const V2 = ["--env", "CARRYOVER_UPSTREAM_V2_URL=http://127.0.0.1:8090"];
const PORTS = ["-p", "127.0.0.1::8080", "-p", "127.0.0.1::8081"];
const OPEN_ADMIN = ["--env", "CARRYOVER_ADMIN_HOST=0.0.0.0"];

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A folder of the machine with these files, as the container's user sees it. */
function folder(files: Readonly<Record<string, string>>, mode = 0o644): string {
  const path = mkdtempSync(join(tmpdir(), "carryover-image-"));
  folders.push(path);
  chmodSync(path, 0o755);
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(path, name), text);
    chmodSync(join(path, name), mode);
  }
  return path;
}

/** The sandbox, and carryover in front of it, in two containers that share one network. */
async function pair(
  options: readonly string[],
  records = 0,
  latency = 0,
): Promise<{ front: Container; token: string; url: string; admin: string }> {
  const sandbox = start([...LOCKED, ...PORTS], ["sandbox", "--records", String(records), "--latency", String(latency)]);
  const token = /TOKEN=(\S+)/.exec(await sandbox.until(/TOKEN=\S+\n/))?.[1] ?? "";
  const front = start([...LOCKED, "--network", `container:${sandbox.name}`, ...V2, ...OPEN_ADMIN, ...options]);
  await front.until(/v1 clients at/);
  return { front, token, url: await sandbox.at(8080), admin: await sandbox.at(8081) };
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

describe("what it refuses", () => {
  const run = (options: readonly string[]) => tool(["podman", "run", "--rm", ...LOCKED, ...options, IMAGE]);

  it("ends without an upstream, and says which option, variable and key to set", async () => {
    const { code, err } = await run([]);
    expect([code, err]).toEqual([
      64,
      expect.stringContaining(
        "upstream.v2.url: required, and not set; set --upstream-v2-url, CARRYOVER_UPSTREAM_V2_URL or upstream.v2.url in the file",
      ),
    ]);
  });

  it("names the variable that is wrong, and the nearest one that is right", async () => {
    const { code, err } = await run([...V2, "--env", "CARRYOVER_UPSTREAM_V1_ULR=http://127.0.0.1"]);
    expect([code, err]).toEqual([
      64,
      expect.stringMatching(
        /CARRYOVER_UPSTREAM_V1_ULR: there is no such option; did you mean CARRYOVER_UPSTREAM_V1_URL\?/,
      ),
    ]);
  });

  it("says that it may not read the configuration file", async () => {
    const mount = ["-v", `${folder({ "config.yaml": "log: { level: warn }" }, 0o000)}:/etc/carryover:ro`];
    const { code, err } = await run([...mount, "--env", "CARRYOVER_CONFIG=/etc/carryover/config.yaml"]);
    expect([code, err]).toEqual([
      64,
      expect.stringMatching(/CARRYOVER_CONFIG: \/etc\/carryover\/config\.yaml cannot be read \(EACCES/),
    ]);
  });

  it("says that the token file is missing", async () => {
    const { code, err } = await run([...V2, "--env", "CARRYOVER_ADMIN_TOKEN_FILE=/etc/carryover/admin/token"]);
    expect([code, err]).toEqual([
      64,
      expect.stringMatching(/CARRYOVER_ADMIN_TOKEN_FILE: \/etc\/carryover\/admin\/token cannot be read \(ENOENT/),
    ]);
  });
});

describe("T-LOD-14: in a container without rights", () => {
  it.each([
    ["the user of the image", []],
    ["any user of group 0, as OpenShift chooses one", ["--user", "1000730000:0"]],
  ])("serves as %s, through published ports", async (_, user) => {
    const { url, admin, token, front } = await pair(user);
    expect((await fetch(`${admin}/healthz`)).status).toBe(200);
    expect((await fetch(`${admin}/readyz`)).status).toBe(200);
    const answer = await fetch(`${url}/iam/v1/groups`, bearer(token));
    expect([answer.status, answer.headers.get("carryover-mode")]).toEqual([200, "translate"]);
    const { out } = await tool([
      "podman",
      "exec",
      front.name,
      "node",
      "-p",
      "fs.readFileSync('/proc/1/status','utf8')",
    ]);
    expect(out).toMatch(/CapEff:\s+0000000000000000/);
    expect(out).toMatch(/NoNewPrivs:\s+1/);
    expect(out).toMatch(user.length === 0 ? /^Uid:\s+65532/m : /^Uid:\s+1000730000/m);
  });

  it("makes the calls of the tour in 192 MiB", async () => {
    const tour = start([...LOCKED, "--memory", "192m", "--memory-swap", "192m"], ["demo", "--tour"]);
    expect(await tour.ended).toBe(0);
    expect(tour.out()).toContain("witness=cover; pages=6; records=1069");
  });

  it("answers a list of 100,000 records in 192 MiB, whole and proved", async () => {
    const limit = ["--memory", "192m", "--memory-swap", "192m", "--env", "CARRYOVER_UPSTREAM_V2_PAGE_TOKENS=keyset"];
    const { url, token, front } = await pair(limit, 100_000);
    const idle = await front.peak();
    const answer = await fetch(`${url}/iam/v1/groups`, bearer(token));
    const { items } = (await answer.json()) as { readonly items: readonly unknown[] };
    expect([answer.status, answer.headers.get("carryover-list")]).toEqual([200, "witness=cover-or-abort"]);
    expect(items.length).toBeGreaterThan(100_000);
    console.info(
      `peak memory: ${idle} MiB after the start, ${await front.peak()} MiB after a list of ${items.length} records`,
    );
  });
});

describe("signals to the first process", () => {
  it.each([
    ["SIGTERM", 0],
    ["SIGINT", 0],
    ["SIGKILL", 137],
  ])("%s ends it with %i", async (signal, code) => {
    const front = start([...LOCKED, ...V2]);
    await front.until(/v1 clients at/);
    await front.signal(signal);
    expect(await front.ended).toBe(code);
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ])("%s ends with %i what waits for no signal, such as a start or the tour", async (signal, code) => {
    // Slow, so that the tour is still under way when the signal comes.
    const tour = start([...LOCKED, "--cpus", "0.2"], ["demo", "--tour"]);
    await tour.until(/carryover demo\./);
    await tour.signal(signal);
    expect(await tour.ended).toBe(code);
  });

  it("SIGTERM lets a slow request finish, and ends with 0", async () => {
    const { url, admin, token, front } = await pair([], 0, 1_500);
    const slow = fetch(`${url}/iam/v2beta1/groups?page_size=1`, bearer(token));
    const metrics = async () => (await fetch(`${admin}/metrics`)).text();
    await eventually(metrics, (text) => /^carryover_in_flight_requests 1$/m.test(text));
    await front.signal("SIGTERM");
    expect((await slow).status).toBe(200);
    expect(await front.ended).toBe(0);
  });

  it("leaves no process behind those that look in", async () => {
    const { front } = await pair([]);
    for (let i = 0; i < 3; i++) await tool(["podman", "exec", front.name, "node", "-e", "1"]);
    const { out } = await tool([
      "podman",
      "exec",
      front.name,
      "node",
      "-p",
      "fs.readdirSync('/proc').filter((n) => /^\\d+$/.test(n)).length",
    ]);
    expect(Number(out)).toBe(2);
  });
});

describe("files in mounted folders", () => {
  it("rules are read again when their file changes", async () => {
    const rules = (mode: string) =>
      `version: carryover/v1\nrules:\n  - name: ${mode}-groups\n    match: { resource: [groups] }\n    mode: ${mode}\n`;
    const path = folder({ "rules.yaml": rules("translate") });
    const where = [
      "-v",
      `${path}:/etc/carryover/rules:ro`,
      "--env",
      "CARRYOVER_CUTOVER_RULES_FILE=/etc/carryover/rules/rules.yaml",
    ];
    const native = [
      ...["--env", "CARRYOVER_UPSTREAM_V1_URL=http://127.0.0.1:8090"],
      ...["--env", "CARRYOVER_CUTOVER_MODE=translate"],
    ];
    const { url, token } = await pair([...where, ...native]);
    const mode = async () => (await fetch(`${url}/iam/v1/groups`, bearer(token))).headers.get("carryover-mode");
    expect(await mode()).toBe("translate");
    writeFileSync(join(path, "next"), rules("native"));
    chownSync(join(path, "next"), 65532, 65532);
    renameSync(join(path, "next"), join(path, "rules.yaml"));
    expect(await eventually(mode, (now) => now === "native")).toBe("native");
  });
});

describe("the machine that the image was tried on", () => {
  it("keeps no rule for the ports of a container that ended: what listens there next would never be reached", async () => {
    const { front, admin } = await pair([]);
    const rules = () => must(["iptables", "-t", "nat", "-S"]);
    const { port } = new URL(admin);
    expect(await rules()).toContain(`--dport ${port} `);
    await front.signal("KILL");
    await front.ended;
    await takeDown();
    expect(await eventually(rules, (now) => !now.includes(`--dport ${port} -j DNAT`))).not.toContain(
      `--dport ${port} -j DNAT`,
    );
  });
});
