import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLogSink } from "../../src/telemetry/log.ts";

let folder = "";
let fd = -1;

// A pipe without a reader: opened for both directions, so that opening it does not wait for one.
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "carryover-sink-"));
  execFileSync("mkfifo", [join(folder, "pipe")]);
  fd = openSync(join(folder, "pipe"), constants.O_RDWR | constants.O_NONBLOCK);
});

afterEach(() => {
  closeSync(fd);
  rmSync(folder, { recursive: true });
});

function readAll(): string {
  const parts: string[] = [];
  const buffer = Buffer.alloc(65_536);
  try {
    for (;;) parts.push(buffer.toString("utf8", 0, readSync(fd, buffer)));
  } catch {
    return parts.join("");
  }
}

test("T-FLT-23: a blocked sink costs bounded memory and then lines, and takes lines again once it is read", async () => {
  const sink = createLogSink(fd, 256 * 1024);
  const line = `${"x".repeat(1023)}\n`;
  for (let at = 0; at < 1_000; at++) sink.stream.write(line);
  const lost = sink.dropped();
  expect(lost).toBeGreaterThan(600);
  expect(lost).toBeLessThan(800);
  const parts: string[] = [];
  while (parts.join("").length < (1_000 - lost) * 1024) {
    parts.push(readAll());
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  sink.stream.write("after\n");
  await sink.flush(5_000);
  const whole = parts.join("") + readAll();
  expect(whole.split("\n").length - 1).toBe(1_000 - lost + 1);
  expect(whole.endsWith("after\n")).toBe(true);
});

test("lines that came together are lost one by one", async () => {
  const sink = createLogSink(fd, 1024);
  sink.stream.write(`${"x".repeat(600)}\n`);
  sink.stream.write(`${"x".repeat(300)}\n`.repeat(3));
  expect(sink.dropped()).toBe(3);
  await sink.flush(5_000);
  expect(readAll()).toHaveLength(601);
});

test("a flush writes what is held, and does not wait for ever", async () => {
  const sink = createLogSink(fd);
  for (let at = 0; at < 50; at++) sink.stream.write(`${at}\n`);
  await sink.flush(5_000);
  expect(readAll().split("\n")).toHaveLength(51);
  for (let at = 0; at < 200; at++) sink.stream.write(`${"x".repeat(1023)}\n`);
  await sink.flush(20);
  expect(sink.dropped()).toBe(0);
  // Whatever still waits must find a reader before the pipe goes.
  let read = 0;
  while (read < 200 * 1024) {
    read += readAll().length;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
});

test("a reader that goes away costs lines, and nothing is thrown at anybody", async () => {
  const reader = openSync(join(folder, "pipe"), constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(join(folder, "pipe"), constants.O_WRONLY | constants.O_NONBLOCK);
  const sink = createLogSink(writer);
  closeSync(reader);
  closeSync(fd);
  for (let at = 0; at < 5; at++) {
    sink.stream.write("to nobody\n");
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
  expect(sink.dropped()).toBeGreaterThan(0);
  await sink.flush(20);
  closeSync(writer);
  // What comes after each test closes it again.
  fd = openSync(join(folder, "pipe"), constants.O_RDWR | constants.O_NONBLOCK);
});

test("a line that nobody joins is soon written, without a flush", async () => {
  const sink = createLogSink(fd);
  sink.stream.write("alone\n");
  let text = "";
  for (let turn = 0; turn < 200 && text === ""; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    text = readAll();
  }
  expect(text).toBe("alone\n");
});
