import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ClientEntry } from "../../../src/ledger/entry.ts";
import { WAY_OUT_MARK } from "../../../src/ledger/way-out-pages.ts";
import { client, progress } from "../report/support.ts";
import { instances, run } from "../status/support.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "carryover-way-out-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const told = (instance: string, ...clients: readonly ClientEntry[]) =>
  progress({ instance, ledger: { instances: [instance], clients } });
const page = (name: string) => readFileSync(join(dir, name), "utf8");

const BUILD = { owner: "Build team", contact: "#build" };
const fetch = instances(
  told("one", client("ci-bot", BUILD), client("../../etc/passwd")),
  told("two", client("ci-bot", BUILD), client("INDEX", { owner: "a|b `c`" })),
);

test("one page is what all instances know of the client, with its owner", async () => {
  const { code, out } = await run(["way-out", "ci-bot", "a:1", "b:1"], { fetch });
  expect(code).toBe(0);
  expect(out).toContain("# Way out of v1 for `ci-bot`\n\n20 v1 requests and 0 v2 requests.");
  expect(out).toContain("Owner: `Build team (#build)`.");
  expect(out).toContain("Hardest need: renames.");
  expect(out).toContain("`createdAt`");
});

test("members that v1 does not show are left out, if every instance says so", async () => {
  const hidden = {
    ...told("one", client("ci-bot")),
    catalogue: { version: "v2beta1", recordTimes: "published" as const },
  };
  const { out } = await run(["way-out", "ci-bot", "a:1"], { fetch: instances(hidden) });
  expect(out).toContain("# Way out");
  expect(out).not.toContain("createdAt");
});

test("a client that no instance knows is named with the nearest one, and an instance that is silent ends with 2", async () => {
  const unknown = await run(["way-out", "ci-bto", "a:1", "b:1"], { fetch });
  expect([unknown.code, unknown.out]).toEqual([2, ""]);
  expect(unknown.err).toContain("did you mean ci-bot?");
  const part = await run(["way-out", "ci-bot", "a:1", "z:1"], { fetch });
  expect(part.code).toBe(2);
  expect(part.out).toContain("10 v1 requests");
  expect(part.err).toContain("http://z:1 cannot be reached");
  expect((await run(["way-out"], { fetch })).code).toBe(64);
});

test("--all writes a page for each client and an index by owner, under names that lead nowhere else", async () => {
  const { code, out } = await run(["way-out", "--all", dir, "a:1", "b:1"], { fetch });
  expect([code, out]).toEqual([0, `${dir}: 3 clients, and index.md\n`]);
  const names = readdirSync(dir).toSorted();
  expect(names).toEqual([
    "ci-bot.md",
    expect.stringMatching(/^etc-passwd~[0-9a-f]{16}\.md$/),
    "index.md",
    expect.stringMatching(/^index~[0-9a-f]{16}\.md$/),
  ]);
  for (const name of names) expect(page(name)).toMatch(new RegExp(`^${WAY_OUT_MARK}\n\n# `));
  const index = page("index.md");
  expect(index.match(/^## .*/gm)).toEqual(["## Nobody named", "## `Build team`", "## `a|b 'c'`"]);
  expect(index).toMatch(/\| \[`ci-bot`\]\(ci-bot\.md\) \| 20 \| 2026-11-21 20:30Z \| renames \| `#build` \|/);
  for (const [, link = ""] of index.matchAll(/\]\(([^)]+)\)/g)) expect(names).toContain(link);
});

test("a directory that is there is refreshed: old pages of its own go, other files stay", async () => {
  await run(["way-out", "--all", dir, "a:1", "b:1"], { fetch });
  writeFileSync(join(dir, "notes.md"), "mine");
  writeFileSync(join(dir, "gone.md"), `${WAY_OUT_MARK}\n\n# Way out`);
  mkdirSync(join(dir, "old.md"));
  const again = await run(["way-out", "--all", dir, "b:1"], {
    fetch: instances(undefined, told("two", client("ci-bot"))),
  });
  expect([again.code, again.out]).toEqual([0, `${dir}: 1 client, and index.md; 3 pages of earlier runs removed\n`]);
  expect(readdirSync(dir).toSorted()).toEqual(["ci-bot.md", "index.md", "notes.md", "old.md"]);
  expect(page("ci-bot.md")).toContain("10 v1 requests");
});

test.each(["ci-bot.md", "CI-BOT.md"])("nothing is written where %s is not a page of an earlier run", async (name) => {
  writeFileSync(join(dir, "elsewhere"), `${WAY_OUT_MARK}\n`);
  symlinkSync(join(dir, "elsewhere"), join(dir, name));
  const { code, err } = await run(["way-out", "--all", dir, "a:1", "b:1"], { fetch });
  expect([code, existsSync(join(dir, "index.md")), page("elsewhere")]).toEqual([64, false, `${WAY_OUT_MARK}\n`]);
  expect(err).toContain("was not written by carryover way-out");
});

test("nothing is written while an instance is silent", async () => {
  const { code, err } = await run(["way-out", "--all", dir, "a:1", "z:1"], { fetch });
  expect([code, readdirSync(dir)]).toEqual([2, []]);
  expect(err).toContain("not every instance responded");
});
