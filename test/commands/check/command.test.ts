import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../src/config/config.ts";
import { carryover } from "../../end-to-end/app/process.ts";
import { later, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { answering, check, platform } from "./support.ts";

takeDownAfterEach();

const MAIN = resolve(import.meta.dirname, "../../../dist/main.js");

describe("the token", () => {
  it("comes from a file, from standard input or from a variable; the file wins", async () => {
    const { sandbox, url } = await platform();
    const token = sandbox.token("admin");
    const argv = ["--upstream-v2-url", url];
    const wrong = { CARRYOVER_CHECK_TOKEN: "a.b.c" };
    const file = await check([...argv, "--token-file", "token"], {
      env: wrong,
      files: { token: `  Bearer ${token}\n` },
    });
    const stdin = await check([...argv, "--token-file", "-"], { stdin: token });
    const variable = await check(argv, { env: { CARRYOVER_CHECK_TOKEN: token } });
    expect([file.code, stdin.code, variable.code]).toEqual([0, 0, 0]);
    for (const { out } of [file, stdin, variable]) expect(out).toMatch(/^ok +credential +accepted$/m);
  });

  it.each([
    ["missing", {}, /--token-file: token cannot be read/],
    ["empty", { token: " \n" }, /--token-file: this holds no token/],
    ["two words", { token: "one two" }, /--token-file: this holds no token/],
  ])("file that is %s is a fault of the command line", async (_name, files, told) => {
    const { code, out, err } = await check(["--upstream-v2-url", "http://127.0.0.1:1", "--token-file", "token"], {
      files,
    });
    expect([code, out]).toEqual([64, ""]);
    expect(err).toMatch(told);
  });

  it("is never printed, not even when the platform puts it into names and addresses", async () => {
    const secret = "echoed-secret";
    const { sandbox, url } = await platform({
      faults: (next) => (request, options) => {
        // This platform takes the secret for the admin's token, and shows it wherever it can.
        const headers = request.headers.map(([name, value]) =>
          value === `Bearer ${secret}`
            ? ([name, `Bearer ${sandbox.token("admin")}`] as const)
            : ([name, value] as const),
        );
        const echo = answering(/\/roles\?/, (page) => ({ ...page, [secret]: 1 }));
        return echo(next)({ ...request, headers }, options);
      },
    });
    for (const json of [[], ["--json"]]) {
      const { out, err } = await check(["--upstream-v2-url", url, ...json], { env: { CARRYOVER_CHECK_TOKEN: secret } });
      expect(out).toContain("page.[token]");
      expect(out + err).not.toContain(secret);
    }
  });
});

describe("what is printed", () => {
  it("is aligned, plain where nobody is at a terminal, and ends with the verdict", async () => {
    const { sandbox, url } = await platform({ ignoreSkip: true });
    const env = { CARRYOVER_CHECK_TOKEN: sandbox.token("admin") };
    const { out, code } = await check(["--upstream-v2-url", url], { env });
    const lines = out.trimEnd().split("\n");
    expect(lines[0]).toBe(`carryover check of ${url}, v2beta1`);
    const columns = lines.slice(2, -2).filter((line) => !line.startsWith(" "));
    for (const line of columns) expect(line).toMatch(/^(ok|note|warn|fail|skipped) +[a-z0-9-]+ +\S/);
    expect(new Set(columns.map((line) => line.search(/(?<=^\w+ +[a-z0-9-]+ +)\S/))).size).toBe(1);
    expect(lines.at(-1)).toBe("usable: 1 warning");
    expect([code, out]).toEqual([0, stripVTControlCharacters(out)]);
  });

  it("is coloured at a terminal, unless NO_COLOR is set", async () => {
    const { sandbox, url } = await platform();
    const env = { CARRYOVER_CHECK_TOKEN: sandbox.token("admin") };
    const argv = ["--upstream-v2-url", url];
    const { out } = await check(argv, { env, isTerminal: true });
    expect(out).toContain("\u001b[32mok");
    const plain = await check(argv, { env: { ...env, NO_COLOR: "1" }, isTerminal: true });
    expect(plain.out).toBe(stripVTControlCharacters(out));
  });

  it.each([
    [{}, [], 0, "right"],
    [{ ignoreSkip: true }, ["--strict"], 1, "usable: 1 warning"],
    [{ ignoreSkip: true }, [], 0, "usable: 1 warning"],
    [{ ignoreSkip: true, version: "v2" }, ["--upstream-v2-version", "v2", "--strict"], 1, "usable: 1 warning"],
    [{ version: "v2" }, [], 1, "NOT RIGHT: 1 failure, 1 option to set"],
  ])("%j with %j ends with %i", async (options, argv, code, verdict) => {
    const { sandbox, url } = await platform(options);
    const env = { CARRYOVER_CHECK_TOKEN: sandbox.token("admin") };
    const result = await check(["--upstream-v2-url", url, ...argv], { env });
    expect([result.code, result.out.trimEnd().split("\n").at(-1)]).toEqual([code, verdict]);
  });

  it("a wrong configuration is told as serve tells it", async () => {
    const { code, err } = await check(["--upstream-v2-url", "ftp://x"]);
    expect(code).toBe(64);
    expect(err).toMatch(/--upstream-v2-url: /);
    const named = await check(["--upstream-v2-url", "http://127.0.0.1:1", "--lists-require", "grup=count"]);
    expect([named.code, named.err]).toEqual([
      64,
      expect.stringMatching(/there is no resource "grup"; did you mean group\?/),
    ]);
    expect((await check(["--upstream-v2-url", "http://127.0.0.1:1", "--write-under", "../x"])).err).toMatch(
      /--write-under: this is no uid/,
    );
  });

  it("help names every option of serve and those of its own", async () => {
    const { code, out } = await check(["--help"]);
    expect(code).toBe(0);
    expect(out.replaceAll(/\s+/g, " ")).toContain("only reads, unless --write-under is given");
    for (const flag of [
      "--upstream-v2-url",
      "--config",
      "--token-file",
      "--write-under",
      "--write-config",
      "--strict",
      "--json",
    ]) {
      expect(out).toContain(flag);
    }
  });
});

describe("--write-config", () => {
  const FILE = `# Ours
upstream:
  v2:
    url: URL # where it is
    maskSpelling: auto
lists:
`;

  it("writes what was given and what was found; the result loads, and then nothing is left to set", async () => {
    const { sandbox, url, judge } = await platform({ version: "v2", omitZeros: true, maskSpelling: "snake_case" });
    const env = { CARRYOVER_CHECK_TOKEN: sandbox.token("admin"), CARRYOVER_LOG_LEVEL: "error" };
    const under = ["--write-under", sandbox.wellKnown.someGroup];
    const { written, err, code } = await check(
      ["--config", "ours.yaml", "--lists-max-seconds", "30s", "--write-config", "found.yaml", ...under],
      { env, files: { "ours.yaml": FILE.replace("URL", url) } },
    );
    expect([code, err]).toEqual([1, "written: found.yaml\n"]);
    const text = written.get("found.yaml") ?? "";
    expect(text).toContain("# Ours");
    expect(text).toContain(`url: ${url} # where it is`);
    const { config } = loadConfig({
      flags: { config: "found.yaml" },
      env: {},
      readFile: () => new TextEncoder().encode(text),
    });
    expect(config.upstream.v2).toMatchObject({ url, version: "v2", omitsZeros: "yes", maskSpelling: "snake_case" });
    expect([config.lists.maxSeconds, config.log.level]).toEqual([30, "error"]);
    const again = await judge(["--config", "found.yaml", ...under], "admin", { files: { "found.yaml": text } });
    expect([again.code, again.verdict, again.findings.filter(({ set }) => set !== undefined)]).toEqual([0, "ok", []]);
  });

  it("replaces a file only when told to, and asks nothing of the platform before", async () => {
    const { sandbox, url } = await platform();
    const argv = ["--upstream-v2-url", url, "--write-config", "there.yaml"];
    const around = { env: { CARRYOVER_CHECK_TOKEN: sandbox.token("admin") }, files: { "there.yaml": "x" } };
    const refused = await check(argv, around);
    expect([refused.code, refused.written.size, sandbox.requests.length]).toEqual([64, 0, 0]);
    expect(refused.err).toMatch(/--write-config: there.yaml is there already; name another file, or add --force/);
    const forced = await check([...argv, "--force"], around);
    expect([forced.code, [...forced.written.keys()]]).toEqual([0, ["there.yaml"]]);
  });

  it("never writes the token", async () => {
    const { sandbox, url } = await platform();
    const token = sandbox.token("admin");
    const { written } = await check(["--upstream-v2-url", url, "--token-file", "t", "--write-config", "c"], {
      files: { t: token },
    });
    expect(written.get("c")).toBe(`upstream:\n  v2:\n    url: ${url}\n`);
  });
});

describe("--write-config on a real disk", () => {
  /** A check that writes to `file` in a new folder. */
  async function written(file: string, prepare: (folder: string) => void = () => {}) {
    const folder = mkdtempSync(join(tmpdir(), "carryover-check-"));
    later(async () => rmSync(folder, { recursive: true }));
    prepare(folder);
    const { sandbox, url } = await platform();
    const argv = ["--upstream-v2-url", url, "--write-config", join(folder, file)];
    return {
      folder,
      ...(await check(argv, { env: { CARRYOVER_CHECK_TOKEN: sandbox.token("admin") }, files: "disk" })),
    };
  }

  it("prints the report also when the file cannot be written", async () => {
    const { code, out, err } = await written(join("none", "c.yaml"));
    expect(code).toBe(64);
    expect(out).toMatch(/^carryover check of /);
    expect(err).toMatch(/--write-config: .*c\.yaml cannot be written \(ENOENT\); name a file that can be written/);
  });

  it("writes nothing behind a link that leads nowhere", async () => {
    const linked = (folder: string) => symlinkSync(join(folder, "elsewhere"), join(folder, "c.yaml"));
    const { code, err, folder } = await written("c.yaml", linked);
    expect([code, existsSync(join(folder, "elsewhere"))]).toEqual([64, false]);
    expect(err).toMatch(/c\.yaml is there already/);
  });
});

describe("the built package", () => {
  it.each(["-", "/dev/stdin"])("reads the token from a socket as %s", async (file) => {
    const { sandbox, url } = await platform();
    // What Node hands a child as a pipe is a socket, which cannot be opened by its name.
    const child = spawn(process.execPath, [MAIN, "check", "--upstream-v2-url", url, "--token-file", file], {
      env: { PATH: process.env["PATH"] ?? "" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    later(async () => void child.kill("SIGKILL"));
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
    const ended = new Promise((done) => child.once("close", done));
    child.stdin.write("Bearer ");
    child.stdin.end(`${sandbox.token("admin")}\n`);
    expect(await ended).toBe(0);
    expect(out).toMatch(/^ok +credential +accepted$/m);
  });

  it("stopped by Ctrl-C while it writes, removes what it made and ends with 1", async () => {
    let run: ReturnType<typeof carryover> | undefined;
    let stopped = false;
    const { sandbox, url } = await platform({
      faults: (next) => async (request, options) => {
        if (request.method === "PATCH" && !stopped) {
          // Once: a second Ctrl-C is meant to end it there and then, and another write may go out before the first is seen.
          stopped = true;
          run?.stop("SIGINT");
        }
        return next(request, options);
      },
    });
    const before = sandbox.snapshot();
    run = carryover(["check", "--upstream-v2-url", url, "--write-under", sandbox.wellKnown.someGroup], {
      CARRYOVER_CHECK_TOKEN: sandbox.token("admin"),
    });
    expect(await run.ended).toEqual({ code: 1, signal: null });
    expect(run.out()).toMatch(/the check of writing broke off/);
    expect(sandbox.snapshot()).toEqual(before);
  });
});
