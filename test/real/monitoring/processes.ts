/** Runs carryover, Prometheus and Alertmanager as an operator does: each as its own process, on loopback. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../../scripts/free-ports.mjs";
import { ROOT, TOOLS, tool } from "./programs.ts";

const closers: (() => Promise<void>)[] = [];

/** Everything that was started ends, last first. */
export async function takeDown(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}

export function later(close: () => Promise<void>): void {
  closers.push(close);
}

export interface Running {
  readonly child: ChildProcess;
  /** Ends it at once. */
  kill(): Promise<void>;
  /** Rejects when it ends by itself with a failure. */
  readonly failed: Promise<never>;
}

/** `out`: where its standard output goes; a pipe that is not read fills up. */
function start(path: string, args: readonly string[], out: "ignore" | "pipe", folder: string): Running {
  const child = spawn(path, [...args], { cwd: folder, stdio: ["ignore", out, "pipe"] });
  const said: string[] = [];
  child.stderr?.on("data", (piece) => said.push(String(piece)));
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  };
  later(kill);
  const failed = new Promise<never>((_, reject) => {
    child.on("exit", (code) => {
      if (code !== null && code !== 0) reject(new Error(`${path} ended with ${code}: ${said.join("").slice(-2000)}`));
    });
  });
  failed.catch((error: Error) => console.error(error.message));
  return { child, kill, failed };
}

/** Resolves with what `look` sees when it holds; the test's own time is the limit. Failures of `look` are looks, too. */
export async function until<T>(
  what: string,
  look: () => Promise<T>,
  holds: (seen: T) => boolean,
  seconds = 150,
): Promise<T> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const seen = await look().catch((error: unknown) => error);
    if (!(seen instanceof Error) && holds(seen as T)) return seen as T;
    if (Date.now() > end)
      throw new Error(
        `not within ${seconds} s: ${what}; seen: ${String(seen instanceof Error ? seen.message : JSON.stringify(seen)).slice(0, 2000)}`,
      );
    await sleep(100);
  }
}

export interface Instance extends Running {
  readonly url: string;
  readonly adminUrl: string;
  /** `host:port` of the admin side: its name among Prometheus's targets. */
  readonly target: string;
}

/** A built carryover that is ready; `flags` are options of `serve`. */
export async function startInstance(
  flags: Readonly<Record<string, string>>,
  out: "ignore" | "pipe" = "ignore",
): Promise<Instance> {
  const ports = { "listen-port": String(await freePort()), "admin-port": String(await freePort()), ...flags };
  const options = Object.entries({ "listen-host": "127.0.0.1", ...ports }).map(([name, value]) => `--${name}=${value}`);
  const running = start(process.execPath, [join(ROOT, "dist/main.js"), "serve", ...options], out, ROOT);
  const target = `127.0.0.1:${ports["admin-port"]}`;
  const ready = async () => (await fetch(`http://${target}/readyz`)).status;
  await Promise.race([until(`carryover is ready at ${target}`, ready, (status) => status === 200), running.failed]);
  return { ...running, url: `http://127.0.0.1:${ports["listen-port"]}`, adminUrl: `http://${target}`, target };
}

/** A server of the test's own; its address. */
export async function serve(answer: (path: string, body: string) => string): Promise<string> {
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    response.end(answer(request.url ?? "/", Buffer.concat(pieces).toString()));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  later(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const address = server.address();
  return `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}

/** Alertmanager with the configuration `file`; its address. */
export async function startAlertmanager(file: string, folder: string): Promise<string> {
  const address = `127.0.0.1:${await freePort()}`;
  const args = [`--config.file=${file}`, `--storage.path=${folder}/alertmanager`, `--web.listen-address=${address}`];
  // Where it finds its templates.
  const home = join(TOOLS, "usr/share/prometheus");
  start(tool("prometheus-alertmanager"), [...args, "--cluster.listen-address="], "ignore", home);
  const ready = async () => (await fetch(`http://${address}/-/ready`)).status;
  await until("Alertmanager is ready", ready, (status) => status === 200);
  return address;
}

export interface Prometheus {
  /** Series of an expression: now, or at a time in seconds. */
  query(expr: string, time?: number): Promise<readonly Series[]>;
  /** The same at each step between two times. */
  queryRange(expr: string, start: number, end: number, step: number): Promise<readonly Series[]>;
  get(path: string): Promise<unknown>;
  stop(): Promise<void>;
}

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [at: number, value: number])[];
}

interface Sent {
  readonly metric: Record<string, string>;
  readonly value?: [number, string];
  readonly values?: [number, string][];
}

export async function startPrometheus(file: string, folder: string, ...more: readonly string[]): Promise<Prometheus> {
  const address = `127.0.0.1:${await freePort()}`;
  const args = [`--config.file=${file}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=${address}`];
  const { child, kill } = start(tool("prometheus"), [...args, ...more], "ignore", folder);
  const get = async (path: string): Promise<unknown> => {
    const { status, data, error } = (await (await fetch(`http://${address}${path}`)).json()) as Record<string, unknown>;
    if (status !== "success") throw new Error(`${path}: ${String(error)}`);
    return data;
  };
  const ask = async (path: string): Promise<readonly Series[]> => {
    const data = (await get(path)) as { resultType: string; result: Sent[] | [number, string] };
    if (data.resultType === "scalar") return [{ metric: {}, values: [numbers(data.result as [number, string])] }];
    return (data.result as Sent[]).map(({ metric, value, values = [] }) => ({
      metric,
      values: (value === undefined ? values : [value]).map(numbers),
    }));
  };
  const ready = async () => (await fetch(`http://${address}/-/ready`)).status;
  await until("Prometheus is ready", ready, (status) => status === 200);
  return {
    query: (expr, time) =>
      ask(`/api/v1/query?query=${encodeURIComponent(expr)}${time === undefined ? "" : `&time=${time}`}`),
    queryRange: (expr, start, end, step) =>
      ask(`/api/v1/query_range?query=${encodeURIComponent(expr)}&start=${start}&end=${end}&step=${step}`),
    get,
    stop: async () => {
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      await Promise.race([gone, sleep(10_000)]);
      await kill();
    },
  };
}

function numbers([at, value]: [number, string]): [number, number] {
  return [at, value === "+Inf" ? Number.POSITIVE_INFINITY : Number(value)];
}
