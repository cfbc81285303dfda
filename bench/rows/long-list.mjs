/** Measures what one very long list costs carryover: in memory, in delay for other clients, and per record. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { goal, mib, range, ratios, spread, table } from "../figures.mjs";
import { startCarryover, startClient, startPeer } from "../processes.mjs";

const BEFORE_MS = 500;
const AFTER_MS = 1_000;

export async function measureLongList(bench, start) {
  const runs = [];
  for (const latencyMs of bench.settings.long.latenciesMs) runs.push(await measureOne(bench, start, latencyMs));
  const [shown] = runs;
  return { goals: goalsOf(runs), text: text(runs, bench.settings.long), faults: [], memory: shown.memory };
}

async function measureOne({ dist, folder, settings }, start, latencyMs) {
  const { records, rounds, idleSeconds } = settings.long;
  const [few, many] = records;
  const upstream = await start(startPeer("paged-upstream", [many, latencyMs, 0]));
  const flags = { "upstream-v2-page-tokens": "keyset" };
  const log = join(folder, `long-${latencyMs}.log`);
  const carryover = await start(startCarryover(dist, { upstream: upstream.url, log, flags, probe: true }));
  const client = await start(startClient("lists"));
  const list = async (count) => {
    const got = await client.ask({ do: "v1", url: `${carryover.url}/iam/v1/groups`, token: `records-${count}` });
    if (got.records !== count) throw new Error(`a list of ${count} has ${got.records} records`);
    return got;
  };

  await list(few);
  await carryover.ask({ do: "settle" });
  const idle = await idleDelay(carryover, idleSeconds);
  const run = { latencyMs, few: [], many: [], cpu: [], growth: [], rss: [], kept: [], idle };
  await carryover.ask({ do: "forget" });
  for (let round = 0; round < rounds; round++) {
    run.few.push(await list(few));
    // Nobody watches this one, so that it pays for nothing but itself.
    const before = carryover.cpuMs();
    await list(many);
    run.cpu.push(((carryover.cpuMs() - before) * 1000) / many);
    await watchedList(run, carryover, () => list(many));
  }
  await carryover.stop();
  await upstream.stop();
  return run;
}

async function idleDelay(carryover, seconds) {
  await carryover.ask({ do: "feel" });
  await sleep(seconds * 1000);
  return (await carryover.ask({ do: "felt" })).delay;
}

/** Growth counts from what is left when everything was collected: no garbage of earlier work makes it look smaller. */
async function watchedList(run, carryover, list) {
  const { memory: idle } = await carryover.ask({ do: "settle" });
  await carryover.ask({ do: "watch" });
  const began = performance.now();
  await sleep(BEFORE_MS);
  await carryover.ask({ do: "feel" });
  const from = performance.now() - began;
  const got = await list();
  const to = from + got.ms;
  const { delay } = await carryover.ask({ do: "felt" });
  // What is measured is the list; what comes after it is only drawn.
  const { samples } = await carryover.ask({ do: "watched" });
  const after = await afterwards(carryover, samples);
  run.many.push(got);
  run.delay = delay;
  const growth = Math.max(...samples.map(({ held }) => held)) - idle.held;
  run.growth.push(growth);
  run.rss.push(Math.max(...samples.map(({ rss }) => rss)));
  run.kept.push((await carryover.ask({ do: "settle" })).memory.held - idle.held);
  const zero = samples[0].at;
  const points = [...samples, ...after].map(({ at, held, rss }) => ({
    ms: at - zero,
    held: held - idle.held,
    rss: rss - idle.rss,
  }));
  // The round with the greatest growth is the one to draw.
  if (growth === Math.max(...run.growth)) run.memory = { points, from, to, got };
}

async function afterwards(carryover, samples) {
  const quiet = [];
  for (const until = performance.now() + AFTER_MS; performance.now() < until; ) {
    await sleep(100);
    quiet.push((await carryover.ask({ do: "now" })).memory);
  }
  return quiet.filter(({ at }) => at > samples.at(-1).at);
}

const perRecord = (lists) => lists.map(({ ms, records }) => (ms * 1000) / records);
const aboveIdle = ({ delay, idle }) => Math.max(0, delay.p999 - idle.p999);

