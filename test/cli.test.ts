import { readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CommandOptions, runCommand } from "../scripts/command.ts";
import { configOptions } from "../src/config/config.ts";
import { carryover, paste } from "./end-to-end/app/process.ts";
import { later, listening, takeDownAfterEach } from "./end-to-end/app/rig.ts";
import { methodOf, readDescriptors } from "./grpc/clients/clients.ts";
import { LOCALHOST } from "./server/support/certificates.ts";
import { createDouble, ok } from "./server/support/double.ts";

takeDownAfterEach();

/** One command in this process; what it started is stopped after the test. */
const inProcess = (argv: readonly string[], options?: CommandOptions) =>
  runCommand(argv, { onStop: later, ...options });

/** A port of this machine on which somebody listens. */
const takenPort = async () => String(await listening(createServer()));

describe("help and version", () => {
  it.each([["--help"], ["-h"], ["help"]])("%s names every command and is no error", async (word) => {
    const { code, out, err } = await inProcess([word]);
    expect([code, err]).toEqual([0, ""]);
    for (const command of ["serve", "demo", "sandbox"]) expect(out).toMatch(new RegExp(`^  ${command}\\b`, "m"));
  });

  it("the version is that of the package", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
    expect(await inProcess(["--version"])).toEqual({ code: 0, out: `${version}\n`, err: "", written: new Map() });
  });

  it("serve --help shows every option with its variable and default", async () => {
    const { code, out } = await inProcess(["serve", "--help"]);
    expect(code).toBe(0);
    const text = out.replaceAll(/\s+/g, " ");
    expect(text).toMatch(/--upstream-v2-url <url> .*? \[CARRYOVER_UPSTREAM_V2_URL\]/);
    expect(text).toMatch(/--listen-port <number\|none> .*? \(default: 8080\) \[CARRYOVER_LISTEN_PORT\]/);
    expect(text).toMatch(/--config <file> .*? \[CARRYOVER_CONFIG\]/);
  });
});

describe("help on options", () => {
  /** The flags below each heading. */
  function groupsOf(help: string): Map<string, string[]> {
    const sections = help.split(/^(?=\S.*:$)/m).map((text) => text.split("\n"));
    return new Map(
      sections.map(([heading = "", ...lines]) => [
        heading,
        lines.flatMap((line) => /^ {2}(?:-\w, )?(--[\w-]+)/.exec(line)?.[1] ?? []),
      ]),
    );
  }

  it.each(["serve", "check", "explain"])("of %s begins with the dozen that operators need", async (word) => {
    const groups = groupsOf((await inProcess([word, "--help"])).out);
    const [usual = [], advanced = []] = ["Usual options:", "Advanced options:"].map((heading) => groups.get(heading));
    expect([...groups.keys()].indexOf("Usual options:")).toBeLessThan([...groups.keys()].indexOf("Advanced options:"));
    expect(usual.slice(0, 2)).toEqual(["--config", "--upstream-v2-url"]);
    expect(usual).toEqual(expect.arrayContaining(["--cutover-mode", "--cutover-rules-file", "--clients-names"]));
    expect(usual.length).toBeLessThanOrEqual(18);
    expect(advanced).toEqual(expect.arrayContaining(["--lists-readers", "--upstream-v2-connections"]));
    expect(usual.length + advanced.length).toBe(configOptions().length + 1);
  });
});

