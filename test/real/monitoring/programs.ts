/**
 * Finds the programs that check rules, dashboard and metrics. (`scripts/install-monitoring-tools.sh` installs them.)
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export const ROOT = resolve(import.meta.dirname, "../../..");
export const RULES = join(ROOT, "helm/files/rules/carryover.yaml");
export const DASHBOARDS = ["carryover.json", "carryover-performance.json"].map((name) =>
  join(ROOT, "helm/files/dashboards", name),
);

export const TOOLS = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "carryover-ci/monitoring");

/** The path of a program, or of a folder. Throws with the remedy when it is not there: a test never passes without it. */
export function tool(name: "prometheus" | "promtool" | "prometheus-alertmanager" | "node_modules"): string {
  const path = join(TOOLS, name === "node_modules" ? name : `usr/bin/${name}`);
  if (existsSync(path)) return path;
  throw new Error(`${path} is not there: run scripts/install-monitoring-tools.sh`);
}

export interface Outcome {
  readonly code: number;
  /** Both outputs, one behind the other. */
  readonly text: string;
}

/** Runs a program to its end, with `input` on its standard input. */
export function run(path: string, args: readonly string[], input = ""): Promise<Outcome> {
  return new Promise((done, failed) => {
    const child = execFile(path, [...args], { cwd: ROOT, maxBuffer: 64 << 20 }, (error, out, err) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === "number") done({ code, text: `${out}${err}` });
      else failed(error);
    });
    child.stdin?.end(input);
  });
}
