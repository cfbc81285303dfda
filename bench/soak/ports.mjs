/**
 * Checks that both ports stay right for long (T-RPC-01), while the rules change, the platform is restarted and hostile clients come and go.
 * `npm run real -- soak-ports --minutes 30` sends few requests a second, so that other work can run at the same time. `--seed N` repeats
 * the same requests.
 */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePorts } from "../../scripts/free-ports.mjs";
import { randomOf } from "../../test/support/random.mjs";
import { flood } from "./floods.mjs";
import { createHogs } from "./hogs.mjs";
import { createLoad } from "./load.mjs";
import { nextRequest } from "./mix.mjs";
import { createRpcLoad } from "./rpc-load.mjs";
import {
  amount,
  descriptorsIn,
  MB,
  openFiles,
  optionsOfSoak,
  runSoak,
  sampleFor,
  slopes,
  startCarryover,
  startPlatform,
} from "./stage.mjs";

/** Each second, on each port. */
const RATE = 30;
/** In each cycle the platform is restarted once, and hostile clients come once. */
const CYCLE_MS = 240_000;
const [RESTART_AT, FLOOD_AT, FLOOD_FOR] = [0.25, 0.6, 0.1];
const AWAY_MS = 3_000;
/** After a restart: the breaker looks for the platform every few seconds. */
const RECOVERY_MS = 6_000;
const IDLE_MS = 7_000;
const MOST_LEFT = 2;
/** Share of requests that may be refused for load. */
const MOST_SHED = 0.001;

const { minutes, seed } = optionsOfSoak("soak-ports", { minutes: "30", seed: "20261128" });
const wholeMs = minutes * 60_000;
const cycleMs = Math.min(CYCLE_MS, wholeMs);
/** Who serves `x-soak: moving` is another one each time. */
const rulesOf = (round) => `version: carryover/v1
rules:
  - { name: native, match: { header: { x-soak: native } }, mode: native }
  - { name: shadow, match: { header: { x-soak: shadow } }, mode: shadow, shadow: { sample: 0.2 } }
  - { name: moving, match: { header: { x-soak: moving } }, mode: ${["native", "shadow", "translate"][round % 3]} }
`;

/** Of the requests of the soak test for HTTP, reads without a fault move with the rules. */
function httpRequests(random) {
  return () => {
    const request = nextRequest(random, true);
    const moves = request.kind === "get" && (request.fault === "ok" || request.fault === "slow");
    return moves ? { ...request, headers: { ...request.headers, "x-soak": "moving" } } : request;
  };
}

/** The platform for both ports, at ports that it keeps through restarts. */
async function startBoth([http, rpc]) {
  return Promise.all([startPlatform("platform.mjs", http), startPlatform("rpc-platform.mjs", rpc)]);
}

/** Connections to a port of this machine that carryover keeps for later calls. */
function connectionsTo(port) {
  const lines = readFileSync("/proc/net/tcp", "utf8").split("\n");
  const to = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return lines.filter((line) => line.trim().split(/\s+/)[2]?.endsWith(to)).length;
}