describe("a command line that is wrong", () => {
  it.each([
    { argv: [], says: "Usage: carryover" },
    { argv: ["srve"], says: "Did you mean serve?" },
    { argv: ["serve", "--upstream-v2-ulr", "http://a"], says: "Did you mean --upstream-v2-url?" },
    {
      argv: ["serve", "--port", "8080"],
      says: "(Did you mean one of --listen-port, --listen-reuse-port, --listen-grpc-port, --admin-port?)",
    },
    { argv: ["serve", "--audience", "x"], says: "(Did you mean --upstream-v2-audience?)" },
    { argv: ["serve", "--rules", "x"], says: "(Did you mean --cutover-rules-file?)" },
    { argv: ["check", "--token", "x"], says: "--token-file" },
    { argv: ["demo", "--port", "1"], says: "(Did you mean one of --listen-port, --admin-port, --sandbox-port?)" },
    { argv: ["sandbox", "--host", "::1"], says: "(Did you mean --listen-host?)" },
    {
      argv: ["check", "--admin-listen-port", "1"],
      says: "(Did you mean one of --listen-port, --listen-reuse-port, --listen-grpc-port, --admin-port?)",
    },
    { argv: ["serve", "surplus"], says: "too many arguments" },
    { argv: ["demo", "--listen-port", "65536"], says: "from 0 (any free one) to 65535" },
    { argv: ["demo", "--listen-port", "-1"], says: "expected a whole number" },
    { argv: ["demo", "--listen-port", "1e3"], says: "expected a whole number" },
    { argv: ["sandbox", "--records", "many"], says: "expected a whole number" },
    { argv: ["sandbox", "--error-rate", "1.1"], says: "from 0 to 1" },
    { argv: ["sandbox", "--error-rate", "x"], says: "from 0 to 1" },
    { argv: ["sandbox", "--tokens", "cookies"], says: "expected keyset or offset" },
    { argv: ["sandbox", "--record-times", "some"], says: "expected all or published" },
    { argv: ["sandbox", "--listen-port"], says: "argument missing" },
  ])("$argv ends with 64 and says what is expected", async ({ argv, says }) => {
    const { code, out, err } = await inProcess(argv);
    expect(code).toBe(64);
    expect(err).toContain(says);
    expect(out).toBe("");
  });
});

describe("an option that there is not", () => {
  it.each(["serve", "demo", "sandbox", "check"])(
    "of %s is answered with where its options are listed",
    async (word) => {
      const { code, out, err } = await inProcess([word, "--no-such-thing"]);
      expect([code, out]).toEqual([64, ""]);
      expect(err).toContain(`(see carryover ${word} --help)`);
      expect(err).not.toContain("Did you mean");
    },
  );

  it("named together with most of the others is no hint", async () => {
    const { err } = await inProcess(["serve", "--wait-seconds", "3"]);
    expect(err).not.toContain("Did you mean one of");
  });
});

describe("npm run dev", () => {
  it("gives options without a command to demo", async () => {
    // Scripts have no types.
    const script = String(new URL("../scripts/dev-words.mjs", import.meta.url));
    const { devWords }: { devWords(given: readonly string[]): string[] } = await import(script);
    expect(devWords(["--listen-port", "18100"])).toEqual(["demo", "--listen-port", "18100"]);
    expect(devWords([])).toEqual(["demo"]);
    expect(devWords(["serve", "--listen-port", "1"])).toEqual(["serve", "--listen-port", "1"]);
  });
});

describe("T-LOD-13: a configuration that is wrong", () => {
  const URL_FLAG = ["--upstream-v2-url", "http://127.0.0.1:9"];

  it.each([
    {
      name: "nothing at all",
      argv: [],
      says: ["upstream.v2.url: required, and not set", "--upstream-v2-url, CARRYOVER_"],
    },
    {
      name: "a variable",
      argv: URL_FLAG,
      env: { CARRYOVER_LOG_LEVEL: "loud" },
      says: ["CARRYOVER_LOG_LEVEL", '"loud"', "debug, info, warn, error, silent"],
    },
    {
      name: "a place in the file",
      argv: ["--config", "c.yaml"],
      files: { "c.yaml": "upstream:\n  v2:\n    url: http://a\n    verison: v2\n" },
      says: ["c.yaml:4:", "did you mean upstream.v2.version?"],
    },
    {
      name: "a file that is no YAML",
      argv: ["--config", "c.yaml"],
      files: { "c.yaml": "a: [" },
      says: ["c.yaml:1"],
    },
    { name: "a resource", argv: [...URL_FLAG, "--lists-require", "grupo=cover"], says: ["did you mean group?"] },
    { name: "a version", argv: [...URL_FLAG, "--upstream-v2-version", "v2x"], says: ["v2x", "v2, v2beta1"] },
  ])("in $name ends with 64 and says place and remedy", async ({ argv, says, ...options }) => {
    const { code, out, err } = await inProcess(["serve", ...argv], options);
    for (const words of says) expect(err).toContain(words);
    expect(err).not.toMatch(/\n {4}at /);
    expect([code, out]).toEqual([64, ""]);
  });
});

