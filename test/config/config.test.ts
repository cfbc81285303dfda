import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { describe, expect, test } from "vitest";
import { type ConfigInput, configOptions, loadConfig, optionFlags } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/faults.ts";
import { EXPIRED } from "../commands/check/certificates.ts";

const V2 = "https://api.example";

interface Given {
  readonly flags?: Record<string, unknown>;
  readonly env?: Record<string, string>;
  readonly files?: Record<string, string>;
  readonly yaml?: string;
  /** Those that the catalogue knows. */
  readonly resources?: readonly string[];
}

function input({ flags = {}, env = {}, files = {}, yaml }: Given): ConfigInput {
  const all = new Map(Object.entries(yaml === undefined ? files : { ...files, "c.yaml": yaml }));
  return {
    flags: yaml === undefined ? flags : { config: "c.yaml", ...flags },
    env,
    readFile: (path) => {
      const text = all.get(path);
      if (text === undefined) throw new Error("ENOENT");
      return new TextEncoder().encode(text);
    },
  };
}

const load = (given: Given) => loadConfig(input({ ...given, flags: { upstreamV2Url: V2, ...given.flags } }));

function faults(given: Given, withUrl = true): readonly string[] {
  const flags = withUrl ? { upstreamV2Url: V2, ...given.flags } : (given.flags ?? {});
  try {
    const { requireKnown } = loadConfig(input({ ...given, flags }));
    const resources = (given.resources ?? []).map((name) => ({ name, domain: "iam" as const }));
    if (resources.length > 0) requireKnown({ resources, natives: [{ domain: "ping" }] });
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map((f) => `${f.where}: ${f.what}; ${f.remedy}`);
    throw error;
  }
  return [];
}

test("an option of an earlier release is named with those that replace it, wherever it is set", () => {
  const instead = "there is no such option; set grpc.maxRequestBytes and grpc.maxResponseBytes instead";
  expect(
    faults({ yaml: "grpc:\n  maxMessageBytes: 8MiB\n", env: { CARRYOVER_GRPC_MAX_MESSAGE_BYTES: "8MiB" } }),
  ).toEqual([`CARRYOVER_GRPC_MAX_MESSAGE_BYTES: ${instead}`, `c.yaml:2:3 grpc.maxMessageBytes: ${instead}`]);
});

describe("defaults", () => {
  test("an address is enough, everything else has a default", () => {
    const { config, warnings } = load({});
    expect(warnings).toEqual([]);
    expect(config).toMatchObject({
      listen: { host: "0.0.0.0", port: 8080, basePath: "", trustedProxies: [], extraPrefixes: [] },
      admin: { host: "127.0.0.1", port: 8081 },
      upstream: {
        v2: {
          url: V2,
          audience: V2,
          version: "v2beta1",
          maskSpelling: "auto",
          pageTokens: "unknown",
          connections: 128,
          tls: {},
          timeouts: { connectSeconds: 3, headersSeconds: 15, bodySeconds: 15 },
        },
      },
      lists: {
        maxPages: 600,
        maxRecords: 120_000,
        maxBytes: 268_435_456,
        maxSeconds: 45,
        bufferBytes: 2_097_152,
        readers: 4,
        readersPerUpstream: 32,
        maxConcurrent: 16,
      },
      updates: { mismatch: "zeros" },
      unknownFields: { request: "drop", response: "drop" },
      v1: { recordTimes: "all" },
      fallback: "refuse",
      limits: { bodyBytes: 1_048_576, headerBytes: 16_384, uriBytes: 8192, requestSeconds: 50 },
      log: { level: "info" },
    });
    expect(config.upstream.v1).toBeUndefined();
    expect(config.lists.orderBy).toBeUndefined();
    expect(config.lists.require).toEqual({ default: "none", resources: new Map() });
  });

  test("native v1 serves what v2 lacks once its address is known, unless told to refuse", () => {
    const flags = { upstreamV1Url: "https://v1", cutoverMode: "native" };
    expect(load({ flags }).config.fallback).toBe("native");
    expect(load({ flags: { ...flags, fallback: "refuse" } }).config.fallback).toBe("refuse");
  });

  test("without native v1 and without rules there is only translate", () => {
    expect(load({}).config.cutover.mode).toBe("translate");
  });

  test("token exchange is called as v2 is", () => {
    const flags = { upstreamStsUrl: "https://sts", upstreamV2Connections: "9", upstreamV2TimeoutsHeadersSeconds: "7s" };
    const { v2, sts } = load({ flags }).config.upstream;
    expect(sts).toMatchObject({ url: "https://sts", timeouts: v2.timeouts, connections: 9, breaker: true });
    expect(sts?.timeouts.headersSeconds).toBe(7);
  });

  test("what must stay below a limit follows it down, when only the limit is set", () => {
    const { config, warnings } = load({ flags: { listsMaxBytes: "1MiB" } });
    expect([config.lists.bufferBytes, warnings]).toEqual([1_048_576, []]);
  });

  test("the configuration is frozen to its leaves", () => {
    const { config } = load({});
    expect(() => Object.assign(config.upstream.v2.timeouts, { bodySeconds: 1 })).toThrow(TypeError);
    expect(() => (config.listen.trustedProxies as string[]).push("x")).toThrow(TypeError);
  });
});

