/** Generates load from a separate process: wrk where it is installed, else autocannon. */
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { findTool } from "./tools.mjs";

const run = promisify(execFile);

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
