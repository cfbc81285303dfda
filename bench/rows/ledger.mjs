/** Measures what client identification, rules and the ledger cost each request. */

import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { goal, range, ratios, spread, table } from "../figures.mjs";
import { startCarryover, startPeer } from "../processes.mjs";

/** A name that the rules of the bench speak of, and the product of its user agent. */
const CLIENT = "bench";

export async function measureLedger(bench, start) {
  const { calls, load, token, settings } = bench;
  const sides = await startSides(bench, start);
  const targets = { get: calls.v1Get, pass: calls.v2Get };
  const faults = [];
  const how = { ...settings.ledger, agent: `${CLIENT}/1.0` };
  for (let round = -1; round < how.rounds; round++) {
    for (const side of round % 2 === 0 ? sides : [...sides].reverse()) {
      for (const kind of ["get", "pass"]) {
        const before = side.server.cpuMs();
        const { requests, perSecond, failed } = await load.fire(side.server.url + targets[kind], token, how);
        if (failed > 0) faults.push(`${side.name}, ${kind}: ${failed} requests without a 2xx`);
        // Sockets of this turn close before the next one begins.
        await sleep(100);
        if (round < 0) continue;
        side[kind].cpu.push(((side.server.cpuMs() - before) * 1000) / requests);
        side[kind].perSecond.push(perSecond);
      }
    }
  }
  const parts = await ledgerParts(bench, { ...how, token, client: CLIENT });
  return { goals: goalsOf(sides), text: `${text(sides, how)}\n\n${partsText(parts, how)}`, faults };
}

/** The first is what the others are set beside: the earlier build where there is one. */
async function startSides({ dist, before, folder, answers, settings }, start) {
  const file = join(folder, "ledger.json");
  await writeFile(file, JSON.stringify(answers));
  const upstream = await start(startPeer("upstream", [file]));
  const side = async (name, build, flags) => {
    const log = join(folder, `ledger-${sides.length}.log`);
    const server = await start(startCarryover(build, { upstream: upstream.url, log, flags }));
    sides.push({ name, server, get: { cpu: [], perSecond: [] }, pass: { cpu: [], perSecond: [] } });
  };
  const sides = [];
  if (before !== undefined) await side("the earlier build", before, {});
  await side("user-agent, no rules", dist, {});
  await side("claim:sub, no rules", dist, { "clients-identify": "claim:sub" });
  for (const count of settings.ledger.rules) {
    const rules = join(folder, `rules-${count}.yaml`);
    await writeFile(rules, manyRules(count));
    await side(`user-agent, ${count} rules`, dist, { "cutover-rules-file": rules, "cutover-mode": "translate" });
  }
  return sides;
}

const KINDS = [
  ["get", "v1 get, translated"],
  ["pass", "v2 get, passed through"],
];

function goalsOf([base, ...others]) {
  return KINDS.flatMap(([kind, what]) =>
    others.map((side) => {
      const ratio = ratios(side[kind].cpu, base[kind].cpu);
      return goal({
        what: `${what}: ${side.name}, processor time`,
        against: base.name,
        value: ratio.median,
        text: `${range(ratio, 2)}×`,
      });
    }),
  );
}

function text([base, ...others], { rounds, seconds, connections }) {
  const tables = KINDS.flatMap(([kind, what]) => {
    const rows = [base, ...others].map((side) => [
      side.name,
      range(spread(side[kind].cpu), 1),
      side === base ? "" : range(ratios(side[kind].cpu, base[kind].cpu), 3),
      range(spread(side[kind].perSecond), 0),
      side === base ? "" : range(ratios(side[kind].perSecond, base[kind].perSecond), 3),
    ]);
    return [`${what}:`, table(["", "µs of processor time", "ratio", "requests/s", "ratio"], rows)];
  });
  return [
    `Under full load, ${rounds} rounds of ${seconds} s a side over ${connections} connections, the sides in turns; median (least to most), ratios of neighbours in time beside the first line. Each rule but the last is looked at and does not match; rules are not asked about what passes through.`,
    ...tables,
  ].join("\n\n");
}

