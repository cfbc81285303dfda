/** Finds and runs the programs that judge the chart. (`scripts/install-chart-tools.sh` installs them.) */
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export const CACHE = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "carryover-ci");
const TOOLS = join(CACHE, "chart");

/** Where the schemas of Kubernetes' kinds lie, a folder a release, and those of custom resources in `crds`. */
export const SCHEMAS = join(TOOLS, "schemas");
/** Where the definitions of custom resources lie, as an API server takes them. */
export const DEFINITIONS = join(TOOLS, "crds");

/** The path of a program. Throws with the remedy when it is not there: a test never passes without it. */
export function tool(name: "helm" | "helm-unittest" | "kubeconform"): string {
  const path = join(TOOLS, "bin", name);
  if (!existsSync(path)) throw new Error(`${path} is not there: run scripts/install-chart-tools.sh`);
  return path;
}

/** The releases of Kubernetes that there are schemas of, oldest first: `1.25.0`. */
export function releases(): readonly string[] {
  const names = existsSync(SCHEMAS) ? readdirSync(SCHEMAS).filter((name) => /^v\d/.test(name)) : [];
  if (names.length === 0) throw new Error(`${SCHEMAS} holds no schemas: run scripts/install-chart-tools.sh`);
  return names.map((name) => name.slice(1)).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Run {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** For its standard input. */
  readonly input?: string;
}

/** Runs a program to its end. Rejects only when it cannot be started. */
export function ran(path: string, argv: readonly string[], { env = {}, cwd, input = "" }: Run = {}): Promise<Outcome> {
  return new Promise((done, failed) => {
    const child = spawn(path, argv, {
      cwd,
      env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    let out = "";
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      err += text;
    });
    child.once("error", failed);
    child.once("close", (code) => done({ code, out, err }));
    // A program that ends before it has read everything is judged by its code.
    child.stdin.once("error", () => {});
    child.stdin.end(input);
  });
}

/** The standard output of a program that must succeed; its words when it does not. */
export async function said(path: string, argv: readonly string[], run: Run = {}): Promise<string> {
  const { code, out, err } = await ran(path, argv, run);
  if (code !== 0) throw new Error(`${path} ${argv.join(" ")} ended with ${code}:\n${out}${err}`);
  return out;
}
