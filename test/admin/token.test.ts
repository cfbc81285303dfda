import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
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
