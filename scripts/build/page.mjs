/**
 * Bundles what a browser loads for the operator's page (`page/`), and writes it, compressed and with its hash, into a module of `src` that is not in
 * the repository: so the bundle, the modules one by one, and the tests all find it.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { build } from "esbuild";
import { ROOT } from "./bundle.mjs";

const SOURCES = "page";
const OUT = join(ROOT, "src/page/asset-bytes.ts");

/** By name: where it comes from, and its type. */
const ASSETS = [
  ["css", "page.css", "text/css; charset=utf-8"],
  ["script", "live.ts", "text/javascript; charset=utf-8"],
  ["icon", "icon.svg", "image/svg+xml"],
];

/** Does nothing while the sources are as they were. Vitest calls it as `setup` before all tests. */
export async function buildPage() {
  const hash = createHash("sha256");
  for (const name of [
    ...readdirSync(join(ROOT, SOURCES))
      .sort()
      .map((file) => join(SOURCES, file)),
    "scripts/build/page.mjs",
  ]) {
    hash.update(readFileSync(join(ROOT, name)));
  }
  const mark = `// From page/*, ${hash.digest("hex").slice(0, 16)}. Made by scripts/build/page.mjs.`;
  if (existsSync(OUT) && readFileSync(OUT, "utf8").startsWith(mark)) return;
  const assets = await Promise.all(ASSETS.map(assetOf));
  const text = `export const ASSET_BYTES = ${JSON.stringify(Object.fromEntries(assets), undefined, 2)} as const;`;
  writeFileSync(OUT, `${mark}\n\n/** What a browser loads, compressed with Brotli. */\n${text}\n`);
}

export { buildPage as setup };

async function assetOf([name, file, type]) {
  const bytes = await bytesOf(join(ROOT, SOURCES, file));
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  const path = `/page/assets/${hash}${{ css: ".css", script: ".js", icon: ".svg" }[name]}`;
  return [name, { path, type, size: bytes.length, brotli: brotliCompressSync(bytes, { params }).toString("base64") }];
}

async function bytesOf(path) {
  if (path.endsWith(".svg")) return readFileSync(path);
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["chrome111", "firefox113", "safari16.4"],
    legalComments: "none",
  });
  return Buffer.from(outputFiles[0].contents);
}
