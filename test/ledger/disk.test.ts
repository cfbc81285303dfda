import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { disk } from "../../src/ledger/file.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "carryover-disk-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

describe("reading", () => {
  test("a pipe that nobody writes into is refused at once", async () => {
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    await expect(disk.read(pipe)).rejects.toThrow("it is no file");
  });

  test("a folder is refused", async () => {
    await expect(disk.read(folder)).rejects.toThrow("it is no file");
  });

  test("what is not there is nothing", async () => {
    expect(await disk.read(join(folder, "none"))).toBeUndefined();
  });
});

describe("writing", () => {
  test("follows no link that somebody put in the place of its temporary file", async () => {
    const [path, victim] = [join(folder, "ledger.json"), join(folder, "victim")];
    writeFileSync(victim, "precious");
    symlinkSync(victim, `${path}.${process.pid}.tmp`);
    await disk.write(path, "new");
    expect([readFileSync(victim, "utf8"), readFileSync(path, "utf8")]).toEqual(["precious", "new"]);
  });

  test("what a killed process left is replaced, and nobody else may read the result", async () => {
    const path = join(folder, "ledger.json");
    writeFileSync(`${path}.${process.pid}.tmp`, "half", { mode: 0o666 });
    await disk.write(path, "new");
    expect(readFileSync(path, "utf8")).toBe("new");
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});
