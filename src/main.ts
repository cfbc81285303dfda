#!/usr/bin/env node
/** Where does the process begin and end? (The only file that touches `process`.) */
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { setFlagsFromString } from "node:v8";
import closeWithGrace from "close-with-grace";

/** Longest wait for requests in flight when the process is told to stop; a second signal stops at once. */
const GRACE_MS = 55_000;

const ENDING = ["SIGINT", "SIGTERM"] as const;

/** As a shell says it of a program that a signal ended. */
const end = (signal: (typeof ENDING)[number]) => process.exit(128 + constants.signals[signal]);

/** The first process of a container is ended only by signals that it listens for: while it starts, too, and in short commands. */
if (process.pid === 1) for (const signal of ENDING) process.on(signal, end);

/**
 * Loading fills V8's young generation with what is used only once, and it would grow to its largest size for that: 24 MiB
 * more of every idle instance. It may grow when there are requests to serve.
 */
setFlagsFromString("--semi-space-growth-factor=1");
const { run } = await import("./cli.ts");

/** What does not stop the process. A command that simply ends has its own exit code; a hang-up ends those that reload nothing. */
const skip: ("beforeExit" | "SIGHUP")[] = ["beforeExit"];

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
  onStop: (stop) => {
    for (const signal of ENDING) process.off(signal, end);
    closeWithGrace({ delay: GRACE_MS + 5_000, logger: false, skip }, async ({ err }) => {
      if (err !== undefined) process.stderr.write(`${err.stack ?? String(err)}\n`);
      await stop(GRACE_MS);
    });
  },
});
setFlagsFromString("--semi-space-growth-factor=2");
if (code !== undefined) process.exitCode = code;
