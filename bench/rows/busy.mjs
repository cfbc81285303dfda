/** Measures pass-through and gets while as many long lists are read as carryover allows. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { figure, goal, quantile, range, ratios, spread, table } from "../figures.mjs";
import { startCarryover, startClient, startPeer } from "../processes.mjs";

const GROUP = "57f9e5fa7da60166436d01ae3baf059ec752f4bb/0000000000000010";
/** Until every list is well under way; and until the last one that was left has been given up. */
const RAMP_MS = 1_000;

export async function measureBusy(bench, start) {
  const { dist, folder } = bench;
  const settings = bench.settings.busy;
  const { clients, credentials, records } = settings;
  const upstream = await start(startPeer("paged-upstream", [records, settings.latencyMs, 0]));
  const log = join(folder, "busy.log");
  const flags = { "upstream-v2-page-tokens": "keyset" };
  const carryover = await start(startCarryover(dist, { upstream: upstream.url, log, flags, probe: true }));
  const [steady, crowd] = [await start(startClient("steady")), await start(startClient("crowd"))];
  const targets = [
    {
      key: "pass",
      what: "v2 get, passed through",
      url: `${carryover.url}/iam/v2beta1/groups/${GROUP}`,
      token: "somebody-else",
    },
    { key: "get", what: "v1 get, translated", url: `${carryover.url}/iam/v1/groups/${GROUP}`, token: "somebody-else" },
  ];
  const run = { sides: targets.map(({ key, what }) => ({ key, what, idle: [], busy: [] })), faults: [], ends: [] };
  const tokens = Array.from({ length: clients }, (_, i) => `records-${records}-caller-${i % credentials}`);
  for (let round = -1; round < settings.rounds; round++) {
    await fire(run, "idle", round, { steady, targets, settings });
    await crowd.ask({ do: "begin", url: `${carryover.url}/iam/v1/groups`, tokens });
    await sleep(RAMP_MS);
    const cpu = carryover.cpuMs();
    await carryover.ask({ do: "forget" });
    await carryover.ask({ do: "feel" });
    await fire(run, "busy", round, { steady, targets, settings });
    const { delay } = await carryover.ask({ do: "felt" });
    const share = (carryover.cpuMs() - cpu) / (settings.seconds + 1) / 10;
    const told = await crowd.ask({ do: "end" });
    if (round >= 0) run.ends.push({ ...told, share, lateMs: delay.p99 - delay.resolution });
    await sleep(RAMP_MS);
  }
  return { goals: run.sides.map(goalOf), text: text(run, settings), faults: run.faults };
}

async function fire(run, state, round, { steady, targets, settings: { rate, seconds } }) {
  const asked = { do: "fire", targets, rate, seconds, warmupSeconds: 1, connections: 64 };
  const { targets: fired } = await steady.ask(asked);
  fired.forEach(({ latencies, failed }, i) => {
    const side = run.sides[i];
    if (failed > 0) run.faults.push(`${side.what}, ${state}: ${failed} of ${latencies.length} were not answered 200`);
    if (round >= 0) side[state].push({ p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) });
  });
}

const column = (rounds, name) => rounds.map((round) => round[name]);

function goalOf({ key, what, idle, busy }) {
  const [before, during] = [idle, busy].map((rounds) => spread(column(rounds, "p99")).median);
  const ratio = ratios(column(busy, "p99"), column(idle, "p99"));
  figure("T-LOD-06", `${what}: p99 while long lists saturate, beside idle`, ratio.median, "ratio");
  return goal({
    key: `busy-${key}`,
    what: `${what}, while long lists saturate, p99`,
    against: "idle",
    target: 3,
    unit: "×",
    least: true,
    value: ratio.median,
    text: `${range(ratio, 1)}×: ${before.toFixed(1)} ms idle, ${during.toFixed(1)} ms busy`,
  });
}

function text({ sides, ends }, { rate, clients, credentials, records, latencyMs, rounds }) {
  const rows = sides.flatMap(({ what, idle, busy }) =>
    [
      ["idle", idle],
      ["busy", busy],
    ].map(([state, list]) => [
      what,
      state,
      range(spread(column(list, "p50")), 2),
      range(spread(column(list, "p99")), 2),
    ]),
  );
  const mibPerSecond = spread(ends.map(({ bytes, ms }) => bytes / 2 ** 20 / (ms / 1000)));
  const used = spread(ends.map(({ share }) => share));
  const late = spread(column(ends, "lateMs"));
  figure("T-LOD-12", "event-loop delay p99 while long lists saturate", late.median, "ms");
  const most = Math.max(...ends.map(({ share }) => share));
  return [
    `${clients} clients with ${credentials} credentials read lists of ${records.toLocaleString("en")} records again and again (${latencyMs} ms per page; options as they come, so 16 lists are read at a time and the others wait); beside them ${rate} requests a second (an open load, half of it each kind), which the upstream answers at once. ${rounds} rounds, idle and busy in turns. While busy carryover sends ${range(mibPerSecond, 0)} MiB of lists a second and uses ${used.median.toFixed(0)}% (at most ${most.toFixed(0)}%) of a core; its event loop is late by ${range(late, 1)} ms (p99). Clients, upstream and carryover share the machine's.`,
    table(["", "", "p50, ms", "p99, ms"], rows),
  ].join("\n\n");
}
