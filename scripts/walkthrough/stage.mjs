/** What the walkthrough runs on: a platform, carryover, its clients and a shell for the operator. */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { loadSandbox } from "../build/modules.mjs";
import { freePorts } from "../free-ports.mjs";
import { createClients } from "./clients.mjs";
import { startPlatform } from "./world.mjs";

/** Longest wait, with clients calling, until something is as the runbook says. */
export const PATIENCE_MS = 240_000;
/** The platform, as the runbook calls it. */
export const PLATFORM = "https://api.example.com";

export const ADMIN_TOKEN = "the-token-of-the-admin-port";

/** Something is not as promised. */
export class Broken extends Error {}

/** Everything that a step needs; `dist`: the built carryover. `count`: how many of them run; several share a store, and the operator asks the first one only. */
export async function createStage(dist, count) {
  const { createSandbox } = await loadSandbox();
  const platform = await startPlatform(createSandbox);
  const store = count > 1 ? await startStore() : undefined;
  const replicas = await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const [port, adminPort] = await freePorts(2);
      return { port, adminPort, url: `http://127.0.0.1:${port}`, admin: `http://127.0.0.1:${adminPort}`, at };
    }),
  );
  const [first] = replicas;
  const urls = { platform: platform.url, carryover: first.url, admin: first.admin };
  const shell = createShell(new URL("main.js", dist).pathname, {
    REPLICAS: replicasOf([first]),
    ADMIN: urls.admin,
    V1: urls.carryover,
    WATCH: "2s",
    QUIET: "5s",
    REHEARSAL: "30s",
    TOKEN: platform.sandbox.token("admin#operator@example.com"),
    // What else is different in a walkthrough: addresses, and that nobody has to notice a stop.
    CARRYOVER_LISTEN_SHUTDOWN_DELAY_SECONDS: "0",
    CARRYOVER_LISTEN_HOST: "127.0.0.1",
    ...(store && { CARRYOVER_STATE_URL: store.url }),
  });
  shell.write("admin-token", ADMIN_TOKEN);
  /** A file of the runbook, as it is here. */
  const adapted = (text) => {
    const here = text.replaceAll(PLATFORM, urls.platform);
    return store === undefined ? here : here.replace(/, singleReplica: true/g, "");
  };
  const world = {
    platform,
    urls,
    shell,
    replicas,
    adapted,
    everyReplica: replicasOf(replicas),
    servers: [],
    sentBefore: 0,
    way: "carryover",
  };
  let turn = 0;
  const base = () => (world.way === "carryover" ? replicas[turn++ % count].url : urls[world.way]);
  world.clients = await createClients({ sandbox: platform.sandbox, base });
  world.through = (way) => {
    world.way = way;
  };
  world.stop = async () => {
    await Promise.all(world.servers.map((server) => server.stop()));
    world.servers = [];
  };
  world.close = async () => {
    await world.stop();
    world.clients.close();
    await platform.sandbox.close();
    store?.close();
    shell.remove();
  };
  return world;
}

function replicasOf(replicas) {
  return ["--token-file admin-token", ...replicas.map(({ admin }) => admin)].join(" ");
}

/** From here on is counted. */
export function mark(world) {
  world.sentBefore = world.platform.sent.length;
  world.clients.state.seen.length = 0;
}

/** Between two looks. */
const ROUNDS = 3;

/** Lets clients call until `holds` gives something, which it gives; undefined when that takes too long. */
export async function calling(world, holds) {
  const until = Date.now() + PATIENCE_MS;
  while (Date.now() < until) {
    for (let round = 0; round < ROUNDS; round++) await world.clients.round();
    noFaults(world);
    const found = await holds();
    if (found !== undefined) return found;
  }
  return undefined;
}

const REST_MS = 100;

/** Lets clients call until `holds()` is true. Throws `Broken` with the text `what` if that takes too long. */
export async function callUntil(world, holds, what) {
  const until = Date.now() + PATIENCE_MS;
  while (!holds()) {
    if (Date.now() > until) throw new Broken(what);
    await world.clients.round();
    noFaults(world);
    await pause(REST_MS);
  }
}

/** Throws when a client got an error that the step does not allow for. */
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
    /** `more`: further variables of the environment. */
    run: (script, more) => run(script, { cwd: folder, env: { ...env, ...more } }),
    serve: (script, ready, more) => serve(script, ready, { cwd: folder, env: { ...env, ...more } }),
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
    /** Has it look at its files at once. */
    hup: () => child.kill("SIGHUP"),
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** The tools of `scripts/install-state-tools.sh`. */
const STORE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "carryover-ci/state");

/** A Valkey that keeps nothing. */
async function startStore() {
  const program = join(STORE, "bin/valkey-9.1");
  if (!existsSync(program)) throw new Broken(`${program} is not there: run scripts/install-state-tools.sh`);
  const [port] = await freePorts(1);
  const env = { ...process.env, LD_LIBRARY_PATH: join(STORE, "lib") };
  const words = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", tmpdir()];
  const child = spawn(program, words, { stdio: "ignore", env });
  return { url: `redis://127.0.0.1:${port}`, close: () => child.kill("SIGKILL") };
}
