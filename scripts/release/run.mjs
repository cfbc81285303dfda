/**
 * Releases a version. Everything is made in a clone of the last commit. Then the files are put into `release/`, and tag and commit are
 * brought back, or none of them. Nothing is pushed or published; docs/release.md has the rest.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import semver from "semver";
import { makeArtifacts } from "./artifacts.mjs";
import { lookUpBases } from "./image.mjs";
import { EDITS, MAY_NAME_ANOTHER, released } from "./versions.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const USAGE = `usage: node scripts/release/run.mjs [VERSION] [--tested COMMIT] [--date YYYY-MM-DD] [--without-image] [--dry-run]

  VERSION           such as 1.2.3 or 1.3.0-rc.1; asked for where it is left out
  --tested COMMIT   .ci/run was green for this commit, which must be the last one; without it .ci/run is run now
  --date            day of the release; today where it is left out
  --without-image   leave the image out, where there is neither buildx nor a registry to take its bases from
  --dry-run         make all files and show them, and change nothing in this repository but release/`;

/** Something that whoever releases has to put right. */
class Refusal extends Error {}

/** Runs a program; what it prints is given back, or is part of the error. */
function run(program, words, cwd = ROOT) {
  const { status, stdout, stderr, error } = spawnSync(program, words, {
    cwd,
    encoding: "utf8",
    maxBuffer: 64 * 1024 ** 2,
  });
  if (status === 0) return stdout;
  throw new Refusal(`${program} ${words.join(" ")} failed:\n${error?.message ?? `${stdout}${stderr}`.trim()}`);
}

const git = (...words) => run("git", words).trim();

function wanted() {
  const options = {
    tested: { type: "string" },
    date: { type: "string" },
    "without-image": { type: "boolean" },
    "dry-run": { type: "boolean" },
    help: { type: "boolean" },
  };
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (positionals.length > 1) throw new Error(`there is one version to release, and not ${positionals.length}`);
    return { ...values, version: positionals[0] };
  } catch (error) {
    throw new Refusal(`${error.message}\n${USAGE}`);
  }
}

async function askVersion(current) {
  if (!process.stdin.isTTY) throw new Refusal(`which version? The last one is ${current}\n${USAGE}`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`Version (the last one is ${current}): `);
  terminal.close();
  return answer.trim();
}

function requireVersion(version, current) {
  if (semver.valid(version) !== version) throw new Refusal(`${version} is no version; write it as 1.2.3 or 1.3.0-rc.1`);
  if (!semver.gt(version, current))
    throw new Refusal(`${version} is not newer than ${current}, which package.json names`);
  if (git("tag", "--list", `v${version}`) !== "") throw new Refusal(`there is a tag v${version} already`);
}

function requireDate(date) {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(date) && new Date(`${date}T00:00:00Z`).toJSON()?.startsWith(date);
  if (!isDay) throw new Refusal(`${date} is no day; write it as 2026-11-22`);
}

function requireCleanTree() {
  const changes = git("status", "--porcelain");
  if (changes !== "")
    throw new Refusal(`the tree has changes that are in no commit; commit or remove them:\n${changes}`);
}

function requireTests({ tested, dryRun }) {
  const head = git("rev-parse", "HEAD");
  if (tested !== undefined && tested !== head) {
    throw new Refusal(`--tested ${tested} is not the last commit, ${head}: what was not tested is not released`);
  }
  if (tested !== undefined) return;
  if (dryRun) {
    console.log("Tests: not run, since this is a dry run.");
    return;
  }
  const { status } = spawnSync("bash", [".ci/run"], { cwd: ROOT, stdio: "inherit" });
  if (status !== 0) throw new Refusal(".ci/run is not green");
  requireCleanTree();
}

/** The address of the repository, or nothing where it has none. */
function originOf() {
  return spawnSync("git", ["remote", "get-url", "origin"], { cwd: ROOT, encoding: "utf8" }).stdout.trim();
}

/** Where scripts/install-package-tools.sh put it, or on the PATH. */
function helmOrRefuse() {
  const cached = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "carryover-ci/chart/bin/helm");
  const helm = existsSync(cached) ? cached : "helm";
  if (spawnSync(helm, ["version"]).status === 0) return helm;
  throw new Refusal("there is no helm, which packages the chart: run scripts/install-package-tools.sh");
}

function basesOrRefuse() {
  try {
    return lookUpBases(ROOT, run);
  } catch (error) {
    throw new Refusal(`the image's bases cannot be looked up; --without-image leaves the image out\n${error.message}`);
  }
}

