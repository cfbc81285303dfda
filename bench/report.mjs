/** Writes down what a run found: RESULTS.md, a picture of a long list's memory, and the ratios in recorded.json. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { cpus, loadavg, release, totalmem } from "node:os";
import { join } from "node:path";
import { mib, table } from "./figures.mjs";

const HERE = import.meta.dirname;
const PICTURE = "docs/list-memory.svg";
const RECORDED = join(HERE, "recorded.json");
/** A ratio below this share of the recorded one has fallen. On a shared host that of one commit was 1.30 and 1.85 within five minutes (2026-11-29). */
const FALLEN = 0.65;

/** Prints every table. `runs`: the goals by version of Node, ours first. */
export function printReport(results, bench, runs) {
  console.log([goalTables(runs), machine(bench), parts(results)].join("\n\n"));
}

/** Writes them to RESULTS.md, with NOTES.md in the middle, and the picture of a long list's memory to docs. */
export async function writeReport(results, bench, runs) {
  const title = "# How fast is carryover beside its alternatives?";
  const note =
    "Written by `npm run bench`. Everything ran on one machine, the sides in turns, and ratios are what counts: absolute numbers are the machine's.";
  const notes = readFileSync(join(HERE, "NOTES.md"), "utf8").trim();
  const text = [title, note, goalTables(runs), machine(bench), notes, parts(results)].join("\n\n");
  await writeFile(join(HERE, "RESULTS.md"), `${text}\n`);
  const { memory } = results.find((result) => result.memory !== undefined) ?? {};
  if (memory !== undefined) await writeFile(join(HERE, "../..", PICTURE), memoryPicture(memory));
}

function parts(results) {
  const drawn = `![Memory while a long list is read](../${PICTURE})`;
  return results
    .flatMap(({ title, text, memory }) => [`## ${title}`, text, ...(memory === undefined ? [] : [drawn])])
    .join("\n\n");
}

function goalTables(runs) {
  const head = ["what", "compared with", "target", "measured: median (least to most)", "reached"];
  return runs
    .flatMap(({ node, goals }) => [
      `## Node ${node}`,
      table(
        head,
        goals.map(({ what, against, asked, text, reached }) => [what, against, asked, text, reached]),
      ),
    ])
    .join("\n\n");
}

/** Keeps the goals of one run by Node's major version. Without `whole`, rows that were not measured keep what they had. */
export function record({ node, goals }, whole) {
  const all = recorded();
  const rows = whole ? {} : { ...all[majorOf(node)]?.rows };
  const [on, date] = [commit(), new Date().toISOString().slice(0, 10)];
  for (const { key, ...goal } of goals) if (key !== undefined) rows[key] = rounded({ ...goal, commit: on, date });
  all[majorOf(node)] = { node, rows };
  writeFileSync(RECORDED, `${JSON.stringify(all, null, 2)}\n`);
}

/**
 * Which `goals` of a quick run fell below their record, or have none: `key` and `why`. Compared is the peer's time beside ours, for races processor
 * time: it moves less than requests a second.
 */
export function beneathRecorded(goals, all = recorded()) {
  const { rows = {} } = all[majorOf(process.version)] ?? Object.values(all)[0] ?? {};
  return goals
    .filter(({ gate }) => gate !== undefined)
    .map((goal) => ({ ...goal, before: rows[goal.key]?.gate }))
    .filter(({ gate, before }) => before === undefined || gate < before * FALLEN)
    .map(({ key, gate, what, against, before }) => {
      const fell = `fell to ${gate.toFixed(2)}, which was ${before?.toFixed(2)}`;
      const none = "nothing is recorded; `npm run bench -- --only ROW --record` does that";
      return {
        key,
        why: `${what}, against ${against}: ${before === undefined ? none : `the peer's time beside ours ${fell}`}`,
      };
    });
}

/** Three digits of a ratio say all that a measurement knows. */
const rounded = ({ gate, ...goal }) => (gate === undefined ? goal : { ...goal, gate: Number(gate.toPrecision(3)) });
const recorded = () => JSON.parse(readFileSync(RECORDED, "utf8"));
const majorOf = (node) => /\d+/.exec(node)[0];

const PACKAGES = ["fastify", "@fastify/http-proxy", "@fastify/reply-from", "undici", "pino", "prom-client"];

/** As a list in Markdown. */
function machine({ load }) {
  const [cpu] = cpus();
  const lock = JSON.parse(readFileSync(createRequire(import.meta.url).resolve("../package-lock.json"), "utf8"));
  const packages = PACKAGES.map((name) => `${name} ${lock.packages[`node_modules/${name}`]?.version}`);
  const averages = loadavg().map((value) => value.toFixed(1));
  return [
    `- ${cpus().length} cores of ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}; load average at the end ${averages.join(", ")}`,
    `- Node ${process.version}; ${packages.join(", ")}`,
    `- commit ${commit()}, ${new Date().toISOString().slice(0, 10)}, \`${command()}\``,
    `- load of the races and the profile: ${load.name}; of everything else: the clients in \`bench/clients\``,
    "- load, upstream, carryover and peer each have a process of their own and share the cores",
  ].join("\n");
}

