/**
 * Runs the trials of the promises, and writes test/trust/result.json, docs/trust.md and the limits in README.md from their results
 * (`npm run trust`). Each part leaves its report in coverage/trust/, so that parts can run one after another: `npm run trust -- long` runs
 * one, `npm run trust -- write` only writes from the existing reports. `npm run trust -- soak --minutes 30` passes options to a part.
 * `npm run trust -- --only T-RPC` runs the rows whose ids begin so, in all parts or in those named after it, and keeps the other results
 * in result.json (`write` behind it takes the reports that there are).
 * `npm run trust -- long --again` repeats the files in which a test failed (or the files named after it) and keeps the other results.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { compactJson } from "../compact-json.mjs";
import { USAGE } from "../options.mjs";
import { figuresOf, mended, mergedInto, replaced, resultOf, testsOf, triedBy } from "./gather.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const REPORTS = join(ROOT, "coverage/trust");
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");

const tests = (config, ...words) => ["vitest", "run", "--config", config, ...words];
/** What is run, by name: with vitest, or a program of its own. Those that may be left out need other programs beside. */
const PARTS = new Map([
  ["long", { command: "npm run real -- long", words: tests("vitest.long.config.ts") }],
  ["guards", { command: "npm run real -- guards", words: tests("vitest.real.config.ts", "test/guards") }],
  [
    "peers",
    { command: "npm run real -- peers", words: tests("vitest.real.config.ts", "test/real/peers"), optional: true },
  ],
  [
    "image",
    { command: "npm run real -- image", words: tests("vitest.real.config.ts", "test/real/image"), optional: true },
  ],
  [
    "bench",
    {
      command: "npm run bench -- --only pass,get,list,busy",
      words: ["bench/run.mjs", "--only", "pass,get,list,busy"],
    },
  ],
  ["overload", { command: "node bench/overload.mjs", words: ["bench/overload.mjs"] }],
  ["crowd", { command: "node bench/crowd.mjs", words: ["bench/crowd.mjs"] }],
  ["soak", { command: "npm run real -- soak", words: ["bench/soak/run.mjs"] }],
  ["soak-ports", { command: "npm run real -- soak-ports", words: ["bench/soak/ports.mjs"], id: "T-RPC-01" }],
]);

const file = (name, kind) => join(REPORTS, `${name}.${kind}`);

/** Runs one part and leaves its report, its figures and how it ended. */
async function run(name, more) {
  const { words, command } = PARTS.get(name);
  const end = await attempt({ name, words: [...words, ...more], said: `${command} ${more.join(" ")}` });
  if (end.code === USAGE) process.exit(USAGE);
  writeFileSync(file(name, "end"), JSON.stringify({ ...end, more }));
}

