/** Shows a change in `src/` or `sandbox/src/` at once: esbuild watches the source, Node watches what it writes into `.build/dev`. */
import { spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { ROOT } from "./build/bundle.mjs";
import { devWords } from "./dev-words.mjs";

const folder = join(ROOT, ".build/dev");
const main = join(folder, "main.js");
const words = devWords(process.argv.slice(2));

/** Children that have not ended yet. */
const children = new Set();
let stopping = false;

/** Starts `node` with `args` in a process group of its own; when it ends by itself, everything ends. */
function start(args) {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"], detached: true });
  children.add(child);
  child.on("exit", (code) => {
    children.delete(child);
    stop(code ?? 1);
  });
}

/** Ends what still runs, then this process with `code`. */
function stop(code) {
  if (!stopping) {
    stopping = true;
    process.exitCode = code;
    // The whole group: esbuild has a process of its own.
    for (const child of children) endGroup(child.pid);
  }
}

/** Ends the process group `pid`; one that ended by itself a moment ago is fine too. */
function endGroup(pid) {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGTERM");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => stop(0));
rmSync(folder, { recursive: true, force: true });
start([join(ROOT, "scripts/build/dev.mjs"), folder]);
while (!stopping && !existsSync(main)) await setTimeout(50);
if (!stopping) start(["--watch", "--watch-preserve-output", main, ...words]);
