/** How does a change in `src/` or `sandbox/src/` show at once? The compiler watches the source, Node watches what it writes. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { devWords } from "./dev-words.mjs";

const require = createRequire(import.meta.url);
const tsc = join(dirname(require.resolve("typescript/package.json")), "bin", "tsc");
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
    // The whole group: the compiler's launcher does not pass signals on to the compiler itself.
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
start([tsc, "--build", "tsconfig.build.json", "--watch", "--preserveWatchOutput"]);
start(["--watch", "--watch-preserve-output", "dist/main.js", ...words]);
