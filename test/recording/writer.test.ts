import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRecordingWriter, type RecordingWriterOptions } from "../../src/recording/writer.ts";

let folder = "";
let clock = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "recording-"));
  clock = Date.UTC(2026, 10, 29);
});
afterEach(() => rmSync(folder, { recursive: true }));

function writerOf(options: Partial<RecordingWriterOptions> = {}) {
  const heard: string[] = [];
  const writer = createRecordingWriter({
    file: join(folder, "requests.jsonl"),
    fileBytes: 1e6,
    files: 2,
    // Nothing happens by itself: the tests flush.
    later: (_ms, run) => {
      if (_ms > 500) run();
      return () => {};
    },
    wall: () => clock,
    failed: (cause) => heard.push(`failed ${(cause as NodeJS.ErrnoException).code}`),
    recovered: (lost) => heard.push(`recovered ${lost}`),
    shared: () => heard.push("shared"),
    gap: (lost) => `gap ${lost}\n`,
    ...options,
  });
  return { writer, heard };
}
const read = (name = "requests.jsonl"): string => readFileSync(join(folder, name), "utf8");

describe("the writer of a recording", () => {
  it("appends lines to a file that only its owner can read", async () => {
    const { writer } = writerOf();
    await writer.open();
    writer.write("a\n");
    writer.write("b\n");
    await writer.close();
    expect(read()).toBe("a\nb\n");
    expect(statSync(join(folder, "requests.jsonl")).mode & 0o777).toBe(0o600);
  });

  it("begins a new line where an earlier process was cut off", async () => {
    writeFileSync(join(folder, "requests.jsonl"), '{"time":"20');
    const { writer } = writerOf();
    writer.write("a\n");
    await writer.close();
    expect(read()).toBe('{"time":"20\na\n');
  });

  it("compresses full files, and keeps the newest of them", async () => {
    const { writer } = writerOf({ fileBytes: 10 });
    for (const line of ["first....\n", "second...\n", "third....\n", "fourth...\n"]) {
      clock += 1000;
      writer.write(line);
      await writer.flush();
    }
    await writer.close();
    const names = readdirSync(folder).sort();
    expect(names.map((name) => name.replace(/-[0-9a-f]{6}/, ""))).toEqual([
      "requests.jsonl.20261129T000003.000Z.gz",
      "requests.jsonl.20261129T000004.000Z.gz",
    ]);
    expect(names.map((name) => String(gunzipSync(readFileSync(join(folder, name)))))).toEqual([
      "third....\n",
      "fourth...\n",
    ]);
  });

  it("says once that the disk is full, goes on without it, and says what is missing when it can write again", async () => {
    const full = join(folder, "full");
    symlinkSync("/dev/full", full);
    const { writer, heard } = writerOf({ file: full });
    for (const line of ["a\n", "b\n"]) {
      writer.write(line);
      await writer.flush();
      clock += 31_000;
    }
    expect(heard).toEqual(["failed ENOSPC"]);
    rmSync(full);
    writer.write("c\n");
    await writer.close();
    expect(heard).toEqual(["failed ENOSPC", "recovered 2"]);
    expect(read("full")).toBe("gap 2\nc\n");
    expect(writer.counts()).toEqual({ lines: 1, bytes: 8, dropped: 2, isFailing: false });
  });

  it("leaves a failing disk alone for a while", async () => {
    const { writer, heard } = writerOf({ file: join(folder, "nowhere", "requests.jsonl") });
    await expect(writer.open()).rejects.toThrow("ENOENT");
    writer.write("a\n");
    await writer.flush();
    expect(heard).toEqual(["failed ENOENT"]);
    expect(writer.counts()).toMatchObject({ lines: 0, isFailing: true });
  });

  it("drops lines rather than hold more than 4 MiB of them", async () => {
    const { writer } = writerOf({ fileBytes: 1e9 });
    const line = `${"x".repeat(1024 * 1024 - 1)}\n`;
    for (let i = 0; i < 6; i++) writer.write(line);
    await writer.close();
    expect(
      read()
        .split("\n")
        .map((each) => each.length),
    ).toEqual([5, ...Array(4).fill(1024 * 1024 - 1), 0]);
  });

  it("says that another process writes the file as well, and neither loses a line, also when it is rotated", async () => {
    const both = ["a", "b"].map((name) => ({ name, ...writerOf({ fileBytes: 3_000, files: 1_000 }) }));
    for (const { writer } of both) await writer.open();
    const expected: string[] = [];
    for (let at = 0; at < 60; at++) {
      for (const { name, writer } of both) {
        const line = `${name}${at} ${"x".repeat(100)}`;
        expected.push(line);
        writer.write(`${line}\n`);
      }
      await Promise.all(both.map(({ writer }) => writer.flush()));
    }
    await Promise.all(both.map(({ writer }) => writer.close()));
    const lines = readdirSync(folder).flatMap((name) => {
      const whole = readFileSync(join(folder, name));
      return String(name.endsWith(".gz") ? gunzipSync(whole) : whole).split("\n");
    });
    expect(lines.filter((line) => line !== "").sort()).toEqual(expected.sort());
    expect(both.map(({ heard }) => heard)).toEqual([["shared"], ["shared"]]);
  });

  it("turns to a new file when another program has moved the old one", async () => {
    const { writer } = writerOf();
    writer.write("a\n");
    await writer.flush();
    rmSync(join(folder, "requests.jsonl"));
    writer.write("b\n");
    await writer.close();
    expect(read()).toBe("b\n");
  });
});