describe("sources", () => {
  test("flags win over variables, variables over the file, the file over defaults", () => {
    const yaml = "listen:\n  port: 1\n  host: file\nadmin:\n  port: 5\nlog:\n  level: warn\n";
    const env = { CARRYOVER_LISTEN_PORT: "2", CARRYOVER_LISTEN_HOST: "variable" };
    const { config } = load({ yaml, env, flags: { listenPort: "3" } });
    expect(config.listen.port).toBe(3);
    expect(config.listen.host).toBe("variable");
    expect(config.admin.port).toBe(5);
    expect(config.log.level).toBe("warn");
  });

  test("a variable may name the file, and a flag another one", () => {
    const files = { "a.yaml": "log: {level: warn}", "b.yaml": "log: {level: error}" };
    const env = { CARRYOVER_CONFIG: "a.yaml" };
    expect(load({ files, env }).config.log.level).toBe("warn");
    expect(load({ files, env, flags: { config: "b.yaml" } }).config.log.level).toBe("error");
  });

  test("an empty variable and an empty key are as good as none", () => {
    const { config } = load({ env: { CARRYOVER_LISTEN_PORT: "" }, yaml: "listen:\nadmin:\n  port:\n" });
    expect(config.listen.port).toBe(8080);
    expect(config.admin.port).toBe(8081);
  });

  test("flags that are no option belong to the command", () => {
    expect(load({ flags: { json: true } }).config.log.level).toBe("info");
  });

  test.each(configOptions().map((option) => [option.path, option] as const))(
    "%s is read from every source",
    (_, option) => {
      const [, leaf = ""] = /([^.]+)$/.exec(option.path) ?? [];
      const wrong = "\u0000not-a-value";
      // A value that no option takes, or one that every text option takes: either way each source must be heard.
      const seen = [
        faultsOrValue({ flags: { [option.attribute]: wrong } }, option.path),
        faultsOrValue({ env: { [option.variable]: wrong } }, option.path),
        faultsOrValue({ yaml: nested(option.path, wrong) }, option.path),
      ];
      expect(seen, leaf).toEqual([
        expect.stringContaining(`heard ${option.flag}`),
        expect.stringContaining(`heard ${option.variable}`),
        expect.stringMatching(/^heard c\.yaml:\d+:\d+/),
      ]);
    },
  );

  function nested(path: string, value: string): string {
    return JSON.stringify(path.split(".").reduceRight<unknown>((inner, key) => ({ [key]: inner }), value));
  }

  /** `heard <place>` when the source is blamed, or when its value is in the configuration. */
  function faultsOrValue(given: Given, path: string): string {
    const needed = {
      ...(path === "upstream.v2.url" ? {} : { upstreamV2Url: V2 }),
      ...(/^upstream\.v1|rulesFile/.test(path) ? { cutoverMode: "translate" } : {}),
    };
    const upstream = /^upstream\.(v1|sts)\.(?!url)/.exec(path)?.[1];
    const also = upstream === undefined ? {} : { [`upstream${upstream === "v1" ? "V1" : "Sts"}Url`]: V2 };
    const both = { ...given, flags: { ...needed, ...also, ...given.flags } };
    const found = faults(both, false);
    if (found.length > 0) return `heard ${found.find((fault) => !fault.includes("has no effect")) ?? found[0]}`;
    const { config } = loadConfig(input(both));
    const value = path.split(".").reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], config);
    const place = given.yaml === undefined ? (Object.keys(given.env ?? {})[0] ?? "") : "c.yaml:1:1";
    const flag = configOptions().find((option) => option.path === path)?.flag;
    const heard = given.env === undefined && given.yaml === undefined ? flag : place;
    return value === "\u0000not-a-value" ? `heard ${heard}` : `not heard: ${JSON.stringify(value)}`;
  }
});

