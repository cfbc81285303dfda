import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandbox } from "../../../sandbox/src/sandbox.ts";
import { installed, NODE24, type Packed, packed, ROOT, ran, tool } from "./packed.ts";

let shipped: Packed;
let folder: string;

beforeAll(async () => {
  shipped = await packed();
  folder = await installed(shipped.tarball);
});
afterAll(() => {
  shipped.remove();
  rmSync(folder, { recursive: true, force: true });
});

const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
const NODES = [
  ["Node 20", () => process.execPath],
  ["Node 24", () => tool(NODE24)],
] as const;

/** The command, as it lies there. */
const carryover = (node: string, words: readonly string[]) =>
  ran(node, [join(folder, "node_modules/.bin/carryover"), ...words], folder);

/** A program in the consumer's folder, run to its end. */
function program(node: string, name: string, text: string) {
  writeFileSync(join(folder, name), text);
  return ran(node, [name], folder);
}

describe("npx", () => {
  it("finds the command, which says its version", async () => {
    expect(await ran("npx", ["--no", "--", "carryover", "--version"], folder)).toMatchObject({
      code: 0,
      out: `${version}\n`,
    });
  });
});

describe.each(NODES)("under %s", (_name, node) => {
  it("serves the demo's tour to its end", async () => {
    const { code, out } = await carryover(node(), ["demo", "--tour"]);
    expect([code, out.match(/^ {2}response: \d+/gm)?.length, out.match(/^ {2}response: [45]/gm)]).toEqual([0, 6, null]);
  });

  it("refuses to serve without an upstream, and says what to set", async () => {
    const { code, err } = await carryover(node(), ["serve"]);
    expect(code).toBe(64);
    expect(err).toContain("upstream.v2.url: required, and not set; set --upstream-v2-url, CARRYOVER_UPSTREAM_V2_URL");
  });

  it("can be imported, in its own process, beside a sandbox", async () => {
    const sandbox = createSandbox();
    const { url } = await sandbox.listen(0);
    try {
      const text = `import { ConfigError, createCarryover } from "carryover";
const carryover = await createCarryover({
  listen: { host: "127.0.0.1", port: 0 }, admin: { port: 0 }, upstream: { v2: { url: ${JSON.stringify(url)} } },
});
const { url } = await carryover.listen();
const headers = { authorization: ${JSON.stringify(`Bearer ${sandbox.token("admin")}`)} };
const answer = await fetch(url + "/iam/v1/groups", { headers });
console.log(answer.status, (await answer.json()).items.length > 200, ConfigError.name);
await carryover.close();`;
      expect(await program(node(), "embed.mjs", text)).toMatchObject({
        code: 0,
        out: "200 true ConfigError\n",
        err: "",
      });
    } finally {
      await sandbox.close();
    }
  });

  it("gives its schemas and its package.json to whoever asks, and nothing else", async () => {
    const asked = [
      "config.schema.json",
      "rules.schema.json",
      "package.json",
      "dist/app.js",
      "dist/main.js",
      "docs/rules.md",
      "dist/index.js",
    ];
    const text = `import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
for (const name of ${JSON.stringify(asked)}) {
  try { console.log(name, typeof (name.endsWith(".json") ? require("carryover/" + name) : await import("carryover/" + name))); }
  catch (error) { console.log(name, error.code); }
}`;
    const { out } = await program(node(), "imports.mjs", text);
    const refused = asked.slice(3).map((name) => `${name} ERR_PACKAGE_PATH_NOT_EXPORTED`);
    expect(out.trim().split("\n")).toEqual([...asked.slice(0, 3).map((name) => `${name} object`), ...refused]);
  });
});

describe("the page on embedding", () => {
  const page = readFileSync(join(ROOT, "docs/embedding.md"), "utf8");
  const examples = [...page.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, text], at) => [at + 1, text ?? ""] as const);

  it("has examples", () => expect(examples.length).toBeGreaterThanOrEqual(3));

  it.each(examples)("has an example %i that runs as it stands", async (at, text) => {
    const { code, err, out } = await program(process.execPath, `example${at}.mjs`, text);
    expect({ code, err: err.split("\n").filter((line) => !/^(upstream\.v2\.connections|$)/.test(line)) }).toEqual({
      code: 0,
      err: [],
    });
    // What an example says in a comment that it prints is what it prints.
    for (const [, said] of text.matchAll(/^ *\/\/ (upstream\..*)$/gm)) expect(err + out).toContain(said);
  });
});

