import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import type { Sandbox } from "../sandbox/src/sandbox.ts";
import { seededSandbox } from "../sandbox/test/seeded.ts";
import { freePort } from "../scripts/free-ports.mjs";
import { configOptions } from "../src/config/config.ts";
import {
  type Carryover,
  type CarryoverConfig,
  type CarryoverOptions,
  ConfigError,
  createCarryover,
  type ServedRequest,
} from "../src/index.ts";
import { later, listening, takeDownAfterEach } from "./end-to-end/app/rig.ts";

takeDownAfterEach();

/** A platform, closed after the test. */
async function platform(): Promise<{ readonly sandbox: Sandbox; readonly url: string }> {
  const sandbox = seededSandbox();
  const { url } = await sandbox.listen(0);
  later(() => sandbox.close());
  return { sandbox, url };
}

/** One on free ports of this machine, closed after the test. */
async function embedded(
  url: string,
  more: Omit<CarryoverConfig, "upstream"> = {},
  options: CarryoverOptions = {},
): Promise<Carryover> {
  const carryover = await createCarryover(
    {
      listen: { host: "127.0.0.1", port: 0, shutdownDelaySeconds: 0 },
      admin: { port: 0 },
      upstream: { v2: { url } },
      ...more,
    },
    options,
  );
  later(() => carryover.close(0));
  return carryover;
}

/** A place for rules, gone after the test. */
async function rulesPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "carryover-"));
  later(() => rm(folder, { recursive: true }));
  return join(folder, "rules.yaml");
}

/** A directory of a process that was killed, gone after the test. */
async function stateOfKilled(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "carryover-"));
  later(() => rm(dir, { recursive: true }));
  await writeFile(join(dir, "owner.json"), "{}");
  return dir;
}

/** What `create` is refused with. */
async function faultsOf(config: unknown): Promise<readonly string[]> {
  const error = await createCarryover(config as CarryoverConfig).catch((thrown: unknown) => thrown);
  if (!(error instanceof ConfigError)) throw new Error(`no ConfigError: ${String(error)}`);
  return error.faults.map(({ where, what, remedy }) => `${where}: ${what}; ${remedy}`);
}

const asked = (url: string, token: string, path = "/iam/v1/groups") =>
  fetch(url + path, { headers: { authorization: `Bearer ${token}` } });

const metric = async (adminUrl: string | undefined, pattern: RegExp): Promise<string | undefined> =>
  pattern.exec(await (await fetch(`${adminUrl}/metrics`)).text())?.[0];