describe("values", () => {
  test.each([
    ["30", 30],
    ["30s", 30],
    ["1500ms", 1.5],
    ["0.5m", 30],
  ])("a duration %s is %s seconds", (text, seconds) => {
    expect(load({ flags: { listsMaxSeconds: text } }).config.lists.maxSeconds).toBe(seconds);
    expect(load({ yaml: `lists: { maxSeconds: ${text} }` }).config.lists.maxSeconds).toBe(seconds);
  });

  test.each([
    ["2048", 2048],
    ["2KiB", 2048],
    ["2 MiB", 2_097_152],
    ["1GiB", 1_073_741_824],
  ])("a size %s is %s bytes", (text, bytes) => {
    expect(load({ flags: { listsMaxBytes: text } }).config.lists.maxBytes).toBe(bytes);
    expect(load({ yaml: `lists: { maxBytes: ${text} }` }).config.lists.maxBytes).toBe(bytes);
  });

  test.each(["true", "false"])("a switch is %s in every source", (text) => {
    const on = { env: { CARRYOVER_CLIENTS_HASH: text } };
    for (const given of [on, { flags: { clientsHash: text } }, { yaml: `clients: { hash: ${text} }` }])
      expect(load(given).config.clients.hash).toBe(text === "true");
  });

  test("variables of commands are no options, and a token there is no token of the admin port", () => {
    const env = { CARRYOVER_ADMIN_TOKEN: "secret", CARRYOVER_CHECK_TOKEN: "other" };
    const { warnings } = load({ env });
    expect(warnings).toEqual([expect.stringMatching(/^CARRYOVER_ADMIN_TOKEN: .*admin\.tokenFile is not set/)]);
    expect(warnings.join()).not.toContain("secret");
    expect(load({ env, flags: { adminTokenFile: "token" }, files: { token: "t" } }).warnings).toEqual([]);
  });

  test("shadow.ignore names members of known resources", () => {
    const { config, requireKnown } = load({ flags: { shadowIgnore: "group.description,grup.name" } });
    expect(config.shadow.ignore).toEqual(["group.description", "grup.name"]);
    expect(() => requireKnown({ resources: [{ name: "group", domain: "iam" }], natives: [] })).toThrow(
      /shadow-ignore: there is no resource "grup"; did you mean group\?/,
    );
    expect(() => load({ flags: { shadowIgnore: "group" } })).toThrow(/expected RESOURCE.PATH/);
  });

  test.each([
    ["a=x,b= x ", "a and b are names of the same identity; remove one of them"],
    ["unknown=x", "unknown stands for clients without a name; choose another name"],
    ["other=x", "other stands for clients without a name; choose another name"],
  ])("the names %s are refused, without the identity", (names, fault) => {
    expect(() => load({ flags: { clientsNames: names } })).toThrow(fault);
    expect(() => load({ flags: { clientsNames: names.replaceAll("x", "topsecret") } })).not.toThrow(/topsecret/);
  });

  test("one name may stand for several identities, or twice for one", () => {
    const { config } = load({ flags: { clientsNames: "a=x,a=y,a=x,b=X" } });
    expect(config.clients.names).toEqual(["a=x", "a=y", "a=x", "b=X"]);
  });

  test("clients.names takes maps with owners in the file, and names what is wrong with one", () => {
    const names = (text: string) => load({ yaml: `clients: { names: [${text}] }` }).config.clients.names;
    expect(names('a=x, { name: b, identity: [y, z], owner: Team, contact: "#b" }')).toEqual([
      "a=x",
      { name: "b", identity: ["y", "z"], owner: "Team", contact: "#b" },
    ]);
    expect(() => names("{ name: B, identity: y }")).toThrow("clients.names.0.name: got");
    expect(() => names("{ name: b, identity: topsecret, owner: 3 }")).toThrow(
      /clients\.names\.0: this cannot be read; (?!.*topsecret)/,
    );
    expect(() => names('{ name: b, identity: y, owner: "a\\nb" }')).toThrow("clients.names.0.owner: got");
    expect(() => names("{ name: b, identity: y, ownr: T }")).toThrow(
      /ownr: there is no such option; use name, identity/,
    );
    expect(() => names("{ name: b, identity: y, owner: T }, b=z, { name: b, identity: w, owner: U }")).toThrow(
      'b has two different values of owner: "T" and "U"',
    );
    expect(() => names("{ name: b, identity: [y, x] }, a=x")).toThrow("b and a are names of the same identity");
    expect(load({ flags: { clientsForgetAfter: "36h" } }).config.clients.forgetAfter).toBe(1.5);
    expect(() => load({ flags: { clientsForgetAfter: "1h" } })).toThrow("expected a time from 1 to 3650 days");
  });

  test("lists.require takes one word for all, or a map by resource", () => {
    const one = load({ env: { CARRYOVER_LISTS_REQUIRE: "count" } }).config.lists.require;
    expect(one).toEqual({ default: "count", resources: new Map() });
    const map = { default: "count", resources: new Map([["group", "cover"]]) };
    expect(load({ flags: { listsRequire: "group=cover,default=count" } }).config.lists.require).toEqual(map);
    expect(load({ yaml: "lists: { require: { group: cover, default: count } }" }).config.lists.require).toEqual(map);
  });

  test("networks and prefixes are lists, in the file or with commas", () => {
    const { config } = load({
      env: { CARRYOVER_LISTEN_TRUSTED_PROXIES: "10.0.0.0/8, fd00::/8" },
      yaml: "listen: { extraPrefixes: [/status, /a/b] }",
    });
    expect(config.listen.trustedProxies).toEqual(["10.0.0.0/8", "fd00::/8"]);
    expect(config.listen.extraPrefixes).toEqual(["/status", "/a/b"]);
  });
});