describe("serve", () => {
  const LOCAL = [
    ...["serve", "--listen-host", "127.0.0.1", "--listen-port", "0", "--listen-shutdown-delay-seconds", "0"],
    ...["--admin-port", "0"],
  ];
  const PLATFORM = ["--upstream-v2-url", "http://127.0.0.1:9"];
  const NATIVE = ["--cutover-mode", "translate", "--upstream-v1-url"];

  it("says where everything is, writes its log to standard output, and ends with 0 when told to stop", async () => {
    const process = carryover([...LOCAL, ...PLATFORM]);
    const text = await process.until(/resources\n/);
    const [, clients = "", admin = ""] = /v1 clients at (\S+), .* admin at (\S+),/.exec(text) ?? [];
    expect(text).toContain("v2 v2beta1 at http://127.0.0.1:9");
    expect((await fetch(`${admin}/readyz`)).status).toBe(200);
    expect((await fetch(`${clients}/iam/v1/groups/a`)).status).toBe(502);
    await process.until(/"msg":"request"/);
    process.stop("SIGTERM");
    expect(await process.ended).toEqual({ code: 0, signal: null });
    const lines = process
      .out()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { msg: "carryover started" },
      { msg: "request", status: 502, reason: "UPSTREAM_UNREACHABLE", resource: "group" },
      { msg: "carryover stopped" },
    ]);
  });

  it("reads the files that options name: the operators' token, and whom to trust", async () => {
    const double = await createDouble(ok('{"uid":"abc"}'), LOCALHOST);
    later(double.close);
    const argv = [...LOCAL, "--log-level", "silent", "--upstream-v2-url", double.url];
    const files = { token: "operators-only\n", ca: String(LOCALHOST.cert) };
    const { err } = await inProcess([...argv, "--admin-token-file", "token", "--upstream-v2-tls-ca-file", "ca"], {
      files,
    });
    const [, clients = "", admin = ""] = /v1 clients at (\S+), .* admin at (\S+),/.exec(err) ?? [];
    expect((await fetch(`${clients}/iam/v1/groups/abc`)).status).toBe(200);
    const view = (token: string) => fetch(`${admin}/unknown-fields`, { headers: { authorization: `Bearer ${token}` } });
    expect([(await view("operators-only")).status, (await view("x")).status]).toEqual([200, 401]);
    const distrusting = await inProcess(argv);
    const [, others = ""] = /v1 clients at (\S+),/.exec(distrusting.err) ?? [];
    expect((await fetch(`${others}/iam/v1/groups/abc`)).status).toBe(502);
  });

  it("warns of what is probably not meant, and starts", async () => {
    const { code, err } = await inProcess([...LOCAL, "--log-level", "silent", "--upstream-v2-url", "http://192.0.2.1"]);
    expect(err).toMatch(/^warning: .*upstream-v2-url.*http.*https/);
    expect(code).toBeUndefined();
  });

  it.each([
    [[], "operations that only v1 has: refused with 501 (upstream.v1.url is not set)"],
    [[...NATIVE, "http://127.0.0.1:7/v"], "operations that only v1 has: native v1 at http://127.0.0.1:7/v"],
    [
      [...NATIVE, "http://127.0.0.1:7", "--fallback", "refuse"],
      "operations that only v1 has: refused with 501 (fallback: refuse)",
    ],
    [[], "v1 requests: translate (cutover.mode)"],
    [["--upstream-v1-url", "http://127.0.0.1:7", "--cutover-mode", "shadow"], "v1 requests: shadow (cutover.mode)"],
    [[], "token exchange: none, /sts/exchange is answered with 404 (upstream.sts.url is not set)"],
    [["--upstream-sts-url", "http://127.0.0.1:9"], "token exchange: /sts/exchange goes to http://127.0.0.1:9"],
  ])("with %j says what serves what: %s", async (flags, says) => {
    const { err } = await inProcess([...LOCAL, "--log-level", "silent", ...PLATFORM, ...flags]);
    expect(err.split("\n")).toContain(`  ${says}`);
  });

  it("says every address on which it listens", async () => {
    const argv = [
      "serve",
      "--listen-host",
      "0.0.0.0",
      "--listen-port",
      "0",
      "--admin-host",
      "0.0.0.0",
      "--admin-port",
      "0",
    ];
    const { err } = await inProcess([...argv, "--log-level", "silent", ...PLATFORM]);
    expect(err).toMatch(/v1 clients at http:\/\/0\.0\.0\.0:\d+, .* admin at http:\/\/0\.0\.0\.0:\d+,/);
  });

  it("does not begin without the rules file that it is given, and says what to do", async () => {
    const { code, err } = await inProcess([
      ...LOCAL,
      ...PLATFORM,
      "--cutover-mode",
      "translate",
      "--cutover-rules-file",
      "/no/such/rules",
    ]);
    expect(code).toBe(64);
    expect(err).toMatch(/\/no\/such\/rules: it cannot be read \(ENOENT.*\); put a rules file there/);
    expect(err).not.toContain(" at ");
  });

  it("and demo name both options that share a port that is taken", async () => {
    const port = await takenPort();
    const { code, err } = await inProcess(["demo", "--listen-port", "0", "--admin-port", port, "--sandbox-port", port]);
    expect(code).toBe(1);
    expect(err).toMatch(
      /^carryover's admin side or the sandbox cannot listen: .*\n.*--admin-port or --sandbox-port moves/,
    );
  });

  it("an address that this machine does not have is told with the option that has it", async () => {
    const argv = ["serve", "--listen-host", "192.0.2.1", "--listen-port", "0", "--admin-port", "0"];
    const { code, err } = await inProcess([...argv, ...PLATFORM]);
    expect(code).toBe(1);
    expect(err).toMatch(/^the client side cannot listen: .*EADDRNOTAVAIL.*192\.0\.2\.1\n.*correct --listen-host\.\n$/);
  });

  // CI runs this file with both kinds of Node.
  const [major = 0] = process.versions.node.split(".").map(Number);
  const shared = async () => {
    const port = await takenPort();
    const argv = ["serve", "--listen-host", "127.0.0.1", "--listen-port", port, "--admin-port", "0"];
    return inProcess([...argv, ...PLATFORM, "--listen-reuse-port", "true"]);
  };
  it.skipIf(major >= 22)("does not begin with a shared port on a Node that cannot share it", async () => {
    const { code, err } = await shared();
    expect(code).toBe(64);
    expect(err).toContain(`listen.reusePort: Node ${process.versions.node} cannot share a port between processes`);
  });
  it.runIf(major >= 24)("names the option that the other process at a shared port lacks", async () => {
    const { code, err } = await shared();
    expect(code).toBe(1);
    expect(err).toMatch(/^the client side cannot listen: .*EADDRINUSE.*\n.*set --listen-reuse-port for all of them/);
  });

  const DEMO = ["demo", "--listen-port", "0", "--admin-port", "0", "--sandbox-port", "0"];
  it.each([
    [[...LOCAL, ...PLATFORM], "--listen-port", "the client side", "--listen-port "],
    [[...LOCAL, ...PLATFORM], "--admin-port", "the admin side", "--admin-port "],
    [DEMO, "--listen-port", "carryover", ""],
    [DEMO, "--admin-port", "carryover", ""],
    [DEMO, "--sandbox-port", "the sandbox", ""],
    [["sandbox", "--listen-port", "0"], "--listen-port", "the sandbox", "--listen-port moves"],
  ])("%j whose %s is taken says so, says what to do, and ends", async (argv, flag, side, remedy) => {
    const port = await takenPort();
    const { code, out, err } = await inProcess(argv.map((word, at) => (argv[at - 1] === flag ? port : word)));
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(
      new RegExp(`^${side}.* cannot listen: .*EADDRINUSE.*127\\.0\\.0\\.1:${port}\n.*choose other ports: ${remedy}`),
    );
  });
});

