/** What the walkthrough runs on: a platform, carryover, its clients, a shell for the operator and a Prometheus that scrapes carryover. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { loadSandbox } from "../build/modules.mjs";
import { freePort, freePorts } from "../free-ports.mjs";
import { createClients } from "./clients.mjs";
import { startPlatform } from "./world.mjs";

/** Longest wait, with clients calling, until something is as the runbook says. */
export const PATIENCE_MS = 60_000;
/** The platform, as the runbook calls it. */
export const PLATFORM = "https://api.example.com";

/** Something is not as promised. */
export class Broken extends Error {}

/** Everything that a step needs; `dist`: the built carryover. */
export async function createStage(dist) {
  const { createSandbox } = await loadSandbox();
  const platform = await startPlatform(createSandbox);
  const [port, adminPort] = await freePorts(2);
  const urls = {
    platform: platform.url,
    carryover: `http://127.0.0.1:${port}`,
    admin: `http://127.0.0.1:${adminPort}`,
  };
  const shell = createShell(new URL("main.js", dist).pathname, {
    ADMIN: urls.admin,
    V1: urls.carryover,
    QUIET: "5s",
    TOKEN: platform.sandbox.token("admin#operator@example.com"),
    // What else is different in a walkthrough: addresses, and how long a file waits to be looked at.
    CARRYOVER_LISTEN_HOST: "127.0.0.1",
    CARRYOVER_LISTEN_PORT: String(port),
    CARRYOVER_ADMIN_PORT: String(adminPort),
  });
  const prometheus = await startPrometheus(`127.0.0.1:${adminPort}`, shell.folder);
  const world = { platform, urls, shell, prometheus, server: undefined, sentBefore: 0, way: "carryover" };
  world.clients = await createClients({ sandbox: platform.sandbox, base: () => urls[world.way] });
  world.through = (way) => {
    world.way = way;
  };
  world.stop = async () => {
    await world.server?.stop();
    world.server = undefined;
  };
  world.close = async () => {
    await world.stop();
    await prometheus.close();
    world.clients.close();
    await platform.sandbox.close();
    shell.remove();
  };
  return world;
}

/** From here on is counted. */
export function mark(world) {
  world.prometheus.begin();
  world.sentBefore = world.platform.sent.length;
  world.clients.state.seen.length = 0;
}

/** Lets clients call until `holds` gives something, which it gives; undefined when that takes too long. */
export async function calling(world, holds) {
  const until = Date.now() + PATIENCE_MS;
  while (Date.now() < until) {
    await world.clients.round();
    noFaults(world);
    const found = await holds();
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Throws when a client got an error. */
export function noFaults({ clients: { state } }) {
  if (state.faults.length > 0) throw new Broken(`a client got an error: ${state.faults[0]}`);
}

const COMMAND_MS = 60_000;
const START_MS = 60_000;

/** A folder, and `carryover` as the program at `main`. `variables`: of the environment. */
function createShell(main, variables) {
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
    await pause(50);
  }
  return {
    text,
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

const PROGRAM = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"),
  "carryover-ci/monitoring/usr/bin/prometheus",
);
const INTERVAL = "200ms";
/** `increase` needs two samples; one more tells a counter that stands still from one that was seen once. */
const SCRAPES = 3;

/**
 * Scrapes `target` (`host:port`) and keeps everything in `folder`. `holds` resolves once there are enough samples since the
 * last `begin`: with the value when the comparison is true, otherwise with undefined. Rejects for what is not PromQL.
 */
async function startPrometheus(target, folder) {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not there: run scripts/install-monitoring-tools.sh`);
  const file = join(folder, "prometheus.yaml");
  const scrape = { job_name: "carryover", static_configs: [{ targets: [target] }] };
  // YAML includes JSON.
  writeFileSync(file, JSON.stringify({ global: { scrape_interval: INTERVAL }, scrape_configs: [scrape] }));
  const address = `127.0.0.1:${await freePort()}`;
  const flags = [`--config.file=${file}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=${address}`];
  const child = spawn(PROGRAM, flags, { stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(child, "exit");
  let began = Date.now();
  const query = async (expression) => {
    const response = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const { status, data, error } = await response.json();
    if (status !== "success") throw new Error(`${expression}: ${error}`);
    return data.result.map(({ value: [, text] }) => text);
  };
  const window = () => `[${Date.now() - began}ms]`;
  const seen = async () => Number((await query(`count_over_time(up${window()})`))[0] ?? 0) >= SCRAPES;
  const ready = async () => (await fetch(`http://${address}/-/ready`).catch(() => undefined))?.status === 200;
  for (const until = Date.now() + START_MS; !(await ready()); await pause(50)) {
    if (child.exitCode !== null || Date.now() > until) throw new Error("Prometheus did not start");
  }
  return {
    begin() {
      began = Date.now();
    },
    async holds(expression) {
      while (!(await seen())) await pause(50);
      // Hours and days in the runbook are the time since the step began.
      const values = await query(expression.replaceAll(/\[\d+[smhdw]\]/g, window()));
      return values.length === 0 ? undefined : values.join(", ");
    },
    async close() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
