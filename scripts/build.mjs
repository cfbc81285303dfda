/**
 * Builds `dist` from `src`: the program in one bundle with the packages that it needs, the types of the package's entry, the packages' licences,
 * and a bill of materials. When nothing changed since the last build, nothing is written: programs that run from `dist` are not disturbed.
 */
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { bundleOptions, COMMON, ROOT } from "./build/bundle.mjs";
import { checkCatalogue } from "./build/generated.mjs";
import { hashInputs, isBuiltFrom, markBuilt } from "./build/inputs.mjs";
import { buildKernel } from "./build/kernel.mjs";
import { buildPage } from "./build/page.mjs";
import { billOf, licencesOf, thirdParties } from "./build/third-party.mjs";
import { addTypes, compile } from "./build/types.mjs";

const DIST = join(ROOT, "dist");

async function bundle() {
  const { metafile } = await build(bundleOptions(DIST));
  const parties = thirdParties(metafile, ROOT);
  const own = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  writeFileSync(join(DIST, "THIRD-PARTY-LICENSES.txt"), licencesOf(parties));
  writeFileSync(join(DIST, `${own.name}.cdx.json`), billOf(parties, own));
  // npm marks the command executable only when it links it for the first time.
  chmodSync(join(DIST, "main.js"), 0o755);
}

/** What esbuild does not look at. */
async function checkTypes() {
  const { code, out } = await compile(["--noEmit"]);
  if (code !== 0) throw new Error(`the types are wrong:\n${out}`);
}

await buildKernel();
await buildPage();
const inputs = hashInputs();
if (!isBuiltFrom(DIST, inputs)) {
  rmSync(DIST, { recursive: true, force: true });
  try {
    await Promise.all([bundle(), checkCatalogue(COMMON), checkTypes(), addTypes(DIST)]);
    markBuilt(DIST, inputs);
  } catch (error) {
    // Of what it found wrong in the sources, esbuild has told already.
    if (!Array.isArray(error.errors)) console.error(error.message);
    process.exitCode = 1;
  }
}
