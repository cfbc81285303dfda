#!/usr/bin/env node
/** The entry of the process, and the only file that touches `process`. */
import { readFileSync, readSync, writeFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { constants } from "node:os";
import { join } from "node:path";
import { isatty } from "node:tty";
import { setFlagsFromString } from "node:v8";
import closeWithGrace from "close-with-grace";

/** How long a stopping command may take by default. */
const WITHIN_MS = 60_000;
/** No more uncaught errors than this are printed: the same one may come with every request. */
const MAX_PRINTED_ERRORS = 10;

/** No token and no body that a command reads from standard input is longer. */
const MAX_STDIN_BYTES = 64 * 1024 * 1024;
const STDIN_RETRY_MS = 20;

const STOP_SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** With the exit code that a shell reports for a signal. */
const end = (signal: (typeof STOP_SIGNALS)[number]) => process.exit(128 + constants.signals[signal]);

/**
 * Node 22.8 and newer keep compiled code for the next start. The folder belongs to the user: Node's default folder is shared, and code read from it
 * is executed.
 */
function keepCompiledCode(): void {
  const { XDG_CACHE_HOME: caches, HOME: home } = process.env;
  const folder = caches || (home && join(home, ".cache"));
  const enable: unknown = Reflect.get(nodeModule, "enableCompileCache");
  if (folder && typeof enable === "function") enable(join(folder, "carryover"));
}

// The kernel delivers to process 1 of a container only the signals that it handles: also during the start, and in short commands.
if (process.pid === 1) for (const signal of STOP_SIGNALS) process.on(signal, end);

/**
 * Loading fills V8's young generation with what is used only once, and it would grow to its largest size for that: 24 MiB
 * more of every idle instance. It may grow when there are requests to serve.
 */
setFlagsFromString("--semi-space-growth-factor=1");

/**
 * Operators cannot change what warnings of deprecation are about. Unless they are off, Node 20 makes two functions that would print one for
 * each HTTP/2 stream to an upstream.
 */
process.noDeprecation = true;
keepCompiledCode();
const { run } = await import("./cli.ts");

/**
 * Events that close-with-grace does not handle here. A command that simply ends has its own exit code. SIGHUP ends commands
 * that reload nothing. A second error would end the process at once, and unrelated requests with it.
 */
const skip: ("beforeExit" | "SIGHUP" | "uncaughtException" | "unhandledRejection")[] = [
  "beforeExit",
  "uncaughtException",
  "unhandledRejection",
];

const printError = (error: unknown): void => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? String(error)) : String(error)}\n`);
};

const code = await run(process.argv.slice(2), {
  env: process.env,
  readFile: (path) => readFileSync(path),
  readStdin,
  writeFile: (path, contents, replace) => writeFileSync(path, contents, { flag: replace ? "w" : "wx" }),
  isTerminal: isatty(1),
  // To the beginning of the line, which is cleared.
  progress: isatty(2) ? (line) => process.stderr.write(`\r\u001b[2K${line}`) : undefined,
  fetch,
  print: (text) => process.stdout.write(`${text}\n`),
  warn: (text) => process.stderr.write(`${text}\n`),
  onReload: (reload) => {
    skip.push("SIGHUP");
    process.on("SIGHUP", () => void reload());
  },
  // Before the listeners that flush the log.
  onExit: (run) => process.prependListener("exit", run),
  onStop: (stop, { withinMs, failed } = { withinMs: WITHIN_MS, failed: printError }) => {
    for (const signal of STOP_SIGNALS) process.off(signal, end);
    let failures = 0;
    let stopping = false;
    const { close } = closeWithGrace({ delay: withinMs, logger: false, skip }, async () => {
      stopping = true;
      await stop();
      if (failures > 0) throw new Error("uncaught error");
    });
    // Node reports unhandled rejections here as well.
    process.on("uncaughtException", (error) => {
      if (++failures <= MAX_PRINTED_ERRORS) failed(error);
      if (!stopping) void close();
    });
  },
});
setFlagsFromString("--semi-space-growth-factor=2");
if (code !== undefined) process.exitCode = code;

/** All of standard input, by its descriptor: a socket cannot be opened as `/dev/stdin`. */
function readStdin(): Uint8Array {
  const chunks: Uint8Array[] = [];
  for (let length = 0; length < MAX_STDIN_BYTES; ) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    try {
      const read = readSync(0, chunk);
      if (read === 0) break;
      chunks.push(chunk.subarray(0, read));
      length += read;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "EOF") break;
      if (code !== "EAGAIN") throw error;
      // A descriptor that other processes share may be non-blocking: nothing has arrived yet.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STDIN_RETRY_MS);
    }
  }
  return Buffer.concat(chunks);
}
