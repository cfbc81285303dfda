/**
 * Measures carryover at three times its capacity. `node bench/overload.mjs [--quick] [--dist FOLDER]` prints the
 * result, and keeps figures in the file that TRUST_FIGURES names. Capacity is measured in the same run; requests come
 * by the clock (clients/open.mjs). Load, platform and carryover are separate processes on one machine. On two cores the
 * load itself takes some of the capacity that it measures.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { optionsOf } from "../scripts/options.mjs";
import { figure, quantile } from "./figures.mjs";
import { startCarryover, startClient, startPeer } from "./processes.mjs";

const values = optionsOf(
  {
    quick: { type: "boolean", default: false },
    dist: { type: "string", default: join(import.meta.dirname, "../dist") },
  },
  "node bench/overload.mjs [--quick] [--dist FOLDER]",
);
const { quick } = values;
const dist = pathToFileURL(`${resolve(values.dist)}/`);
const SECONDS = { capacity: quick ? 2 : 5, before: 2, over: quick ? 5 : 30, after: 5 };
const TIMES = 3;
/** What a client waits; and how many connections the clients have together, as behind an ingress. */
const PATIENCE_MS = 2_000;
const CONNECTIONS = 1_500;
/** A refusal that takes longer was no decision on arrival: the request waited in the queue first, while it had a chance. */
const ON_ARRIVAL_MS = 20;
/** After the overload an answer is as before when it is 200 in this time. */
const CALM_MS = 250;
const GROUP = "57f9e5fa7da60166436d01ae3baf059ec752f4bb/0000000000000010";

/** So cheap to ask for that a client on the same machine can ask for three times what carryover can do, unlike gets. */
const LISTS = {
  upstream: () => startPeer("paged-upstream", [200, 1, 0]),
  flags: {},
  targets: ["/iam/v1/groups", "/iam/v2beta1/groups?page_size=200"],
};
/** What is scarce, and what is asked for; `kept`: connections that are open from the beginning, by default all. */
const SCENES = [
  {
    name: "T-LOD-05: connections to a platform that takes 40 ms are scarce",
    what: "connections",
    upstream: () => startPeer("paged-upstream", [1_000, 40, 40]),
    flags: { "upstream-v2-connections": 32 },
    targets: [`/iam/v1/groups/${GROUP}`, `/iam/v2beta1/groups/${GROUP}`],
  },
  {
    name: "T-LOD-04, T-LOD-05, T-LOD-12: the processor is scarce, 90 gets to 8 lists of 200 and 2 lists of 2,000",
    what: "processor, mixed",
    rounds: quick ? 1 : 5,
    upstream: () => startPeer("paged-upstream", [2_000, 1, 0]),
    flags: {},
    targets: [
      ...Array.from({ length: 90 }, (_, i) => `/iam/${i % 2 === 0 ? "v1" : "v2beta1"}/groups/${GROUP}`),
      ...Array.from({ length: 10 }, (_, i) => ({ target: "/iam/v1/groups", records: i < 8 ? 200 : 2_000 })),
    ],
  },
  {
    name: "T-LOD-05: the processor is scarce, lists of 200 records, half of them translated",
    what: "processor, lists",
    ...LISTS,
  },
  {
    name: "T-LOD-05: the same lists, from clients that have no connection yet",
    what: "processor, lists on new connections",
    ...LISTS,
    kept: 0,
  },
];

