/**
 * Measures how many requests each side serves, and for how much processor time. (In short turns, so that all sides meet
 * the same noise.)
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { startLine } from "./line.mjs";

const run = promisify(execFile);
const SCRIPT = join(import.meta.dirname, "../clients/many.lua");
const MANY = 64;
const FEW = 3;

/** `fire`: one wrk for each; `beside` runs beside the first and is counted for itself. */
const workloads = (calls) => [
  {
    key: "pass",
    what: "v2 get, passed through",
    fire: { target: calls.v2Get, kind: "short", count: MANY, connections: 32 },
  },
  {
    key: "get",
    what: "v1 get, translated",
    fire: { target: calls.v1Get, kind: "short", count: MANY, connections: 32 },
  },
  {
    key: "list",
    what: "v1 list of one page",
    fire: { target: calls.v1List, kind: "short", count: MANY, connections: 32 },
  },
  {
    key: "mixed",
    what: "v1 gets beside long lists",
    fire: { target: calls.v1Get, kind: "short", count: MANY, connections: 28 },
    beside: { target: calls.v1List, kind: "long", count: 16, connections: 4 },
  },
  {
    key: "few",
    what: `v1 get, ${FEW} credentials`,
    fire: { target: calls.v1Get, kind: "short", count: FEW, connections: 32 },
    only: /^1 process|least_conn|hash/,
  },
];

/** Samples by workload and side, one for each round; and what the admin ports say of it all. */
export async function measureTurns(bench) {
  const started = [];
  const start = async (launching) => {
    const one = await launching;
    started.push(one);
    return one;
  };
  try {
    const line = await startLine(bench, start);
    await checkAnswers(line, bench.settings.turns);
    const samples = await allRounds(line, bench);
    return { samples, counted: await countedBy(line) };
  } finally {
    for (const one of started.reverse()) await one.stop();
  }
}

async function allRounds(line, bench) {
  const { rounds } = bench.settings.turns;
  const samples = {};
  for (let round = -1; round < rounds; round++) {
    console.error(`${new Date().toISOString().slice(11, 19)} round ${round + 1} of ${rounds}`);
    for (const workload of workloads(line.calls)) {
      const sides = line.sides.filter(({ name }) => workload.only?.test(name) ?? true);
      for (const side of round % 2 === 0 ? sides : [...sides].reverse()) {
        const sample = await turn(side, workload, line, bench, round < 0);
        if (round < 0) continue;
        samples[workload.key] ??= { what: workload.what, sides: {} };
        samples[workload.key].sides[side.name] ??= [];
        samples[workload.key].sides[side.name].push(sample);
      }
    }
  }
  return samples;
}

async function turn(side, { what, fire, beside }, { upstream, front }, bench, warmup) {
  const watched = [...side.servers, upstream, ...(side.proxied ? [front] : [])];
  const before = watched.map((server) => server.cpuMs());
  const seconds = warmup ? bench.settings.turns.warmupSeconds : bench.settings.turns.seconds;
  const fired = [fire, ...(beside === undefined ? [] : [beside])].map((one) => wrk(bench.wrk, side.url, one, seconds));
  const [told, other] = await Promise.all(fired);
  const spent = watched.map((server, i) => server.cpuMs() - before[i]);
  // No long list may come to its end in a turn on a busy machine; of the others some always do.
  const failed = told.failed + (other?.failed ?? 0);
  if (failed > 0 || (told.requests === 0 && !warmup)) {
    throw new Error(`${what}, ${side.name}: ${failed} failed, ${told.requests} were answered`);
  }
  side.made = (side.made ?? 0) + told.requests + (other?.requests ?? 0);
  // Sockets of this turn close before the next one begins.
  await sleep(100);
  const own = spent.slice(0, side.servers.length);
  const all = own.reduce((sum, ms) => sum + ms, 0);
  const each = (ms) => (ms * 1000) / told.requests;
  return {
    perSecond: told.perSecond,
    p99: told.p99,
    carryoverUs: each(all),
    upstreamUs: each(spent[own.length]),
    nginxUs: side.proxied ? each(spent[own.length + 1]) : 0,
    busiest: Math.max(...own) / all,
    ...(other === undefined ? {} : { listsPerSecond: other.perSecond }),
  };
}

async function wrk({ command, env }, url, { target, kind, count, connections }, seconds) {
  const args = ["-t1", `-c${connections}`, `-d${seconds}s`, "-s", SCRIPT, url + target, "--", kind, count];
  const { stdout } = await run(command, args.map(String), { env });
  return JSON.parse(stdout.trim().split("\n").at(-1));
}

/** Every side answers the same, whole. */
async function checkAnswers({ sides, calls }, { records }) {
  const asked = [
    [calls.v2Get, "short-caller-1"],
    [calls.v1Get, "short-caller-1"],
    [calls.v1List, "short-caller-1"],
    [calls.v1List, "long-caller-1"],
  ];
  for (const [target, token] of asked) {
    const texts = [];
    for (const { url } of sides) {
      const answer = await fetch(url + target, { headers: { authorization: `Bearer ${token}` } });
      texts.push(await answer.text());
      if (answer.status !== 200) throw new Error(`${target} was answered ${answer.status}: ${texts.at(-1)}`);
    }
    if (texts.some((text) => text !== texts[0])) throw new Error(`${target}: not all sides answer the same`);
    if (token.startsWith("long") && JSON.parse(texts[0]).items.length !== records)
      throw new Error("the long list is not whole");
  }
}

/** What one scrape of each admin port counts, beside the requests made: all of them, or only the share of the process that responded. */
async function countedBy({ sides, replicas, clusters }) {
  const made = sides.filter(({ servers }) => replicas.includes(servers[0])).reduce((sum, side) => sum + side.made, 0);
  const counts = await Promise.all(replicas.map(requestsTotal));
  const counted = counts.reduce((sum, count) => sum + count, 0);
  if (counted < made) throw new Error(`${made} requests were made, the replicas count ${counted}`);
  const shared = [];
  for (const { name, servers, count } of clusters) {
    const side = sides.find((one) => one.name === name);
    const scrapes = [];
    for (let i = 0; i < 2 * count; i++) scrapes.push((await requestsTotal(servers[0])) / side.made);
    shared.push({ name, workers: count, scrapes });
  }
  return { made, counted, shared };
}

/** On a connection of its own, as a scraper that comes once a minute. */
async function requestsTotal({ adminUrl }) {
  const text = await (await fetch(`${adminUrl}/metrics`, { headers: { connection: "close" } })).text();
  const counts = [...text.matchAll(/^carryover_requests_total\{[^}]*\} (\d+)/gm)].map(([, count]) => Number(count));
  return counts.reduce((sum, count) => sum + count, 0);
}
