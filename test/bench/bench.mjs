/** Runs the rows of the bench one after another, each with its own processes. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { modulesOf } from "../../scripts/build/modules.mjs";
import { recordAnswers } from "./answers.mjs";
import { chooseLoad } from "./load.mjs";
import { printReport, writeReport } from "./report.mjs";
import { KEYS, ROWS } from "./rows.mjs";
import { settingsFor } from "./settings.mjs";

const DIST = join(import.meta.dirname, "../../dist");

/**
 * `only`: keys of rows, separated by commas; none means all. Prints everything; a whole run that is not `quick` also writes
 * RESULTS.md and the picture. `before`: an earlier build, for rows that can set one beside `dist`. Sets the exit code to 1 when something broke (a wrong answer, not 2xx, or none): no number
 * that was not reached does that.
 */
export async function runBench({ quick = false, dist = DIST, before, only = "", load = "" }) {
  const keys = only === "" ? KEYS : only.split(",");
  const folder = await mkdtemp(join(tmpdir(), "carryover-bench-"));
  try {
    const bench = {
      dist: folderUrl(dist),
      modules: await modulesOf(folderUrl(dist)),
      before: before === undefined ? undefined : folderUrl(before),
      folder,
      settings: settingsFor(quick),
      load: await chooseLoad(load),
      wants: (key) => keys.includes(key),
    };
    Object.assign(bench, await recordAnswers());
    const results = [];
    for (const row of ROWS.filter((one) => one.keys.some(bench.wants))) {
      console.error(`${new Date().toISOString().slice(11, 19)} ${row.keys.filter(bench.wants)}: ${row.title}`);
      results.push({ ...row, ...(await measured(row, bench)) });
    }
    printReport(results, bench);
    if (!quick && only === "") await writeReport(results, bench);
    const faults = results.flatMap((result) => result.faults);
    for (const fault of faults) console.error(`broken: ${fault}`);
    if (faults.length > 0) process.exitCode = 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const folderUrl = (path) => pathToFileURL(`${resolve(path)}/`);

/** A row that fails leaves the others their numbers. */
async function measured(row, bench) {
  const started = [];
  const start = async (launching) => {
    const one = await launching;
    started.push(one);
    return one;
  };
  try {
    return await row.measure(bench, start);
  } catch (error) {
    return { goals: [], text: "This row could not be measured.", faults: [`${row.title}: ${error.stack}`] };
  } finally {
    // Clients first: a server waits for answers under way.
    for (const one of started.reverse()) await one.stop();
  }
}