describe("faults", () => {
  test("a prefix of native v1 needs one", () => {
    const yaml = "listen: { extraPrefixes: [/a, v1:/legacy] }";
    expect(faults({ yaml })).toEqual([
      expect.stringContaining("listen.extraPrefixes: v1:/legacy needs the platform's own v1"),
    ]);
    expect(faults({ yaml: "listen: { extraPrefixes: [v2:/a] }" })).toEqual([expect.stringContaining("or v1:/gateway")]);
  });

  test("without an address of v2 nothing starts, and the way to set it is said", () => {
    expect(faults({}, false)).toEqual([
      "upstream.v2.url: required, and not set; set --upstream-v2-url, CARRYOVER_UPSTREAM_V2_URL or upstream.v2.url in the file",
    ]);
  });

  test("the tokens of other commands are no faults", () => {
    expect(faults({ env: { CARRYOVER_ADMIN_TOKEN: "one", CARRYOVER_CHECK_TOKEN: "two" } })).toEqual([]);
    expect(faults({ env: { CARRYOVER_CHEK_TOKEN: "two" } })).toHaveLength(1);
  });

  test("every fault is listed, each with its place", () => {
    const yaml = "listen:\n  prot: 1\nlimits:\n  inFlight: many\nfallbak: native\n";
    const found = faults({ yaml, env: { CARRYOVER_LOG_LEVEL: "loud", CARRYOVER_LOGLEVEL: "info" } });
    expect(found.toSorted()).toEqual([
      "CARRYOVER_LOGLEVEL: there is no such option; did you mean CARRYOVER_LOG_LEVEL?",
      'CARRYOVER_LOG_LEVEL: got "loud"; expected one of debug, info, warn, error, silent',
      "c.yaml:2:3 listen.prot: there is no such option; did you mean listen.port?",
      'c.yaml:4:13 limits.inFlight: got "many"; expected a whole number from 1 to 1000000',
      "c.yaml:5:1 fallbak: there is no such option; did you mean fallback?",
    ]);
  });

  const network = /^--listen-trusted-proxies: got .*expected a network/;
  const order = /^--lists-order-by: got/;
  test.each<[given: Given, says: RegExp]>([
    ...["lists: { windows: 4 }", "cutover: { percent: 3 }", "clients: { known: 3 }", "__proto__: { a: 1 }"].map(
      (yaml): [Given, RegExp] => [{ yaml }, /there is no such option/],
    ),
    [{ yaml: "maxPages: 3" }, /did you mean lists\.maxPages\?/],
    [
      { yaml: "lists:\n  require:\n    gruop: cover", resources: ["group", "role"] },
      /^c\.yaml:3:12 lists\.require\.gruop: there is no resource "gruop"; did you mean group\?$/,
    ],
    [{ flags: { upstreamV2Url: "https://user:hunter2@host" } }, /the URL holds credentials/],
    [{ flags: { upstreamV2Url: "https://host/?token=hunter2" } }, /the URL holds a query or a fragment/],
    [{ flags: { upstreamV2Url: "ftp://hunter2" } }, /the scheme is neither http nor https/],
    [{ flags: { upstreamV2Url: "hunter2" } }, /this is no URL/],
    [{ yaml: "listen:\n  port: [1\n", flags: { upstreamV2Url: undefined } }, /^c\.yaml:\d+:\d+: /],
    [{ yaml: "a: 1\na: 2\n" }, /^c\.yaml:2:1: .*unique/],
    [{ yaml: "- 1" }, /not a map of options/],
    [{ flags: { config: "absent.yaml" } }, /^--config: absent\.yaml cannot/],
    [{ yaml: "listen: 5" }, /^c\.yaml:1:9 listen: got 5; expected a map of options$/],
    [{ yaml: "listen: { port: { a: 1 } }" }, /got \{"a":1\}/],
    [{ yaml: "upstream: []", flags: { upstreamV2Url: undefined } }, /expected a map of options/],
    [{ env: { CARRYOVER_FALLBACK: "native" } }, /^CARRYOVER_FALLBACK: .*upstream\.v1\.url is not set/],
    [{ flags: { upstreamV1Connections: "4" } }, /^upstream\.v1\.url: required/],
    [{ flags: { limitsRequestSeconds: "60" } }, /^--limits-request-seconds: /],
    [{ flags: { clientsHash: "yes" } }, /^--clients-hash: /],
    ...["45x", "-1", "1e3", "", " 5", "0x10", "5 s s", "59s"].map((listsMaxSeconds): [Given, RegExp] => [
      { flags: { listsMaxSeconds } },
      /lists.max.seconds/i,
    ]),
    ...["gateway", "/", "/a/", "/a//b", "/a/../b", "/a%20", "/a?b"].map((listenBasePath): [Given, RegExp] => [
      { flags: { listenBasePath } },
      /^--listen-base-path: /,
    ]),
    ...["10.0.0.0/33", "10.0.0/8", "x", "10.0.0.0/8/8", "10.0.0.0/", "::/129", "10.0.0.0/08"].map(
      (listenTrustedProxies): [Given, RegExp] => [{ flags: { listenTrustedProxies } }, network],
    ),
    ...["created_at  desc", "uid descending", "-uid", "uid,name", "a&b", "uid\n"].map(
      (listsOrderBy): [Given, RegExp] => [{ flags: { listsOrderBy } }, order],
    ),
  ])("%j is refused once: %s", (given, says) => {
    const found = faults(given);
    expect(found).toEqual([expect.stringMatching(says)]);
    expect(found[0]).not.toContain("hunter2");
  });

  test.each([
    ["one port for clients and operators", { listenPort: "9000", adminPort: "9000" }, "--admin-port"],
    ["a list that may outlast its request", { limitsRequestSeconds: "20" }, "lists.maxSeconds"],
    ["a list that may last as long as its request", { limitsRequestSeconds: "45" }, "lists.maxSeconds"],
    ["more readers for one list than for all", { listsReaders: "33" }, "--lists-readers"],
    ["a buffer that no list may fill", { listsMaxBytes: "1MiB", listsBufferBytes: "2MiB" }, "--lists-buffer-bytes"],
    ["a target longer than the head it is in", { limitsHeaderBytes: "4KiB" }, "limits.uriBytes"],
    [
      "TLS files for http",
      { upstreamV2Url: "http://localhost", upstreamV2TlsCaFile: "pem" },
      "--upstream-v2-tls-ca-file",
    ],
    ["a certificate without its key", { upstreamV2TlsCertFile: "pem" }, "--upstream-v2-tls-cert-file"],
  ])("%s is refused", (_, flags, where) => {
    const found = faults({ flags, files: { pem: "PEM" } });
    expect(found).toHaveLength(1);
    expect(found[0]?.split(":")[0]).toBe(where);
  });

  test("readers and buffer may be as large as what bounds them", () => {
    const readers = { listsReaders: "32" };
    expect(faults({ flags: { ...readers, listsBufferBytes: "256MiB" } })).toEqual([]);
  });

  test.each([
    [{ upstreamV1Url: V2 }, "upstream.v1.url", ""],
    [{ cutoverRulesFile: "r" }, "cutover.rulesFile", " (both need upstream.v1.url)"],
    [{ upstreamV1Url: V2, cutoverRulesFile: "r" }, "cutover.rulesFile", ""],
  ])(
    "%j is refused without cutover.mode, with what each mode does to everybody whom no rule takes",
    (flags, because, needs) => {
      expect(faults({ flags })).toEqual([
        `cutover.mode: required with ${because}, and not set: it decides for everybody whom no rule takes; native leaves them all on native v1, shadow does so too and compares in the background${needs}, translate moves them all to v2`,
      ]);
      expect(faults({ flags: { ...flags, cutoverMode: "translate" } })).toEqual([]);
    },
  );

  test.each<readonly [string, Record<string, string>, string]>([
    ["http://localhost:8080", {}, "listen.port 8080"],
    ["http://0.0.0.0:8080/base", {}, "listen.port 8080"],
    ["http://[::1]:8080", { listenHost: "::" }, "listen.port 8080"],
    [`http://${hostname()}:8080`, {}, "listen.port 8080"],
    ["http://localhost:9000", { listenHost: "127.0.0.1", listenPort: "9000" }, "listen.port 9000"],
    ["http://192.0.2.7", { listenHost: "192.0.2.7", listenPort: "80" }, "listen.port 80"],
    ["http://127.0.0.1:8081", {}, "admin.port 8081"],
  ])("v2 at %s with %j is carryover itself, and refused", (upstreamV2Url, flags, says) => {
    const found = faults({ flags: { ...flags, upstreamV2Url } });
    expect(found).toEqual([expect.stringContaining(`--upstream-v2-url: this is carryover's own address (${says})`)]);
  });

  test("a Unix socket makes the port needless, and no other port collides with none", () => {
    const flags = { listenPort: "none", listenSocket: "/run/carryover/clients.sock", adminPort: "none" };
    const { config } = load({ flags });
    expect([config.listen.port, config.listen.socket, config.admin.port]).toEqual([
      undefined,
      flags.listenSocket,
      undefined,
    ]);
    expect(faults({ flags: { listenPort: "none" } })).toEqual([
      "--listen-port: none needs listen.socket, which is not set; set either of them",
    ]);
    expect(faults({ flags: { listenPort: "off" } })).toEqual([
      '--listen-port: got "off"; expected a port from 0 to 65535, or none',
    ]);
  });

  test.each<readonly [string, Record<string, string>, readonly string[]]>([
    ["a port with a number", {}, []],
    ["a port with a number for gRPC", { listenGrpcPort: "8082" }, []],
    [
      "no port",
      { listenPort: "none", listenSocket: "/run/a/s" },
      ["listen.port is none, so there is no port to share; set listen.port, or leave it out"],
    ],
    [
      "a Unix socket",
      { listenSocket: "/run/a/s" },
      ["listen.socket is set, and a Unix socket belongs to one process; leave one of them out"],
    ],
    [
      "free ports",
      { listenPort: "0", listenGrpcPort: "0" },
      ["listen.port", "listen.grpc.port"].map(
        (option) =>
          `${option} is 0, so each process would take another free port; set ${option} to the port that all processes share`,
      ),
    ],
  ])("listen.reusePort shares %s, or the fault says why it cannot", (_, flags, expected) => {
    const found = faults({ flags: { ...flags, listenReusePort: "true" } });
    expect(found).toEqual(expected.map((text) => `--listen-reuse-port: ${text}`));
    expect(faults({ flags })).toEqual([]);
  });

  test("the path of a Unix socket has 103 bytes at most", () => {
    const path = (bytes: number) => `/${"ü".repeat((bytes - 1) / 2)}`;
    expect(faults({ flags: { listenSocket: path(103) } })).toEqual([]);
    expect(faults({ flags: { listenSocket: path(105) } })).toEqual([
      "--listen-socket: the path has 105 bytes, and a Unix socket's has 103 at most; choose a shorter path",
    ]);
  });

  test.each<readonly [string, Record<string, string>]>([
    ["http://localhost:8082", {}],
    ["https://localhost:8080", {}],
    ["http://platform:8080", {}],
    ["http://127.0.0.2:8080", { listenHost: "127.0.0.1" }],
    ["http://127.0.0.1:8080", { listenHost: "192.0.2.7" }],
  ])("v2 at %s with %j is another", (upstreamV2Url, flags) => {
    expect(faults({ flags: { ...flags, upstreamV2Url } })).toEqual([]);
  });

  test.each([
    ["upstreamV2Url", "https://a.test/iam/v2beta1", "leave it out: https://a.test"],
    ["upstreamV2Url", "https://a.test/x/ping/v2/", "leave it out: https://a.test/x"],
    ["upstreamV1Url", "https://a.test/iam/v1/groups", "leave it out: https://a.test"],
  ])("%s=%s holds what every call adds, and is refused", (option, url, remedy) => {
    const found = faults({ flags: { cutoverMode: "translate", [option]: url }, resources: ["group"] });
    expect(found).toEqual([expect.stringMatching(new RegExp(`holds .*adds to every call; ${remedy}$`))]);
  });

  test("a path of a gateway's own may look like a version", () => {
    const flags = { upstreamV2Url: "https://a.test/gateway/v2/iam" };
    expect(faults({ flags, resources: ["group"] })).toEqual([]);
  });

  test("both ports may be any free one", () => {
    expect(faults({ flags: { listenPort: "0", adminPort: "0" } })).toEqual([]);
  });
});

