/** How does `src` become `dist`? Anew each time: the catalogue's folder is its registry, so a stale file would be served. */
import { spawnSync } from "node:child_process";
import { chmodSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const root = new URL("../", import.meta.url);
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");

rmSync(new URL("dist", root), { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
// npm marks the command executable only when it links it for the first time.
if (status === 0) chmodSync(new URL("dist/main.js", root), 0o755);
process.exitCode = status ?? 1;
