import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SandboxOptions } from "../../sandbox/src/options.ts";
import { createSandbox, type Sandbox } from "../../sandbox/src/sandbox.ts";
import { allMetrics } from "../../scripts/docs/metrics.ts";
import { configOptions } from "../../src/config/config.ts";
import { FIXED_LIMITS } from "../../src/drain/limits.ts";
import { planReadAhead } from "../../src/drain/read-ahead.ts";
import { type Exchange, LIST_OUTCOMES } from "../../src/model/exchange.ts";
import { outcomeLabel } from "../../src/telemetry/series.ts";
import { exchange } from "../end-to-end/comparison/http.ts";
import { startCarryover } from "../support/carryover.ts";
import { DRAIN_LIMITS } from "../support/drains.ts";
import { cellsOf } from "./tables.ts";

const DOCS = new URL("../../docs/", import.meta.url);
const page = readFileSync(new URL("lists.md", DOCS), "utf8");

/** What stands between backticks, outside of blocks, without values and placeholders. */
function words(text: string): readonly string[] {
  return [...text.replace(/```[\s\S]*?```/g, "").matchAll(/`([^`\n]+)`/g)].map(([, word = ""]) => word);
}

/** The cells of each row of the table below `head`. */
function rows(text: string, head: string): readonly (readonly string[])[] {
  const [, table = ""] = text.split(`\n${head}\n`);
  return cellsOf([head, ...table.slice(0, table.indexOf("\n\n")).split("\n").slice(1)]);
}

const MIB = 1024 * 1024;
/** A page of groups. */
const PAGE_BYTES = 60 * 1024;

function whole(text: string): number {
  return Number(text.replaceAll(",", ""));
}

/** How a list of `total` records is cut whose first page of 200 records has `bytes`. */
function cut(tokens: "keyset" | "offset" | "unknown", readers: number, bytes: number, total: number) {
  const limits = { ...DRAIN_LIMITS, readers };
  return planReadAhead(limits, tokens, { records: 200, bytes }, { rank: 200, total });
}

/** What a list of `total` records costs a platform that counts its way to `skip`, and to nothing else. */
function walked(tokens: "keyset" | "offset", total: number): { rows: number; calls: number } {
  const { from, step, pages, overlap } = cut(tokens, 4, PAGE_BYTES, total);
  let [rows, calls] = [200, 1];
  for (let skip = from; skip + overlap < total; skip += step) {
    rows += skip + Math.min(pages * 200, total - skip);
    calls += Math.ceil(Math.min(step, total - skip) / 200);
  }
  return { rows, calls };
}

describe("the page about lists", () => {
  const options = new Map(configOptions().map((option) => [option.path, option]));

  it("names every option of lists", () => {
    const named = words(page).flatMap((word) => /^lists\.[A-Za-z0-9.]+/.exec(word) ?? []);
    const lists = [...options.keys()].filter((path) => path.startsWith("lists."));
    expect(lists.filter((path) => !named.includes(path))).toEqual([]);
  });

  it("gives the defaults that they have", () => {
    const shown = rows(page, "| option | default | |").flatMap(([names = "", defaults = ""]) => {
      const values = words(defaults);
      return words(names).map((name, at) => [name, values[at]]);
    });
    expect(shown.length).toBeGreaterThan(11);
    expect(shown).toEqual(shown.map(([name]) => [name, options.get(name ?? "")?.default]));
  });

  it("names every metric of lists", () => {
    const lists = [...allMetrics().keys()].filter((name) => /^carryover_lists?_/.test(name));
    expect(lists.filter((name) => !page.includes(name))).toEqual([]);
  });

  it("names every outcome", () => {
    const named = rows(page, "| outcome | |").flatMap(([cell = ""]) => words(cell));
    expect(named.map(outcomeLabel)).toEqual(named);
    expect(named.toSorted()).toEqual(LIST_OUTCOMES.toSorted());
  });

  it("says how much lies ahead, and where segments become windows", () => {
    const [, mib = ""] = /about (\d+) MiB of pages ahead/.exec(page) ?? [];
    expect(cut("offset", 100, MIB, 1e5).ahead).toBe(Number(mib));
    const [, kib = ""] = /a page above (\d+) KiB, with four readers/.exec(page) ?? [];
    const pages = (bytes: number) => cut("unknown", 4, bytes, 1e5).pages;
    expect([pages(Number(kib) * 1024), pages(Number(kib) * 1024 + 1)]).toEqual([2, 1]);
    const [, most = ""] = /up to (\d+) pages follow/.exec(page) ?? [];
    expect(pages(1)).toBe(Number(most));
    const [, total = "", overlap = ""] =
      /\*\*Windows\*\*, up to ([\d,]+) records[\s\S]*?begins (\d+) records before/.exec(page) ?? [];
    expect([whole(total), whole(overlap)]).toEqual([FIXED_LIMITS.windowRecords, FIXED_LIMITS.overlap]);
  });

  it("counts the rows that a platform walks over, and the calls", () => {
    const [, few = "", windows = "", segments = ""] =
      /some ([\d,]+) rows for 10,000[\s\S]*?([\d.]+) million rows in windows, and ([\d.]+) million in segments/.exec(
        page,
      ) ?? [];
    const million = (rows: number) => (rows / 1e6).toFixed(1);
    expect(whole(few)).toBe(Math.round(walked("offset", 10_000).rows / 1000) * 1000);
    expect([windows, segments]).toEqual([
      million(walked("offset", 100_000).rows),
      million(walked("keyset", 100_000).rows),
    ]);
    const calls = rows(page, "| records | calls: windows | calls: segments | by cursor |");
    expect(calls.length).toBeGreaterThan(2);
    for (const [records = "", byWindows, , byCursor] of calls) {
      expect(byWindows).toBe(String(walked("offset", whole(records)).calls));
      expect(byCursor).toBe(String(Math.ceil(whole(records) / 200)));
    }
  });
});

/** What the platforms of the table do, by the words of its first column. */
const PLATFORMS: ReadonlyMap<string, { sandbox: SandboxOptions; flags?: Readonly<Record<string, string>> }> = new Map([
  ["as specified", { sandbox: {} }],
  ["ignores `skip`", { sandbox: { ignoreSkip: true } }],
  ["sends no `totalCount`", { sandbox: { omitTotalCount: true } }],
  ["lists by name", { sandbox: { order: "name" } }],
  ["lists by name, `lists.orderBy: uid`", { sandbox: { order: "name" }, flags: { listsOrderBy: "uid" } }],
]);
/** With these the sandbox has a little more than 10,000 groups. */
const LONG = 9_000;
const WITNESSES = "| the platform | `upstream.v2.pageTokens` | up to 10,000 records | longer lists |";

interface Platform {
  readonly sandbox: Sandbox;
  readonly url: string;
}

interface Read {
  readonly witness: string | undefined;
  readonly header: string | undefined;
}

async function readGroups({ sandbox, url: v2Url }: Platform, flags: Readonly<Record<string, string>>): Promise<Read> {
  const seen: Exchange[] = [];
  const carryover = await startCarryover({ v2Url, flags, onExchange: (one) => seen.push(one) });
  const headers = { authorization: `Bearer ${sandbox.token("admin")}` };
  const response = await exchange({
    method: "GET",
    url: carryover.url,
    target: "/iam/v1/groups",
    headers,
    body: undefined,
  });
  await carryover.close();
  const header = response.headers.find(([name]) => name === "carryover-list")?.[1];
  return { witness: seen[0]?.list?.witness, header };
}

describe.each([...PLATFORMS])("a platform of the table: %s", (name, { sandbox: options, flags }) => {
  const platforms: Platform[] = [];
  beforeAll(async () => {
    for (const size of [0, LONG]) {
      const sandbox = createSandbox({ ...options, size });
      platforms.push({ sandbox, url: (await sandbox.listen()).url });
    }
  });
  afterAll(async () => {
    for (const { sandbox } of platforms) await sandbox.close();
  });
  const claims = rows(page, WITNESSES).filter(([platform]) => platform === name);

  it.each(claims.flatMap(([, kinds = "", ...witnesses]) => words(kinds).map((tokens) => ({ tokens, witnesses }))))(
    "reaches the witnesses that the table says, with tokens $tokens",
    async ({ tokens, witnesses }) => {
      const all = { ...flags, upstreamV2PageTokens: tokens };
      const [short, long] = [
        await readGroups(platforms[0] as Platform, all),
        await readGroups(platforms[1] as Platform, all),
      ];
      expect([short.witness, long.witness].map((witness) => `\`${witness}\``)).toEqual(witnesses);
      expect(short.header).toMatch(`witness=${short.witness}; pages=`);
      expect(long.header).toBe(long.witness === "cover" ? "witness=cover-or-abort" : "witness=none");
    },
  );
});

it("the table of witnesses speaks of platforms that are tried", () => {
  expect(rows(page, WITNESSES).flatMap(([platform = ""]) => (PLATFORMS.has(platform) ? [] : [platform]))).toEqual([]);
});