describe("the configuration as an object", () => {
  it("takes values as the file does, and undefined as left out", async () => {
    const url = "http://127.0.0.1:9";
    const carryover = await createCarryover({
      upstream: { v2: { url, timeouts: { headersSeconds: "1500ms" } }, v1: undefined },
      lists: {
        maxSeconds: 30,
        bufferBytes: "64KiB",
        require: { default: "count", group: "cover" },
        orderBy: undefined,
      },
      clients: { hash: true },
    });
    expect(carryover.warnings).toEqual([expect.stringMatching(/^clients\.hash: .*cutover\.salt/)]);
  });

  it.each([
    ["nothing", undefined, ["config: got undefined; give an object of options"]],
    ["a list", [], ["config: got []; give an object of options"]],
    ["a Map", new Map(), ["config: got an instance of Map; give an object of options"]],
    ["a function", () => {}, ["config: got a function; give an object of options"]],
    ["a BigInt", 1n, ["config: got 1n; give an object of options"]],
    ["no address", {}, ["upstream.v2.url: required, and not set; set upstream.v2.url"]],
    [
      "an option that does not exist, with the nearest that does",
      { upstream: { v2: { url: "http://a" } }, lists: { reeders: 2 } },
      ["lists.reeders: there is no such option; did you mean lists.readers?"],
    ],
    [
      "several faults at once",
      { upstream: { v2: { url: "ftp://a", connections: 0 } }, log: { level: "loud" } },
      [
        "upstream.v2.url: the scheme is neither http nor https; expected http(s)://host[:port][/path] without credentials",
        "upstream.v2.connections: got 0; expected a whole number from 1 to 10000",
        'log.level: got "loud"; expected one of debug, info, warn, error, silent',
      ],
    ],
    [
      "a resource that there is not",
      { upstream: { v2: { url: "http://a" } }, lists: { require: { gruop: "cover" } } },
      ['lists.require.gruop: there is no resource "gruop"; did you mean group?'],
    ],
    [
      "a version that has no catalogue",
      { upstream: { v2: { url: "http://a", version: "v2alpha9" } } },
      ['upstream.v2.version: there is no catalogue for "v2alpha9"; known versions: v2, v2beta1'],
    ],
    [
      "a file that is not there",
      { upstream: { v2: { url: "http://a" } }, admin: { tokenFile: "/nowhere/token" } },
      [expect.stringMatching(/^admin\.tokenFile: \/nowhere\/token cannot be read \(ENOENT.*; name a file/)],
    ],
  ])("refuses %s", async (_what, config, expected) => {
    expect(await faultsOf(config)).toEqual(expected);
  });

  const circular: Record<string, unknown> = {};
  circular["again"] = { inner: [circular] };
  class Settings {
    identify = ["user-agent"];
  }

  it.each([
    ["a Map for options", { clients: new Map([["hash", true]]) }, "clients: got an instance of Map; expected a map"],
    ["an object of a class", { clients: new Settings() }, "clients: got an instance of Settings; expected a map"],
    ["a day", { lists: new Date(0) }, "lists: got an instance of Date; expected a map"],
    ["a function", { cutover: () => {} }, "cutover: got a function; expected a map"],
    ["a symbol", { log: { level: Symbol("info") } }, "log.level: got a symbol; expected one of debug, info"],
    ["a BigInt", { limits: { inFlight: 10n } }, "limits.inFlight: got 10n; expected a whole number"],
    ["no number", { limits: { inFlight: Number.NaN } }, "limits.inFlight: got NaN; expected a whole number"],
    ["a set for a list", { clients: { exclude: new Set() } }, "clients.exclude: got an instance of Set; expected"],
    [
      "a URL for its text",
      { listen: { publicUrl: new URL("http://a") } },
      "listen.publicUrl: got an instance of URL; ",
    ],
    ["an object within itself", { updates: { mismatch: circular } }, "updates.mismatch: got {"],
  ])("refuses %s, which no file could say", async (_what, more, expected) => {
    const faults = await faultsOf({ upstream: { v2: { url: "http://a" } }, ...more });
    expect(faults).toEqual([expect.stringContaining(expected)]);
  });

  it("refuses with a path what no file could say, in the place of each option and of each map of options", async () => {
    const paths = configOptions().map(({ path }) => path);
    const maps = paths.flatMap((path) => path.split(".").map((_, at, keys) => keys.slice(0, at).join(".")));
    let deep: unknown = "end";
    for (let level = 0; level < 20_000; level++) deep = { deep };
    const classes = [new Map(), new Date(0), new Settings(), () => {}];
    const values = [...classes, Symbol("x"), 10n, [10n], circular, [circular], deep];
    const places = [...new Set([...paths, ...maps].filter((each) => each !== ""))];
    for (const [at, path] of places.entries()) {
      const keys = path.split(".");
      // Each value in a third of all places.
      for (const value of values.filter((_, which) => (which + at) % 3 === 0)) {
        const config = keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
        expect(await faultsOf(config)).toContainEqual(expect.stringMatching(new RegExp(`^${path}\\b`)));
      }
    }
  });

  it("may be an object without a prototype, and one that stands in two places", async () => {
    const tls = Object.freeze(Object.assign(Object.create(null), { caFile: undefined }));
    const url = "http://127.0.0.1:9";
    await createCarryover({ upstream: { v2: { url, tls }, v1: { url, tls } }, cutover: { mode: "native" } });
  });

  it("stays as it was given, and may be changed afterwards without effect", async () => {
    const { url } = await platform();
    const prefixes = ["/status"];
    const config = { listen: { host: "127.0.0.1", port: 0, extraPrefixes: prefixes }, admin: { port: 0 } };
    const given = { ...config, upstream: { v2: { url } } };
    const before = structuredClone(given);
    const carryover = await createCarryover(given);
    later(() => carryover.close(0));
    expect(given).toEqual(before);
    prefixes.push("/later");
    const { url: at } = await carryover.listen();
    expect((await fetch(`${at}/later`)).status).toBe(404);
  });
});

describe("the options beside it", () => {
  const options = "expected an object with log, onRequest and metrics, or nothing";
  const log = "expected a function that takes a line, or a stream to write to";

  it.each<[string, unknown, readonly string[]]>([
    ["null", null, [`options: got null; ${options}`]],
    ["a function", () => {}, [`options: got a function; ${options}`]],
    ["a list", [], [`options: got []; ${options}`]],
    ["a number for the log", { log: 5 }, [`options.log: got 5; ${log}`]],
    ["null for the log", { log: null }, [`options.log: got null; ${log}`]],
    ["what cannot be written to for the log", { log: { write: true } }, [`options.log: got {"write":true}; ${log}`]],
    ["a stream's class for its object", { log: new Map() }, [`options.log: got an instance of Map; ${log}`]],
    [
      "text for the function, and an option that there is not",
      { onRequest: "x", lgo: () => {}, colour: 1 },
      [
        "options.lgo: there is no such option; did you mean log?",
        "options.colour: there is no such option; remove it",
        'options.onRequest: got "x"; expected a function that takes a request',
      ],
    ],
  ])("refuses %s", async (_what, given, expected) => {
    const config = { upstream: { v2: { url: "http://a" } } };
    const error = await createCarryover(config, given as CarryoverOptions).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).message.split("\n  ").slice(1)).toEqual(expected);
  });

  it("may be left out, all or each", async () => {
    const config = { upstream: { v2: { url: "http://a" } } };
    for (const given of [undefined, {}, { log: undefined, onRequest: undefined }, { log: process.stdout }])
      await createCarryover(config, given);
  });
});

