/**
 * Finds the tools of the bench that npm does not install: in PATH, else where `scripts/install-bench-tools.sh` puts
 * them.
 */
import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "carryover-ci", "bench-tools");

/**
 * How to run `name`: `command`, `env`, the `root` of its files, and the `version` that it says when it is run with `ask`.
 * Undefined when it is not there, or not with all it `needs` (paths of files from its root).
 */
export async function findTool(name, ask, needs = () => []) {
  const unpacked = ["usr/sbin", "usr/bin"].map((folder) => join(CACHE, folder, name)).find((file) => existsSync(file));
  const LD_LIBRARY_PATH = ["usr/lib", "lib"].map((folder) => join(CACHE, folder, triplet(CACHE))).join(":");
  const candidates = [
    { command: name, env: process.env, root: "/" },
    { command: unpacked ?? name, env: { ...process.env, LD_LIBRARY_PATH }, root: CACHE },
  ];
  for (const one of candidates) {
    // Some print their version and fail all the same; one that is not there prints nothing.
    const { stdout, stderr } = await run(one.command, ask, { env: one.env }).catch((error) => error);
    const [version] = (stdout || stderr || "").split("\n");
    if (version !== "" && needs(one.root).every((file) => existsSync(file))) return { ...one, version };
  }
  return undefined;
}

/** The folder of libraries for this machine, such as `x86_64-linux-gnu`. */
export function triplet(root) {
  const folder = join(root, "usr/lib");
  return (existsSync(folder) ? readdirSync(folder) : []).find((name) => name.endsWith("-linux-gnu")) ?? "";
}
