import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "..");
const SRC = join(ROOT, "src");
const sources = new Map(
  readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => [name, readFileSync(join(SRC, name), "utf8")]),
);
const filesWith = (pattern: RegExp): string[] =>
  [...sources].flatMap(([name, text]) => (pattern.test(text) ? [name] : []));

test("imports keep to the order of folders, to fences, and to declared packages", () => {
  const { status, stdout } = spawnSync("node_modules/.bin/depcruise", ["src", "sandbox/src"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  expect(status, stdout).toBe(0);
});

test("the package needs no other to be installed with it: what src imports is bundled", () => {
  const all = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<string, object>;
  expect(Object.keys(all).filter((key) => /^(?:optional|bundle)?dependencies$/i.test(key))).toEqual([]);
  // The Fastify plugin uses the app's.
  const peers = Object.keys(all["peerDependencies"] ?? {});
  expect(peers).toEqual(["@fastify/http-proxy", "fastify"]);
  expect(all["peerDependenciesMeta"]).toEqual(Object.fromEntries(peers.map((name) => [name, { optional: true }])));
});

test("pure folders read no clock and no chance, and wait for nothing", () => {
  const impure = filesWith(/\b(?:Date\.now|new Date\(\)|Math\.random|performance\.now|setTimeout|setInterval|fetch)\b/);
  // The clock that the others are handed.
  const pure = (file: string): boolean =>
    /^(?:model|json|router|translate|page)\//.test(file) && file !== "model/clock.ts";
  expect(impure.filter(pure)).toEqual([]);
});

test("process.env is read in main.ts only", () => {
  expect(filesWith(/process\.env/).filter((file) => file !== "main.ts")).toEqual([]);
});

test("no module keeps mutable state", () => {
  // The kernels that are free: machinery, as compiled code is. It holds memory between two texts, and nothing of a request is read from it.
  expect(filesWith(/^(?:export )?let /m)).toEqual(["json/kernel.ts"]);
});

test("the kernel's memory is looked at in the one file that hands out no view of it", () => {
  expect(filesWith(/\bmemory\.buffer\b/)).toEqual(["json/memory.ts"]);
});

test("headers are never read in the way that a hostile name can crash", () => {
  expect(filesWith(/headersDistinct|insecureHTTPParser/)).toEqual([]);
});
