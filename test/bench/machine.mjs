/** Describes the machine and the tools of a run. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, loadavg, release, totalmem } from "node:os";

const PACKAGES = ["fastify", "@fastify/http-proxy", "@fastify/reply-from", "undici", "pino", "prom-client"];

/** As a list in Markdown. */
export function machine({ load }) {
  const [cpu] = cpus();
  const lock = JSON.parse(readFileSync(createRequire(import.meta.url).resolve("../../package-lock.json"), "utf8"));
  const packages = PACKAGES.map((name) => `${name} ${lock.packages[`node_modules/${name}`]?.version}`);
  const averages = loadavg().map((value) => value.toFixed(1));
  return [
    `- ${cpus().length} cores of ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}; load average at the end ${averages.join(", ")}`,
    `- Node ${process.version}; ${packages.join(", ")}`,
    `- commit ${commit()}, ${new Date().toISOString().slice(0, 10)}, \`${command()}\``,
    `- load of the races and the profile: ${load.name}; of everything else: the clients in \`test/bench/clients\``,
    "- load, upstream, carryover and peer each have a process of their own and share the cores",
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
