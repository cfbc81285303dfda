/** How are the runbook's commands run? (By a shell, in a folder of their own, with `carryover` on the path.) */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const COMMAND_MS = 60_000;
const START_MS = 60_000;

/** A folder, and `carryover` as the program at `main`. `variables`: of the environment. */
export function createShell(main, variables) {
  const folder = mkdtempSync(join(tmpdir(), "carryover-walkthrough-"));
  const bin = join(folder, ".bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "carryover"), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  chmodSync(join(bin, "carryover"), 0o755);
  const env = { ...process.env, ...variables, NO_COLOR: "1", PATH: `${bin}${delimiter}${process.env.PATH ?? ""}` };
  return {
    folder,
    /** Undefined when it is not there. */
    read: (name) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : undefined),
    write: (name, text) => writeFileSync(join(folder, name), text),
    run: (script) => run(script, { cwd: folder, env }),
    serve: (script, ready) => serve(script, ready, { cwd: folder, env }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Both streams as they came; `code`: of the first command that failed. */
function run(script, options) {
  return new Promise((resolve) => {
    const child = spawn("sh", ["-euc", script], { ...options, timeout: COMMAND_MS });
    const pieces = [];
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => pieces.push(piece));
    child.on("error", (error) => resolve({ code: 127, text: String(error) }));
    child.on("close", (code, signal) => {
      resolve({ code: code ?? 1, text: Buffer.concat(pieces).toString() + (signal === null ? "" : `\n${signal}`) });
    });
  });
}

/** What goes on until it is stopped; rejects when it ends before `ready()`. */
async function serve(script, ready, options) {
  const child = spawn("sh", ["-euc", `exec ${script}`], options);
  const pieces = [];
  // Lines on standard output are the log of requests.
  child.stdout.resume();
  child.stderr.on("data", (piece) => pieces.push(piece));
  const ended = new Promise((resolve) => child.on("close", resolve));
  const text = () => Buffer.concat(pieces).toString();
  const until = Date.now() + START_MS;
  while (!(await ready())) {
    if (child.exitCode !== null || Date.now() > until) {
      child.kill("SIGKILL");
      throw new Error(`it did not start:\n${text()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    text,
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
