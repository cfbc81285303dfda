import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const SCRIPTS = [
  "bench/soak/run.mjs",
  "bench/run.mjs",
  "bench/crowd.mjs",
  "bench/overload.mjs",
  "bench/page.mjs",
  "bench/replicas.mjs",
  "scripts/walkthrough/run.mjs",
  "scripts/real.mjs",
];

function called(script: string, ...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, script), ...words], { encoding: "utf8" });
  return { status, stdout, lines: stderr.trim().split("\n") };
}

describe.each(SCRIPTS)("%s", (script) => {
  test.each([[["--nonsense"]], [["nonsense"]]])("refuses %j, and says how it is called", (words) => {
    const { status, stdout, lines } = called(script, ...words);
    expect([status, stdout, lines.length]).toEqual([2, "", 2]);
    expect(lines[0]).toContain(words[0]);
    expect(lines[1]).toMatch(/^usage: (npm run|node bench\/)/);
  });
});

test.each([
  ["bench/soak/run.mjs", ["--minutes", "0"], "0 is no number of minutes"],
  ["bench/soak/run.mjs", ["--seed", "x"], "x is no seed, which is a whole number"],
  ["bench/run.mjs", ["--only", "pass,speed"], /^no such row: speed; there are pass, get, /],
  ["bench/run.mjs", ["--only", "pass,"], /^no such row: ; there are pass, get, /],
  ["bench/run.mjs", ["--load", "ab"], "no such load generator: ab"],
  ["bench/run.mjs", ["--node", "/no/node"], "no such Node: /no/node"],
  ["bench/run.mjs", ["--quick", "--record"], "a quick run is no record"],
  ["bench/run.mjs", ["--before", "/no/build"], "/no/build is not there"],
  ["bench/overload.mjs", ["--dist", "/no/build"], "/no/build is not there"],
  ["scripts/walkthrough/run.mjs", ["--until", "heaven"], /^the runbook has no step heaven; it has .+, .+/],
])("%s says what is wrong with %j", (script, words, fault) => {
  const { status, lines } = called(script, ...words);
  expect(status).toBe(2);
  expect(lines[0]).toEqual(fault instanceof RegExp ? expect.stringMatching(fault) : fault);
});
