/** Compares carryover's requests per second and processor time with those of the alternatives, in short turns. */
import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { figure, goal, range, ratios, spread, table } from "../figures.mjs";
import { GATEWAYS } from "../peers/gateways.mjs";
import { startCanned } from "../peers/nginx-canned.mjs";
import { startCarryover, startPeer } from "../processes.mjs";
import { findTool } from "../tools.mjs";

const RENAMES = { uid: "id", createTime: "createdAt", updateTime: "updatedAt" };
/** Seconds at most until a side counts as warm, on a machine that is very busy. */
const WARMUP_TURNS = 30;
const SHIM = "fastify + undici + JSON.parse, rename, JSON.stringify";

export async function measureRaces(bench, start) {
  const { token, load } = bench;
  const settings = bench.settings.races;
  const { races, missing, watched, platform } = await line(bench, start);
  for (const one of races) await checkAnswers(one, bench);
  const results = await race(races, load, token, settings);
  const faults = results.flatMap((result) => result.faults);
  for (const server of watched) faults.push(...(await checkWatched(server, results)));
  return { goals: results.map(goalOf), text: text(results, settings, bench, { missing, platform }), faults };
}

/** Who races whom. Only the servers that are needed are started. */
async function line({ dist, folder, answers, bare, calls, wants }, start) {
  const { v2Get, v1Get, v1List } = calls;
  const nginx = await findTool("nginx", ["-v"]);
  const begin = async (name, theirs) => {
    const files = join(folder, name);
    await mkdir(files, { recursive: true });
    const upstream = await start(startPlatform(nginx, theirs, calls, files));
    return { upstream, own: await start(startCarryover(dist, { upstream: upstream.url, log: join(files, "log") })) };
  };
  const { upstream, own } = await begin("races", answers);
  const races = [];
  const enter = (key, what, against, target, [mine, peer], rest) => {
    races.push({ key, what: `${what}, requests/s`, against, target, own: mine, peer, platform: answers, ...rest });
  };
  const [GET, LIST] = ["v1 get of one record, translated", "v1 list of 200, translated"];
  if (wants("pass") || wants("get")) {
    const proxy = { server: await start(startPeer("bare-proxy", [upstream.url])), target: v2Get };
    const name = "bare @fastify/http-proxy";
    if (wants("pass")) {
      const sides = [{ server: own, target: v2Get }, proxy];
      enter("pass", "v2 get passed through", name, 1.1, sides, { id: "T-LOD-01" });
    }
    if (wants("get")) {
      const sides = [{ server: own, target: v1Get }, proxy];
      enter("get", GET, `${name}, same bytes untouched`, 1.1, sides, { id: "T-LOD-02" });
    }
  }
  if (wants("fastify")) {
    const plugin = await start(startPeer("fastify-plugin", [upstream.url, join(folder, "plugin-log")]));
    const proxy = { server: await start(startPeer("bare-proxy", [upstream.url])), target: v2Get };
    const passed = { server: plugin, target: v2Get };
    const name = "by carryover in a Fastify app";
    enter("fastify-pass", `v2 get passed through ${name}`, "bare @fastify/http-proxy", undefined, [passed, proxy]);
    const ports = (target) => [plugin, own].map((server) => ({ server, target }));
    enter("fastify-port", `v2 get passed through ${name}`, "carryover's own port", undefined, ports(v2Get));
    enter("fastify-get", `v1 get of one record, translated ${name}`, "carryover's own port", undefined, ports(v1Get));
  }
  if (wants("list")) {
    const shim = { server: await start(startPeer("parse-list", [upstream.url])), target: v1List };
    enter("list", LIST, SHIM, 1.6, [{ server: own, target: v1List }, shim], { id: "T-LOD-03" });
  }
  const watched = [own];
  if (wants("zeros")) {
    const second = await begin("zeros", { ...answers, ...bare });
    const shim = { server: await start(startPeer("parse-list", [second.upstream.url, "zeros"])), target: v1List };
    const sides = [{ server: second.own, target: v1List }, shim];
    enter("zeros", `${LIST}, zeros left out by v2 inserted`, `${SHIM}, zeros inserted`, 1.3, sides, { platform: bare });
    watched.push(second.own);
  }
  const missing = [];
  for (const [key, gateway] of Object.entries(GATEWAYS).filter(([name]) => wants(name))) {
    const found = await gateway.find();
    if (found === undefined) {
      missing.push(gateway.name);
      continue;
    }
    const server = await start(gateway.start(found, upstream.url, join(folder, "races")));
    const against = `${gateway.name}, one worker (${found.version.replace("nginx version: ", "")})`;
    enter(`${key}-list`, LIST, against, key === "lua" ? 1.6 : undefined, both(own, server, v1List));
    enter(`${key}-get`, GET, against, undefined, both(own, server, v1Get));
  }
  return { races, missing, watched, platform: nginx === undefined ? "a server on node:http" : "nginx" };
}

