/**
 * The sources one by one, for benches and traces that measure a part, or want to know in which file a function stands: each file of `src` as
 * JavaScript, under the same path, in `.build/modules/`. Its `main.js` runs as that of `dist` does.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./bundle.mjs";
import { hashInputs, isBuiltFrom, markBuilt } from "./inputs.mjs";
import { compile } from "./types.mjs";

const MODULES = join(ROOT, ".build/modules");

/** Builds them where they are out of date, and returns the folder of `src`; the sandbox is beside it, in `../sandbox/src`. */
export async function buildModules() {
  const inputs = hashInputs();
  if (isBuiltFrom(MODULES, inputs)) return join(MODULES, "src");
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
  return join(MODULES, "src");
}

/**
 * The modules that belong to the build `dist`, a URL: those beside it for one of another checkout (`.build/modules`, or `dist` itself, which held them
 * once), freshly built ones for our own.
 */
export async function modulesOf(dist) {
  if (dist.href === pathToFileURL(join(ROOT, "dist/")).href) return pathToFileURL(`${await buildModules()}/`);
  const beside = new URL("../.build/modules/src/", dist);
  return existsSync(beside) ? beside : dist;
}
