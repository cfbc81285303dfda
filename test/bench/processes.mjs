/** How does each server of the bench get a process of its own, and what did that process spend? */
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const START_MS = 20_000;
/** Ticks of /proc a second: 100 on every Linux that Node runs on. */
const TICK_MS = 10;

/** A script of ours: it prints its URL as its first line. */
export async function startPeer(file, args) {
  const child = spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await firstMatch(child, child.stdout, /^(http:\S+)$/m, file);
  return running(child, { url: url[1] });
}

/** carryover as an operator runs it: every request counted, and logged at info into the file `logFile`. */
export async function startCarryover(dist, upstreamUrl, logFile) {
  const fd = openSync(logFile, "w");
  const flags = { "listen-host": "127.0.0.1", "listen-port": 0, "admin-port": 0, "upstream-v2-url": upstreamUrl };
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const main = fileURLToPath(new URL("main.js", dist));
  const child = spawn(process.execPath, [main, "serve", ...args], { stdio: ["ignore", fd, "pipe"] });
  closeSync(fd);
  const [, url, adminUrl] = await firstMatch(
    child,
    child.stderr,
    /v1 clients at (\S+),.* admin at (\S+),/,
    "carryover",
  );
  child.stderr.pipe(process.stderr);
  return running(child, { url, adminUrl, logFile });
}

function firstMatch(child, stream, pattern, name) {
  return new Promise((resolve, reject) => {
    let text = "";
    const fail = (why) => reject(new Error(`${name} did not start (${why}): ${text}`));
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      fail("too slow");
    }, START_MS);
    child.once("exit", (code) => {
      clearTimeout(timer);
      fail(`exit ${code}`);
    });
    stream.setEncoding("utf8").on("data", function read(chunk) {
      text += chunk;
      const match = pattern.exec(text);
      if (match === null) return;
      clearTimeout(timer);
      stream.off("data", read);
      resolve(match);
    });
  });
}

function running(child, facts) {
  return {
    ...facts,
    cpuMs: () => cpuMs(child.pid),
    stop: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve();
        child.once("exit", resolve);
        child.kill("SIGTERM");
      }),
  };
}

/** Milliseconds of processor time so far, or NaN where there is no /proc. */
function cpuMs(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return Number.NaN;
  }
}
