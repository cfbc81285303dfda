/** Describes the machine and the tools of a run, as data. */
import { execFileSync } from "node:child_process";
import { cpus, loadavg, release, totalmem } from "node:os";

/** Facts for the results file. The load average is that before the run: what others did meanwhile it cannot say. */
export function environmentOf({ nginx, wrk }) {
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

function commit() {
  const git = (...args) => execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8" }).trim();
  const dirty = git("status", "--porcelain", "--", "../../../src") === "" ? "" : " with uncommitted changes in src";
  return git("rev-parse", "--short", "HEAD") + dirty;
}
