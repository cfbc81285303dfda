/**
 * Checks that nothing grows while carryover works for hours (T-LOD-11). `npm run real -- soak --minutes 10` runs half
 * the load that carryover can serve, of all kinds, with faults, clients that leave and rules that change. `--seed N`
 * repeats the same requests; `--hard` adds everything in `hogs.mjs`.
 */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { optionsOf } from "../../scripts/options.mjs";
import { createHogs } from "./hogs.mjs";
import { createLoad } from "./load.mjs";
import { createRandom, nextRequest, rulesOf } from "./mix.mjs";
import {
  byMinute,
  growthOf,
  MB,
  openFiles,
  sampleFor,
  startCarryover,
  startPlatform,
  stopAll,
  tell,
} from "./stage.mjs";

const CALIBRATE_MS = 10_000;
const CLIENTS = 32;
/** Idle connections to the platform are gone after four seconds, and those of clients with the clients. */
const IDLE_MS = 7_000;
/** Goals: growth in MB a minute, and what may be open at the end beyond what was at the beginning. */
const MOST_GROWTH = 1;
const MOST_LEFT = 2;
/** Share of requests that may be refused at half load: something else on the machine may take the processor for a moment. */
const MOST_SHED = 0.001;

const values = optionsOf(
  {
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: "20261122" },
    hard: { type: "boolean", default: false },
  },
  "npm run real -- soak [--minutes N] [--seed N] [--hard]",
  (given) => {
    if (!(Number(given.minutes) > 0)) return `${given.minutes} is no number of minutes`;
    return Number.isSafeInteger(Number(given.seed)) ? undefined : `${given.seed} is no seed, which is a whole number`;
  },
);
const minutes = Number(values.minutes);
const seed = Number(values.seed);

const work = mkdtempSync(join(tmpdir(), "carryover-soak-"));

async function main() {
  const rulesFile = join(work, "rules.yaml");
  writeFileSync(rulesFile, rulesOf(0));
  const platform = await startPlatform("platform.mjs");
  const carryover = await startCarryover(work, {
    "upstream-v2-url": platform.url,
    "upstream-v1-url": platform.url,
    "cutover-rules-file": rulesFile,
  });
  const { url, ask } = carryover;
  const atFirst = await ask("settle");
  const filesAtFirst = openFiles(carryover.child.pid);
  const random = createRandom(seed);
  const load = createLoad(url, () => nextRequest(random, values.hard));
  const most = await load.flatOut(CALIBRATE_MS, CLIENTS);
  const rate = Math.max(10, Math.floor(most / 2));
  console.log(`flat out ${Math.round(most)} requests/s; now ${rate} requests/s for ${minutes} min, seed ${seed}`);
  const hogs = values.hard ? createHogs(url, load.judge) : undefined;
  const watching = sampleFor(minutes * 60_000, carryover, { file: rulesFile, of: rulesOf });
  await load.steady(minutes * 60_000, rate);
  const { samples, reloads } = await watching;
  await hogs?.end();
  await load.end();
  await sleep(IDLE_MS);
  const atLast = await ask("settle");
  const leftOpen = openFiles(carryover.child.pid) - filesAtFirst;
  carryover.child.kill("SIGTERM");
  const [code] = await once(carryover.child, "exit");
  return { samples, reloads, load, hogs, rate, atFirst, atLast, leftOpen, code };
}

/** [what, value, unit, whether the goal is met (undefined: there is none)] */
function judged({ samples, reloads, load, hogs, rate, atFirst, atLast, leftOpen, code }) {
  const growth = growthOf(samples);
  const rss = growth((sample) => sample.rss / MB);
  const { counts } = load;
  const many = (resources) => Object.values(resources).reduce((sum, count) => sum + count, 0);
  const handles = many(atLast.resources) - many(atFirst.resources);
  return [
    ["length", minutes, "min"],
    ["requests a second", rate, "requests/s"],
    ["requests", counts.sent, "requests"],
    ["faults injected", counts.faults, "faults"],
    ["clients that left", counts.cancelled, "clients"],
    ["requests that were withheld, for too many were under way", counts.withheld, "requests"],
    ["changes of the rules", reloads, "changes"],
    ["answers looked through for foreign markers", counts.looked, "answers"],
    ["foreign markers", counts.foreign, "markers", counts.foreign === 0],
    ["lists looked through for records that stayed", counts.lists, "lists"],
    ["lists that were short", counts.short, "lists", counts.short === 0],
    ...(hogs === undefined ? [] : Object.entries(hogs.counts).map(([what, count]) => [`hogs: ${what}`, count, ""])),
    ["most memory (RSS)", Math.max(...samples.map((sample) => sample.rss)) / MB, "MB"],
    ["requests refused for load", counts.shed, "requests", counts.shed <= counts.sent * MOST_SHED],
    ["answers that no fault explains", counts.unexpected, "answers", counts.unexpected === 0],
    ["memory slope after warming up (RSS)", rss, "MB/min", rss < MOST_GROWTH],
    ["heap slope after warming up, not collected", growth((sample) => sample.heap / MB), "MB/min"],
    ["heap after collection, before", atFirst.heap / MB, "MB"],
    ["heap after collection, after", atLast.heap / MB, "MB"],
    ["slope of open files and sockets under load", growth(({ files }) => files), "files/min"],
    ["slope of timers under load", growth(({ timers }) => timers), "timers/min"],
    ["files and sockets left open", leftOpen, "files", leftOpen <= MOST_LEFT],
    ["handles left over", handles, "handles", handles <= MOST_LEFT],
    ["exit status on SIGTERM", code ?? -1, "", code === 0],
  ];
}

try {
  const result = await main();
  const rows = judged(result);
  tell({ id: "T-LOD-11", rows });
  console.log(`RSS by the minute, MB: ${byMinute(result.samples).join(" ")}`);
  for (const example of result.load.examples) console.log(`  ${example}`);
  if (rows.some(([, , , met]) => met === false)) process.exitCode = 1;
} finally {
  stopAll();
  rmSync(work, { recursive: true, force: true });
}
