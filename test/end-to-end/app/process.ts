/** Runs the built carryover as a process of its own. (Needs `npm run build`, which `npm test` does first.) */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { later } from "./rig.ts";

const MAIN = resolve(import.meta.dirname, "../../../dist/main.js");

export interface Running {
  readonly pid: number | undefined;
  out(): string;
  err(): string;
  /** Resolves with everything printed so far when it matches; rejects when the process ends before. */
  until(pattern: RegExp): Promise<string>;
  stop(signal: NodeJS.Signals): void;
  /** Reads its standard output, or leaves it unread, as a log collector that is stuck. */
  listen(reading: boolean): void;
  /** Resolves when it has ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/**
 * Starts `carryover` with these words; killed after the test if it still lives. Variables are `env` and PATH only. `files`: the
 * most file descriptors that it may have. `main`: the program; default: the one built here.
 */
export function carryover(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
  files: number | "as many as we" = "as many as we",
  main = MAIN,
): Running {
  const words = [process.execPath, main, ...argv];
  const [program = "", ...rest] =
    typeof files === "number" ? ["bash", "-c", `ulimit -n ${files} && exec "$@"`, "carryover", ...words] : words;
  const child = spawn(program, rest, {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const waiting = new Set<() => void>();
  let out = "";
  let err = "";
  let over = false;
  const changed = () => {
    for (const look of [...waiting]) look();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    changed();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
    changed();
  });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((done) => {
    child.once("close", (code, signal) => {
      over = true;
      changed();
      done({ code, signal });
    });
  });
  later(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    pid: child.pid,
    out: () => out,
    err: () => err,
    until: (pattern) =>
      new Promise((found, failed) => {
        const look = () => {
          if (pattern.test(out + err)) found(out + err);
          else if (over) failed(new Error(`it ended without ${pattern}:\n${out}\n${err}`));
          else return;
          waiting.delete(look);
        };
        waiting.add(look);
        look();
      }),
    stop: (signal) => {
      child.kill(signal);
    },
    listen: (reading) => {
      if (reading) child.stdout.resume();
      else child.stdout.pause();
    },
    ended,
  };
}

/** Runs `line` as a person would paste it, with TOKEN set; gives what it prints. Rejects when it fails. */
export function paste(line: string, token: string): Promise<string> {
  return new Promise((done, failed) => {
    const shell = spawn("bash", ["-c", line], {
      env: { PATH: process.env["PATH"] ?? "", TOKEN: token },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let out = "";
    shell.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
    shell.once("error", failed);
    shell.once("close", (code) => (code === 0 ? done(out) : failed(new Error(`${line} ended with ${code}`))));
  });
}
