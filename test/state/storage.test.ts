/** Storage that fails: each test says which calls do, and how. */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { later as afterMs, type Timer } from "../../src/model/clock.ts";
import { StateInUse, StateWaitEnded } from "../../src/state/lock.ts";
import { finished, rule } from "../rollout/control-rig.ts";
import { takeDownAfterEach } from "../support/take-down.ts";
import { type StateProcess, stateFolder, stateProcess } from "./state-rig.ts";

takeDownAfterEach();

type Call = "mkdir" | "create" | "write" | "rename" | "link" | "remove" | "read";
/** The code of the error of a call; undefined: it is carried out. */
const storage = vi.hoisted(() => ({
  fail: (_call: string, _path: string): string | undefined => undefined,
  /** What writes wait for. */
  hang: undefined as Promise<void> | undefined,
  /** Happens just before a file is renamed. */
  beforeRename: undefined as (() => Promise<void>) | undefined,
}));
const failing = (code: string, ...calls: readonly Call[]): void => {
  storage.fail = (call) => (calls.some((one) => one === call) ? code : undefined);
};
/** Every call that changes anything. */
const WRITES = ["mkdir", "create", "write", "rename", "link", "remove"] as const;

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof import("node:fs/promises")>();
  const check = (call: string, path: unknown): void => {
    const code = storage.fail(call, String(path));
    if (code !== undefined) throw Object.assign(new Error(`${code}: ${call}`), { code });
  };
  const checked =
    <Args extends unknown[], T>(call: string, run: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      check(call, args[0]);
      return run(...args);
    };
  return {
    ...real,
    mkdir: checked("mkdir", real.mkdir),
    rename: async (from: string, to: string): Promise<void> => {
      await storage.beforeRename?.();
      return checked("rename", real.rename)(from, to);
    },
    link: checked("link", real.link),
    rm: checked("remove", real.rm),
    open: async (path: string, flags: string | number, mode?: number): Promise<FileHandle> => {
      if (flags === "wx" && existsSync(path)) return real.open(path, flags, mode);
      check(flags === "wx" ? "create" : "read", path);
      const file = await real.open(path, flags, mode);
      const write = file.writeFile.bind(file);
      file.writeFile = async (...args: Parameters<FileHandle["writeFile"]>) => {
        await storage.hang;
        check("write", path);
        return write(...args);
      };
      return file;
    },
  };
});
afterEach(() => {
  storage.fail = () => undefined;
  storage.hang = undefined;
  storage.beforeRename = undefined;
});

const RULES = [rule({ name: "back" })];
/** Looks at the file of another process follow each other at once. */
const quick: Timer = (ms, run) => afterMs(ms === 500 ? 0 : ms, run);

/** A directory in which a rule stepped back and native was forced. */
async function used(): Promise<string> {
  const folder = stateFolder();
  const one = stateProcess(folder, { rules: RULES });
  await one.start();
  for (let n = 0; n < 200; n++)
    one.control.observe(finished(`c${n % 5}`, { status: 502, reason: "UPSTREAM_INVALID", rule: "back" }));
  one.control.forceByHand("native", one.at);
  await one.saved.close();
  return folder;
}

const contents = (folder: string) =>
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]);
const stateOf = ({ control }: StateProcess) => [control.states()[0]?.phase, control.force().effective];

test.each<[string, string, readonly Call[]]>([
  ["is full", "ENOSPC", ["write"]],
  ["has no room for another file", "ENOSPC", ["create", "mkdir"]],
  ["is over its quota", "EDQUOT", ["write"]],
  ["is read-only", "EROFS", WRITES],
  ["belongs to another user", "EACCES", WRITES],
  ["cannot be written", "EIO", WRITES],
])(
  "a start in a directory that %s keeps what was saved, serves from memory and changes nothing",
  async (_, code, calls) => {
    const folder = await used();
    const before = contents(folder);
    failing(code, ...calls);
    const two = stateProcess(folder, { rules: RULES });
    await two.start();
    expect([stateOf(two), two.saved.failing(), await two.saved.isHeld()]).toEqual([["back", "native"], true, false]);
    expect(two.lines[0]).toContain(`${folder} cannot be written: this process goes on in memory`);
    two.control.forceByHand("none", two.at);
    expect(await new Promise((resolve) => two.saved.afterSaving(resolve))).toBe(false);
    await two.saved.close();
    expect(contents(folder)).toEqual(before);
  },
);