async function main(work) {
  const rules = { file: join(work, "rules.yaml"), of: rulesOf };
  writeFileSync(rules.file, rulesOf(0));
  const descriptors = await descriptorsIn(work);
  const ports = await freePorts(2);
  const [port] = await freePorts(1);
  const rpcUrl = `http://127.0.0.1:${port}`;
  let platforms = await startBoth(ports);
  const [http, rpc] = platforms.map(({ url }) => url);
  const carryover = await startCarryover(work, {
    ...{ "upstream-v2-url": http, "upstream-v1-url": http, "upstream-v2-grpc-url": rpc, "upstream-v1-grpc-url": rpc },
    ...{ "listen-grpc-port": port, "grpc-descriptors": descriptors, "cutover-rules-file": rules.file },
  });
  const atFirst = await carryover.ask("settle");
  const filesAtFirst = openFiles(carryover.child.pid);

  const away = [];
  const excused = (began) => away.some(({ until }) => began < until);
  const counts = { restarts: 0, floods: 0, hostile: {} };
  const random = randomOf(seed);
  const loads = [
    createLoad(carryover.url, httpRequests(random), excused),
    createRpcLoad(rpcUrl, descriptors, random, excused),
  ];
  const hogs = {};
  console.log(`${RATE} requests/s on each port for ${minutes} min, seed ${seed}`);
  const started = performance.now();
  const at = (ms) => sleep(Math.max(0, started + ms - performance.now()));
  const restarting = async (from) => {
    await at(from);
    const since = { until: Number.POSITIVE_INFINITY };
    away.push(since);
    for (const { child } of platforms) child.kill("SIGKILL");
    await sleep(AWAY_MS);
    platforms = await startBoth(ports);
    since.until = performance.now() + RECOVERY_MS;
    counts.restarts += 1;
  };
  const flooding = async (from) => {
    await at(from);
    const some = createHogs(carryover.url, loads[0].judge);
    await flood(rpcUrl, "/acme.platform.iam.v2beta1.GroupsService/GetGroup", cycleMs * FLOOD_FOR, counts.hostile);
    await some.end();
    for (const [what, count] of Object.entries(some.counts)) hogs[what] = (hogs[what] ?? 0) + count;
    counts.floods += 1;
  };
  const disturbing = [];
  for (let from = 0; from + cycleMs <= wholeMs; from += cycleMs) {
    disturbing.push(restarting(from + cycleMs * RESTART_AT), flooding(from + cycleMs * FLOOD_AT));
  }
  const watching = sampleFor(wholeMs, carryover, rules);
  await Promise.all([...loads.map((load) => load.steady(wholeMs, RATE)), ...disturbing]);
  const { samples, reloads } = await watching;
  for (const load of loads) await load.end();
  await sleep(IDLE_MS);
  const atLast = await carryover.ask("settle");
  const kept = connectionsTo(ports[1]);
  const leftOpen = openFiles(carryover.child.pid) - filesAtFirst;
  carryover.child.kill("SIGTERM");
  const [code] = await once(carryover.child, "exit");
  return { samples, reloads, loads, hogs, counts, atFirst, atLast, kept, leftOpen, code };
}

/** [what, value, unit, whether the goal is met (undefined: there is none)] */
function judged({ samples, reloads, loads, hogs, counts, atFirst, atLast, kept, leftOpen, code }) {
  const handles = amount(atLast.resources) - amount(atFirst.resources);
  const sum = (name) => loads.reduce((total, load) => total + (load.counts[name] ?? 0), 0);
  const [overHttp, overRpc] = loads.map((load) => load.counts.sent);
  return [
    ["length, beside other work on the machine", minutes, "min"],
    ["requests over HTTP", overHttp, "requests"],
    ["calls over gRPC", overRpc, "calls"],
    ["faults injected", sum("faults"), "faults"],
    ["clients that left", sum("cancelled"), "clients"],
    ["cutovers", reloads, "cutovers"],
    ["restarts of the platform", counts.restarts, "restarts"],
    ["floods", counts.floods, "floods"],
    ...Object.entries(counts.hostile).map(([what, count]) => [`hostile connections: ${what}`, count, ""]),
    ...Object.entries(hogs).map(([what, count]) => [`hogs: ${what}`, count, ""]),
    ["answers looked through for foreign markers", sum("looked"), "answers"],
    ["foreign markers", sum("foreign"), "markers", sum("foreign") === 0],
    ["lists looked through for records that stayed", sum("lists"), "lists"],
    ["lists that were short", sum("short"), "lists", sum("short") === 0],
    ["requests refused for load", sum("shed"), "requests"],
    ["share of requests refused for load", sum("shed") / sum("sent"), "ratio", sum("shed") <= sum("sent") * MOST_SHED],
    ["answers that only a restart of the platform explains", sum("excused"), "answers"],
    ["answers that no fault explains", sum("unexpected"), "answers", sum("unexpected") === 0],
    ["most memory (RSS)", Math.max(...samples.map((sample) => sample.rss)) / MB, "MB"],
    ...slopes(samples, atFirst, atLast),
    ["connections kept for gRPC calls to the platform", kept, "connections"],
    ["other files and sockets left open", leftOpen - kept, "files", leftOpen - kept <= MOST_LEFT],
    ["other handles left over", handles - kept, "handles", handles - kept <= MOST_LEFT],
    ["exit status on SIGTERM", code ?? -1, "", code === 0],
  ];
}

await runSoak({ id: "T-RPC-01" }, async (work) => {
  const result = await main(work);
  return { rows: judged(result), samples: result.samples, examples: result.loads.flatMap(({ examples }) => examples) };
});
