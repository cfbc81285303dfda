/**
 * Measures how the system spreads the connections of one port over several processes (`listen.reusePort`).
 * `node bench/shared-port.mjs` takes some two minutes, and prints a table of docs/scale.md. Node must be 22.12 or newer:
 * `scripts/install-bench-tools.sh` puts Node 24 into `~/.cache/carryover-ci/node24`.
 */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, get } from "node:http";
import { cpus, release, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { freePort } from "../scripts/free-ports.mjs";
import { optionsOf } from "../scripts/options.mjs";
import { spread, table } from "./figures.mjs";
import { startCarryover, startPeer } from "./processes.mjs";
import { commit } from "./report.mjs";

const PROCESSES = [2, 4];
const CONNECTIONS = [4, 16, 64];
/** As /proc/net/tcp has it. */
const ESTABLISHED = "01";
const TARGET = "/iam/v2beta1/groups";

const { trials, seconds, dist } = optionsOf(
  {
    trials: { type: "string", default: "10" },
    seconds: { type: "string", default: "1" },
    dist: { type: "string", default: join(import.meta.dirname, "../dist") },
  },
  "node bench/shared-port.mjs [--trials N] [--seconds N] [--dist FOLDER]",
);

const folder = await mkdtemp(join(tmpdir(), "carryover-shared-port-"));
const started = [];
try {
  const answers = { [TARGET]: { headers: [["content-type", "application/json"]], body: '{"groups":[]}' } };
  await writeFile(join(folder, "answers.json"), JSON.stringify(answers));
  const upstream = await startPeer("upstream", [join(folder, "answers.json")]);
  started.push(upstream);
  console.log(
    `${new Date().toISOString().slice(0, 10)}, commit ${commit()}, Node ${process.version}, ${cpus().length} cores, Linux ${release()}: ${trials} trials of ${seconds} s\n`,
  );
  const head = ["processes", "connections", "of the busiest process", "its share of requests", "even share"];
  const rows = [];
  for (const count of PROCESSES) rows.push(...(await split(count, upstream.url)));
  console.log(table([...head, "trials in which a process got none", "connections of each process, by trial"], rows));
} finally {
  for (const one of started.reverse()) await one.stop();
  await rm(folder, { recursive: true, force: true });
}

/** The rows of `count` processes. */
async function split(count, upstream) {
  const port = await freePort();
  const flags = { "listen-port": port, "listen-reuse-port": true, "listen-shutdown-delay-seconds": 0 };
  const build = pathToFileURL(`${dist}/`);
  const servers = [];
  for (let i = 0; i < count; i++) {
    servers.push(await startCarryover(build, { upstream, log: join(folder, `log-${count}-${i}`), flags }));
  }
  started.push(...servers);
  const rows = [];
  for (const connections of CONNECTIONS) {
    const found = [];
    for (let i = 0; i < Number(trials); i++) found.push(await trial(servers, port, connections));
    rows.push(rowOf(count, connections, found));
  }
  for (const server of servers) await server.stop();
  return rows;
}

function rowOf(count, connections, found) {
  const percent = (share) => Math.round(share * 100);
  const shown = ({ median, low, high }, unit = "") => `${median} (${low} to ${high})${unit}`;
  const shares = found.map(({ requests }) => percent(Math.max(...requests) / sum(requests)));
  return [
    count,
    connections,
    shown(spread(found.map(({ each }) => Math.max(...each)))),
    shown(spread(shares), " %"),
    `${percent(1 / count)} %`,
    found.filter(({ each }) => each.includes(0)).length,
    found.map(({ each }) => each.join("+")).join(", "),
  ];
}

/** New connections that all call without a pause: how many each process has, and how many requests it got. */
async function trial(servers, port, connections) {
  const before = await Promise.all(servers.map(requestsOf));
  const agents = Array.from({ length: connections }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  // The first request of each opens its connection.
  await Promise.all(agents.map((agent) => ask(port, agent)));
  const each = connectionsOf(servers, port);
  if (sum(each) !== connections) throw new Error(`${connections} connections were opened, ${sum(each)} found`);
  const end = performance.now() + Number(seconds) * 1_000;
  const call = async (agent) => {
    while (performance.now() < end) await ask(port, agent);
  };
  await Promise.all(agents.map(call));
  const after = await Promise.all(servers.map(requestsOf));
  for (const agent of agents) agent.destroy();
  while (sum(connectionsOf(servers, port)) > 0) await new Promise((soon) => setTimeout(soon, 10));
  return { each, requests: after.map((count, i) => count - before[i]) };
}

function ask(port, agent) {
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, path: TARGET, agent }, (response) => {
      response.once("error", reject).once("end", resolve).resume();
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
    }).once("error", reject);
  });
}

/** Clients' connections at `port` that each process holds, by the inodes of its sockets. */
function connectionsOf(servers, port) {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const lines = readFileSync("/proc/net/tcp", "utf8").split("\n").slice(1);
  const fields = lines.map((line) => line.trim().split(/\s+/));
  const found = fields.filter(([, at = "", , state]) => at.endsWith(local) && state === ESTABLISHED);
  const inodes = new Set(found.map((field) => `socket:[${field[9]}]`));
  return servers.map(({ pid }) => readdirSync(`/proc/${pid}/fd`).filter((fd) => inodes.has(target(pid, fd))).length);
}

function target(pid, fd) {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    // It was closed meanwhile.
    return "";
  }
}

async function requestsOf({ adminUrl }) {
  const text = await (await fetch(`${adminUrl}/metrics`, { headers: { connection: "close" } })).text();
  return sum([...text.matchAll(/^carryover_requests_total\{[^}]*\} (\d+)/gm)].map(([, count]) => Number(count)));
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