test("what cannot be read of a failing storage is lost: native v1 serves", async () => {
  const folder = await used();
  failing("EIO", ...WRITES, "read");
  const two = stateProcess(folder, { rules: RULES, timer: quick });
  await two.start();
  expect([stateOf(two), two.saved.failing()]).toEqual([["unknown", "native"], true]);
});

test("a directory that cannot be made is no reason not to start", async () => {
  const folder = join(stateFolder(), "state");
  failing("EROFS", ...WRITES);
  const one = stateProcess(folder, { rules: RULES });
  await one.start();
  expect([stateOf(one), one.saved.failing(), existsSync(folder)]).toEqual([["forward", "none"], true, false]);
});

test("storage that fails only after the directory was taken is tried again", async () => {
  const folder = await used();
  storage.fail = (call, path) => (call === "write" && !path.includes("owner.json") ? "ENOSPC" : undefined);
  const two = stateProcess(folder, { rules: RULES });
  await two.start();
  expect([stateOf(two), two.saved.failing(), await two.saved.isHeld()]).toEqual([["back", "native"], true, true]);
  storage.fail = () => undefined;
  expect(await new Promise((resolve) => two.saved.afterSaving(resolve))).toBe(true);
});

test("a live process keeps a directory that another one cannot write", async () => {
  const folder = await used();
  const path = join(folder, "owner.json");
  writeFileSync(path, JSON.stringify({ token: "t", beat: 0 }));
  storage.fail = (call) => (WRITES.some((one) => one === call) ? "EROFS" : undefined);
  let looks = 0;
  const timer: Timer = (ms, run) => {
    if (ms === 500 && ++looks === 3) writeFileSync(path, JSON.stringify({ token: "t", beat: 1 }));
    return quick(ms, run);
  };
  await expect(stateProcess(folder, { rules: RULES, timer }).start()).rejects.toBeInstanceOf(StateInUse);
  looks = -1000;
  const three = stateProcess(folder, { rules: RULES, timer });
  await three.start();
  expect([stateOf(three), three.saved.failing()]).toEqual([["back", "native"], true]);
});

test("a process that waits, too, removes no file that another one put there meanwhile", async () => {
  const folder = await used();
  const path = join(folder, "owner.json");
  writeFileSync(path, JSON.stringify({ token: "killed" }));
  const three = stateProcess(folder);
  // After the last look.
  storage.beforeRename = async () => {
    storage.beforeRename = undefined;
    rmSync(path);
    await three.start();
  };
  const error: unknown = await stateProcess(folder, { timer: quick })
    .start()
    .catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(StateInUse);
  expect(String(error)).toMatch(/in use by host .+, process \d+,/);
  expect(await three.saved.isHeld()).toBe(true);
});

test("a close ends the wait for the directory of a process that was killed", async () => {
  const folder = await used();
  cpSync(join(folder, "used.txt"), join(folder, "owner.json"));
  const two = stateProcess(folder);
  const starting = two.saved.start();
  two.saved.endWait();
  await expect(starting).rejects.toBeInstanceOf(StateWaitEnded);
  await two.saved.close();
  expect(readFileSync(join(folder, "owner.json"), "utf8")).toBe(readFileSync(join(folder, "used.txt"), "utf8"));
});

test("a close does not wait for storage that no longer responds", async () => {
  const folder = await used();
  let isHanging = false;
  const timer: Timer = (ms, run) => afterMs(isHanging && ms === 10_000 ? 0 : ms, run);
  const two = stateProcess(folder, { timer });
  await two.start();
  isHanging = true;
  let respond = (): void => {};
  storage.hang = new Promise((resolve) => {
    respond = resolve;
  });
  await two.saved.close();
  expect(two.lines.at(-1)).toContain("does not respond");
  respond();
  // The writes go on; the directory is removed after them.
  await expect.poll(() => existsSync(join(folder, "owner.json"))).toBe(false);
});