/** Identifying the client, matching rules and recording the call, each alone, in this process. Nanoseconds by part: `{ name, ns }`, the parts in turns. */
async function ledgerParts({ modules, folder, calls }, { token, client, rounds, rules, calls: times }) {
  const load = (path) => import(new URL(path, modules).href);
  const [
    { createMigration },
    { createDecisions },
    { loadConfig },
    { loadCatalogue },
    { createExchange },
    { later },
    { createEventHistory },
  ] = await Promise.all(
    [
      "runtime/migration.js",
      "runtime/proxy.js",
      "config/config.js",
      "catalogue/catalogue.js",
      "model/exchange.js",
      "model/clock.js",
      "history/events.js",
    ].map(load),
  );
  const catalogue = await loadCatalogue("v2beta1");
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const opened = [];
  const open = async (flags) => {
    const given = { upstreamV2Url: "http://127.0.0.1:9", ...flags };
    const { config } = loadConfig({ flags: given, env: {}, readFile: (path) => readFileSync(path) });
    const decisions = createDecisions(config, catalogue);
    const migration = createMigration(config, catalogue, decisions, {
      log: quiet,
      history: createEventHistory({ wall: Date.now, process: "00000001" }),
      instance: "bench",
      wall: Date.now,
      now: () => performance.now(),
      later,
      reloadMs: 2_000,
    });
    await migration.start();
    opened.push(migration);
    return migration;
  };
  const headers = [
    ["host", "127.0.0.1:8080"],
    ["authorization", `Bearer ${token}`],
    ["accept", "application/json"],
    ["user-agent", `${client}/1.0`],
  ];
  const exchange = finished(createExchange("r-1", 0, "GET", calls.v1Get), client);
  const { resource, operation } = exchange;
  const asked = { resource, operation, write: false, client, head: { method: "GET", target: calls.v1Get, headers } };
  const parts = [];
  for (const means of ["user-agent", "claim:sub"]) {
    const { cutover } = await open({ clientsIdentify: means });
    parts.push({ name: `naming the client by ${means}`, run: () => cutover.nameOf(headers) });
  }
  for (const count of [0, ...rules]) {
    const file = join(folder, `parts-${count}.yaml`);
    if (count > 0) await writeFile(file, manyRules(count));
    const { rollout } = await open(count > 0 ? { cutoverRulesFile: file, cutoverMode: "translate" } : {});
    parts.push({ name: `choosing by ${count} rules`, run: () => rollout.choose(asked) });
    if (count > 0 && rollout.choose(asked).rule?.name !== "everything-else") throw new Error("an earlier rule matches");
  }
  const { observe } = await open({});
  parts.push({ name: "remembering a request that is over", run: () => observe(exchange) });
  const measured = measure(parts, rounds, times);
  for (const migration of opened) await migration.close();
  return measured;
}

/** As a translated get leaves it. */
function finished(exchange, client) {
  const call = { upstream: "v2", method: "GET", path: exchange.path, status: 200, ms: 1 };
  const facts = { apiVersion: "v1", resource: "group", operation: "get", mode: "translate", status: 200, client };
  return Object.assign(exchange, facts, { calls: [call] });
}

function measure(parts, rounds, times) {
  const taken = parts.map(({ name }) => ({ name, ns: [] }));
  let kept;
  for (let round = -2; round < rounds; round++) {
    parts.forEach(({ run }, at) => {
      const began = process.hrtime.bigint();
      for (let i = 0; i < times; i++) kept = run();
      if (round >= 0) taken[at].ns.push(Number(process.hrtime.bigint() - began) / times);
    });
  }
  // Used, so that no call can be left out for having no effect.
  if (kept === null) throw new Error("nothing was run");
  return taken;
}

function partsText(parts, { rounds, calls }) {
  const rows = parts.map(({ name, ns }) => [name, range(spread(ns.map((value) => value / 1000)), 2)]);
  const how = `Each part alone, in one process, ${rounds} rounds of ${calls.toLocaleString("en")} calls:`;
  return `${how}\n\n${table(["", "µs a call"], rows)}`;
}

/**
 * `count` rules about the reads of groups. The last one takes every request; the others are looked at and do not match.
 * They match on a client, a header, or a percentage of one client, in turns.
 */
function manyRules(count) {
  const rules = Array.from({ length: count - 1 }, (_, i) => ({
    name: `rule-${i}`,
    match: matchOf(i),
    mode: "translate",
  }));
  rules.push({ name: "everything-else", match: {}, mode: "translate" });
  // JSON is YAML.
  return JSON.stringify({ version: "carryover/v1", rules });
}

function matchOf(i) {
  const reads = { resource: ["groups"], operation: "reads" };
  if (i % 3 === 0) return { ...reads, client: `somebody-${i}` };
  if (i % 3 === 1) return { ...reads, header: { [`x-canary-${i}`]: "always" } };
  return { ...reads, client: "bench", percent: i / 10_000 };
}
