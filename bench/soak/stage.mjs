/** The processes of the soak tests, the memory of carryover while they run, and the output of their results. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { optionsOf } from "../../scripts/options.mjs";
import { NODE_FLAGS } from "../processes.mjs";
import { slope } from "./slope.mjs";

const HERE = import.meta.dirname;
const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
export const MB = 2 ** 20;
const SAMPLE_MS = 5_000;
const RELOAD_MS = 15_000;
/** Of the whole time: caches, pools and compiled code fill in the beginning. */
const WARM_UP = 0.25;
/** The goal: growth in MB a minute. */
const MOST_GROWTH = 1;

const children = [];

/** Starts `words` with node; resolves with what its output says when it matches. */
export async function start(words, pattern, stdio = ["ignore", "pipe", "inherit"]) {
  const child = spawn(process.execPath, words, { stdio });
  children.push(child);
  const stream = child.stdout ?? child.stderr;
  let text = "";
  for await (const chunk of stream.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    text += chunk;
    const match = pattern.exec(text);
    if (match === null) continue;
    stream.resume();
    return { child, match };
  }
  throw new Error(`${words.join(" ")} did not start: ${text}`);
}

/** One of the platforms in this folder, at `port` if there is one. */
export async function startPlatform(name, port = 0) {
  const { child, match } = await start([join(HERE, name), String(port)], /^(http:\S+)$/m);
  return { child, url: match[1] };
}

/** The sandbox's descriptors, in a file of `folder`. */
export async function descriptorsIn(folder) {
  const file = join(folder, "api.binpb");
  const { child } = await start([MAIN, "sandbox", "--listen-port", "0", "--descriptors", file], /at http:/);
  child.kill("SIGKILL");
  return file;
}

/** carryover with its log in `folder`; `ask` puts questions to `probe.mjs` inside of it. */
export async function startCarryover(folder, given) {
  const flags = { "listen-host": "127.0.0.1", "listen-port": 0, "admin-port": 0, "cutover-mode": "translate" };
  const options = Object.entries({ ...flags, ...given }).map(([name, value]) => `--${name}=${value}`);
  const log = openSync(join(folder, "log"), "w");
  const words = [...NODE_FLAGS, "--import", pathToFileURL(join(HERE, "probe.mjs")).href, MAIN, "serve", ...options];
  const { child, match } = await start(words, /v1 clients at (\S+),/, ["ignore", log, "pipe", "ipc"]);
  const ask = async (word) => {
    child.send({ do: word });
    const [answer] = await once(child, "message");
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer;
  };
  return { child, url: match[1], ask };
}

/** The options `--minutes N`, `--seed N`, and switches that are false in `defaults`. */
export function optionsOfSoak(name, defaults) {
  const kinds = Object.entries(defaults).map(([key, value]) => [key, { type: typeof value, default: value }]);
  const usage = kinds.map(([key, { type }]) => `[--${key}${type === "string" ? " N" : ""}]`).join(" ");
  const values = optionsOf(Object.fromEntries(kinds), `npm run real -- ${name} ${usage}`, (given) => {
    if (!(Number(given.minutes) > 0)) return `${given.minutes} is no number of minutes`;
    return Number.isSafeInteger(Number(given.seed)) ? undefined : `${given.seed} is no seed, which is a whole number`;
  });
  return { ...values, minutes: Number(values.minutes), seed: Number(values.seed) };
}

/** Runs `work` with a folder of its own, tells its rows as figures of `id`, and fails where a goal is missed. */
export async function runSoak({ id }, work) {
  const folder = mkdtempSync(join(tmpdir(), "carryover-soak-"));
  try {
    const { rows, samples, examples } = await work(folder);
    tell({ id, rows });
    console.log(`RSS by the minute, MB: ${byMinute(samples).join(" ")}`);
    for (const example of examples) console.log(`  ${example}`);
    if (rows.some(([, , , met]) => met === false)) process.exitCode = 1;
  } finally {
    stopAll();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Ends all that was started here. */
function stopAll() {
  for (const child of children) child.kill("SIGKILL");
}

/** Files that are open, sockets among them. */
export const openFiles = (pid) => readdirSync(`/proc/${pid}/fd`).length;

/** Looks at carryover for `ms`, and changes its rules meanwhile: `rules.of` a round is written into `rules.file`. */
export async function sampleFor(ms, { child, ask }, rules) {
  const samples = [];
  const started = performance.now();
  let round = 0;
  while (performance.now() - started < ms) {
    await sleep(Math.min(SAMPLE_MS, ms));
    const { rss, heap, resources } = await ask("look");
    const sockets = (resources.TCPSocketWrap ?? 0) + (resources.TCPWRAP ?? 0);
    samples.push({
      minute: (performance.now() - started) / 60_000,
      rss,
      heap,
      sockets,
      timers: resources.Timeout ?? 0,
      files: openFiles(child.pid),
    });
    if (samples.length % (RELOAD_MS / SAMPLE_MS) !== 0) continue;
    // As an operator would: another file, renamed.
    round += 1;
    writeFileSync(`${rules.file}.next`, rules.of(round));
    renameSync(`${rules.file}.next`, rules.file);
  }
  return { samples, reloads: round };
}

/** Handles of all kinds. */
export const amount = (resources) => Object.values(resources).reduce((sum, count) => sum + count, 0);

/** Rows on what grew: between `samples`, and from the beginning to the end. */
export function slopes(samples, atFirst, atLast) {
  const growth = growthOf(samples);
  const rss = growth((sample) => sample.rss / MB);
  return [
    ["memory slope after warming up (RSS)", rss, "MB/min", rss < MOST_GROWTH],
    ["heap slope after warming up, not collected", growth((sample) => sample.heap / MB), "MB/min"],
    ["heap after collection, before", atFirst.heap / MB, "MB"],
    ["heap after collection, after", atLast.heap / MB, "MB"],
    ["slope of open files and sockets under load", growth(({ files }) => files), "files/min"],
    ["slope of timers under load", growth(({ timers }) => timers), "timers/min"],
  ];
}

/** The slope of a value of each sample, a minute, once it has warmed up. */
function growthOf(samples) {
  const warm = samples.slice(Math.floor(samples.length * WARM_UP));
  return (of) => slope(warm.map((sample) => [sample.minute, of(sample)]));
}

/** The mean of each whole minute. */
function byMinute(samples) {
  const all = [];
  for (const { minute, rss } of samples) {
    all[Math.floor(minute)] ??= [];
    all[Math.floor(minute)].push(rss / MB);
  }
  return all.map((some) => Math.round(some.reduce((sum, one) => sum + one, 0) / some.length));
}

/** Prints `rows` of [what, value, unit, whether the goal is met (undefined: there is none)], and leaves them as figures of `id`. */
function tell({ id, rows }) {
  const shown = (value) => (Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(2));
  const width = Math.max(...rows.map(([what]) => what.length));
  for (const [what, value, unit, met] of rows) {
    console.log(`${what.padEnd(width)}  ${shown(value).padStart(12)} ${unit}${met === false ? "  MISSED" : ""}`);
    const file = process.env.TRUST_FIGURES ?? "";
    if (file !== "") appendFileSync(file, `${JSON.stringify({ id, what, value, unit })}\n`);
  }
}
