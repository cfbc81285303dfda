/**
 * Measures what counts over time cost: per request, in memory and in the saved file, for 1,000, 10,000 and 100,000 clients.
 * `node --expose-gc bench/history.mjs`
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildModules } from "../scripts/build/modules.mjs";
import { table } from "./figures.mjs";

const DAY = 86_400_000;
const START = Date.UTC(2026, 5, 1);
const DAYS = 181;
/** Each client calls these on the first day, and the first of them on the last days, which are counted. */
const OPERATIONS = ["list", "get", "update"];
const KINDS = 60;
const CALLS = 2_000_000;
const mib = (bytes) => (bytes / 2 ** 20).toFixed(1);

const modules = pathToFileURL(`${await buildModules()}/src/`);
const load = (path) => import(new URL(path, modules).href);
const [{ createRequestHistory }, { createBuckets }, { createLedger }, { COUNTED_DAYS }, { createExchange }] =
  await Promise.all(
    ["history/requests.js", "history/buckets.js", "ledger/ledger.js", "ledger/days.js", "model/exchange.js"].map(load),
  );

const call = { upstream: "v2", method: "GET", path: "/", status: 200, ms: 1 };
function request(given) {
  const facts = { apiVersion: "v1", resource: "group", operation: "get", mode: "translate", status: 200, client: "c" };
  return Object.assign(createExchange("r", 0, "GET", "/iam/v1/groups/a"), facts, given, { calls: [call] });
}

const [count] = process.argv.slice(2);
if (count === undefined) report();
else console.log(JSON.stringify(clientRow(Number(count))));

function report() {
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  console.log(`${new Date().toISOString().slice(0, 10)}, commit ${commit}, Node ${process.versions.node}\n`);
  const times = [...perRequest()].map(([name, ns]) => [name, ns.toFixed(0)]);
  console.log(`${table(["per request", "ns"], times)}\n`);
  console.log(`${table(["counts of requests", "buckets", "MiB of memory", "KiB in the file"], [requestRow()])}\n`);
  // Each in a process of its own: what was before would count as freed.
  const rows = [1_000, 10_000, 100_000].map((clients) => {
    const argv = ["--expose-gc", fileURLToPath(import.meta.url), String(clients)];
    return JSON.parse(execFileSync(process.execPath, argv, { encoding: "utf8" }));
  });
  console.log(table(["clients", "MiB of memory", "bytes per client", "MiB in the file", "bytes per client"], rows));
}

function* perRequest() {
  let at = START;
  const history = createRequestHistory(() => at);
  const kinds = Array.from({ length: KINDS }, (_, n) => request({ operation: `o${n}` }));
  const buckets = createBuckets(at);
  const timed = (run) => {
    for (let i = 0; i < CALLS / 10; i++) run(i);
    const began = process.hrtime.bigint();
    for (let i = 0; i < CALLS; i++) {
      // 200 requests per second.
      if (i % 200 === 0) at += 1_000;
      run(i);
    }
    return Number(process.hrtime.bigint() - began) / CALLS;
  };
  yield ["counting it by kind, in all and over time", timed((i) => history.observe(kinds[i % KINDS]))];
  yield ["of these, over time", timed((i) => buckets.add(i % KINDS, 1, at))];
  const ledger = ledgerOf(1_000, () => at);
  const clients = Array.from({ length: 100 }, (_, n) => request({ client: `client-${n}` }));
  yield ["counting it by client", timed((i) => ledger.observe(clients[i % 100]))];
}

function ledgerOf(max, wall) {
  return createLedger({
    max,
    wall,
    instance: "i",
    pageSize: 200,
    identity: { labelOf: (name) => name, isExcluded: () => false, nameNow: (name) => name },
    traits: { isLackingInV2: () => false, revealsNeeds: () => false },
  });
}

/** Buffers are freed by the second collection. */
function memory() {
  for (let i = 0; i < 2; i++) globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Of an instance that has every bucket. */
function requestRow() {
  const before = memory();
  let at = START;
  const history = createRequestHistory(() => at);
  const kinds = Array.from({ length: KINDS }, (_, n) => request({ operation: `o${n}` }));
  for (; at < START + DAYS * DAY; at += 300_000) {
    for (let n = 0; n < KINDS; n++) history.observe({ ...kinds[n], times: 1 + ((at / 300_000 + n * 7) % 400) });
  }
  const used = memory() - before;
  const text = [...history.saved()].join("");
  const buckets = JSON.parse(text).tiers.map((tier) => tier.buckets.length);
  return [`${KINDS} kinds`, buckets.join(" + "), mib(used), (text.length / 1024).toFixed(0)];
}

function clientRow(count) {
  const before = memory();
  let at = START;
  const ledger = ledgerOf(count, () => at);
  const calls = ["v1", "v2"].flatMap((apiVersion) => OPERATIONS.map((operation) => request({ apiVersion, operation })));
  for (const day of [0, ...Array.from({ length: COUNTED_DAYS }, (_, n) => DAYS - COUNTED_DAYS + n)]) {
    at = START + day * DAY;
    const today = day === 0 ? calls : calls.filter(({ operation }) => operation === OPERATIONS[0]);
    for (let n = 0; n < count; n++) {
      for (const one of today) ledger.observe(Object.assign(one, { client: `client-${n}@team-${n % 40}.example` }));
    }
  }
  const used = memory() - before;
  const { entries } = ledger.stream();
  let bytes = 0;
  for (const entry of entries) bytes += JSON.stringify(entry).length + 1;
  return [count.toLocaleString("en"), mib(used), (used / count).toFixed(0), mib(bytes), (bytes / count).toFixed(0)];
}
