import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLedgerFile, type Disk, disk } from "../../src/ledger/file.ts";
import { readSnapshot } from "../../src/ledger/snapshot.ts";
import { exchange, ledgerOf } from "./samples.ts";

const place = { folder: "", path: "" };
beforeEach(async () => {
  place.folder = await mkdtemp(join(tmpdir(), "ledger-"));
  place.path = join(place.folder, "ledger.json");
});
afterEach(() => rm(place.folder, { recursive: true, force: true }));

/** A process with a ledger, a file, and a clock that `pass` moves on. */
function start(
  given: {
    readonly disk?: Disk;
    readonly path?: string;
    readonly instance?: string;
    readonly nameNow?: (name: string) => string;
  } = {},
) {
  const { ledger, clock } = ledgerOf({
    instance: given.instance ?? "i1",
    identity: given.nameNow === undefined ? {} : { nameNow: given.nameNow },
  });
  const warnings: string[] = [];
  const timers: (() => void)[] = [];
  const file = createLedgerFile({
    path: given.path ?? place.path,
    disk: given.disk ?? disk,
    later: (ms, run) => {
      expect(ms).toBe(30_000);
      timers.push(run);
      return () => timers.splice(timers.indexOf(run), 1);
    },
    ledger,
    warn: (message) => warnings.push(message),
  });
  /** The next look, and what it writes. */
  const pass = async (): Promise<void> => {
    const [run] = timers.splice(0, 1);
    run?.();
    while (run !== undefined && timers.length === 0) await new Promise((resolve) => setImmediate(resolve));
  };
  return { ledger, clock, file, warnings, timers, pass };
}

const saved = async () => readSnapshot(JSON.parse(await readFile(place.path, "utf8")));

/** Two processes with the same file; the first has somebody to save. */
async function twoOfOneFile() {
  const [one, two] = [start(), start({ instance: "i2" })];
  await one.file.start();
  await two.file.start();
  one.ledger.observe(exchange("a"));
  return { one, two };
}

describe("saving", () => {
  test("tells now and then until when the ledger was watching, also when nobody calls", async () => {
    const one = start();
    await one.file.start();
    for (let look = 0; look < 9; look++) await one.pass();
    expect(await readdir(place.folder)).toEqual([]);
    one.clock.at = 300_000;
    await one.pass();
    expect(await saved()).toMatchObject({ since: 1000, at: 300_000, clients: [] });
    one.clock.at = 310_000;
    await one.file.close();
    expect(await saved()).toMatchObject({ since: 1000, at: 310_000 });
  });

  test("replaces nothing that another process counted when there is nothing new to say", async () => {
    const { one, two } = await twoOfOneFile();
    await one.file.close();
    for (let look = 0; look < 10; look++) await two.pass();
    await two.file.close();
    expect((await saved()).clients.map(({ name }) => name)).toEqual(["a"]);
    expect(two.warnings).toEqual([]);
  });

  test("happens also when a name that was kept may be kept no more, and nobody calls", async () => {
    const one = start();
    await one.file.start();
    one.ledger.observe(exchange("ann@example.com"));
    await one.file.close();
    const two = start({ nameNow: () => "h-0" });
    await two.file.start();
    await two.pass();
    expect(await readFile(place.path, "utf8")).not.toContain("ann@");
    await two.file.close();
  });

  test("happens when something is new, and at the end; a restart has it all", async () => {
    const one = start();
    await one.file.start();
    await one.pass();
    expect(await readdir(place.folder)).toEqual([]);
    one.ledger.observe(exchange("a"));
    await one.pass();
    expect((await saved()).clients).toHaveLength(1);
    const { mtimeNs } = await stat(place.path, { bigint: true });
    await one.pass();
    expect((await stat(place.path, { bigint: true })).mtimeNs).toBe(mtimeNs);
    one.ledger.observe(exchange("b"));
    await one.file.close();
    expect(one.timers).toEqual([]);
    expect(one.warnings).toEqual([]);

    const two = start({ instance: "i2" });
    await two.file.start();
    expect(two.ledger.snapshot()).toEqual(one.ledger.snapshot());
    two.ledger.observe(exchange("a"));
    await two.file.close();
    expect((await saved()).clients[0]).toMatchObject({ name: "a", requests: { v1: 2 } });
    expect(two.warnings).toEqual([]);
    expect(await readdir(place.folder)).toEqual(["ledger.json"]);
  });

  test("cut off at any place leaves the old file or the new one", async () => {
    const one = start();
    await one.file.start();
    one.ledger.observe(exchange("a"));
    await one.file.close();
    const before = await readFile(place.path, "utf8");
    // What a process leaves that was killed while it wrote, at each point of the way.
    for (const length of [0, 1, before.length >> 1, before.length]) {
      await writeFile(`${place.path}.4711.tmp`, before.slice(0, length));
      const next = start();
      await next.file.start();
      expect(next.ledger.snapshot().clients).toHaveLength(1);
      expect(next.warnings).toEqual([]);
    }
  });

  test("never shows a part to whoever reads meanwhile", async () => {
    const texts = ["a".repeat(300_000), "b".repeat(100_000)];
    await disk.write(place.path, "a".repeat(300_000));
    const writing = { over: false };
    const writer = (async () => {
      for (let n = 0; n < 40; n++) await disk.write(place.path, texts[n % 2]!);
      writing.over = true;
    })();
    while (!writing.over) expect(texts).toContain(await disk.read(place.path));
    await writer;
  });
});

