/** Measures what client identification, rules and the ledger cost each request. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { goal } from "../goals.mjs";
import { startCarryover, startPeer } from "../processes.mjs";
import { manyRules } from "../rules-files.mjs";
import { ratios, spread } from "../stats.mjs";
import { range, table } from "../tables.mjs";
import { ledgerParts, partsText } from "./ledger-parts.mjs";

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
