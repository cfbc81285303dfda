/**
 * What clients and operators see when one version of the platform is sick, on real processes. `node bench/guard.mjs [--scene NAME]
 * [--rates 20] [--clients 50] [--at-once 4]` prints a line for each scene, rate and number of clients, with and without
 * `onFailure`. All is translated, and native v1 is idle. Seconds count from the beginning of the sickness.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, request as httpRequest } from "node:http";
import { cpus, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { optionsOf } from "../scripts/options.mjs";
import { startCarryover, startPeer } from "./processes.mjs";

const values = optionsOf(
  {
    scene: { type: "string", default: "" },
    rates: { type: "string", default: "20" },
    clients: { type: "string", default: "50" },
    "at-once": { type: "string", default: "4" },
    dist: { type: "string", default: join(import.meta.dirname, "../dist") },
  },
  "node bench/guard.mjs [--scene NAME] [--rates 1,20,200] [--clients 1,50] [--at-once 4] [--dist FOLDER]",
);
const dist = pathToFileURL(`${resolve(values.dist)}/`);
const numbers = (text) => text.split(",").map(Number);

const HEALTHY_S = 10;
/** Longest time that a sickness is watched. */
const WATCHED_S = 30;
const LOOK_MS = 250;
/** A client gives up. */
const PATIENCE_MS = 20_000;

const both = (sickness) => ({ v1: sickness, v2: sickness });
/** At one request per second, the failures of 12 s and the comparisons of 30 s are too few. */
const often = ({ rate }) => rate > 1;
/**
 * `moves`: whether the rule is expected to step back, which may depend on rate and clients; undefined: by luck. `write`: the share of writes. `sick`: for so many seconds, by default
 * to the end.
 */
const SCENES = [
  { name: "v2 503 for 12 s", v2: { status: 503 }, seconds: 12, moves: often },
  // Reads are repeated on v2 as well, so clients see fewer failures.
  { name: "v2 503 on 20 %", v2: { status: 503, share: 0.2 }, watched: 120, moves: undefined },
  { name: "v2 503 on 60 %", v2: { status: 503, share: 0.6 }, watched: 60, moves: (run) => often(run) || undefined },
  { name: "v2 403 on writes", v2: { status: 403, writes: true }, write: 0.5, moves: false },
  {
    name: "v2 403 on writes, native has some",
    v2: { status: 403, writes: true },
    write: 0.5,
    nativeWrites: true,
    // One credential may lack a permission.
    moves: ({ clients }) => clients > 1,
  },
  { name: "v2 401", v2: { status: 401 }, moves: true },
  { name: "v2 429", v2: { status: 429 }, moves: true },
  { name: "v2 +300 ms", v2: { ms: 300 }, moves: false },
  { name: "v2 +900 ms", v2: { ms: 900 }, moves: false },
  { name: "v2 stopped (SIGSTOP)", stop: true, moves: true },
  { name: "v2 refuses connections", kill: true, moves: true },
  { name: "v2 resets in the body", v2: { reset: true }, moves: true },
  { name: "v2 wrong rows", v2: { wrong: true }, differences: true, moves: often },
  { name: "both 503", ...both({ status: 503 }), moves: false },
  { name: "native alone 503", v1: { status: 503 }, moves: false },
  { name: "v2 503, native gone", v2: { status: 503 }, killNative: true, moves: false },
];

const RULES = ({ differences = false }, onFailure) => `version: carryover/v1
rules:
  - name: all
    match: { client: [${Array.from({ length: 50 }, (_, at) => `client-${at}`).join(", ")}] }
    mode: translate
    shadow: { sample: 0.2, control: 0 }
${differences ? "    stepBack: { differences: 0.02, minComparisons: 20, minClients: 1 }\n" : ""}${onFailure ? "    onFailure: { statuses: [401, 403, 429] }\n" : ""}`;

async function play(scene, rate, clients, onFailure) {
  const folder = await mkdtemp(join(tmpdir(), "carryover-guard-"));
  const [v1, v2] = await Promise.all([startPeer("sick-platform", ["v1"]), startPeer("sick-platform", ["v2"])]);
  const rules = join(folder, "rules.yaml");
  await writeFile(rules, RULES(scene, onFailure));
  const carryover = await startCarryover(dist, {
    upstream: v2.url,
    log: join(folder, "log"),
    flags: { "upstream-v1-url": v1.url, "cutover-mode": "native", "cutover-rules-file": rules },
  });
  try {
    return await watch({ scene, rate, clients, onFailure, v1, v2, carryover });
  } finally {
    if (scene.stop) process.kill(v2.pid, "SIGCONT");
    await Promise.all([carryover.stop(), v1.stop(), v2.stop()].map((one) => one.catch(() => {})));
    await rm(folder, { recursive: true, force: true });
  }
}

async function watch({ scene, rate, clients, onFailure, v1, v2, carryover }) {
  const load = startLoad(carryover.url, { rate, clients, scene });
  await sleep(HEALTHY_S * 1_000);
  load.begin();
  const began = performance.now();
  const nativeBefore = await nativeCalls(carryover);
  await makeSick(scene, v1, v2);
  const seconds = () => (performance.now() - began) / 1_000;
  const seen = { trouble: undefined, back: undefined, pairs: 0 };
  let cured = scene.seconds === undefined;
  while (seconds() < (scene.watched ?? WATCHED_S)) {
    await sleep(LOOK_MS);
    if (!cured && seconds() >= scene.seconds) {
      await put(v2, {});
      cured = true;
    }
    const { rules } = await (await fetch(`${carryover.adminUrl}/progress`)).json();
    const [rule] = rules;
    if (rule.phase === "back" || rule.guard.trouble !== undefined) seen.trouble ??= seconds();
    if (rule.phase === "back") seen.back ??= seconds();
  }
  const lasted = seconds();
  const counts = load.end();
  const pairs = ((await nativeCalls(carryover)) - nativeBefore) / lasted;
  const status = await command("status", carryover.adminUrl);
  const gate = await command("gate", "all", carryover.adminUrl);
  const moves = typeof scene.moves === "function" ? scene.moves({ rate, clients }) : scene.moves;
  return { scene: scene.name, rate, clients, onFailure, moves, ...seen, pairs, counts, status, gate };
}