/** Gateways are compiled already: they need no time to warm up. */
const both = (own, peer, target) => [
  { server: own, target },
  { server: peer, target, compiled: true },
];

/** The cheapest there is: the less it takes of the machine, the more the ratios say about those in front of it. */
async function startPlatform(nginx, answers, { v2Get, v2List }, files) {
  if (nginx !== undefined) {
    return startCanned(nginx, { page: answers[v2List].body, record: answers[v2Get].body, long: [] }, files);
  }
  const file = join(files, "answers.json");
  await writeFile(file, JSON.stringify(answers));
  return startPeer("upstream", [file]);
}

/** Throws when a server's answer is not what its race is about. */
async function checkAnswers({ key, what, against, own, peer, platform }, { calls, answers, token }) {
  const [mine, theirs] = await Promise.all([own, peer].map((side) => ask(side, token)));
  const passes = peer.target === calls.v2Get;
  if (passes && theirs !== answers[peer.target].body) throw new Error(`${what}: the peer changes bytes`);
  // A peer that translates must agree with carryover.
  const wanted = JSON.parse(theirs);
  if (!isDeepStrictEqual(JSON.parse(mine), passes && key === "get" ? renamed(wanted) : wanted)) {
    throw new Error(`${what} against ${against}: carryover answers something else`);
  }
  if (key !== "zeros") return;
  const [given, sent] = [JSON.parse(mine).items, JSON.parse(platform[calls.v2List].body).groups].map(membersOf);
  if (given <= sent) throw new Error(`${what}: carryover inserts nothing (${sent} members from v2, ${given} in v1)`);
}

const membersOf = (records) => records.reduce((sum, record) => sum + Object.keys(record).length, 0);

const renamed = (record) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [RENAMES[name] ?? name, value]));

