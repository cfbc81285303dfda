/**
 * Runs what is tried by name only: `npm run real -- image`, or another folder of `test/real`, a folder of `test` with mutations, or one of
 * the programs below. What follows the name is handed on.
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { USAGE } from "./options.mjs";

const ROOT = join(import.meta.dirname, "..");
const vitest = (...words) => ["node_modules/vitest/vitest.mjs", "run", "--config", ...words];
const folders = readdirSync(join(ROOT, "test"), { recursive: true })
  .filter((file) => /\.(?:real|guards|mutants)\.ts$/.test(file))
  .map((file) => /^(?:real\/)?[^/]+/.exec(file)[0]);

/** What `node` is given, by name. */
const NAMES = new Map([
  ...folders.map((folder) => [folder.replace("real/", ""), vitest("vitest.real.config.ts", `test/${folder}/`)]),
  ["long", vitest("vitest.long.config.ts")],
  ["soak", ["bench/soak/run.mjs"]],
  ["soak-ports", ["bench/soak/ports.mjs"]],
  ["walkthrough", ["scripts/walkthrough/run.mjs"]],
]);

const [name, ...more] = process.argv.slice(2);
const words = NAMES.get(name);
if (words === undefined) {
  console.error(`${name ?? "nothing"} is no name\nusage: npm run real -- [${[...NAMES.keys()].join(" | ")}] [options]`);
  process.exit(USAGE);
}
process.exitCode = spawnSync(process.execPath, [...words, ...more], { cwd: ROOT, stdio: "inherit" }).status ?? 1;