describe("files", () => {
  test("the contents of TLS files and of the token are in the configuration", () => {
    const flags = { upstreamV2TlsCaFile: "ca", adminTokenFile: "t" };
    const { config } = load({ flags, files: { ca: EXPIRED.cert, t: " secret\n" } });
    expect(new TextDecoder().decode(config.upstream.v2.tls.caFile)).toBe(EXPIRED.cert);
    expect(config.admin.token).toBe("secret");
  });

  test("the contents of the salt's file are the salt; two salts are refused, and no fault repeats one", () => {
    const files = { s: "of the file\n" };
    expect(load({ flags: { cutoverSaltFile: "s" }, files }).config.cutover.salt).toBe("of the file");
    expect(faults({ flags: { cutoverSaltFile: "s", cutoverSalt: "hush" }, files })).toEqual([
      expect.stringMatching(/^--cutover-salt-file: cutover.salt is set as well/),
    ]);
    const long = faults({ flags: { cutoverSalt: "hush".repeat(100) } });
    expect(long).toEqual([expect.stringMatching(/^--cutover-salt: the salt is longer than 256 characters/)]);
    expect(long.join()).not.toContain("hush");
  });

  test("a file that is missing or blank is refused with the option that names it", () => {
    const found = faults({ flags: { upstreamV2TlsCaFile: "ca", adminTokenFile: "t" }, files: { t: " \n" } });
    expect(found.toSorted()).toEqual([
      expect.stringMatching(/^--admin-token-file: t is empty/),
      expect.stringMatching(/^--upstream-v2-tls-ca-file: ca cannot be read/),
    ]);
  });
});