const PEERS = ["fastify", "@fastify/http-proxy", "prom-client"];

/** Puts this repository's copies of what a Fastify app has into the consumer's folder while `use` runs. */
async function withPeers<T>(use: () => Promise<T>): Promise<T> {
  const links = PEERS.map((name) => [join(ROOT, "node_modules", name), join(folder, "node_modules", name)] as const);
  mkdirSync(join(folder, "node_modules/@fastify"), { recursive: true });
  for (const [target, link] of links) symlinkSync(target, link);
  try {
    return await use();
  } finally {
    for (const [, link] of links) rmSync(link);
  }
}

describe("the plugin for Fastify", () => {
  const REGISTER = `import carryover from "carryover/fastify";
const config = { upstream: { v2: { url: "http://127.0.0.1:9" } } };
`;

  it("names the package and the version that it needs where the app has none", async () => {
    const text = `${REGISTER}await carryover({ version: "5.0.0" }, { config }).catch((error) => console.log(error.message));`;
    expect((await program(process.execPath, "peerless.mjs", text)).out.trim()).toBe(
      "carryover/fastify needs @fastify/http-proxy 11, which cannot be loaded: npm install @fastify/http-proxy@11",
    );
  });

  const APP = `const app = Fastify();
app.register(carryover, { prefix: "/api", config });
app.inject("/api/nowhere").then(async (response) => {
  console.log(response.json().details[0].reason, app.carryover.status().ready);
  await app.close();
});`;
  const CONFIG = `const config = { upstream: { v2: { url: "http://127.0.0.1:9" } } };
const Fastify = require("fastify");
`;

  it.each(
    NODES.flatMap(([name, node]) => [
      [name, "an ES module", node, "app.mjs", `${REGISTER}import Fastify from "fastify";\n${APP}`] as const,
      [
        name,
        "CommonJS and import()",
        node,
        "import.cjs",
        `${CONFIG}const carryover = import("carryover/fastify");\n${APP}`,
      ] as const,
      [
        name,
        "CommonJS and require()",
        node,
        "app.cjs",
        `${CONFIG}const carryover = require("carryover/fastify");\n${APP}`,
      ] as const,
    ]),
  )("uses the app's own packages, on %s, in %s", async (_name, _kind, node, file, text) => {
    const { code, out, err } = await withPeers(() => program(node(), file, text));
    expect({ code, out, err }).toEqual({ code: 0, out: "UNKNOWN_PATH true\n", err: "" });
  });
});

const TSC = join(ROOT, "node_modules/.bin/tsc");
const GOOD = `import { type Carryover, type CarryoverConfig, ConfigError, createCarryover, type ServedRequest } from "carryover";
import configSchema from "carryover/config.schema.json" with { type: "json" };
const config: CarryoverConfig = {
  upstream: { v2: { url: process.env["URL"] ?? "http://a" }, v1: undefined },
  lists: { maxSeconds: "30s", require: { group: "cover" } },
};
const seen: ServedRequest[] = [];
const carryover: Carryover = await createCarryover(config, { log: process.stdout, onRequest: (request) => void seen.push(request) });
const { url, adminUrl }: { url: string; adminUrl: string | undefined } = await carryover.listen();
await carryover.close(1_000);
try { await createCarryover(config, { log: (line: string) => console.log(line) }); }
catch (error) { if (error instanceof ConfigError) console.log(error.faults[0]?.remedy, url, adminUrl, configSchema.title); }
`;

