import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { describe, expect, it, vi } from "vitest";
import carryover, { ConfigError } from "../../src/fastify/plugin.ts";
import { createDouble } from "../server/support/double.ts";
import { appForTest, fastifyRig, later, listening, platform, reasonOf, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const UNUSED = { upstream: { v2: { url: "http://127.0.0.1:9" } } };

/** The system's folder for temporary files while a test runs, and gone with it. */
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "carryover-"));
  vi.stubEnv("TMPDIR", folder);
  later(async () => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  return folder;
}

describe("carryover in a Fastify app", () => {
  it("serves v1, v2 and the token exchange, and leaves other paths to the app", async () => {
    const { ask, app, arrived } = await fastifyRig({ before: (made) => made.get("/mine", () => "mine") });
    const list = await ask("GET", "/iam/v1/groups?name=acme");
    expect([list.status, list.field("carryover-mode"), list.json.items.length]).toEqual([200, "translate", 1]);
    expect((await ask("GET", "/iam/v2beta1/groups")).status).toBe(200);
    expect(reasonOf(await ask("GET", "/sts/exchange"))).toBe("UNKNOWN_PATH");
    expect((await ask("GET", "/mine")).text).toBe("mine");
    expect((await ask("GET", "/other")).json).toMatchObject({ error: "Not Found" });
    expect(arrived.map(({ target }) => target.split("?")[0])).toEqual(["/iam/v2beta1/groups", "/iam/v2beta1/groups"]);
    expect(app.carryover.status()).toMatchObject({ ready: true, mode: "translate", force: "none", openBreakers: [] });
  });

  it.each([["/gateway"], ["/a/b-c/d"]])("serves everything below the prefix %s", async (prefix) => {
    const { ask } = await fastifyRig({ plugin: { prefix } });
    expect((await ask("GET", `${prefix}/iam/v1/groups?name=acme`)).status).toBe(200);
    expect(reasonOf(await ask("GET", `${prefix}/other`))).toBe("UNKNOWN_PATH");
    expect((await ask("GET", "/iam/v1/groups")).json).toMatchObject({ error: "Not Found" });
  });

  it("adds its prefix to the prefix of its context", async () => {
    const { url } = await platform();
    const app = appForTest();
    app.register(
      async (scope) => {
        await scope.register(carryover, { prefix: "/inner", config: { upstream: { v2: { url } } } });
      },
      { prefix: "/outer" },
    );
    expect((await app.inject("/outer/inner/iam/v1/none")).json()).toEqual({
      code: 5,
      message: "Not Found",
      details: [],
    });
    expect(app.hasDecorator("carryover")).toBe(false);
  });

  it("starts when the app is ready, and removes its socket and folder when the app is closed", async () => {
    const folder = temporaryFolder();
    const app = appForTest();
    await app.register(carryover, { config: UNUSED });
    expect([readdirSync(folder), app.carryover.status().ready]).toEqual([[], false]);
    await app.ready();
    const [made = ""] = readdirSync(folder);
    expect(readdirSync(join(folder, made))).toEqual(["app"]);
    expect(app.carryover.status().ready).toBe(true);
    await app.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("closes before it is ready", async () => {
    const app = appForTest();
    app.register(carryover, { config: UNUSED });
    await app.close();
    const other = appForTest();
    await other.register(carryover, { config: UNUSED });
    await other.close();
  });

  it("serves two in one app, each with its own decorator", async () => {
    const [one, other] = [await platform(), await platform()];
    const app = appForTest();
    app.register(carryover, { prefix: "/one", config: { upstream: { v2: { url: one.url } } } });
    app.register(carryover, { prefix: "/other", name: "second", config: { upstream: { v2: { url: other.url } } } });
    const authorization = `Bearer ${other.sandbox.token("admin")}`;
    expect((await app.inject({ url: "/other/iam/v1/groups", headers: { authorization } })).statusCode).toBe(200);
    expect([one.arrived.length, other.arrived.length > 0, app.hasDecorator("second")]).toEqual([0, true, true]);
  });

  it("lets the app's hooks see requests and refuse them", async () => {
    const seen: string[] = [];
    const { ask, arrived } = await fastifyRig({
      before: (app) => {
        app.addHook("onRequest", async (request, reply) => {
          seen.push(request.url);
          if (request.headers["x-blocked"] !== undefined) return reply.code(429).send("slow down");
          request.headers["x-tenant"] = "acme";
          return undefined;
        });
      },
    });
    expect((await ask("GET", "/iam/v2beta1/groups", { headers: { "x-tenant": "mine" } })).status).toBe(200);
    expect((await ask("GET", "/iam/v2beta1/groups", { headers: { "x-blocked": "1" } })).status).toBe(429);
    expect(seen).toEqual(["/iam/v2beta1/groups", "/iam/v2beta1/groups"]);
    const tenants = arrived.map(({ headers }) => headers.filter(([name]) => name === "x-tenant"));
    expect(tenants).toEqual([[["x-tenant", "acme"]]]);
  });

  it("shows its metrics in the app's registry until the app is closed", async () => {
    const metrics = new Registry();
    const { ask, app } = await fastifyRig({ plugin: { metrics } });
    await ask("GET", "/iam/v1/groups?name=acme");
    const text = await metrics.metrics();
    expect(text).toMatch(/^carryover_requests_total\{api_version="v1",resource="group".*code="200"\} 1$/m);
    expect(text).not.toContain("carryover_process");
    const another = appForTest();
    await expect(another.register(carryover, { metrics, config: UNUSED })).rejects.toThrow(
      "options.metrics: the registry shows another carryover already; give each carryover a registry of its own",
    );
    await app.close();
    expect(await metrics.metrics()).toBe("\n");
  });

  it.each([
    ["where files cannot be written", "/proc/none", "ENOENT"],
    ["where the path would be too long", `/tmp/${"a".repeat(80)}`, "is too long"],
  ])("listens on a port of this machine %s, and says so", async (_, folder, reason) => {
    vi.stubEnv("TMPDIR", folder);
    later(async () => void vi.unstubAllEnvs());
    const lines: string[] = [];
    const { ask, arrived } = await fastifyRig({
      app: { logger: { level: "warn", stream: { write: (line) => void lines.push(line) } } },
    });
    expect((await ask("GET", "/iam/v2beta1/groups", { headers: { "x-forwarded-for": "192.0.2.7" } })).status).toBe(200);
    expect(arrived[0]?.headers).toContainEqual(["x-forwarded-for", "127.0.0.1, 127.0.0.1"]);
    expect(lines).toEqual([expect.stringContaining("carryover: no Unix socket (")]);
    expect(lines[0]).toContain(reason);
  });

  it("finishes requests in flight while the app closes", async () => {
    const double = await createDouble((_request, socket) => {
      globalThis.setTimeout(() => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate"), 300);
    });
    later(double.close);
    const { ask, app } = await fastifyRig({ v2Url: double.url, app: { forceCloseConnections: "idle" } });
    const asked = ask("GET", "/iam/v2beta1/groups");
    await vi.waitFor(() => expect(double.requests).toHaveLength(1));
    await app.close();
    expect((await asked).text).toBe("late");
  });

  it("tells the app's log of warnings and of requests that fail", async () => {
    const lines: string[] = [];
    const { ask } = await fastifyRig({
      v2Url: "http://127.0.0.1:9",
      app: {
        logger: { level: "info", stream: { write: (line) => void lines.push(line) } },
      },
      config: { upstream: { v2: { url: "http://127.0.0.1:9" } }, clients: { hash: true } },
    });
    await ask("GET", "/iam/v1/none");
    await ask("GET", "/iam/v2beta1/groups");
    const messages = lines.map((line) => JSON.parse(line) as { level: number; msg: string });
    expect(messages.filter(({ msg }) => msg.startsWith("carryover: "))).toEqual([
      expect.objectContaining({ level: 40, msg: expect.stringContaining("carryover: clients.hash: ") }),
      expect.objectContaining({ level: 40, msg: "carryover: request", status: 502, reason: "UPSTREAM_UNREACHABLE" }),
    ]);
    // The app logs requests; the proxy does not log them again.
    expect(lines.join("")).not.toContain("remote server");
  });

  it("logs to another destination, and reports requests, where it is asked to", async () => {
    const [lines, paths]: [string[], string[]] = [[], []];
    const { ask } = await fastifyRig({
      plugin: { log: (line) => void lines.push(line), onRequest: ({ path }) => void paths.push(path) },
      config: { log: { level: "info" } },
    });
    await ask("GET", "/iam/v1/none");
    await vi.waitFor(() => expect(lines).toHaveLength(2));
    const messages = lines.map((line) => JSON.parse(line).msg);
    expect([messages, paths]).toEqual([["carryover started", "request"], ["/iam/v1/none"]]);
  });

  it("takes further paths as configured", async () => {
    const { ask } = await fastifyRig({
      config: {
        upstream: { v2: { url: "http://127.0.0.1:9" }, v1: { url: "http://127.0.0.1:9" } },
        cutover: { mode: "translate" },
        listen: { extraPrefixes: ["/billing", "v1:/quota"] },
      },
    });
    const statuses = await Promise.all(
      ["/billing/x", "/quota/x", "/other/x"].map(async (path) => (await ask("GET", path)).json.error),
    );
    expect(statuses).toEqual([undefined, undefined, "Not Found"]);
  });

  it("listens on a port as well if one is configured", async () => {
    const { url } = await platform();
    const free = createServer();
    const port = await listening(free);
    await new Promise((closed) => free.close(closed));
    const app = appForTest();
    app.register(carryover, { config: { upstream: { v2: { url } }, listen: { host: "127.0.0.1", port } } });
    expect((await app.inject("/iam/v1/none")).statusCode).toBe(404);
    expect((await fetch(`http://127.0.0.1:${port}/iam/v1/none`)).status).toBe(404);
  });

  it("lets routes of the app win that are more specific than its own", async () => {
    const { ask } = await fastifyRig({
      plugin: { prefix: "/gateway" },
      before: (app) => {
        app.get("/gateway/iam/v1/groups", () => "mine");
        app.get("/gateway/:any", () => "parameter");
      },
    });
    expect((await ask("GET", "/gateway/iam/v1/groups")).text).toBe("mine");
    expect((await ask("GET", "/gateway/health")).text).toBe("parameter");
    expect((await ask("GET", "/gateway/iam/v1/roles?name=viewer")).field("carryover-mode")).toBe("translate");
  });

  it("has an admin port only if one is configured", async () => {
    const { url } = await platform();
    const config = { upstream: { v2: { url } } };
    const taken = createServer();
    const port = await listening(taken);
    const app = appForTest();
    app.register(carryover, { config: { ...config, admin: { port } } });
    await expect(app.ready()).rejects.toThrow(`EADDRINUSE: address already in use 127.0.0.1:${port}`);
    await new Promise((closed) => taken.close(closed));
    const other = appForTest();
    other.register(carryover, { config: { ...config, admin: { port } } });
    await other.ready();
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  });

  it("opens no port of its own, so that several apps of one machine need none", async () => {
    const opened = vi.spyOn(Server.prototype, "listen");
    later(async () => opened.mockRestore());
    const app = appForTest();
    app.register(carryover, { config: UNUSED });
    await app.ready();
    expect(opened.mock.calls).toEqual([
      [{ path: expect.stringMatching(/\/carryover-[^/]*\/app$/), backlog: expect.any(Number) }],
    ]);
  });
});

describe("bad input", () => {
  it.each([
    ["a slash at its end", "/gateway/"],
    ["a parameter", "/:tenant"],
    ["no slash", "gateway"],
    ["a number", 5],
  ])("refuses a prefix with %s", async (_, prefix) => {
    const app = appForTest();
    app.register(carryover, { prefix: prefix as string, config: UNUSED });
    await expect(app.ready()).rejects.toThrow(
      `prefix: got ${JSON.stringify(prefix)}; expected a path such as /gateway, without parameters and without a slash at its end, or nothing`,
    );
  });

  it("refuses a prefix whose route the app has", async () => {
    const app = appForTest();
    app.get("/gateway/*", () => "mine");
    app.register(carryover, { prefix: "/gateway", config: UNUSED });
    await expect(app.ready()).rejects.toThrow(
      "carryover/fastify: the app already has a route /gateway/*; choose another prefix",
    );
  });

  it("fails app.ready() with carryover's own message for an invalid configuration", async () => {
    const app = appForTest();
    app.register(carryover, { config: { upstream: { v2: { url: "ftp://a" } } } });
    const error = await app.ready().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).toContain("upstream.v2.url: the scheme is neither http nor https");
  });

  it.each([
    ["nothing", undefined],
    ["a list", []],
  ])("fails app.ready() for %s as the configuration", async (_, config) => {
    const app = appForTest();
    app.register(carryover, { config: config as never });
    await expect(app.ready()).rejects.toThrow("upstream.v2.url: required, and not set");
  });

  it("fails app.ready() with carryover's own message if it cannot listen", async () => {
    const app = appForTest();
    const socket = "/proc/carryover/app.sock";
    app.register(carryover, { config: { ...UNUSED, listen: { socket } } });
    await expect(app.ready()).rejects.toThrow(`listen.socket: ${socket} cannot be created (ENOENT`);
  });

  it("refuses to share a port, which is for its app to do", async () => {
    const app = appForTest();
    app.register(carryover, { config: { ...UNUSED, listen: { reusePort: true } } });
    await expect(app.ready()).rejects.toThrow(
      "listen.reusePort: the plugin is reached through the port of its app; leave it out, and share the app's port: app.listen({ port, reusePort: true })",
    );
  });

  it("refuses another base path than its prefix", async () => {
    const app = appForTest();
    app.register(carryover, { prefix: "/a", config: { ...UNUSED, listen: { basePath: "/b" } } });
    await expect(app.ready()).rejects.toThrow(
      'listen.basePath: got "/b", and the plugin\'s prefix is "/a"; leave it out',
    );
  });

  it("names the version that it needs to an app of Fastify 4", async () => {
    const app = Object.assign(Object.create(null), { version: "4.29.1" });
    await expect(carryover(app, { config: UNUSED })).rejects.toThrow(
      "carryover/fastify needs Fastify 5, and this app has 4.29.1: npm install fastify@5",
    );
  });
});