const folder = await mkdtemp(join(tmpdir(), "carryover-overload-"));
try {
  console.log(`${cpus().length} cores, load average ${loadavg()[0].toFixed(1)}, Node ${process.version}`);
  for (const scene of SCENES) await play(scene, folder);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function play(scene, folder) {
  const upstream = await scene.upstream();
  const log = join(folder, "overload.log");
  const carryover = await startCarryover(dist, { upstream: upstream.url, log, flags: scene.flags, probe: true });
  const client = await startClient("open");
  try {
    const targets = shuffled(scene.targets).map((one) => ({
      url: carryover.url + (one.target ?? one),
      token: one.records === undefined ? "somebody" : `records-${one.records}-caller-${one.records}`,
    }));
    await client.ask({ do: "closed", targets, connections: 64, seconds: SECONDS.capacity });
    const rounds = [];
    for (let round = 0; round < (scene.rounds ?? 1); round++) {
      rounds.push(await measure(scene, { carryover, client, targets }));
      await sleep(500);
    }
    // The processor is not equally fast all the time, and neither is what is measured of it: the middle one counts.
    rounds.sort((a, b) => a.ratio - b.ratio);
    if (rounds.length > 1)
      console.log(`\n${scene.what}: ${rounds.map(({ ratio }) => ratio.toFixed(2)).join(", ")} of capacity`);
    report(scene, rounds[Math.floor(rounds.length / 2)]);
  } finally {
    for (const one of [client, carryover, upstream]) await one.stop();
  }
}

/** The capacity now, and what becomes of half of it, of several times as much, and of half again. */
async function measure({ kept = CONNECTIONS }, { carryover, client, targets }) {
  const capacity = await client.ask({ do: "closed", targets, connections: 64, seconds: SECONDS.capacity });
  const rate = capacity.perSecond;
  await carryover.ask({ do: "forget" });
  await carryover.ask({ do: "feel" });
  const phases = [
    { rate: rate / 2, seconds: SECONDS.before },
    { rate: rate * TIMES, seconds: SECONDS.over },
    { rate: rate / 2, seconds: SECONDS.after },
  ];
  const told = await client.ask({ do: "open", targets, phases, patienceMs: PATIENCE_MS, most: CONNECTIONS, kept });
  const { delay } = await carryover.ask({ do: "felt" });
  const good = told.phases[1].served.length / SECONDS.over;
  return { capacity, told, delay, good, ratio: good / rate };
}

function report({ name, what }, { capacity, told, delay, good, ratio }) {
  const [before, over, after] = told.phases;
  const recovered = recoveryMs(after.line);
  const text = ({ counts }) =>
    Object.entries(counts)
      .map(([kind, count]) => `${count} × ${kind}`)
      .join(", ");
  const times = (all) =>
    all.length === 0 ? "–" : `${quantile(all, 0.5).toFixed(1)} / ${quantile(all, 0.99).toFixed(1)}`;
  console.log(`\n${name}`);
  console.log(
    `  capacity ${capacity.perSecond.toFixed(0)} a second, p50 / p99 ${times(capacity.served)} ms, ${capacity.failed} failed`,
  );
  console.log(`  half of it, before: ${text(before)}; p50 / p99 ${times(before.served)} ms`);
  console.log(
    `  ${TIMES} times: ${text(over)}; served p50 / p99 ${times(over.served)} ms, refused ${times(over.refused)} ms`,
  );
  console.log(
    `  goodput ${good.toFixed(0)} a second, ${ratio.toFixed(2)} of capacity; load late by ${over.late.toFixed(0)} ms (p99)`,
  );
  console.log(`  half of it, after: ${text(after)}; as before after ${recovered} ms`);
  console.log(
    `  event-loop delay p99 ${(delay.p99 - delay.resolution).toFixed(1)} ms; ${told.connections} connections made`,
  );
  const note = (of, value, unit) => figure("T-LOD-05", `${what}: ${of}`, value, unit);
  note("goodput at three times the capacity, share of the capacity", ratio, "ratio");
  if (over.refused.length > 0) {
    const onArrival = over.refused.filter((ms) => ms < ON_ARRIVAL_MS).length / over.refused.length;
    note("time to a refusal, p50", quantile(over.refused, 0.5), "ms");
    note("share of refusals within 20 ms; the others waited for a place first", onArrival, "ratio");
    note("time to a refusal, the wait for a place included, p99", quantile(over.refused, 0.99), "ms");
  }
  note("from the end of the overload until every answer is as before", recovered, "ms");
  if (what === "processor, mixed") {
    figure("T-LOD-04", "mixed requests held", capacity.perSecond, "requests/s");
    figure("T-LOD-04", "mixed requests held, p99", quantile(capacity.served, 0.99), "ms");
  }
  figure("T-LOD-12", `${what}: event-loop delay p99 through all phases`, delay.p99 - delay.resolution, "ms");
}

/** Until the last tenth of a second in which one was refused, left without an answer, or late. */
function recoveryMs(line) {
  return 100 * (line.findLastIndex(({ other, slowest }) => other > 0 || slowest > CALM_MS) + 1);
}

/** The same order in every run, and no two of a kind in a row more often than there must be. */
function shuffled(list) {
  return list
    .map((one, i) => [((i * 7919) % 104_729) % list.length, one])
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one);
}
