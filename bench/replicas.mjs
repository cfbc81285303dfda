/**
 * Measures what one replica holds, and what several serve behind nginx or as workers of node:cluster.
 * `node bench/replicas.mjs` takes about twelve minutes. It writes replicas.json beside this file, and from it the
 * figures of docs/scale.md. `-- --quick` tries everything and writes nothing; `--write` only regenerates the page from
 * the file.
 */

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { cpus, loadavg, release, tmpdir, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { compactJson } from "../scripts/compact-json.mjs";
import { optionsOf } from "../scripts/options.mjs";
import { measureHolds } from "./replicas/holds.mjs";
import { measureTurns } from "./replicas/measure.mjs";
import { blocks, filledIn } from "./replicas/page.mjs";
import { commit } from "./report.mjs";
import { findTool } from "./tools.mjs";

const HERE = import.meta.dirname;
const RESULTS = join(HERE, "replicas.json");
const PAGE = join(HERE, "../docs/scale.md");
const FULL = {
  turns: { rounds: 7, seconds: 1, warmupSeconds: 2, records: 2_000 },
  holds: {
    starts: 7,
    settleSeconds: 5,
    connections: 2_000,
    waiting: 900,
    clients: 20_000,
    lists: 16,
    records: 100_000,
    rounds: 3,
  },
};
const QUICK = {
  turns: { rounds: 1, seconds: 1, warmupSeconds: 1, records: 2_000 },
  holds: {
    starts: 1,
    settleSeconds: 1,
    connections: 300,
    waiting: 200,
    clients: 2_000,
    lists: 16,
    records: 10_000,
    rounds: 1,
  },
};

const values = optionsOf(
  {
    quick: { type: "boolean" },
    write: { type: "boolean" },
    dist: { type: "string", default: join(HERE, "../dist") },
  },
  "node bench/replicas.mjs [--quick] [--write] [--dist FOLDER]",
);
if (!values.write) await run(values);
else await writePage(JSON.parse(await readFile(RESULTS, "utf8")));

async function run({ quick = false, dist }) {
  const [nginx, wrk] = [await findTool("nginx", ["-v"]), await findTool("wrk", ["-v"])];
  if (nginx === undefined || wrk === undefined)
    throw new Error("nginx and wrk are needed: scripts/install-bench-tools.sh");
  const folder = await mkdtemp(join(tmpdir(), "carryover-replicas-"));
  const settings = quick ? QUICK : FULL;
  const bench = { dist: pathToFileURL(`${resolve(dist)}/`), folder, nginx, wrk, settings };
  try {
    const environment = environmentOf(bench);
    const holds = await measureHolds(bench);
    const turns = await measureTurns(bench);
    const results = { ...environment, settings, holds, turns };
    for (const [name, text] of blocks(results)) console.log(`\n${name}\n\n${text}`);
    if (quick) return;
    await writeFile(RESULTS, `${compactJson(JSON.parse(JSON.stringify(results, rounded)))}\n`);
    await writePage(JSON.parse(await readFile(RESULTS, "utf8")));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Four digits say all that a measurement knows. */
function rounded(_, value) {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}

async function writePage(results) {
  await writeFile(PAGE, filledIn(await readFile(PAGE, "utf8"), results));
}

/** Facts for the results file. The load average is that before the run: what others did meanwhile it cannot say. */
function environmentOf({ nginx, wrk }) {
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: commit(),
    node: process.version,
    cores: cpus().length,
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `Linux ${release()}`,
    nginx: nginx.version.replace("nginx version: ", ""),
    wrk: /^wrk \S+/.exec(wrk.version)?.[0] ?? "wrk",
    loadBefore: loadavg()[0],
  };
}
