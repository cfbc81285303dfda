/** Starts each server and client of the bench as a separate process, and reads the time and memory that it used. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

const HERE = import.meta.dirname;
const START_MS = 60_000;
const POLL_MS = 10;
/** Longest wait for a process that was asked to stop. */
const STOP_MS = 5_000;
/** Ticks of /proc a second: 100 on every Linux that Node runs on. */
const TICK_MS = 10;

/** Flags of node with which the image and the systemd unit start carryover. */
export const NODE_FLAGS = ["--v8-pool-size=1"];

/** A server of ours, `peers/NAME.mjs`: it prints its URL as its first line. */
export async function startPeer(name, args) {
  const file = join(HERE, "peers", `${name}.mjs`);
  const child = spawn(process.execPath, [file, ...args.map(String)], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await firstMatch(child, child.stdout, /^(http:\S+)$/m, file);
  return running(child, { url: url[1] });
}

/** A client of ours, `clients/NAME.mjs`: `ask(message)` resolves with what it answers to it. */
export async function startClient(name) {
  const child = spawn(process.execPath, [join(HERE, "clients", `${name}.mjs`)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  return running(child, { ask: (message) => ask(child, message) });
}

/**
 * carryover as an operator runs it: every request counted, and logged at info into the file `log`. `flags` are options of
 * `serve`, `node` those of node. With `probe`, `ask` puts questions to `probe.mjs` inside of it.
 */
export async function startCarryover(dist, { upstream, log, flags = {}, node = [], probe = false }) {
  const fd = openSync(log, "w");
  const all = { "listen-host": "127.0.0.1", "listen-port": 0, "admin-port": 0, "upstream-v2-url": upstream, ...flags };
  const options = Object.entries(all).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const loaded = probe ? ["--import", pathToFileURL(join(HERE, "probe.mjs")).href] : [];
  const args = [...NODE_FLAGS, ...node, ...loaded, fileURLToPath(new URL("main.js", dist)), "serve", ...options];
  const child = spawn(process.execPath, args, { stdio: ["ignore", fd, "pipe", ...(probe ? ["ipc"] : [])] });
  closeSync(fd);
  const said = await firstMatch(child, child.stderr, /v1 clients at (\S+),.* admin at (\S+),/, "carryover");
  child.stderr.pipe(process.stderr);
  const [, url, adminUrl] = said;
  return running(child, { url, adminUrl, log, ask: (message) => ask(child, message) });
}

/** The same as `workers` workers of one `node:cluster`; its processor time is that of all its processes. */
export async function startCluster(dist, { upstream, log, workers, flags = {} }) {
  const all = { "listen-host": "127.0.0.1", "listen-port": 0, "admin-port": 0, "upstream-v2-url": upstream, ...flags };
  const options = Object.entries(all).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const args = [join(HERE, "peers/cluster.mjs"), fileURLToPath(new URL("main.js", dist)), log, workers, ...options];
  const child = spawn(process.execPath, args.map(String), { stdio: ["ignore", "pipe", "inherit"] });
  const [, url, adminUrl, pids] = await firstMatch(child, child.stdout, /^ready (\S+) (\S+) (\S+)$/m, "the cluster");
  const server = running(child, { url, adminUrl, log, pids: pids.split(",").map(Number) });
  const sum = () => server.pids.reduce((total, pid) => total + cpuMs(pid), cpuMs(child.pid));
  return { ...server, cpuMs: sum };
}

/** Any other server that runs in the foreground; `ready` says whether it answers yet. */
export async function startForeign(command, args, { env, ready, url }) {
  const child = spawn(command, args, { env, stdio: ["ignore", "inherit", "inherit"] });
  const patience = performance.now() + START_MS;
  while (!(await ready())) {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}`);
    if (performance.now() > patience) throw new Error(`${command} does not answer`);
    await sleep(POLL_MS);
  }
  return running(child, { url });
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

/** One question at a time to a process with a channel. */
function ask(child, message) {
  return new Promise((resolve, reject) => {
    const settle = (answer) => {
      child.off("message", settle).off("exit", gone);
      if (answer.error === undefined) resolve(answer);
      else reject(new Error(answer.error));
    };
    const gone = (code, signal) => reject(new Error(`the process ended (${signal ?? code}) and left a question open`));
    child.on("message", settle).on("exit", gone);
    child.send(message);
  });
}

function running(child, facts) {
  const ended = () => child.exitCode !== null || child.signalCode !== null;
  return {
    pid: child.pid,
    ...facts,
    ended,
    cpuMs: () => cpuMs(child.pid),
    mostResidentBytes: () => procStatus(child.pid, "VmHWM"),
    stop: async () => {
      if (ended()) return;
      const exit = once(child, "exit");
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await exit;
      clearTimeout(timer);
    },
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

/** Bytes of memory that a process holds now, or NaN where there is no /proc. */
export function residentBytes(pid) {
  return procStatus(pid, "VmRSS");
}

/** Bytes of a line such as VmRSS or VmHWM (its greatest so far), or NaN where there is no /proc. */
function procStatus(pid, name) {
  try {
    const line = readFileSync(`/proc/${pid}/status`, "utf8").match(new RegExp(`^${name}:\\s+(\\d+) kB`, "m"));
    return Number(line?.[1] ?? Number.NaN) * 1024;
  } catch {
    return Number.NaN;
  }
}