describe("its life", () => {
  it("opens no port and rejects with the port's error when one cannot be had", async () => {
    const { url } = await platform();
    const taken = createServer();
    const port = await listening(taken);
    const carryover = await embedded(url, { listen: { host: "127.0.0.1", port } });
    await expect(carryover.listen()).rejects.toMatchObject({ code: "EADDRINUSE", port });
    await carryover.close();
  });

  it("rejects with ConfigError, naming line and column, when its rules are wrong", async () => {
    const { url } = await platform();
    const rulesFile = await rulesPath();
    await writeFile(rulesFile, "version: carryover/v1\nrules:\n  - name: a\n    mode: nativ\n");
    const error = await (await embedded(url, { cutover: { rulesFile, mode: "translate" } }))
      .listen()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).faults.map(({ where }) => where)).toContain(`${rulesFile}:4:11 rules.1.mode`);
  });

  it("takes rules that changed on reload(), and keeps the old ones when they are wrong", async () => {
    const { sandbox, url } = await platform();
    const rulesFile = await rulesPath();
    const rules = (mode: string) => `version: carryover/v1\nrules:\n  - { name: all, mode: ${mode}, match: {} }\n`;
    await writeFile(rulesFile, rules("translate"));
    const carryover = await createCarryover({
      listen: { host: "127.0.0.1", port: 0 },
      admin: { port: 0 },
      upstream: { v2: { url }, v1: { url } },
      cutover: { rulesFile, mode: "translate" },
    });
    later(() => carryover.close(0));
    const { url: at } = await carryover.listen();
    const mode = async () => (await asked(at, sandbox.token("admin"))).headers.get("carryover-mode");
    expect(await mode()).toBe("translate");
    await writeFile(rulesFile, rules("native"));
    await carryover.reload();
    expect(await mode()).toBe("native");
    await writeFile(rulesFile, rules("backwards"));
    await carryover.reload();
    expect(await mode()).toBe("native");
  });

  it("listens once, closes once, also before it ever listened, and says so when asked again", async () => {
    const { url } = await platform();
    await (await embedded(url)).close();
    const carryover = await embedded(url);
    const { url: at } = await carryover.listen();
    await expect(carryover.listen()).rejects.toThrow("listen() was called already");
    expect((await fetch(`${at}/nowhere`)).status).toBe(404);
    await Promise.all([carryover.close(), carryover.close()]);
    await expect(fetch(at)).rejects.toThrow();
    await expect(carryover.listen()).rejects.toThrow("this carryover is closed; create another one");
  });

  it("ends the wait for the state.dir of a killed process, and leaves that to the next one", async () => {
    const { url } = await platform();
    const dir = await stateOfKilled();
    const carryover = await embedded(url, { state: { dir } });
    const opening = expect(carryover.listen()).rejects.toThrow("close() was called while carryover waited for");
    await new Promise((resolve) => setTimeout(resolve, 50));
    const before = performance.now();
    await carryover.close();
    await opening;
    expect(performance.now() - before).toBeLessThan(5_000);
    expect(await readFile(join(dir, "owner.json"), "utf8")).toBe("{}");
  });

  it("closes while it opens, and gives no address that nobody serves", async () => {
    const { url } = await platform();
    const port = await freePort();
    const carryover = await embedded(url, { listen: { host: "127.0.0.1", port, shutdownDelaySeconds: 0 } });
    const opening = expect(carryover.listen()).rejects.toThrow("close() was called while listen() opened the ports");
    await carryover.close();
    await opening;
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow();
  });
});

