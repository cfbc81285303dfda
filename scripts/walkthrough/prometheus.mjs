/** A real Prometheus that scrapes the walkthrough's carryover and evaluates the runbook's expressions. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../free-ports.mjs";

const PROGRAM = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"),
  "carryover-ci/monitoring/usr/bin/prometheus",
);
const START_MS = 30_000;
const INTERVAL = "200ms";
/** `increase` needs two samples; one more tells a counter that stands still from one that was seen once. */
const SCRAPES = 3;

/**
 * Scrapes `target` (`host:port`) and keeps everything in `folder`. `holds` resolves once there are enough samples since the
 * last `begin`: with the value when the comparison is true, otherwise with undefined. Rejects for what is not PromQL.
 */
export async function startPrometheus(target, folder) {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not there: run scripts/install-monitoring-tools.sh`);
  const file = join(folder, "prometheus.yaml");
  const scrape = { job_name: "carryover", static_configs: [{ targets: [target] }] };
  // YAML includes JSON.
  writeFileSync(file, JSON.stringify({ global: { scrape_interval: INTERVAL }, scrape_configs: [scrape] }));
  const address = `127.0.0.1:${await freePort()}`;
  const flags = [`--config.file=${file}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=${address}`];
  const child = spawn(PROGRAM, flags, { stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(child, "exit");
  let began = Date.now();
  const query = async (expression) => {
    const response = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const { status, data, error } = await response.json();
    if (status !== "success") throw new Error(`${expression}: ${error}`);
    return data.result.map(({ value: [, text] }) => text);
  };
  const window = () => `[${Date.now() - began}ms]`;
  const seen = async () => Number((await query(`count_over_time(up${window()})`))[0] ?? 0) >= SCRAPES;
  const ready = async () => (await fetch(`http://${address}/-/ready`).catch(() => undefined))?.status === 200;
  for (const until = Date.now() + START_MS; !(await ready()); await sleep(50)) {
    if (child.exitCode !== null || Date.now() > until) throw new Error("Prometheus did not start");
  }
  return {
    begin() {
      began = Date.now();
    },
    async holds(expression) {
      while (!(await seen())) await sleep(50);
      // Hours and days in the runbook are the time since the step began.
      const values = await query(expression.replaceAll(/\[\d+[smhdw]\]/g, window()));
      return values.length === 0 ? undefined : values.join(", ");
    },
    async close() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
