import { beforeEach, describe, expect, test } from "vitest";
import { createSavedSection, jsonArray, type SectionOptions } from "../../src/state/section.ts";
import type { StateStore } from "../../src/state/store.ts";

const disk = { text: undefined as string | undefined, full: false, writes: 0, aside: undefined as string | undefined };
beforeEach(() => Object.assign(disk, { text: undefined, full: false, writes: 0, aside: undefined }));

const store: StateStore = {
  prepare: async () => ({ used: true, marked: true }),
  use: async () => ({ used: true, marked: true }),
  endWait: () => {},
  requireHeld: async () => {},
  markUsed: async () => {},
  release: async () => {},
  read: async () => disk.text,
  mark: async () => disk.text,
  write: async (_section, pieces) => {
    if (disk.full) throw new Error("ENOSPC");
    disk.writes += 1;
    disk.text = [...pieces].join("");
    return disk.text;
  },
  setAside: async () => {
    disk.aside = disk.text;
    disk.text = undefined;
    return "/state/n.damaged";
  },
  placeOf: (section) => `/state/${section}.json`,
};

/** A process that keeps a number, and timers that `pass` runs. */
function start(given: Partial<Pick<SectionOptions, "idleChecks" | "store" | "recovered">> = {}) {
  const memory = { number: 0, revision: 0, lost: 0 };
  const warnings: string[] = [];
  const timers: (() => void)[] = [];
  const section = createSavedSection({
    store,
    name: "n",
    everyMs: 5,
    later: (ms, run) => {
      expect(ms).toBe(5);
      timers.push(run);
      return () => timers.splice(timers.indexOf(run), 1);
    },
    revision: () => memory.revision,
    snapshot: () => ['{"number":', `${memory.number}}`],
    restore: (text) => {
      const { number, more } = JSON.parse(text) as { number: unknown; more?: string };
      if (typeof number !== "number") throw new Error("no number");
      memory.number = number;
      return more === undefined ? [] : [more];
    },
    lost: () => {
      memory.lost += 1;
    },
    whenLost: "the number is 0",
    warn: (message) => warnings.push(message),
    ...given,
  });
  const set = (number: number): void => {
    memory.number = number;
    memory.revision += 1;
  };
  const pass = async (times = 1): Promise<void> => {
    for (let n = 0; n < times; n++) {
      timers.shift()?.();
      while (timers.length === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { memory, section, warnings, timers, set, pass };
}

describe("a section", () => {
  test("is written when something is new, and read by the next process", async () => {
    const one = start();
    await one.section.start(false);
    await one.pass(3);
    expect(disk.text).toBeUndefined();
    one.set(7);
    await one.pass(3);
    expect([disk.text, disk.writes]).toEqual(['{"number":7}', 1]);
    const two = start();
    await two.section.start(false);
    expect(two.memory.number).toBe(7);
  });

  test("is written at once when asked, and at the end", async () => {
    const one = start();
    await one.section.start(false);
    one.set(1);
    await one.section.save();
    expect(disk.text).toBe('{"number":1}');
    one.set(2);
    await one.section.close();
    expect([disk.text, one.timers]).toEqual(['{"number":2}', []]);
    one.set(3);
    await one.section.save();
    expect(disk.text).toBe('{"number":2}');
  });

  test("can be written now and then although nothing is new", async () => {
    const one = start({ idleChecks: 3 });
    await one.section.start(false);
    await one.pass(2);
    expect(disk.writes).toBe(0);
    await one.pass(5);
    expect(disk.writes).toBe(2);
  });

  test.each([
    ["cut off", '{"number":'],
    ["empty", ""],
    ["of another form", '{"number":"7"}'],
  ])("that is %s is kept under another name, and lost with a warning", async (_what, text) => {
    disk.text = text;
    const one = start();
    await one.section.start(false);
    expect([one.memory.number, one.memory.lost, disk.aside]).toEqual([0, 1, text]);
    expect(one.warnings).toEqual([
      "state.dir: /state/n.json cannot be used (kept as /state/n.damaged): the number is 0",
    ]);
    one.set(1);
    await one.pass();
    expect(disk.text).toBe('{"number":1}');
  });

  test("that cannot be read is kept, lost, and written again at once", async () => {
    disk.text = "precious";
    const broken = start({ store: { ...store, read: () => Promise.reject(new Error("EIO")) } });
    await broken.section.start(false);
    expect([broken.memory.lost, disk.aside, disk.text]).toEqual([1, "precious", '{"number":0}']);
    expect(broken.warnings[0]).toContain("/state/n.json cannot be read (kept as /state/n.damaged)");
  });

  test("with a part that cannot be used is kept, too", async () => {
    disk.text = '{"number":7,"more":"the rest"}';
    const one = start();
    await one.section.start(false);
    expect([one.memory.number, one.memory.lost, disk.aside]).toEqual([7, 0, '{"number":7,"more":"the rest"}']);
    expect(one.warnings).toEqual([
      "state.dir: parts of /state/n.json cannot be used (it is kept as /state/n.damaged): the rest",
    ]);
  });

  test.each([true, false])("that is missing is lost where there was one (%s)", async (wasUsed) => {
    const one = start();
    await one.section.start(wasUsed);
    expect([one.memory.lost, one.warnings.length]).toEqual(wasUsed ? [1, 1] : [0, 0]);
  });
});

test.each([0, 1, 19, 20, 21, 40, 41])("%i items make a JSON array in pieces", (count) => {
  const items = Array.from({ length: count }, (_, n) => ({ n }));
  const pieces = [...jsonArray(items)];
  expect(JSON.parse(pieces.join(""))).toEqual(items);
  expect(pieces.length).toBe(Math.floor(count / 20) + 1);
});

test("a full disk is warned of once, and what is new is written when there is room", async () => {
  let recovered = 0;
  const one = start({
    recovered: () => {
      recovered += 1;
    },
  });
  await one.section.start(false);
  disk.full = true;
  one.set(1);
  await one.pass(3);
  expect(one.warnings).toEqual(["state.dir: /state/n.json cannot be written; a restart would lose what is new"]);
  expect(one.section.failing()).toBe(true);
  disk.full = false;
  await one.pass();
  one.set(2);
  await one.pass();
  expect([disk.text, one.section.failing(), recovered]).toEqual(['{"number":2}', false, 1]);
});

test("a section that somebody removed is written again, though nothing is new, and nobody else is blamed", async () => {
  const one = start({ idleChecks: 2 });
  await one.section.start(false);
  one.set(1);
  await one.pass();
  disk.text = undefined;
  await one.pass(2);
  expect([disk.text, one.warnings]).toEqual(['{"number":1}', []]);
});

test("of two processes with one store the last one wins, and each says so once", async () => {
  const [one, two] = [start({ idleChecks: 1 }), start({ idleChecks: 1 })];
  await one.section.start(false);
  await two.section.start(false);
  one.set(1);
  await one.pass();
  await two.pass();
  expect(disk.text).toBe('{"number":1}');
  two.set(2);
  await two.pass();
  one.set(3);
  await one.pass();
  two.set(4);
  await two.pass();
  expect(disk.text).toBe('{"number":4}');
  const said = [
    "state.dir: another process writes /state/n.json; the last one wins. Give each replica a directory of its own",
  ];
  expect([one.warnings, two.warnings]).toEqual([said, said]);
});
