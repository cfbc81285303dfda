/**
 * The sources one by one, for benches and traces that measure a part, or want to know in which file a function stands: each file of `src` and of the
 * sandbox as JavaScript, under the same path, in `.build/modules/`. `src/main.js` there runs as that of `dist` does.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./bundle.mjs";
import { hashInputs, isBuiltFrom, markBuilt } from "./inputs.mjs";
import { buildKernel } from "./kernel.mjs";
import { buildPage } from "./page.mjs";
import { compile } from "./types.mjs";

const MODULES = join(ROOT, ".build/modules");

/** Builds them where they are out of date, and gives their folder. */
export async function buildModules() {
  await buildKernel();
  await buildPage();
  const inputs = hashInputs();
  if (isBuiltFrom(MODULES, inputs)) return MODULES;
  mkdirSync(dirname(MODULES), { recursive: true });
  // The folder changes at once: another script may be running from it.
  const fresh = mkdtempSync(`${MODULES}-`);
  try {
    const { code, out } = await compile(["--noCheck", "--outDir", fresh]);
    if (code !== 0) throw new Error(`the sources cannot be compiled:\n${out}`);
    markBuilt(fresh, inputs);
    rmSync(MODULES, { recursive: true, force: true });
    renameSync(fresh, MODULES);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return MODULES;
}

/** The sandbox, which scripts start in their own process. */
export async function loadSandbox() {
  return import(pathToFileURL(join(await buildModules(), "sandbox/src/sandbox.js")).href);
}

/** Where the modules of `src` are that belong to the build `dist`, a URL: our own, or those beside the `dist` of another checkout. */
export async function modulesOf(dist) {
  if (dist.href === pathToFileURL(join(ROOT, "dist/")).href) return pathToFileURL(join(await buildModules(), "src/"));
  const beside = new URL("../.build/modules/src/", dist);
  // Builds of earlier versions were their own modules.
  return existsSync(beside) ? beside : dist;
}