/** Of several runs the worst one counts; of processor time that of the last, where the platform is never waited for. */
function goalsOf(runs) {
  const [few, many] = [runs[0].few[0].records, runs[0].many[0].records].map((count) => count.toLocaleString("en"));
  const each = (show) => runs.map((run) => `${show(run)} (${run.latencyMs} ms per call)`).join("; ");
  const what = `v1 list of ${many} records`;
  const hardest = runs.at(-1);
  const growth = ({ growth }) => Math.max(...growth) / 2 ** 20;
  const cost = (run) => ratios(perRecord(run.many), perRecord(run.few)).median;
  const worst = (of) => Math.max(...runs.map(of));
  const asked = (rest) => goal({ ...rest, least: true });
  return [
    asked({
      key: "long-cpu",
      what: `${what}, ${hardest.latencyMs} ms per call: carryover's processor time per record`,
      target: 3,
      unit: " µs",
      value: spread(hardest.cpu).median,
      text: `${range(spread(hardest.cpu), 1)} µs`,
    }),
    asked({
      key: "long-memory",
      what: `${what}: growth of heap + external above idle`,
      target: 48,
      unit: " MiB",
      value: worst(growth),
      text: each((run) => `${growth(run).toFixed(1)} MiB`),
    }),
    asked({
      key: "long-delay",
      what: `${what}: event-loop delay p99.9 above idle`,
      target: 25,
      unit: " ms",
      value: worst(aboveIdle),
      text: each((run) => `${aboveIdle(run).toFixed(1)} ms`),
    }),
    asked({
      key: "long-even",
      what: `${what}: time per record`,
      against: `one of ${few}`,
      target: 1.2,
      unit: "×",
      value: worst(cost),
      text: each((run) => `${cost(run).toFixed(2)}×`),
    }),
  ];
}

function text(runs, { rounds }) {
  const sizes = runs.flatMap((run) =>
    [run.few, run.many].map((lists) => [
      `${run.latencyMs} ms`,
      lists[0].records.toLocaleString("en"),
      mib(lists[0].bytes),
      range(spread(lists.map(({ firstMs }) => firstMs)), 0),
      range(spread(lists.map(({ ms }) => ms)), 0),
      range(spread(perRecord(lists)), 1),
      lists.at(-1).list,
    ]),
  );
  const costs = runs.map((run) => [
    `${run.latencyMs} ms`,
    range(spread(run.cpu), 1),
    range(spread(run.growth.map(toMib)), 1),
    range(spread(run.kept.map(toMib)), 1),
    range(spread(run.rss.map(toMib)), 0),
    `${run.delay.p50.toFixed(1)} / ${run.delay.p99.toFixed(1)} / ${run.delay.p999.toFixed(1)} / ${run.delay.max.toFixed(1)}`,
    `${run.idle.p50.toFixed(1)} / ${run.idle.p99.toFixed(1)} / ${run.idle.p999.toFixed(1)} / ${run.idle.max.toFixed(1)}`,
    aboveIdle(run).toFixed(1),
  ]);
  return [
    `One client, one list at a time, ${rounds} rounds; median (least to most). 0 ms is the hardest case for memory and delay: the platform is never waited for. Both are held to the numbers.`,
    table(
      ["per upstream call", "records", "MiB", "first byte, ms", "last byte, ms", "µs a record", "carryover-list"],
      sizes,
    ),
    "Processor time is that of all threads of the process, for a list that nothing else is measured of. Memory is asked of the process every 50 ms: `heapUsed + external`, above what it was with everything collected before the list; the greatest counts. Kept is the same after the list, with everything collected again. Event-loop delay is how late a timer of 10 ms is, over all rounds: each reading is those 10 ms and the delay, as with node's own monitor.",
    table(
      [
        "per upstream call",
        "processor time a record, µs",
        "growth of heap + external, MiB",
        "kept, MiB",
        "greatest RSS, MiB",
        "event-loop delay, ms: p50 / p99 / p99.9 / max",
        "the same, idle",
        "p99.9 above idle",
      ],
      costs,
    ),
  ].join("\n\n");
}

const toMib = (bytes) => bytes / 2 ** 20;
