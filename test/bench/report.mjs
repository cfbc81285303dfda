/** How do the results read, for people now and in RESULTS.md later? */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { cpus, loadavg, release, totalmem } from "node:os";
import { join } from "node:path";
import { ratios, spread } from "./stats.mjs";

const PACKAGES = ["fastify", "@fastify/http-proxy", "@fastify/reply-from", "undici", "pino", "prom-client"];

/** Prints the tables; writes them to RESULTS.md unless `quick`. */
export async function report(run) {
  const text = [racesTable(run), processorTable(run), rewritingTable(run)].join("\n\n");
  console.log(`${text}\n\n${conditions(run)}`);
  if (run.quick) return;
  const title = "# How fast is carryover beside its alternatives?";
  const note = "Written by `npm run bench`. Ratios are what counts: both sides ran in turns on the same machine.";
  await writeFile(join(import.meta.dirname, "RESULTS.md"), `${title}\n\n${note}\n\n${text}\n\n${conditions(run)}\n`);
}

function racesTable({ results, settings }) {
  const rows = results.map(({ name, against, samples }) => {
    const [own, peer] = [samples.own, samples.peer].map((side) => side.map(({ perSecond }) => perSecond));
    return [name, against, range(spread(own), 0), range(spread(peer), 0), range(ratios(own, peer), 2)];
  });
  const head = ["carryover", "compared with", "carryover, requests/s", "peer, requests/s", "ratio (more is better)"];
  return `Requests a second, median of ${settings.rounds} rounds (least to most):\n\n${table(head, rows)}`;
}

function processorTable({ results }) {
  const rows = results.map(({ name, samples }) => {
    const [own, peer] = [samples.own, samples.peer].map((side) => side.map(({ cpuUs }) => cpuUs));
    return [name, range(spread(own), 0), range(spread(peer), 0), range(ratios(own, peer), 2)];
  });
  const head = ["carryover", "carryover, µs", "peer, µs", "ratio (less is better)"];
  const note = "Other load on the machine moves this far less than it moves requests a second";
  return `Processor time of the process per request, all its threads. ${note}:\n\n${table(head, rows)}`;
}

function rewritingTable({ rewriting: { bytes, rewrite, parse, rename } }) {
  const rows = [
    ["rewrite and validate, the catalogue's rows", range(rewrite, 0), ""],
    ["JSON.parse", range(parse, 0), range(parse.ratio, 2)],
    ["JSON.parse, rename, JSON.stringify", range(rename, 0), range(rename.ratio, 2)],
  ];
  const head = ["one page of 200 groups", "µs a page", "time of rewriting beside it (less is better)"];
  return `Rewriting ${bytes} bytes in one process, no network:\n\n${table(head, rows)}`;
}

function conditions({ settings, load, answers, calls }) {
  const [cpu] = cpus();
  const require = createRequire(import.meta.url);
  const lock = JSON.parse(readFileSync(require.resolve("../../package-lock.json"), "utf8"));
  const packages = PACKAGES.map((name) => `${name} ${lock.packages[`node_modules/${name}`]?.version}`);
  const { rounds, seconds, connections } = settings;
  return [
    `- ${cpus().length} cores of ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}; load average at the end ${loadavg()
      .map((value) => value.toFixed(1))
      .join(", ")}`,
    `- Node ${process.version}; ${packages.join(", ")}`,
    `- commit ${commit()}, ${new Date().toISOString().slice(0, 10)}, \`${command()}\``,
    `- load: ${load.name}, ${connections} connections, ${rounds} rounds of ${seconds} s a side; the sides take turns, and each goes first in every other round; a ratio is of neighbours in time`,
    `- load, upstream, carryover and peer each have a process of their own and share the cores; carryover counts metrics and logs every request to a file, the peers do nothing of the kind`,
    `- upstream: \`node:http\`, answers of the sandbox as bytes: a group of ${answers[calls.v2Get].body.length} bytes, a page of ${answers[calls.v2List].body.length}`,
  ].join("\n");
}

function command() {
  return ["npm run bench", ...(process.argv.length > 2 ? ["--", ...process.argv.slice(2)] : [])].join(" ");
}

function commit() {
  const git = (...args) => execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8" }).trim();
  try {
    const dirty = git("status", "--porcelain", "--", "../../src") === "" ? "" : " with uncommitted changes in src";
    return git("rev-parse", "--short", "HEAD") + dirty;
  } catch {
    return "unknown";
  }
}

function range({ median, low, high }, digits) {
  return `${median.toFixed(digits)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`;
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