describe("warnings", () => {
  test("an upstream by the name that clients call carryover by", () => {
    const warn = (listenPublicUrl: string) => load({ flags: { listenPublicUrl } }).warnings;
    expect(warn(`${V2}/base`)).toEqual([
      expect.stringMatching(/^--upstream-v2-url: clients call carryover by this name \(listen\.publicUrl\)/),
    ]);
    expect(warn("https://other.example")).toEqual([]);
  });

  test("hashes of clients that anybody can work out", () => {
    const warn = (flags: Record<string, string>) => load({ flags: { clientsHash: "true", ...flags } }).warnings;
    expect(warn({})).toEqual([expect.stringMatching(/^--clients-hash: without cutover.salt anybody can work out/)]);
    expect(warn({ cutoverSalt: "x" })).toEqual([]);
    const { warnings } = load({ flags: { clientsHash: "true", cutoverSaltFile: "s" }, files: { s: "x" } });
    expect(warnings).toEqual([]);
  });

  test("http to another machine is warned about, http to this one is not", () => {
    const warn = (url: string) => load({ flags: { upstreamV2Url: url } }).warnings;
    expect(warn("http://api.example")).toEqual([
      expect.stringMatching(/^--upstream-v2-url: tokens go to another machine/),
    ]);
    for (const host of ["localhost", "127.0.0.1:80", "[::1]:80", "a.localhost"])
      expect(warn(`http://${host}`)).toEqual([]);
    expect(warn("http://127.0.0.1.example")).toHaveLength(1);
  });

  test("more readers than connections are warned about", () => {
    const flags = { listsReadersPerUpstream: "128" };
    expect(load({ flags }).warnings).toEqual([]);
    expect(load({ flags: { ...flags, upstreamV2Connections: "127" } }).warnings).toEqual([
      expect.stringMatching(/^--lists-readers-per-upstream: 128 is above upstream\.v2\.connections \(127\)/),
    ]);
  });

  test("an order that proves nothing is warned about", () => {
    const warn = (listsOrderBy: string) => load({ flags: { listsOrderBy } }).warnings;
    expect([...warn("uid"), ...warn("uid asc")]).toEqual([]);
    for (const order of ["uid desc", "name", "created_at desc"])
      expect(warn(order)).toEqual([expect.stringMatching(/^--lists-order-by: .*never proved complete/)]);
  });

  test("an admin port for others without a token is warned about", () => {
    expect(load({ flags: { adminHost: "0.0.0.0" } }).warnings).toEqual([expect.stringMatching(/^--admin-host: /)]);
    expect(load({ flags: { adminHost: "0.0.0.0", adminTokenFile: "t" }, files: { t: "x" } }).warnings).toEqual([]);
  });
});

