/**
 * Checks that no client of a crowd is refused when it could be served.
 * `node bench/crowd.mjs [--only NAME] [--dist FOLDER]` prints the outcome of each crowd in front of a healthy
 * platform that takes 20 ms a page. It keeps figures in the file that TRUST_FIGURES names. Clients, platform and
 * carryover are separate processes on one machine. The ideal schedule is that of the platform's own pages.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { optionsOf } from "../scripts/options.mjs";
import { figure, quantile } from "./figures.mjs";
import { startCarryover, startClient, startPeer } from "./processes.mjs";

const values = optionsOf(
  {
    only: { type: "string", default: "" },
    dist: { type: "string", default: join(import.meta.dirname, "../dist") },
  },
  "node bench/crowd.mjs [--only NAME] [--dist FOLDER]",
);
const dist = pathToFileURL(`${resolve(values.dist)}/`);
const PAGE = 200;
const PAGE_MS = 20;
/** `lists.readersPerUpstream`: calls allowed at a time. */
const CALLS = 32;

const tokens = (count, clients, records) =>
  Array.from({ length: count }, (_, i) => ({ token: `records-${records}-caller-${i}`, count: clients, records }));
const CROWDS = [
  { name: "one-token", what: "64 clients, one token, 1,000 records", clients: tokens(1, 64, 1_000), rounds: 4 },
  { name: "one-page", what: "128 clients, one token, one page", clients: tokens(1, 128, PAGE), rounds: 8 },
  { name: "eight-tokens", what: "256 clients, 8 tokens, 1,000 records", clients: tokens(8, 32, 1_000), rounds: 2 },
  {
    name: "sizes",
    what: "120 clients of one token beside 8 of 4 tokens, 1,000 records",
    clients: [{ token: "records-1000-crowd", count: 120, records: 1_000 }, ...tokens(4, 2, 1_000)],
    rounds: 4,
  },
];

const folder = await mkdtemp(join(tmpdir(), "carryover-crowd-"));
try {
  console.log(`${cpus().length} cores, load average ${loadavg()[0].toFixed(1)}, Node ${process.version}`);
  for (const crowd of CROWDS) if (values.only === "" || crowd.name === values.only) await gather(crowd);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function gather({ what, clients, rounds }) {
  const upstream = await startPeer("paged-upstream", [2_000, PAGE_MS, 0]);
  const log = join(folder, "crowd.log");
  const carryover = await startCarryover(dist, { upstream: upstream.url, log });
  const client = await startClient("crowd");
  try {
    const url = `${carryover.url}/iam/v1/groups`;
    // Until Node has compiled what is used.
    await client.ask({ do: "counted", url, clients, rounds });
    const before = carryover.cpuMs();
    const { ms, asked } = await client.ask({ do: "counted", url, clients, rounds });
    const pages = clients.reduce((sum, { count, records }) => sum + count * rounds * Math.ceil(records / PAGE), 0);
    report(what, { clients, asked, ms, idealMs: (pages * PAGE_MS) / CALLS, cpuMs: carryover.cpuMs() - before });
  } finally {
    for (const one of [client, carryover, upstream]) await one.stop();
  }
}

function report(what, { clients, asked, ms, idealMs, cpuMs }) {
  const hows = new Map();
  for (const { how } of asked) hows.set(how, (hows.get(how) ?? 0) + 1);
  const text = [...hows].map(([how, count]) => `${count} × ${how}`).join(", ");
  const times = (all) => all.map((one) => one.ms).sort((a, b) => a - b);
  const few = Math.min(...clients.map(({ count }) => count));
  const smallest = new Set(clients.filter(({ count }) => count === few).map(({ token }) => token));
  const small = times(asked.filter(({ token }) => smallest.has(token)));
  const ratio = quantile(small, 0.99) / quantile(times(asked), 0.5);
  console.log(`\n${what}: ${asked.length} requests: ${text}`);
  console.log(
    `  ${ms.toFixed(0)} ms, ${(ms / idealMs).toFixed(2)} of the ideal ${idealMs.toFixed(0)} ms; carryover's processor time ${cpuMs} ms`,
  );
  console.log(
    `  p50 / p99 ${quantile(times(asked), 0.5).toFixed(0)} / ${quantile(times(asked), 0.99).toFixed(0)} ms; p99 of the smallest ${ratio.toFixed(2)} of the median`,
  );
  const refused = asked.filter(({ how }) => how !== "whole").length;
  figure("T-LOD-15", `${what}: not served`, refused, "requests");
  figure("T-LOD-15", `${what}: total time beside the ideal`, ms / idealMs, "ratio");
  figure("T-LOD-15", `${what}: p99 of the smallest clients beside the median`, ratio, "ratio");
}
