/**
 * Measures identifying the client, matching rules and recording the call, each alone. (In this process; no network.)
 */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { manyRules } from "../rules-files.mjs";
import { spread } from "../stats.mjs";
import { range, table } from "../tables.mjs";

/** Nanoseconds by part: `{ name, ns }`, the parts in turns. */
export async function ledgerParts({ modules, folder, calls }, { token, client, rounds, rules, calls: times }) {
  const load = (path) => import(new URL(path, modules).href);
  const [{ createMigration }, { createDecisions }, { loadConfig }, { loadCatalogue }, { createExchange }, { later }] =
    await Promise.all(
      ["migration.js", "proxy.js", "config/config.js", "catalogue.js", "model/exchange.js", "model/clock.js"].map(load),
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
      wall: Date.now,
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
  const asked = { resource, operation, write: false, client, headers };
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

export function partsText(parts, { rounds, calls }) {
  const rows = parts.map(({ name, ns }) => [name, range(spread(ns.map((value) => value / 1000)), 2)]);
  const how = `Each part alone, in one process, ${rounds} rounds of ${calls.toLocaleString("en")} calls:`;
  return `${how}\n\n${table(["", "µs a call"], rows)}`;
}