describe("a file that is no ledger", () => {
  test.each([
    ["cut off", '{"version":1,"instances":["i1"],"sin'],
    ["empty", ""],
    ["of another version", '{"version":2}'],
    ["an array", "[]"],
    [
      "with a hostile name",
      JSON.stringify({
        version: 1,
        instances: ["i"],
        since: 0,
        at: 0,
        requests: { v1: 1, v2: 0 },
        bound: 0,
        clients: [{ name: "a\u0007" }],
      }),
    ],
  ])("%s is moved aside, warned of, and the ledger starts empty", async (_what, text) => {
    await writeFile(place.path, text);
    const { ledger, file, warnings } = start();
    await file.start();
    expect(ledger.snapshot().clients).toEqual([]);
    expect(warnings).toEqual([
      `clients.file: ${place.path} holds no ledger; it is now ${place.path}.damaged, and the ledger starts empty`,
    ]);
    expect(await readFile(`${place.path}.damaged`, "utf8")).toBe(text);
    ledger.observe(exchange("a"));
    await file.close();
    expect((await saved()).clients).toHaveLength(1);
    expect(warnings).toHaveLength(1);
  });

  test("and cannot be moved aside, or cannot be read, is left as it is, whatever comes", async () => {
    await mkdir(place.path);
    const unreadable = start();
    await unreadable.file.start();
    unreadable.ledger.observe(exchange("a"));
    expect([unreadable.timers, unreadable.file.failing()]).toEqual([[], true]);
    await unreadable.file.close();
    expect(unreadable.warnings).toEqual([
      `clients.file: ${place.path} cannot be read; the ledger starts empty and is not saved`,
    ]);
    await rm(place.path, { recursive: true });

    await writeFile(place.path, "no ledger");
    const stuck = start({ disk: { ...disk, move: () => Promise.reject(new Error("EROFS")) } });
    await stuck.file.start();
    stuck.ledger.observe(exchange("a"));
    await stuck.file.close();
    expect(await readFile(place.path, "utf8")).toBe("no ledger");
    expect(stuck.warnings).toHaveLength(1);
  });
});

describe("a disk that fails", () => {
  test("is warned of once, nothing is lost in memory, and what it holds stays whole", async () => {
    const full = { is: false };
    const failing: Disk = {
      ...disk,
      write: (path, text) => (full.is ? Promise.reject(new Error("ENOSPC")) : disk.write(path, text)),
    };
    const { ledger, file, warnings, pass } = start({ disk: failing });
    await file.start();
    ledger.observe(exchange("a"));
    await pass();
    full.is = true;
    for (const name of ["b", "c"]) {
      ledger.observe(exchange(name));
      await pass();
    }
    expect(warnings).toEqual([`clients.file: ${place.path} cannot be written; the ledger goes on in memory`]);
    expect((await saved()).clients).toHaveLength(1);
    expect(file.failing()).toBe(true);
    full.is = false;
    await pass();
    expect(file.failing()).toBe(false);
    expect((await saved()).clients).toHaveLength(3);
    full.is = true;
    ledger.observe(exchange("d"));
    await file.close();
    expect(warnings).toHaveLength(2);
    expect(ledger.snapshot().clients).toHaveLength(4);
  });

  test("without the folder fails the same way, and leaves nothing behind", async () => {
    const { ledger, file, warnings } = start({ path: join(place.folder, "nowhere", "ledger.json") });
    await file.start();
    ledger.observe(exchange("a"));
    await file.close();
    expect(warnings).toHaveLength(1);
    expect(await readdir(place.folder)).toEqual([]);
  });

  test("that has no room for a whole file keeps the old one, and no piece of the new one", async () => {
    // A device that is always full, as `/dev/full` is: the write fails, not the open.
    await disk.write(place.path, "old");
    await expect(disk.write(join("/dev/full", "x"), "new")).rejects.toThrow();
    await mkdir(join(place.folder, "target.json"));
    await expect(disk.write(join(place.folder, "target.json"), "new")).rejects.toThrow();
    expect((await readdir(place.folder)).sort()).toEqual(["ledger.json", "target.json"]);
    expect(await readFile(place.path, "utf8")).toBe("old");
  });
});

test("of two processes with one file the last one wins, and says so once", async () => {
  const { one, two } = await twoOfOneFile();
  await one.pass();
  two.ledger.observe(exchange("b"));
  await two.pass();
  two.ledger.observe(exchange("b"));
  await two.pass();
  one.ledger.observe(exchange("a"));
  await one.file.close();
  expect((await saved()).clients.map(({ name }) => name)).toEqual(["a"]);
  const said = [
    `clients.file: another process writes ${place.path}; the last one wins. Give each replica a file of its own`,
  ];
  expect(one.warnings).toEqual(said);
  expect(two.warnings).toEqual(said);
});