describe("sandbox", () => {
  interface Platform {
    readonly url: string;
    get(path: string): Promise<{ status: number; ms: number; json: Record<string, unknown> }>;
  }

  async function sandbox(...flags: string[]): Promise<Platform> {
    const { code, out, err } = await inProcess(["sandbox", "--listen-port", "0", ...flags]);
    expect([code, err]).toEqual([undefined, ""]);
    const url = / at (http:\S+)/.exec(out)?.[1] ?? "";
    const token = /^TOKEN=(\S+)$/m.exec(out)?.[1] ?? "";
    return {
      url,
      get: async (path) => {
        const start = performance.now();
        const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
        const json = (await response.json()) as Record<string, unknown>;
        return { status: response.status, ms: performance.now() - start, json };
      },
    };
  }

  it("starts alone, prints a call that works, and stops on SIGTERM", async () => {
    const process = carryover(["sandbox", "--listen-port", "0"]);
    const text = await process.until(/^curl .*\n/m);
    const token = /^TOKEN=(\S+)$/m.exec(text)?.[1] ?? "";
    const printed = await paste(/^curl .*$/m.exec(text)?.[0] ?? "", token);
    expect(JSON.parse(printed)).toMatchObject({ groups: [{}, {}], nextPageToken: expect.stringMatching(/./) });
    process.stop("SIGTERM");
    expect(await process.ended).toEqual({ code: 0, signal: null });
  });

  it("writes the descriptors of its services into a file", async () => {
    const file = join(await mkdtemp(join(tmpdir(), "carryover-descriptors-")), "set.binpb");
    const argv = ["sandbox", "--listen-port", "0", "--descriptors", file];
    expect((await inProcess(argv, { files: "disk" })).err).toBe("");
    const registry = readDescriptors(readFileSync(file));
    expect(methodOf(registry, "iam.Groups/List").output.name).toBe("GroupList");
  });

  it("makes the records that --seed and --records say", async () => {
    const [one, same, other] = [await sandbox(), await sandbox(), await sandbox("--seed", "b", "--records", "300")];
    const root = async (platform: Platform) => (await platform.get("/iam/v2beta1/groups?page_size=1")).json;
    const [first, second, third] = [await root(one), await root(same), await root(other)];
    expect(second["groups"]).toEqual(first["groups"]);
    expect(third["groups"]).not.toEqual(first["groups"]);
    expect(Number(third["totalCount"])).toBe(Number(first["totalCount"]) + 301);
  });

  it("fails as often as --error-rate says, and is as slow as --latency says", async () => {
    const [never, always] = [await sandbox("--error-rate", "0", "--latency", "80"), await sandbox("--error-rate", "1")];
    const path = "/iam/v2beta1/groups?page_size=1";
    const { status, ms } = await never.get(path);
    expect([status, (await always.get(path)).status]).toEqual([200, 503]);
    expect(ms).toBeGreaterThanOrEqual(79);
  });

  it("restarts a list whose page token is older than --token-lifetime", async () => {
    const page = async (platform: Platform, query: string) =>
      (await platform.get(`/iam/v2beta1/groups?page_size=1${query}`)).json as {
        groups: { uid: string }[];
        nextPageToken: string;
      };
    for (const [flags, restarts] of [
      [["--token-lifetime", "0"], true],
      [["--tokens", "offset"], false],
    ] as const) {
      const platform = await sandbox(...flags);
      const first = await page(platform, "");
      const next = await page(platform, `&page_token=${encodeURIComponent(first.nextPageToken)}`);
      expect(next.groups[0]?.uid === first.groups[0]?.uid).toBe(restarts);
    }
  });
});
