#!/usr/bin/env node
/** Where does the process begin and end? (The only file that touches `process`.) */
import { readFileSync } from "node:fs";
import closeWithGrace from "close-with-grace";
import { run } from "./cli.ts";

/** Longest wait for requests in flight when the process is told to stop; a second signal stops at once. */
const GRACE_MS = 55_000;

const code = await run(process.argv.slice(2), {
  env: process.env,
  readFile: (path) => readFileSync(path),
  print: (text) => process.stdout.write(`${text}\n`),
  warn: (text) => process.stderr.write(`${text}\n`),
  onStop: (stop) => {
    // A command that simply ends has its own exit code.
    closeWithGrace({ delay: GRACE_MS + 5_000, logger: false, skip: ["beforeExit"] }, async ({ err }) => {
      if (err !== undefined) process.stderr.write(`${err.stack ?? String(err)}\n`);
      await stop(GRACE_MS);
    });
  },
});
if (code !== undefined) process.exitCode = code;