async function ask({ server, target }, token) {
  const response = await fetch(server.url + target, { headers: { authorization: `Bearer ${token}` } });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${target} was answered ${response.status}: ${body}`);
  return body;
}

/**
 * Round by round, the sides in turns, each going first in every other round: no machine is ever quiet. Gives for each race its samples, one per
 * round and side, and what failed.
 */
async function race(races, load, token, settings) {
  await warmUp(races, load, token, settings);
  const results = races.map((one) => ({ ...one, samples: { own: [], peer: [] }, requests: 0, faults: [] }));
  for (let round = 0; round < settings.rounds; round++) {
    for (const result of results) {
      for (const side of round % 2 === 0 ? ["own", "peer"] : ["peer", "own"]) {
        const sample = await turn(result[side], load, token, settings);
        if (side === "own") result.requests += sample.requests;
        if (sample.failed > 0) result.faults.push(`${result.what}, ${side}: ${sample.failed} requests without a 2xx`);
        if (sample.requests === 0) result.faults.push(`${result.what}, ${side}: no request was answered`);
        result.samples[side].push(sample);
      }
    }
  }
  return results;
}

/** Until all that is used is compiled. That takes a number of requests, not a time. */
async function warmUp(races, load, token, { connections, warmupRequests }) {
  const cold = races.flatMap(({ own, peer }) => [own, peer]).filter(({ compiled }) => compiled !== true);
  const unique = new Map(cold.map((side) => [side.server.url + side.target, side]));
  for (const side of unique.values()) {
    let [requests, turns] = [0, 0];
    while (requests < warmupRequests && turns < WARMUP_TURNS) {
      requests += (await turn(side, load, token, { connections, seconds: 1 })).requests;
      turns++;
    }
  }
}

async function turn({ server, target }, load, token, { connections, seconds }) {
  const before = server.cpuMs();
  const fired = await load.fire(server.url + target, token, { connections, seconds });
  const sample = { ...fired, cpuUs: ((server.cpuMs() - before) * 1000) / fired.requests };
  // Sockets of this turn close before the next one begins.
  await sleep(100);
  return sample;
}

/** What is missing in carryover's metrics and log of the requests made: none may be had for nothing. */
async function checkWatched(carryover, results) {
  const made = results.reduce((sum, { own, requests }) => sum + (own.server === carryover ? requests : 0), 0);
  const text = await (await fetch(`${carryover.adminUrl}/metrics`)).text();
  const counts = [...text.matchAll(/^carryover_requests_total\{[^}]*\} (\d+)/gm)].map(([, count]) => Number(count));
  const counted = counts.reduce((sum, count) => sum + count, 0);
  const faults = [];
  if (counted < made) faults.push(`${made} requests were made, the metrics count ${counted}`);
  const { size } = await stat(carryover.log);
  // A line is about 300 bytes; less than 100 for each request means that lines are missing.
  if (size < made * 100) faults.push(`${made} requests were made, the log has ${size} bytes`);
  return faults;
}

const perSecond = ({ own, peer }) => [own, peer].map((side) => side.map((sample) => sample.perSecond));
const cpu = ({ own, peer }) => [own, peer].map((side) => side.map((sample) => sample.cpuUs));

function goalOf({ key, what, against, target, samples, id, peer: { compiled } }) {
  if (id !== undefined) figure(id, what, spread(perSecond(samples)[0]).median, "requests/s");
  const ratio = ratios(...perSecond(samples));
  // Other work on the machine can only add to a turn's time, so the least is the steadiest.
  const [own, peer] = cpu(samples).map((side) => Math.min(...side));
  // A peer in another language gains and loses with other things than Node (caches, system calls): its ratio is one of this machine.
  return goal({
    key,
    what,
    against,
    target,
    unit: "×",
    value: ratio.median,
    text: `${range(ratio, 2)}×`,
    gate: compiled ? undefined : peer / own,
  });
}

function text(results, { rounds, seconds, connections }, { calls, answers, bare }, { missing, platform }) {
  const rows = (digits, pick) =>
    results.map(({ what, against, samples }) => {
      const [own, peer] = pick(samples);
      const sides = [own, peer].map((side) => range(spread(side), digits));
      return [what.replace(", requests/s", ""), against, ...sides, range(ratios(own, peer), 2)];
    });
  const bytes = (body) => Buffer.byteLength(body).toLocaleString("en");
  const [group, page, short] = [answers[calls.v2Get], answers[calls.v2List], bare[calls.v2List]].map(({ body }) =>
    bytes(body),
  );
  return [
    `Requests a second, median of ${rounds} rounds of ${seconds} s a side over ${connections} connections (least to most). The sides take turns, each goes first in every other round, and a ratio is of neighbours in time. A group is ${group} bytes, a page of 200 is ${page}, and ${short} where the platform leaves zeros out; the platform (${platform}) answers them as bytes, at once. carryover counts metrics and logs every request to a file, its peers do nothing of the kind. Envoy replaces names in the text of a body, wherever they stand; the other gateways parse it.`,
    table(
      ["carryover", "compared with", "carryover, requests/s", "peer, requests/s", "ratio (more is better)"],
      rows(0, perSecond),
    ),
    "Processor time of the process per request, all its threads. Other load on the machine moves this far less than it moves requests a second:",
    table(["carryover", "compared with", "carryover, µs", "peer, µs", "ratio (less is better)"], rows(0, cpu)),
    ...missing.map(
      (name) => `${name} did not take part: it was not found (\`scripts/install-bench-tools.sh\` gets it).`,
    ),
  ].join("\n\n");
}
