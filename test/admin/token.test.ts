import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createChangeToken } from "../../src/admin/change-token.ts";
import { createAdminToken } from "../../src/admin/token.ts";
import { readBounded } from "../../src/config/watched-file.ts";
import { later } from "../../src/model/clock.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "admin-token-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function watched() {
  const tokenFile = join(folder, "token");
  await writeFile(tokenFile, "first\n");
  const said: string[] = [];
  const token = createAdminToken(
    { host: "127.0.0.1", port: 0, token: "first", tokenFile },
    {
      read: readBounded,
      // The second look follows at once.
      later: (ms, run) => later(ms <= 100 ? 1 : ms, run),
      wall: () => Date.now(),
      log: {
        info: (message) => said.push(message),
        error: (message, _, facts) => said.push(`${message}: ${facts["faults"]}`),
      },
    },
  );
  if (token === undefined) throw new Error("no token");
  const put = async (text: string) => {
    await writeFile(`${tokenFile}.new`, text);
    await rename(`${tokenFile}.new`, tokenFile);
  };
  return { token, put, said, tokenFile };
}

it("is the new one once it was looked at", async () => {
  const { token, put, said } = await watched();
  await token.check();
  expect([token.now(), said]).toEqual(["first", []]);
  await put("second\n");
  await token.check();
  expect(token.now()).toBe("second");
  expect(said).toEqual(["the admin port's token was changed: views ask for the new one"]);
  token.close();
});

it.each([
  ["", "it is not one word of visible ASCII characters"],
  ["two words", "it is not one word of visible ASCII characters"],
  ["\x07", "it is not one word of visible ASCII characters"],
])("stays as it was while the file holds %j, which is said once", async (text, why) => {
  const { token, put, said } = await watched();
  await put(text);
  await token.check();
  await token.check();
  expect(token.now()).toBe("first");
  expect(said).toHaveLength(1);
  expect(said[0]).toContain(why);
  expect(said[0]).not.toContain("first");
  await put("third");
  await token.check();
  expect(token.now()).toBe("third");
  token.close();
});

it("stays as it was while the file is gone", async () => {
  const { token, said, tokenFile } = await watched();
  await rm(tokenFile);
  await token.check();
  expect(token.now()).toBe("first");
  expect(said.join()).toContain("ENOENT");
  token.close();
});

it("is none without a file", () => {
  expect(
    createAdminToken(
      { host: "127.0.0.1", port: 0 },
      { read: readBounded, later, wall: () => 0, log: { info: () => {}, error: () => {} } },
    ),
  ).toBeUndefined();
});

describe("the token of a state.dir", () => {
  async function changing() {
    const dir = join(folder, "state");
    await mkdir(dir);
    const said: string[] = [];
    const ticks: (() => void)[] = [];
    const held = { now: true };
    const token = createChangeToken(
      { tokenFile: undefined, dir },
      {
        isHeld: async () => held.now,
        later: (_ms, run) => {
          ticks.push(run);
          return () => {};
        },
        failed: (message) => said.push(message),
      },
    );
    if (token === undefined) throw new Error("no token");
    const path = join(dir, "change-token");
    const written = () => readFile(path, "utf8").catch(() => undefined);
    return { token, dir, path, held, said, ticks, written };
  }

  it.each([
    ["removed", (path: string) => rm(path)],
    ["replaced", (path: string) => writeFile(path, "other")],
    ["made readable for all", (path: string) => chmod(path, 0o644)],
  ])("is written again, the same, when its file was %s", async (_, change) => {
    const { token, path, written, ticks } = await changing();
    await token.start();
    const before = await written();
    expect([token.now(), token.isWritten()]).toEqual([before, true]);
    await change(path);
    ticks[0]?.();
    await vi.waitFor(async () => expect([await written(), (await stat(path)).mode & 0o777]).toEqual([before, 0o600]));
    expect(token.now()).toBe(before);
    token.close();
  });

  it("is in force as soon as its file can be written, and the failure is said once", async () => {
    const { token, dir, written, said } = await changing();
    await rm(dir, { recursive: true });
    await token.start();
    await token.check();
    expect([token.now(), token.isWritten(), said.length]).toEqual([undefined, false, 1]);
    await mkdir(dir);
    await token.check();
    expect([token.now(), token.isWritten()]).toEqual([await written(), true]);
    token.close();
    expect(token.now()).toBeUndefined();
  });

  it("leaves the file of another process alone that took the directory over", async () => {
    const { token, path, held, written } = await changing();
    await token.start();
    held.now = false;
    await writeFile(path, "of the other one");
    await token.check();
    expect([await written(), token.isWritten()]).toEqual(["of the other one", false]);
    token.close();
  });
});