/** Runs `files` of one part, those in which a test failed unless told, and puts what they give in the place of what they gave. */
async function runAgain(name, files) {
  const old = existsSync(file(name, "end")) ? JSON.parse(readFileSync(file(name, "end"), "utf8")) : undefined;
  if (old === undefined || !existsSync(file(name, "json"))) {
    console.error(
      `${name} has no tests that could be run again: run \`npm run trust -- ${name}\` first, if it has tests`,
    );
    process.exit(USAGE);
  }
  const report = JSON.parse(readFileSync(file(name, "json"), "utf8"));
  const failed = report.testResults.filter(({ status }) => status === "failed").map((one) => relative(ROOT, one.name));
  const chosen = files.length > 0 ? files : failed;
  if (chosen.length === 0) return console.log(`nothing failed in ${name}`);
  const { words, command } = PARTS.get(name);
  const again = `${name}-again`;
  const end = await attempt({
    name: again,
    // `vitest run --config FILE`; what chose files behind it chooses no more.
    words: [...words.slice(0, 4), ...chosen],
    said: `${command}, again ${chosen.join(" ")}`,
  });
  const read = (kind) => [name, again].map((one) => readFileSync(file(one, kind), "utf8"));
  const merged = mended(...read("json").map((text) => JSON.parse(text)));
  const figures = replaced(...read("figures").map(figuresOf));
  writeFileSync(file(name, "json"), JSON.stringify(merged));
  writeFileSync(file(name, "figures"), figures.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const seconds = old.seconds + end.seconds;
  const commits = [...new Set([...old.commit.split(", "), end.commit])].join(", ");
  writeFileSync(file(name, "end"), JSON.stringify({ ...end, seconds, commit: commits, more: old.more }));
}

/** Runs what leaves its report and its figures under `name`, and gives how it ended. */
async function attempt({ name, words, said }) {
  // What an earlier run left is not taken for this one's.
  for (const kind of ["json", "figures", "end"]) rmSync(file(name, kind), { force: true });
  const withVitest = words[0] === "vitest";
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file(name, "json")}`];
  const all = withVitest ? [VITEST, ...words.slice(1), ...reporters] : words;
  console.log(`== ${said}`);
  const started = performance.now();
  const at = commit();
  writeFileSync(file(name, "figures"), "");
  const env = { ...process.env, TRUST_FIGURES: file(name, "figures") };
  const child = spawn(process.execPath, all, { cwd: ROOT, stdio: "inherit", env });
  const [code] = await once(child, "exit");
  return {
    code,
    seconds: Math.round((performance.now() - started) / 1000),
    commit: at,
    node: process.version,
  };
}

/** What one part gave, or what there is of it under another `name`; undefined where it has not been run. */
function partOf(part, name = part) {
  const { command, words } = PARTS.get(part);
  if (!existsSync(file(name, "end"))) return undefined;
  const { code, seconds, more, commit: at, node } = JSON.parse(readFileSync(file(name, "end"), "utf8"));
  const said = [command, ...(more.length > 0 && !command.includes(" -- ") ? ["--"] : []), ...more].join(" ");
  const figures = figuresOf(readFileSync(file(name, "figures"), "utf8"));
  const whole = { command: said, seconds, figures, at, node };
  if (words[0] !== "vitest") {
    return { ...whole, passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, tests: triedBy(figures, code === 0) };
  }
  const report = JSON.parse(readFileSync(file(name, "json"), "utf8"));
  // A file that could not be loaded has no test that failed.
  const broken = report.testResults.filter(({ status, assertionResults }) => {
    return status === "failed" && assertionResults.every((one) => one.status !== "failed");
  });
  return {
    ...whole,
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    tests: testsOf(report),
  };
}

/** Runs the rows whose ids begin with `prefix`, in the parts called `names`, and puts their results into result.json. */
async function runOnly(prefix, names) {
  const withId = [...PARTS].filter(([, { id }]) => id?.startsWith(prefix)).map(([name]) => name);
  const parts = names.filter((name) => name !== "write");
  const chosen = parts.length > 0 ? parts : ["long", ...withId];
  const found = [];
  for (const name of chosen) {
    const { command, words } = PARTS.get(name);
    const own = `${name}-only`;
    if (!names.includes("write")) {
      const isTests = words[0] === "vitest";
      const more = isTests ? [...filesWith(prefix), "-t", prefix] : [];
      const end = await attempt({ name: own, words: [...words, ...more], said: `${command}, only ${prefix}` });
      writeFileSync(file(own, "end"), JSON.stringify({ ...end, more: [] }));
    }
    const part = partOf(name, own);
    if (part !== undefined) found.push({ ...part, command: `npm run trust -- --only ${prefix} ${name}` });
  }
  const path = join(ROOT, "test/trust/result.json");
  const result = mergedInto(JSON.parse(readFileSync(path, "utf8")), prefix, found, around(found));
  await writeResult(result);
}

/** Files with tests that name an id which begins with `prefix`. */
function filesWith(prefix) {
  const names = readdirSync(join(ROOT, "test"), { recursive: true }).filter((name) => /\.(?:test|all)\.ts$/.test(name));
  const files = names.map((name) => `test/${name}`);
  const about = /^test\/trust\/(?:plan|page)\.all\.ts$/;
  return files.filter((name) => !about.test(name) && readFileSync(join(ROOT, name), "utf8").includes(prefix));
}

function commit() {
  const git = (...words) => execFileSync("git", words, { cwd: ROOT, encoding: "utf8" }).trim();
  try {
    const dirty =
      git("status", "--porcelain", "--", "src", "test", "bench", ":(exclude)test/trust/result.json") === ""
        ? ""
        : " with changes that are in no commit";
    return git("rev-parse", "--short=12", "HEAD") + dirty;
  } catch {
    return "unknown";
  }
}

/** What figures depend on beside the code. */
function around(parts) {
  const [cpu] = cpus();
  const setup = readFileSync(join(ROOT, "test/setup.ts"), "utf8");
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: [...new Set(parts.flatMap(({ at }) => at.split(", ")))].join(", "),
    node: [...new Set(parts.map(({ node }) => node))].join(", "),
    machine: `${cpus().length} cores of ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}`,
    seed: process.env.FC_SEED ?? /\?\? "(\d+)"/.exec(setup)?.[1] ?? "unknown",
  };
}

async function write() {
  const parts = [...PARTS.keys()].map(partOf).filter((part) => part !== undefined);
  await writeResult(resultOf(parts, around(parts)));
}

async function writeResult(result) {
  writeFileSync(join(ROOT, "test/trust/result.json"), `${compactJson(result)}\n`);
  const child = spawn(process.execPath, [join(ROOT, "scripts/docs/write.mjs"), "docs/trust.md", "README.md"], {
    cwd: ROOT,
    stdio: "inherit",
  });
  const [code] = await once(child, "exit");
  const failed = result.runs.filter((one) => one.failed > 0).map(({ command }) => command);
  for (const command of failed) console.error(`not all of ${command} passed: docs/trust.md says so`);
  const missed = readFileSync(join(ROOT, "docs/trust.md"), "utf8").includes("**goal missed**");
  if (missed) console.error("not all goals are met: docs/trust.md says which");
  if (code !== 0 || failed.length > 0 || missed) process.exitCode = 1;
}

const [asked, ...more] = process.argv.slice(2);
const isOnly = asked === "--only";
const isKnown = isOnly
  ? /^T-[A-Z]{3}/.test(more[0] ?? "") && more.slice(1).every((name) => name === "write" || PARTS.has(name))
  : asked === undefined || asked === "write" || PARTS.has(asked);
if (!isKnown) {
  const parts = [...PARTS.keys()].join(" | ");
  console.error(
    `usage: npm run trust -- [${parts} | write] [what the part takes]\n   or: npm run trust -- --only T-RPC [part …]`,
  );
  process.exitCode = 2;
} else {
  mkdirSync(REPORTS, { recursive: true });
  if (isOnly) await runOnly(more[0], more.slice(1));
  else {
    const names = asked === undefined ? [...PARTS.keys()].filter((name) => !PARTS.get(name).optional) : [asked];
    const again = more[0] === "--again";
    for (const name of names) if (PARTS.has(name)) await (again ? runAgain(name, more.slice(1)) : run(name, more));
    await write();
  }
}
