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
import { later } from "../../src/model/clock.ts";
import { createFolderStore, type StateStore } from "../../src/state/store.ts";

const place = { folder: "" };
const lock: Parameters<typeof createFolderStore>[1] = {
  host: "h",
  process: 1,
  later: (ms, run) => later(ms, run),
  wall: () => 0,
  warn: () => {},
  isUnchanged: async () => true,
  reclaimed: () => {},
};
const stores: StateStore[] = [];
/** A store that is not claimed yet. */
const store = (folder = place.folder): StateStore => {
  const one = createFolderStore(folder, lock);
  stores.push(one);
  return one;
};
/** One that this process has. */
const taken = async (): Promise<StateStore> => {
  const one = store();
  await one.prepare();
  return one;
};
const inside = (name: string) => join(place.folder, name);

beforeEach(() => {
  place.folder = mkdtempSync(join(tmpdir(), "carryover-state-"));
});
afterEach(async () => {
  for (const one of stores.splice(0)) await one.release();
  rmSync(place.folder, { recursive: true, force: true });
});

describe("preparing", () => {
  test("makes the folder for its owner only, but not its parent", async () => {
    rmSync(place.folder, { recursive: true });
    await store().prepare();
    expect(statSync(place.folder).mode & 0o777).toBe(0o700);
    await expect(store(inside("none/state")).prepare()).rejects.toThrow("ENOENT");
  });

  test("refuses a file, and removes what killed processes left", async () => {
    writeFileSync(inside("file"), "");
    await expect(store(inside("file")).prepare()).rejects.toThrow("it is no directory");
    writeFileSync(inside("rollout.json.4711.tmp"), "half");
    await store().prepare();
    expect(readdirSync(place.folder)).toEqual(["file", "owner.json"]);
  });

  test("removes nothing else", async () => {
    for (const name of ["notes.tmp", "report.json.old.tmp"]) writeFileSync(inside(name), "precious");
    mkdirSync(inside("cache.tmp"));
    await store().prepare();
    expect(readdirSync(place.folder)).toEqual(["cache.tmp", "notes.tmp", "owner.json", "report.json.old.tmp"]);
  });

  test.each([
    ["nothing", [], { used: false, marked: false }],
    ["a section", ["rollout.json"], { used: true, marked: false }],
    ["a damaged section", ["counts.damaged-2"], { used: true, marked: false }],
    ["the marker", ["used.txt"], { used: true, marked: true }],
    ["other files", ["lost+found", "notes.txt"], { used: false, marked: false }],
  ])("tells whether the folder was in use: %s", async (_, names, use) => {
    for (const name of names) writeFileSync(inside(name), "");
    expect(await store().prepare()).toEqual(use);
  });

  test("refuses a link to nothing, and says why a folder cannot be written", async () => {
    symlinkSync(inside("nowhere"), inside("state"));
    await expect(store(inside("state")).prepare()).rejects.toThrow("ENOENT");
    expect(await store("/proc").prepare()).toMatchObject({ used: false, fault: { code: "ENOENT" } });
  });
});

describe("reading", () => {
  test("refuses a pipe that nobody writes into, and a folder, at once", async () => {
    execFileSync("mkfifo", [inside("pipe.json")]);
    mkdirSync(inside("folder.json"));
    await expect(store().read("pipe")).rejects.toThrow("it is no file");
    await expect(store().read("folder")).rejects.toThrow("it is no file");
  });

  test("refuses a link to nothing", async () => {
    symlinkSync("nowhere", inside("one.json"));
    await expect(store().read("one")).rejects.toThrow("ENOENT");
  });

  test("returns nothing for a section that was never saved", async () => {
    expect(await store().read("none")).toBeUndefined();
  });
});

describe("writing", () => {
  test("follows no link in its place, and leaves a private file", async () => {
    writeFileSync(inside("victim"), "precious");
    symlinkSync(inside("victim"), inside("one.json"));
    await (await taken()).write("one", ["new"]);
    expect([readFileSync(inside("victim"), "utf8"), await store().read("one")]).toEqual(["precious", "new"]);
    expect(statSync(inside("one.json")).mode & 0o777).toBe(0o600);
  });

  test("never shows a part to a reader", async () => {
    const texts = ["a".repeat(300_000), "b".repeat(100_000)];
    const one = await taken();
    await one.write("one", [texts[0]!]);
    const writing = { over: false };
    const writer = (async () => {
      for (let n = 0; n < 40; n++) await one.write("one", [texts[n % 2]!]);
      writing.over = true;
    })();
    while (!writing.over) expect(texts).toContain(await one.read("one"));
    await writer;
  });

  test("lets other work go on between two pieces, and returns a mark that no other write has", async () => {
    const one = await taken();
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
    const mark = await one.write("one", pieces());
    expect(turns).toEqual([0, 1, 2, 3, 4]);
    expect([await store().read("one"), await store().mark("one")]).toEqual(["01234", mark]);
    expect(await one.write("one", ["01234"])).not.toBe(mark);
    expect(await store().mark("one")).not.toBe(mark);
    expect(await store().mark("none")).toBeUndefined();
  });

  test("that fails leaves no piece behind", async () => {
    mkdirSync(inside("one.json"));
    await expect((await taken()).write("one", ["new"])).rejects.toThrow();
    expect(readdirSync(place.folder)).toEqual(["one.json", "owner.json"]);
  });
});

describe("setting aside", () => {
  test("replaces nothing that was set aside before, and leaves the section until it is written", async () => {
    const one = await taken();
    for (const text of ["first", "second"]) {
      await one.write("one", [text]);
      await one.setAside("one");
    }
    expect(readFileSync(inside("one.damaged"), "utf8")).toBe("first");
    expect(readFileSync(inside("one.damaged-2"), "utf8")).toBe("second");
    expect(await one.read("one")).toBe("second");
  });

  test("moves what can have no second name", async () => {
    const one = await taken();
    mkdirSync(inside("one.json"));
    await one.setAside("one");
    expect([statSync(inside("one.damaged")).isDirectory(), await one.mark("one")]).toEqual([true, undefined]);
  });
});