/** Writes the version into the clone, and commits and tags it there as this repository would: with its names and signatures. */
function commitRelease(tree, change) {
  run("npm", ["version", change.version, "--no-git-tag-version", "--ignore-scripts"], tree);
  for (const [file, edit] of EDITS) {
    writeFileSync(join(tree, file), edit(readFileSync(join(tree, file), "utf8"), change));
  }
  writeFileSync(join(tree, "CHANGELOG.md"), change.text);
  const { stdout } = spawnSync("git", ["config", "-z", "--get-regexp", "^(user|gpg|commit|tag)\\."], {
    cwd: ROOT,
    encoding: "utf8",
  });
  for (const setting of stdout.split("\0").filter((line) => line !== "")) {
    // A key, a line feed and its value; a key alone is true.
    const [key = "", ...value] = setting.split("\n");
    run("git", ["config", "--add", key, value.length === 0 ? "true" : value.join("\n")], tree);
  }
  run("git", ["commit", "--quiet", "--all", "--message", `Release ${change.version}`], tree);
  run("git", ["tag", "--annotate", `v${change.version}`, "--message", `carryover ${change.version}`], tree);
}

/** Told, not refused: an example may well name an older version. */
function showLeftovers(tree, current) {
  const alone = `(^|[^0-9.])${current.replaceAll(".", "\\.")}([^0-9.]|\\.[^0-9]|\\.?$)`;
  const words = ["grep", "-n", "-E", alone, "--", ...MAY_NAME_ANOTHER.map((path) => `:!${path}`)];
  const { stdout } = spawnSync("git", words, { cwd: tree, encoding: "utf8" });
  if (stdout !== "") console.log(`These still name ${current}; look whether they should:\n${stdout.trimEnd()}`);
}

/** Puts the files into release/; gives what takes them back. */
function putFiles(out, work) {
  const [folder, before] = [join(ROOT, "release"), join(work, "before")];
  if (existsSync(folder)) cpSync(folder, before, { recursive: true, preserveTimestamps: true });
  const takeBack = () => {
    rmSync(folder, { recursive: true, force: true });
    if (existsSync(before)) cpSync(before, folder, { recursive: true, preserveTimestamps: true });
  };
  try {
    rmSync(folder, { recursive: true, force: true });
    cpSync(out, folder, { recursive: true });
  } catch (error) {
    takeBack();
    throw error;
  }
  return takeBack;
}

/** Tag, then branch. What was done is undone where the rest fails. */
function bringBack(tree, version, takeBackFiles) {
  const tag = `refs/tags/v${version}`;
  const undo = [takeBackFiles];
  try {
    git("fetch", "--quiet", "--no-tags", tree, `${tag}:${tag}`);
    const commit = git("rev-parse", `${tag}^{commit}`);
    undo.push(() => git("update-ref", "-d", tag));
    // A merge writes the files before it moves the branch. Back again; where it wrote none, this changes nothing.
    undo.push(() => git("read-tree", "-m", "-u", commit, "HEAD"));
    git("merge", "--quiet", "--ff-only", commit);
  } catch (error) {
    for (const step of undo) step();
    throw error;
  }
}

async function release() {
  const {
    help,
    tested,
    date = new Date().toISOString().slice(0, 10),
    "without-image": withoutImage = false,
    "dry-run": dryRun = false,
    version: given,
  } = wanted();
  if (help) return console.log(USAGE);
  const current = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version;
  const version = given ?? (await askVersion(current));
  requireVersion(version, current);
  requireDate(date);
  requireCleanTree();
  const { text, section, entries } = released(readFileSync(join(ROOT, "CHANGELOG.md"), "utf8"), version, date);
  const helm = helmOrRefuse();
  const bases = withoutImage ? undefined : basesOrRefuse();
  requireTests({ tested, dryRun });

  const work = mkdtempSync(join(tmpdir(), "carryover-release-"));
  try {
    const [tree, out] = [join(work, "tree"), join(work, "out")];
    mkdirSync(out);
    run("git", ["clone", "--quiet", "--no-tags", ROOT, tree]);
    commitRelease(tree, { version, current, text, entries, prerelease: semver.prerelease(version) !== null });
    const files = makeArtifacts({ tree, out, version, section, origin: originOf(), helm, bases, run });
    showLeftovers(tree, current);
    const takeBackFiles = putFiles(out, work);
    if (!dryRun) bringBack(tree, version, takeBackFiles);
    console.log(`In release/:\n${files.map((file) => `  ${file}`).join("\n")}`);
    console.log(
      dryRun
        ? "A dry run: no commit, no tag."
        : `Committed and tagged as v${version}; nothing was pushed. To do so: git push --follow-tags`,
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

try {
  await release();
} catch (error) {
  console.error(`Not released: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
