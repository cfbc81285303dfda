/**
 * Checks that nothing grows while carryover works for hours (T-LOD-11). `npm run real -- soak --minutes 10` runs half
 * the load that carryover can serve, of all kinds, with faults, clients that leave and rules that change. `--seed N`
 * repeats the same requests; `--hard` adds everything in `hogs.mjs`.
 */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { randomOf } from "../../test/support/random.mjs";
import { createHogs } from "./hogs.mjs";
import { createLoad } from "./load.mjs";
import { nextRequest, rulesOf } from "./mix.mjs";
import {
  amount,
  MB,
  openFiles,
  optionsOfSoak,
  runSoak,
  sampleFor,
  slopes,
  startCarryover,
  startPlatform,
} from "./stage.mjs";

const CALIBRATE_MS = 10_000;
const CLIENTS = 32;
/** Idle connections to the platform are gone after four seconds, and those of clients with the clients. */
const IDLE_MS = 7_000;
/** The goal for files and handles: how many more may be open at the end than at the beginning. */
const MOST_LEFT = 2;
/** Share of requests that may be refused at half load: something else on the machine may take the processor for a moment. */
const MOST_SHED = 0.001;

const { minutes, seed, hard } = optionsOfSoak("soak", { minutes: "10", seed: "20261122", hard: false });

async function main(work) {
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
  const random = randomOf(seed);
  const load = createLoad(url, () => nextRequest(random, hard));
  const most = await load.flatOut(CALIBRATE_MS, CLIENTS);
  const rate = Math.max(10, Math.floor(most / 2));
  console.log(`flat out ${Math.round(most)} requests/s; now ${rate} requests/s for ${minutes} min, seed ${seed}`);
  const hogs = hard ? createHogs(url, load.judge) : undefined;
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
  const { counts } = load;
  const handles = amount(atLast.resources) - amount(atFirst.resources);
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
    ...slopes(samples, atFirst, atLast),
    ["files and sockets left open", leftOpen, "files", leftOpen <= MOST_LEFT],
    ["handles left over", handles, "handles", handles <= MOST_LEFT],
    ["exit status on SIGTERM", code ?? -1, "", code === 0],
  ];
}

await runSoak({ id: "T-LOD-11" }, async (work) => {
  const result = await main(work);
  return { rows: judged(result), samples: result.samples, examples: result.load.examples };
});
