#!/usr/bin/env node
/** Where does the process begin and end? (The only file that touches `process`.) */
import { readFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { constants } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import closeWithGrace from "close-with-grace";

/** When a command that was told to stop ends whatever is still under way, unless it says otherwise. */
const WITHIN_MS = 60_000;
/** So many errors that nobody caught are told; the same one may come with every request. */
const MOST_TOLD = 10;

const ENDING = ["SIGINT", "SIGTERM"] as const;

/** As a shell says it of a program that a signal ended. */
const end = (signal: (typeof ENDING)[number]) => process.exit(128 + constants.signals[signal]);

/**
 * Node 22.8 and newer keep compiled code for the next start. In a folder of the user's own, and not in the shared one that Node takes by default: what is
 * read from it is run.
 */
function keepCompiledCode(): void {
  const { XDG_CACHE_HOME: caches, HOME: home } = process.env;
  const folder = caches || (home && join(home, ".cache"));
  const enable: unknown = Reflect.get(nodeModule, "enableCompileCache");
  if (folder && typeof enable === "function") enable(join(folder, "carryover"));
}

/** The first process of a container is ended only by signals that it listens for: while it starts, too, and in short commands. */
if (process.pid === 1) for (const signal of ENDING) process.on(signal, end);

/**
 * Loading fills V8's young generation with what is used only once, and it would grow to its largest size for that: 24 MiB
 * more of every idle instance. It may grow when there are requests to serve.
 */
setFlagsFromString("--semi-space-growth-factor=1");
keepCompiledCode();
const { run } = await import("./cli.ts");

/**
 * What the library leaves alone. A command that simply ends has its own exit code; a hang-up ends those that reload nothing; a
 * second error would end the process at once, and with it requests that have nothing to do with it.
 */
const skip: ("beforeExit" | "SIGHUP" | "uncaughtException" | "unhandledRejection")[] = [
  "beforeExit",
  "uncaughtException",
  "unhandledRejection",
];

const tell = (error: unknown): void => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? String(error)) : String(error)}\n`);
};

const code = await run(process.argv.slice(2), {
  env: process.env,
  readFile: (path) => readFileSync(path),
  print: (text) => process.stdout.write(`${text}\n`),
  warn: (text) => process.stderr.write(`${text}\n`),
  onReload: (reload) => {
    skip.push("SIGHUP");
    process.on("SIGHUP", () => void reload());
  },
  // Before those who write out what the log hands them then.
  onExit: (run) => process.prependListener("exit", run),
  onStop: (stop, { withinMs, failed } = { withinMs: WITHIN_MS, failed: tell }) => {
    for (const signal of ENDING) process.off(signal, end);
    let failures = 0;
    let stopping = false;
    const { close } = closeWithGrace({ delay: withinMs, logger: false, skip }, async () => {
      stopping = true;
      await stop();
      if (failures > 0) throw new Error("nobody caught an error");
    });
    // A rejection that nobody handles becomes one of these, too.
    process.on("uncaughtException", (error) => {
      if (++failures <= MOST_TOLD) failed(error);
      if (!stopping) void close();
    });
  },
});
setFlagsFromString("--semi-space-growth-factor=2");
if (code !== undefined) process.exitCode = code;