describe("variables of the container platform", () => {
  test("those about services named like carryover are not about options", () => {
    const env = {
      CARRYOVER_SERVICE_HOST: "10.0.0.1",
      CARRYOVER_SERVICE_PORT: "80",
      CARRYOVER_SERVICE_PORT_HTTP: "80",
      CARRYOVER_PORT: "tcp://10.0.0.1:80",
      CARRYOVER_PORT_80_TCP: "tcp://10.0.0.1:80",
      CARRYOVER_PORT_80_TCP_ADDR: "10.0.0.1",
      CARRYOVER_ADMIN_PORT: "tcp://10.0.0.1:8081",
    };
    expect(load({ env }).config.admin.port).toBe(8081);
    expect(faults({ env: { CARRYOVER_PORT: "80" } })).toHaveLength(1);
  });
});

describe("what is derived", () => {
  test("every option has a flag, a variable, a description and a form", () => {
    const flags = optionFlags();
    expect(flags[0]).toMatchObject({ flags: "--config <file>", env: "CARRYOVER_CONFIG" });
    expect(flags).toContainEqual({
      flags: "--upstream-v2-tls-ca-file <file>",
      attribute: "upstreamV2TlsCaFile",
      description: "PEM file of the trusted authorities, instead of the system's",
      default: undefined,
      env: "CARRYOVER_UPSTREAM_V2_TLS_CA_FILE",
      usual: false,
    });
    expect(flags.every((flag) => flag.description.length > 10)).toBe(true);
    expect(configOptions().filter((option) => option.form === "text")).toEqual([]);
    expect(new Set(flags.map((flag) => flag.env)).size).toBe(flags.length);
  });

  test("commander hands each flag over under the attribute that the loader reads", async () => {
    const { Command } = await import("commander");
    const command = new Command();
    for (const flag of optionFlags()) command.option(flag.flags, flag.description);
    const argv = optionFlags().flatMap((flag) => [flag.flags.split(" ")[0] ?? "", "x"]);
    command.parse(["node", "x", ...argv]);
    expect(new Set(Object.values(command.opts()))).toEqual(new Set(["x"]));
    expect(Object.keys(command.opts()).toSorted()).toEqual(
      optionFlags()
        .map((flag) => flag.attribute)
        .toSorted(),
    );
  });
});

test.each(["two words", "tab\there", "é"])("an admin token that no request can present is refused: %j", (text) => {
  const found = faults({ flags: { upstreamV2Url: V2, adminTokenFile: "t" }, files: { t: text } });
  expect(found.join("\n")).toMatch(/tokenFile|token-file/i);
  expect(found.join("\n")).not.toContain(text);
});

test("a real file is read with the real reader", () => {
  expect(() =>
    loadConfig({ flags: { config: "package.json" }, env: {}, readFile: (path) => readFileSync(path) }),
  ).toThrow(/package\.json:\d+:\d+ name: there is no such option/);
});
