import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFolderStore } from "../../src/rollout/state-store.ts";

const place = { folder: "" };
const store = () => createFolderStore(place.folder);
const inside = (name: string) => join(place.folder, name);

beforeEach(() => {
  place.folder = mkdtempSync(join(tmpdir(), "carryover-state-"));
});
afterEach(() => rmSync(place.folder, { recursive: true, force: true }));

describe("preparing", () => {
  test("makes the folder for its owner only, but not its parent", async () => {
    rmSync(place.folder, { recursive: true });
    await store().prepare();
    expect(statSync(place.folder).mode & 0o777).toBe(0o700);
    await expect(createFolderStore(inside("none/state")).prepare()).rejects.toThrow("ENOENT");
  });

  test("refuses a file, and removes what killed processes left", async () => {
    writeFileSync(inside("file"), "");
    await expect(createFolderStore(inside("file")).prepare()).rejects.toThrow("it is no directory");
    writeFileSync(inside("rollout.json.4711.tmp"), "half");
    await store().prepare();
    expect(readdirSync(place.folder)).toEqual(["file"]);
  });

  test("removes nothing else", async () => {
    for (const name of ["notes.tmp", "report.json.old.tmp"]) writeFileSync(inside(name), "precious");
    mkdirSync(inside("cache.tmp"));
    await store().prepare();
    expect(readdirSync(place.folder)).toEqual(["cache.tmp", "notes.tmp", "report.json.old.tmp"]);
  });

  test("succeeds in several processes at a time", async () => {
    for (let n = 0; n < 20; n++) writeFileSync(inside(`rollout.json.${n}.tmp`), "half");
    await Promise.all(Array.from({ length: 8 }, () => store().prepare()));
    expect(readdirSync(place.folder)).toEqual([]);
  });

  test("refuses a folder that cannot be written", async () => {
    await expect(createFolderStore("/proc").prepare()).rejects.toThrow();
  });
});

describe("reading", () => {
  test("refuses a pipe that nobody writes into, and a folder, at once", async () => {
    execFileSync("mkfifo", [inside("pipe.json")]);
    mkdirSync(inside("folder.json"));
    await expect(store().read("pipe")).rejects.toThrow("it is no file");
    await expect(store().read("folder")).rejects.toThrow("it is no file");
  });

  test("returns nothing for a section that was never saved", async () => {
    expect(await store().read("none")).toBeUndefined();
  });
});

describe("writing", () => {
  test("follows no link in its place, and leaves a private file", async () => {
    writeFileSync(inside("victim"), "precious");
    symlinkSync(inside("victim"), inside("one.json"));
    await store().write("one", ["new"]);
    expect([readFileSync(inside("victim"), "utf8"), await store().read("one")]).toEqual(["precious", "new"]);
    expect(statSync(inside("one.json")).mode & 0o777).toBe(0o600);
  });

  test("never shows a part to a reader", async () => {
    const texts = ["a".repeat(300_000), "b".repeat(100_000)];
    await store().write("one", [texts[0]!]);
    const writing = { over: false };
    const writer = (async () => {
      for (let n = 0; n < 40; n++) await store().write("one", [texts[n % 2]!]);
      writing.over = true;
    })();
    while (!writing.over) expect(texts).toContain(await store().read("one"));
    await writer;
  });

  test("lets other work go on between two pieces, and returns a mark that no other write has", async () => {
    const turns: number[] = [];
    let turn = 0;
    function* pieces() {
      for (let n = 0; n < 5; n++) {
        setImmediate(() => {
          turn += 1;
        });
        turns.push(turn);
        yield `${n}`;
      }
    }
    const mark = await store().write("one", pieces());
    expect(turns).toEqual([0, 1, 2, 3, 4]);
    expect([await store().read("one"), await store().mark("one")]).toEqual(["01234", mark]);
    expect(await store().write("one", ["01234"])).not.toBe(mark);
    expect(await store().mark("one")).not.toBe(mark);
    expect(await store().mark("none")).toBeUndefined();
  });

  test("by two processes of the same number, each in its container, succeeds", async () => {
    const written = ["a", "b"].map(async (letter) => {
      for (let n = 0; n < 40; n++) await store().write("one", [letter.repeat(300_000)]);
    });
    await Promise.all(written);
    expect(new Set(await store().read("one")).size).toBe(1);
    expect(readdirSync(place.folder)).toEqual(["one.json"]);
  });

  test("that fails leaves no piece behind", async () => {
    mkdirSync(inside("one.json"));
    await expect(store().write("one", ["new"])).rejects.toThrow();
    expect(readdirSync(place.folder)).toEqual(["one.json"]);
  });
});

test("setting aside replaces nothing that was set aside before", async () => {
  for (const text of ["first", "second"]) {
    await store().write("one", [text]);
    await store().setAside("one");
  }
  expect(readFileSync(inside("one.damaged"), "utf8")).toBe("first");
  expect(readFileSync(inside("one.damaged-2"), "utf8")).toBe("second");
});
