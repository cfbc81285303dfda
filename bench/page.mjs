/**
 * Measures what open pages (`GET /` on the admin port) cost requests: latency at a constant rate with 50 pages open, 32 of which are admitted, and
 * without any, in turns; processor time; the longest time without a turn of the event loop; and the time of `GET /` itself.
 * `node bench/page.mjs [--short] [--clients 50,10000] [--queries 1] [--dist FOLDER] [--profile FILE]`
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { optionsOf } from "../scripts/options.mjs";
import { recordAnswers } from "./answers.mjs";
import { quantile, range, ratios, spread, table } from "./figures.mjs";
import { startCarryover, startClient, startPeer } from "./processes.mjs";

const values = optionsOf(
  {
    short: { type: "boolean", default: false },
    clients: { type: "string", default: "50,10000" },
    queries: { type: "string", default: "1" },
    rounds: { type: "string" },
    dist: { type: "string", default: join(import.meta.dirname, "../dist") },
    profile: { type: "string" },
  },
  "node bench/page.mjs [--short] [--clients 50,10000] [--queries 1] [--rounds N] [--dist FOLDER] [--profile FILE]",
);
const dist = pathToFileURL(`${resolve(values.dist)}/`);
const PAGES = 50;
const RULES = 10;
const LOAD = { rate: 200, connections: 8, warmupSeconds: 1, seconds: values.short ? 4 : 10 };
const ROUNDS = Number(values.rounds ?? (values.short ? 2 : 6));
/** Pages are opened so long before a round, so that what they load first is not part of it. */
const SETTLE_MS = 4_000;
/** Each viewer may look at something else. */
const QUERIES = Array.from({ length: Number(values.queries) }, (_, at) => (at === 0 ? "" : `?clients=${at + 1}`));

const folder = await mkdtemp(join(tmpdir(), "carryover-page-"));
try {
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  console.log(
    `${new Date().toISOString().slice(0, 10)}, commit ${commit}, Node ${process.versions.node}, ${cpus().length} cores, load average ${loadavg()[0].toFixed(1)}; ${LOAD.rate} requests/s, ${ROUNDS} rounds of ${LOAD.seconds} s a side`,
  );
  const recorded = await recordAnswers();
  for (const clients of values.clients.split(",").map(Number)) await measure(clients, recorded);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measure(clients, { answers, native, calls, token }) {
  const file = join(folder, "answers.json");
  // Native v1 has no get of its own; what is compared need not be the same.
  await writeFile(file, JSON.stringify({ ...answers, ...native, [calls.v1Get]: answers[calls.v2Get] }));
  const rules = join(folder, "rules.yaml");
  await writeFile(rules, JSON.stringify({ version: "carryover/v1", rules: manyRules() }));
  const upstream = await startPeer("upstream", [file]);
  const server = await startCarryover(dist, {
    upstream: upstream.url,
    log: join(folder, "page.log"),
    probe: true,
    flags: { "upstream-v1-url": upstream.url, "cutover-rules-file": rules, "cutover-mode": "translate" },
  });
  const load = await startClient("steady");
  const viewers = await startClient("viewers");
  const path = (target, fields) => ({ url: server.url + target, token, names: clients, fields });
  // Of ten requests, seven are gets, one is a list, one is native and one goes to v2.
  const targets = [
    ...Array.from({ length: 7 }, () => path(calls.v1Get)),
    ...[path(calls.v1List), path(calls.v1ById, "x-native: yes\r\n"), path(calls.v2Get)],
  ];
  const fire = () => load.ask({ do: "fire", targets, ...LOAD });
  try {
    const filling = { rate: 1_000, connections: 8, warmupSeconds: 0, seconds: Math.max(2, clients / 1_000 + 1) };
    await load.ask({ do: "fire", targets: [path(calls.v1Get)], ...filling });
    await fire();
    const sides = { without: side(), with: side() };
    if (values.profile !== undefined) await server.ask({ do: "profile" });
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of round % 2 === 0 ? ["without", "with"] : ["with", "without"]) {
        if (name === "with") {
          await viewers.ask({ do: "follow", url: server.adminUrl, count: PAGES, queries: QUERIES });
          await sleep(SETTLE_MS + clients / 2);
          await viewers.ask({ do: "read" });
        }
        await server.ask({ do: "forget" });
        await server.ask({ do: "feel" });
        const before = threadsMs(server.pid);
        const fired = await fire();
        const { busy } = await server.ask({ do: "felt" });
        const after = threadsMs(server.pid);
        const seconds = LOAD.seconds + LOAD.warmupSeconds;
        const latencies = fired.targets.flatMap((one) => one.latencies).sort((a, b) => a - b);
        const failed = fired.targets.reduce((sum, one) => sum + one.failed, 0);
        if (failed > 0) console.log(`${name}: ${failed} requests were not answered 200`);
        const own = sides[name];
        own.p50.push(quantile(latencies, 0.5));
        own.p99.push(quantile(latencies, 0.99));
        own.all.push(...latencies);
        own.main.push((after.main - before.main) / seconds);
        own.rest.push((after.rest - before.rest) / seconds);
        own.block.push(busy.max);
        if (name === "with") {
          const { updates, bytes } = await viewers.ask({ do: "read" });
          own.updates.push(updates / seconds);
          own.bytes.push(bytes / seconds);
          await viewers.ask({ do: "leave" });
          await sleep(500);
        }
      }
    }
    if (values.profile !== undefined) await server.ask({ do: "profiled", file: values.profile });
    report(clients, sides, await homes(server));
  } finally {
    for (const one of [viewers, load, server, upstream]) await one.stop();
  }
}

