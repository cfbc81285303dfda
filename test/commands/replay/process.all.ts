import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { expect, test } from "vitest";
import { fileOf, recording, replayRig } from "../../replay/rig.ts";
import { takeDownAfterEach } from "../../support/take-down.ts";

takeDownAfterEach();

const MAIN = resolve(import.meta.dirname, "../../../dist/main.js");

async function zipped(name: string, pieces: Iterable<string>): Promise<string> {
  const file = fileOf("", name);
  await pipeline(Readable.from(pieces), createGzip({ level: 1 }), createWriteStream(file));
  return file;
}

function* repeated(start: string, piece: string, times: number, end: string): Generator<string> {
  yield start;
  for (let i = 0; i < times; i++) yield piece;
  yield end;
}

/** The built program, with a heap of this many MiB. */
function started(argv: readonly string[], token: string, heap = 256) {
  const env = { ...process.env, CARRYOVER_CHECK_TOKEN: token, NO_COLOR: "1" };
  const child = spawn(process.execPath, [`--max-old-space-size=${heap}`, MAIN, "replay", ...argv], { env });
  let out = "";
  child.stdout.on("data", (text) => (out += text));
  child.stderr.resume();
  const ended = new Promise<{ code: number | null; out: string }>((done) =>
    child.on("close", (code) => done({ code, out })),
  );
  return { child, ended };
}

test("recordings of hundreds of megabytes take little memory, whatever they hold", { timeout: 300_000 }, async () => {
  const rig = await replayRig();
  const MiB = "x".repeat(1024 * 1024);
  const line = recording(["/iam/v1/roles?name=viewer"]);
  const urls = ["--upstream-v1-url", rig.url, "--upstream-v2-url", rig.url, "--cutover-mode", "native"];
  const entry = `{"response":{"status":200,"content":{"text":"`;
  const request = '"}},"request":{"method":"GET","url":"/iam/v1/roles?name=viewer"}}';
  const files = [
    await zipped("one-line.gz", repeated("", MiB, 200, `\n${line}`)),
    await zipped("foreign.gz", repeated("", "PK\u0003 x\n".repeat(100_000), 10, line)),
    await zipped("bodies.har.gz", repeated(`{"log":{"entries":[${entry}`, MiB, 150, `${request}]}}`)),
    await zipped("nested.gz", repeated('{"log":{"entries":[', "[".repeat(1_000_000), 10, "")),
  ];
  const { code, out } = await started([...files, ...urls, "--json"], rig.sandbox.token("admin"), 64).ended;
  const { compared, notRead } = JSON.parse(out);
  expect([code, compared]).toEqual([0, 3]);
  expect(notRead.map(({ why }: { why: string }) => why)).toEqual([
    "this line is longer than 1 MiB",
    "no known format: expected a carryover recording or log, JSON or combined access log, or HAR",
    "this is nested more than 100 deep",
  ]);
});

test("Ctrl-C saves what is done and prints it, and the same command goes on", { timeout: 60_000 }, async () => {
  const rig = await replayRig({ latencyMs: 20 });
  const file = fileOf(recording(Array.from({ length: 40 }, () => "/iam/v1/roles?name=viewer")));
  const urls = ["--upstream-v1-url", rig.url, "--upstream-v2-url", rig.url, "--cutover-mode", "native"];
  const argv = [file, ...urls, "--rate", "100", "--resume", `${file}.progress`];
  const { child, ended } = started(argv, rig.sandbox.token("admin"));
  while (rig.sandbox.requests.length < 30) await new Promise((later) => setTimeout(later, 5));
  child.kill("SIGINT");
  const first = await ended;
  expect(first.code).toBe(1);
  expect(first.out).toContain("NOT KNOWN: it stopped early");
  const rest = await started(argv, rig.sandbox.token("admin")).ended;
  expect([rest.code, rest.out]).toEqual([0, expect.stringContaining("EQUAL: none of 40 compared requests differs")]);
  expect(rig.sandbox.requests.filter(({ target }) => target.includes("/v1/"))).toHaveLength(80);
});