const GOOD_APP = `import carryover, { type CarryoverConfig, type CarryoverPluginOptions, type CarryoverStatus, ConfigError } from "carryover/fastify";
import Fastify, { type FastifyInstance, type FastifyPluginAsync } from "fastify";
import { Registry } from "prom-client";
const config: CarryoverConfig = { upstream: { v2: { url: process.env["URL"] ?? "http://a" } }, admin: { port: undefined } };
const options: CarryoverPluginOptions = { prefix: "/api", config, metrics: new Registry(), log: (line) => console.log(line) };
const app = Fastify({ logger: { level: "info" }, trustProxy: true });
await app.register(carryover, options);
app.register(carryover, { prefix: "/other", name: "second", config, onRequest: ({ path }) => console.log(path) });
const status: CarryoverStatus = app.carryover.status();
const reloaded: Promise<void> = app.carryover.reload();
const gateway: FastifyPluginAsync<{ readonly url: string }> = async (scope, { url }) => {
  await scope.register(carryover, { config: { upstream: { v2: { url } } } });
};
app.register(gateway, { url: "http://a" });
const plain: FastifyInstance = Fastify();
plain.register(carryover, () => ({ config }));
const http2 = Fastify({ http2: true, https: { allowHTTP1: true } });
await http2.register(carryover, { config });
const tls = Fastify({ https: { key: "", cert: "" } });
await tls.register(carryover, { config });
console.log(ConfigError.name, status, reloaded);
`;

describe("types", () => {
  /** What a strict consumer's compiler says of \`text\`. */
  async function judged(text: string, module: "nodenext" | "esnext"): Promise<string> {
    const options = {
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      verbatimModuleSyntax: true,
      resolveJsonModule: true,
      target: "es2023",
      types: ["node"],
      typeRoots: ["./types"],
      module,
      moduleResolution: module === "nodenext" ? "nodenext" : "bundler",
    };
    rmSync(join(folder, "types"), { force: true });
    symlinkSync(join(ROOT, "node_modules/@types"), join(folder, "types"));
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["use.mts"] }));
    writeFileSync(join(folder, "use.mts"), text);
    return (await ran(process.execPath, [TSC, "-p", "."], folder)).out;
  }

  it.each(["nodenext", "esnext"] as const)("compile in a strict project (module %s)", async (module) => {
    expect(await judged(GOOD, module)).toBe("");
  });

  it.each(["nodenext", "esnext"] as const)("of the plugin compile in a strict app (module %s)", async (module) => {
    expect(await withPeers(() => judged(GOOD_APP, module))).toBe("");
  });

  it("of the plugin find wrong options and what a carryover in an app does not have", async () => {
    const text = `import carryover from "carryover/fastify";
import Fastify from "fastify";
const app = Fastify();
const config = { upstream: { v2: { url: "http://a" } } };
app.register(carryover, { prefx: "/a", config });
app.register(carryover, { prefix: "/a" });
app.register(carryover, { config: { ...config, lists: { reeders: 2 } } });
app.register(carryover);
app.carryover.close();
`;
    const lines = (await withPeers(() => judged(text, "nodenext"))).split("\n");
    expect(
      lines.flatMap((line) => /^use\.mts\((\d+),\d+\): error (TS\d+)/.exec(line)?.slice(1, 3).join(" ") ?? []),
    ).toEqual(["5 TS2769", "6 TS2769", "7 TS2769", "8 TS2769", "9 TS2339"]);
  });

  it("find a wrong option, a missing address and an entry that is none of the public's", async () => {
    const text = `import { createCarryover } from "carryover";
import { createApp } from "carryover/dist/app.js";
await createCarryover({ upstream: { v2: { url: "http://a" } }, lists: { reeders: 2 } });
await createCarryover({ upstream: {} });
console.log(createApp);
`;
    const lines = (await judged(text, "nodenext")).split("\n").filter((line) => line.startsWith("use.mts"));
    expect(lines.map((line) => /^use\.mts\((\d+),\d+\): error (TS\d+)/.exec(line)?.slice(1, 3).join(" "))).toEqual([
      "2 TS2307",
      "3 TS2561",
      "4 TS2741",
    ]);
  });
});

describe("the demo", () => {
  it("says which of its ports is taken, and ends", async () => {
    const taken = createServer();
    await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done));
    const { port } = taken.address() as { port: number };
    try {
      const words = ["demo", "--listen-port", String(port), "--admin-port", "0", "--sandbox-port", "0"];
      const { code, err } = await carryover(process.execPath, words);
      expect([code, err]).toEqual([1, expect.stringContaining(`--listen-port moves this one`)]);
    } finally {
      await new Promise((done) => taken.close(done));
    }
  });
});