/** Milliseconds of processor time so far: of the thread that serves requests, and of all others that run now. */
function threadsMs(pid) {
  const ms = (task) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "latin1").split(" ")[0]) / 1e6;
  const others = readdirSync(`/proc/${pid}/task`).filter((task) => task !== String(pid));
  return { main: ms(pid), rest: others.reduce((sum, task) => sum + ms(task), 0) };
}

function side() {
  return { p50: [], p99: [], main: [], rest: [], block: [], updates: [], bytes: [], all: [] };
}

/** Ten times `GET /` after each other, a second apart, without load: how long each took, and the longest block meanwhile. */
async function homes(server) {
  await sleep(2_000);
  await server.ask({ do: "forget" });
  await server.ask({ do: "feel" });
  const ms = [];
  for (let turn = 0; turn < (values.short ? 3 : 10); turn++) {
    const begun = performance.now();
    const response = await fetch(`${server.adminUrl}/`, { headers: { accept: "text/html" } });
    await response.text();
    ms.push(performance.now() - begun);
    await sleep(1_100);
  }
  const { busy } = await server.ask({ do: "felt" });
  return { ms, block: busy.max };
}

/** The first takes requests with a header; the others are of one client each. */
function manyRules() {
  const native = { name: "native", match: { header: { "x-native": "yes" } }, mode: "native" };
  const others = Array.from({ length: RULES - 1 }, (_, at) => ({
    name: `rule-${at}`,
    match: { resource: ["groups"], operation: "reads", client: `client-${at}` },
    mode: at % 2 === 0 ? "shadow" : "translate",
  }));
  return [native, ...others];
}

function report(clients, { without, with: seen }, home) {
  const rows = [
    ["p50, ms", (one) => range(spread(one.p50), 2)],
    ["p99, ms", (one) => range(spread(one.p99), 2)],
    [
      "p99 of all rounds together, ms",
      (one) =>
        quantile(
          one.all.sort((a, b) => a - b),
          0.99,
        ).toFixed(2),
    ],
    ["processor time of the thread that serves requests, ms a second", (one) => range(spread(one.main), 1)],
    ["of all other threads, ms a second", (one) => range(spread(one.rest), 1)],
    ["longest block of the event loop, ms", (one) => range(spread(one.block), 1)],
  ].map(([what, of]) => [what, of(without), of(seen)]);
  const more = (name) => spread(seen[name].map((value, at) => value - without[name][at])).median;
  const cpu = more("main") + more("rest");
  const updates = spread(seen.updates).median;
  const admitted = 32;
  console.log(
    `\n${clients.toLocaleString("en")} clients, ${RULES} rules, ${QUERIES.length} ${QUERIES.length === 1 ? "query" : "queries"}:\n`,
  );
  console.log(table(["", "no page open", `${PAGES} opened, ${admitted} admitted`], rows));
  const pooled = quantile(seen.all, 0.99) / quantile(without.all, 0.99);
  console.log(`
p99 with pages against without: ${range(ratios(seen.p99, without.p99), 2)} by round, ${pooled.toFixed(2)} of all rounds together
updates of a page: ${updates.toFixed(2)} a second, ${(spread(seen.bytes).median / 1024).toFixed(1)} KiB a second
processor time of ${admitted} pages: ${cpu.toFixed(1)} ms a second, ${more("main").toFixed(1)} of it where requests are served; of one: ${(cpu / admitted).toFixed(2)} ms a second, ${(cpu / admitted / updates).toFixed(2)} ms an update
GET /: ${range(spread(home.ms), 0)} ms; longest block meanwhile ${home.block.toFixed(1)} ms`);
}
