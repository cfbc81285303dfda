import { chmodSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkRecording } from "../../../src/commands/check/recording.ts";
import type { Config } from "../../../src/config/config.ts";

const NOW = Date.UTC(2026, 10, 29);
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "check-recording-"));
});
afterEach(() => {
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true });
});

async function check(name: string | undefined): Promise<readonly string[]> {
  const file = name === undefined ? undefined : join(folder, name);
  const findings = await checkRecording({ record: { file } } as unknown as Config, NOW);
  return findings.map(({ level, what }) => `${level} ${what.replaceAll(folder, "FOLDER")}`);
}

/** Written `seconds` ago. */
function written(name: string, seconds: number): void {
  writeFileSync(join(folder, name), "{}\n");
  utimesSync(join(folder, name), NOW / 1000, NOW / 1000 - seconds);
}

test("says nothing without record.file, and nothing bad of a file that can be written or is not there yet", async () => {
  expect(await check(undefined)).toEqual([]);
  expect(await check("new.jsonl")).toEqual(["ok FOLDER/new.jsonl can be written"]);
  written("old.jsonl", 60);
  expect(await check("old.jsonl")).toEqual(["ok FOLDER/old.jsonl can be written"]);
});

test("notes a file that another process writes", async () => {
  written("busy.jsonl", 2);
  expect(await check("busy.jsonl")).toEqual(["note a process writes FOLDER/busy.jsonl now"]);
});

test("fails for a folder that is not there, and for what is not a file", async () => {
  expect(await check("nowhere/new.jsonl")).toEqual([
    expect.stringMatching(/^fail record\.file: FOLDER\/nowhere cannot be written \(ENOENT/),
  ]);
  mkdirSync(join(folder, "folder"));
  expect(await check("folder")).toEqual(["fail record.file: FOLDER/folder is not a file"]);
});

test.runIf(process.getuid?.() !== 0)("fails for a folder that its user may not write", async () => {
  chmodSync(folder, 0o500);
  expect(await check("new.jsonl")).toEqual([expect.stringMatching(/^fail record\.file: FOLDER cannot be written/)]);
});