describe("what it tells", () => {
  it("hands the log's lines to a function, one a request, and nothing to anybody else", async () => {
    const { sandbox, url } = await platform();
    const lines: string[] = [];
    const written = vi.spyOn(process.stdout, "write");
    later(async () => written.mockRestore());
    const carryover = await embedded(url, {}, { log: (line) => void lines.push(line) });
    const { url: at } = await carryover.listen();
    await (await asked(at, sandbox.token("admin"))).text();
    await vi.waitFor(() => expect(lines).toHaveLength(2));
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ msg: "carryover started" });
    expect(lines[1]?.endsWith("}\n")).toBe(true);
    expect(JSON.parse(lines[1] ?? "")).toMatchObject({ msg: "request", operation: "list", status: 200 });
    expect(written).not.toHaveBeenCalled();
  });

  it("loses lines, not requests, to a stream that is never read and to a function that throws", async () => {
    const { url } = await platform();
    const stuck = new Writable({ decodeStrings: false, highWaterMark: 1, write: () => {} });
    stuck.write("x".repeat(5 * 1024 ** 2));
    const throwing = () => {
      throw new Error("no more lines");
    };
    for (const log of [stuck, throwing]) {
      const { url: at, adminUrl } = await (await embedded(url, {}, { log })).listen();
      expect((await fetch(`${at}/nowhere`)).status).toBe(404);
      await vi.waitFor(async () => {
        expect(await metric(adminUrl, /^carryover_log_lines_dropped_total .*/m)).toBe(
          "carryover_log_lines_dropped_total 2",
        );
      });
    }
    expect(stuck.writableLength).toBe(5 * 1024 ** 2);
  });

  it("tells onRequest of each request, and survives what it throws", async () => {
    const { sandbox, url } = await platform();
    const served: ServedRequest[] = [];
    const lines: string[] = [];
    const onRequest = (request: ServedRequest) => {
      served.push(request);
      throw new Error("the hook failed");
    };
    const { url: at } = await (
      await embedded(url, { log: { level: "warn" } }, { onRequest, log: (line) => void lines.push(line) })
    ).listen();
    await (await asked(at, sandbox.token("admin"), "/iam/v1/groups?name=acme")).text();
    await vi.waitFor(() => expect(served).toHaveLength(1));
    expect(served[0]).toMatchObject({
      method: "GET",
      path: "/iam/v1/groups",
      apiVersion: "v1",
      resource: "group",
      operation: "list",
      mode: "translate",
      status: 200,
      upstreamCalls: 1,
      aborted: false,
      list: { records: 1, outcome: "complete" },
    });
    expect(JSON.parse(lines[0] ?? "{}")).toMatchObject({
      level: "error",
      msg: "onRequest failed",
      cause: "Error: the hook failed",
    });
    expect((await asked(at, sandbox.token("admin"))).status).toBe(200);
  });
});

describe("beside others in one process", () => {
  it("leaves signals, exit code and environment alone", async () => {
    const { sandbox, url } = await platform();
    const seen = () =>
      JSON.stringify([
        process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
        process.exitCode,
        process.env,
        process.getMaxListeners(),
      ]);
    const before = seen();
    const carryover = await embedded(url, {}, { log: () => {} });
    const { url: at } = await carryover.listen();
    await (await asked(at, sandbox.token("admin"))).text();
    expect(seen()).toBe(before);
    await carryover.close();
    expect(seen()).toBe(before);
  });

  it("shares nothing: counts, clients and lives are each one's own", async () => {
    const [one, other] = [await platform(), await platform()];
    const [first, second] = [await embedded(one.url), await embedded(other.url)];
    const [a, b] = [await first.listen(), await second.listen()];
    for (let call = 0; call < 3; call++) await (await asked(a.url, one.sandbox.token("admin"))).text();
    const counted = /^carryover_requests_total\{.*resource="group".*/m;
    await vi.waitFor(async () => expect(await metric(a.adminUrl, counted)).toMatch(/ 3$/));
    expect(await metric(b.adminUrl, counted)).toBeUndefined();
    const clients = async (adminUrl: string | undefined) =>
      ((await (await fetch(`${adminUrl}/clients`)).json()) as { clients: readonly unknown[] }).clients.length;
    expect([await clients(a.adminUrl), await clients(b.adminUrl)]).toEqual([1, 0]);
    await first.close();
    expect((await asked(b.url, other.sandbox.token("admin"))).status).toBe(200);
  });
});