function command() {
  return ["npm run bench", ...(process.argv.length > 2 ? ["--", ...process.argv.slice(2)] : [])].join(" ");
}

export function commit() {
  const git = (...args) => execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8" }).trim();
  try {
    const dirty = git("status", "--porcelain", "--", "../src") === "" ? "" : " with uncommitted changes in src";
    return git("rev-parse", "--short", "HEAD") + dirty;
  } catch {
    return "unknown";
  }
}

const [WIDTH, HEIGHT] = [760, 380];
const PLOT = { left: 64, right: 744, top: 64, bottom: 316 };
const LIMIT_MIB = 48;
const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .title { font-size: 16px; font-weight: 600; }
  .axis { stroke: #57606a; }
  .grid { stroke: #d0d7de; }
  .limit { stroke: #57606a; stroke-dasharray: 6 4; }
  .during { fill: #ddf4ff; }
  .held { stroke: #0969da; }
  .rss { stroke: #bc4c00; }
  .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
  .held-word { fill: #0969da; }
  .rss-word { fill: #bc4c00; }
  .ground { fill: #ffffff; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .axis, .limit { stroke: #9198a1; }
    .grid { stroke: #3d444d; }
    .during { fill: #12263f; }
    .held { stroke: #4493f8; }
    .rss { stroke: #f0883e; }
    .held-word { fill: #4493f8; }
    .rss-word { fill: #f0883e; }
    .ground { fill: #0d1117; }
  }`;

/**
 * `points`: `ms`, and bytes above idle as `held` (heap + external) and `rss`; `from` and `to`: when the list was asked for
 * and there; `got`: what it was.
 */
function memoryPicture({ points, from, to, got }) {
  const lastMs = points.at(-1).ms;
  const values = points.flatMap(({ held, rss }) => [inMib(held), inMib(rss)]);
  const step = niceAbove(Math.max(LIMIT_MIB, ...values) / 5);
  const top = Math.ceil((Math.max(LIMIT_MIB, ...values) + step / 4) / step) * step;
  const bottom = Math.floor((Math.min(0, ...values) + 1) / step) * step;
  const x = (ms) => round(PLOT.left + (ms / lastMs) * (PLOT.right - PLOT.left));
  const y = (value) => round(PLOT.bottom - ((value - bottom) / (top - bottom)) * (PLOT.bottom - PLOT.top));
  const line = (name) => points.map((point) => `${x(point.ms)},${y(inMib(point[name]))}`).join(" ");
  const title = `Memory of carryover while a v1 list of ${got.records.toLocaleString("en")} records (${mib(got.bytes)} MiB) is read`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">
<title>${title}</title>
<style>${STYLE}
</style>
<rect class="ground" width="${WIDTH}" height="${HEIGHT}"/>
<text class="title" x="${PLOT.left}" y="26">${title}</text>
<text x="${PLOT.left}" y="48">MiB above idle: <tspan class="held-word">heap + external</tspan>, <tspan class="rss-word">resident set</tspan>; shaded: from the request to its last byte</text>
<rect class="during" x="${x(from)}" y="${PLOT.top}" width="${round(x(to) - x(from))}" height="${PLOT.bottom - PLOT.top}"/>
${valueAxis({ bottom, top, step }, y)}
${timeAxis(lastMs, x)}
<line class="limit" x1="${PLOT.left}" x2="${PLOT.right}" y1="${y(LIMIT_MIB)}" y2="${y(LIMIT_MIB)}"/>
<text x="${PLOT.right}" y="${y(LIMIT_MIB) + 17}" text-anchor="end">heap + external: at most ${LIMIT_MIB} MiB</text>
<polyline class="line rss" points="${line("rss")}"/>
<polyline class="line held" points="${line("held")}"/>
</svg>
`;
}

function valueAxis({ bottom, top, step }, y) {
  const values = [];
  for (let value = bottom; value <= top; value += step) values.push(value);
  return values
    .map(
      (value) =>
        `<line class="${value === 0 ? "axis" : "grid"}" x1="${PLOT.left}" x2="${PLOT.right}" y1="${y(value)}" y2="${y(value)}"/>` +
        `<text x="${PLOT.left - 8}" y="${y(value) + 4}" text-anchor="end">${value}</text>`,
    )
    .join("\n");
}

function timeAxis(lastMs, x) {
  const step = niceAbove(lastMs / 10_000);
  const seconds = [];
  for (let second = 0; second * 1000 <= lastMs; second += step) seconds.push(second);
  const words = seconds.map((second) => {
    const text = String(round(second));
    return `<text x="${x(second * 1000)}" y="${PLOT.bottom + 20}" text-anchor="middle">${text}</text>`;
  });
  const middle = (PLOT.left + PLOT.right) / 2;
  return `${words.join("")}\n<text x="${middle}" y="${PLOT.bottom + 44}" text-anchor="middle">seconds</text>`;
}

/** The next of 1, 2, 5, 10, 20 …, or of their tenths, that is not below `value`. */
function niceAbove(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((nice) => nice >= value * 0.999);
}

const inMib = (bytes) => bytes / 2 ** 20;
const round = (value) => Math.round(value * 100) / 100;
