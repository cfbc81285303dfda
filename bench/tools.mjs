/**
 * Programs that npm does not install (in PATH, or where `scripts/install-bench-tools.sh` puts them), and the load that one of them makes.
 */
import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
export const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "carryover-ci");
const UNPACKED = join(CACHE, "bench-tools");

/**
 * How to run `name`: `command`, `env`, the `root` of its files, and the `version` that it says when it is run with `ask`.
 * Undefined when it is not there, or not with all it `needs` (paths of files from its root).
 */
export async function findTool(name, ask, needs = () => []) {
  const unpacked = ["usr/sbin", "usr/bin"]
    .map((folder) => join(UNPACKED, folder, name))
    .find((file) => existsSync(file));
  const LD_LIBRARY_PATH = ["usr/lib", "lib"].map((folder) => join(UNPACKED, folder, triplet(UNPACKED))).join(":");
  const candidates = [
    { command: name, env: process.env, root: "/" },
    { command: unpacked ?? name, env: { ...process.env, LD_LIBRARY_PATH }, root: UNPACKED },
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

/**
 * Gives `{ name, fire }`. `fire(url, token, { connections, seconds, agent })` resolves with `requests` and `failed` (answers
 * that are not 2xx, and requests without one), and `perSecond`. `agent`: the user agent; without it none is sent.
 */
export async function chooseLoad(wanted) {
  const wrk = wanted === "autocannon" ? undefined : await findTool("wrk", ["-v"]);
  if (wrk !== undefined) return { name: /^wrk \S+/.exec(wrk.version)?.[0] ?? "wrk", fire: fireWrk(wrk) };
  if (wanted === "wrk") throw new Error("wrk is not installed");
  const { version } = createRequire(import.meta.url)("autocannon/package.json");
  return { name: `autocannon ${version}`, fire: fireAutocannon };
}

function fireWrk({ command, env }) {
  return async (url, token, { connections, seconds, agent }) => {
    const args = ["-t1", `-c${connections}`, `-d${seconds}s`, "-H", `Authorization: Bearer ${token}`];
    if (agent !== undefined) args.push("-H", `User-Agent: ${agent}`);
    const { stdout } = await run(command, [...args, "-H", "Accept: application/json", url], { env });
    const number = (pattern) => Number(pattern.exec(stdout)?.[1] ?? 0);
    const sockets = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(stdout)?.slice(1) ?? [];
    return {
      requests: number(/(\d+) requests in/),
      perSecond: number(/Requests\/sec:\s*([\d.]+)/),
      failed: number(/Non-2xx or 3xx responses: (\d+)/) + sockets.reduce((sum, count) => sum + Number(count), 0),
    };
  };
}

async function fireAutocannon(url, token, { connections, seconds, agent }) {
  const script = createRequire(import.meta.url).resolve("autocannon");
  const headers = ["-H", `authorization=Bearer ${token}`, "-H", "accept=application/json"];
  if (agent !== undefined) headers.push("-H", `user-agent=${agent}`);
  const args = [script, "-j", "-c", String(connections), "-d", String(seconds), ...headers, url];
  const { stdout } = await run(process.execPath, args, { maxBuffer: 1 << 24 });
  const result = JSON.parse(stdout);
  return {
    requests: result.requests.total,
    perSecond: result.requests.total / result.duration,
    failed: result.non2xx + result.errors + result.timeouts + result.mismatches,
  };
}
