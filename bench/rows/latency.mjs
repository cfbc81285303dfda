/** Compares the latency of a translated get with one that is only forwarded, at a rate that overloads neither. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { goal, quantile, range, ratios, spread, table } from "../figures.mjs";
import { startCarryover, startClient, startPeer } from "../processes.mjs";

export async function measureLatency(bench, start) {
  const { dist, folder, answers, calls, token } = bench;
  const settings = bench.settings.steady;
  const file = join(folder, "steady.json");
  await writeFile(file, JSON.stringify(answers));
  const upstream = await start(startPeer("upstream", [file]));
  const carryover = await start(startCarryover(dist, { upstream: upstream.url, log: join(folder, "steady.log") }));
  const bare = await start(startPeer("bare-proxy", [upstream.url]));
  const client = await start(startClient("steady"));
  const sides = [
    { name: "v1 get, translated by carryover", url: carryover.url + calls.v1Get, rounds: [] },
    { name: "v2 get through bare @fastify/http-proxy", url: bare.url + calls.v2Get, rounds: [] },
    { name: "v2 get without a proxy", url: upstream.url + calls.v2Get, rounds: [] },
  ];
  const faults = [];
  const late = [];
  for (let round = -1; round < settings.rounds; round++) {
    for (const side of round % 2 === 0 ? sides : [...sides].reverse()) {
      const fired = await client.ask({ do: "fire", targets: [{ url: side.url, token }], ...settings });
      const [{ latencies, failed }] = fired.targets;
      if (failed > 0) faults.push(`${side.name}: ${failed} of ${latencies.length} requests were not answered 200`);
      if (round < 0) continue;
      side.rounds.push({
        p50: quantile(latencies, 0.5),
        p99: quantile(latencies, 0.99),
        p999: quantile(latencies, 0.999),
      });
      late.push(quantile(fired.late, 0.99));
    }
  }
  return { goals: goalsOf(sides, settings), text: text(sides, settings, late), faults };
}

const column = ({ rounds }, name) => rounds.map((round) => round[name]);

function goalsOf([own, bare, direct], { rate }) {
  return ["p50", "p99"].map((name) => {
    const [a, b, c] = [own, bare, direct].map((side) => spread(column(side, name)).median);
    const ratio = ratios(column(own, name), column(bare, name));
    return goal({
      key: `latency-${name}`,
      what: `added latency of a translated get at ${rate.toLocaleString("en")} requests/s, ${name}`,
      against: "the same get through bare @fastify/http-proxy",
      target: 1,
      unit: "× its latency",
      least: true,
      value: ratio.median,
      text: `${range(ratio, 2)}×; adds ${(a - c).toFixed(2)} ms, the peer ${(b - c).toFixed(2)} ms`,
    });
  });
}

function text(sides, { rate, rounds, seconds, connections }, late) {
  const rows = sides.map((side) => [
    side.name,
    ...["p50", "p99", "p999"].map((name) => range(spread(column(side, name)), 2)),
  ]);
  return [
    `Latency in ms at ${rate} requests a second, ${seconds} s a side in each of ${rounds} rounds, the sides in turns; median of the rounds (least to most). The load is open: \`bench/clients/steady.mjs\` sends what is due by the clock on up to ${connections} connections, whatever became of earlier requests, and counts from the millisecond in which a request was due. (Its own lateness, p99: ${range(spread(late), 2)} ms.)`,
    table(["", "p50", "p99", "p99.9"], rows),
  ].join("\n\n");
}