async function makeSick(scene, v1, v2) {
  if (scene.stop) process.kill(v2.pid, "SIGSTOP");
  if (scene.kill) await v2.stop();
  if (scene.killNative) await v1.stop();
  if (scene.v1) await put(v1, scene.v1);
  if (scene.v2) await put(v2, scene.v2);
}

function put({ url }, sickness) {
  return fetch(`${url}/sickness`, { method: "PUT", body: JSON.stringify(sickness) });
}

async function nativeCalls({ adminUrl }) {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return [...text.matchAll(/^carryover_guard_calls_total\{.*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}

async function command(...args) {
  const run = promisify(execFile)(process.execPath, [join(values.dist, "main.js"), ...args]);
  return run.then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }) => ({ code, stdout }),
  );
}

/** Requests by the clock, whatever became of those before. Each asks for something else. */
function startLoad(url, { rate, clients, scene }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 200 });
  const { hostname, port } = new URL(url);
  let [at, over, counting] = [0, false, false];
  const counts = { requests: 0, failedReads: 0, failedWrites: 0 };
  const ask = () => {
    const number = at++;
    const isWrite = number % 100 < (scene.write ?? 0) * 100;
    const client = number % clients;
    const group = `57f9e5fa7da60166436d01ae3baf059ec752f4bb/${number.toString(16).padStart(16, "0")}`;
    const counted = counting;
    if (counted) counts.requests += 1;
    const done = (status) => {
      if (!counted || over || (status >= 200 && status < 400)) return;
      counts[isWrite ? "failedWrites" : "failedReads"] += 1;
    };
    send(
      isWrite ? "DELETE" : "GET",
      isWrite ? `/iam/v1/groups/${group}` : `/iam/v1/roles?name=viewer&x=${number}`,
      `client-${client}`,
      done,
    );
    // Clients that no rule moves.
    if (isWrite && scene.nativeWrites) send("DELETE", `/iam/v1/groups/${group}`, "elsewhere", () => {});
  };
  const send = (method, path, client, done) => {
    const headers = { authorization: `Bearer token-of-${client}`, "user-agent": `${client}/1.0` };
    const request = httpRequest({ hostname, port, agent, method, path, headers, timeout: PATIENCE_MS });
    let [isDone, status] = [false, 0];
    const finish = (whole) => {
      if (isDone) return;
      isDone = true;
      done(whole ? status : 0);
    };
    request.on("response", (response) => {
      status = response.statusCode;
      response
        .on("end", () => finish(true))
        .on("error", () => finish(false))
        .resume();
    });
    request.on("error", () => finish(false)).on("timeout", () => request.destroy());
    request.end();
  };
  const timer = setInterval(ask, 1_000 / rate);
  return {
    begin: () => {
      counting = true;
    },
    end: () => {
      clearInterval(timer);
      over = true;
      agent.destroy();
      return counts;
    },
  };
}

const isOtherThan = (moves, back) => moves !== undefined && (back !== undefined) !== moves;
const shown = (seconds) => (seconds === undefined ? "–" : seconds.toFixed(1));

function lineOf({ scene, rate, clients, onFailure, trouble, back, pairs, counts, moves, gate }) {
  const { requests, failedReads, failedWrites } = counts;
  const wrong = isOtherThan(moves, back) ? " !" : "";
  const failed = failedWrites === 0 ? `${failedReads}` : `${failedReads} + ${failedWrites} writes`;
  const cells = [scene, rate, clients, onFailure ? "yes" : "no", shown(trouble), `${shown(back)}${wrong}`];
  return `| ${[...cells, `${failed} of ${requests}`, pairs.toFixed(2), gate.code].join(" | ")} |`;
}

const runs = SCENES.filter(({ name }) => name.includes(values.scene)).flatMap((scene) =>
  numbers(values.rates).flatMap((rate) =>
    numbers(values.clients).flatMap((clients) =>
      [false, true].map((onFailure) => ({ scene, rate, clients, onFailure })),
    ),
  ),
);
console.log(`${cpus().length} cores, load average ${loadavg()[0].toFixed(1)}, Node ${process.version}\n`);
console.log(
  "| what is sick | requests per second | clients | onFailure | seen after s | back after s | failed | pairs per second | gate |",
);
console.log("|---|---|---|---|---|---|---|---|---|");
const results = [];
const next = async () => {
  for (let run = runs.shift(); run !== undefined; run = runs.shift()) {
    const result = await play(run.scene, run.rate, run.clients, run.onFailure);
    results.push(result);
    console.log(lineOf(result));
  }
};
await Promise.all(Array.from({ length: Number(values["at-once"]) }, next));
for (const { scene, onFailure, status } of results) {
  if (!onFailure) console.log(`\n${scene}\n${status.stdout.replace(/^/gm, "    ")}`);
}
process.exitCode = results.some(({ back, moves }) => isOtherThan(moves, back)) ? 1 : 0;
