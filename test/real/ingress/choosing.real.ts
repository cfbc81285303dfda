import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { rigForTest, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { startTap } from "../peers/tap.ts";
import { ask } from "./ask.ts";
import { CHOICES, type Choice } from "./choice.ts";
import { PROGRAMS, type Program } from "./programs.ts";
import { startProxy } from "./proxy.ts";
import { placed, table } from "./tables.ts";

takeDownAfterEach();

const PAGE = resolve(import.meta.dirname, "../../../docs/ingress.md");

interface Chosen {
  readonly side: "carryover" | "platform" | "refused";
  readonly status: number;
}

/** It cannot match a decoded path without sending it on decoded. */
const LETS_PAST: ReadonlySet<string> = new Set(["envoy"]);
const canaried = ({ headers = [] }: Choice): boolean => headers.some((name) => /^x[-_]canary$/i.test(name));
/** Which goes to the platform whatever its path. */
const QUIET_MS = 20;

const isGrpc = ({ headers = [] }: Choice): boolean => headers.some((value) => /^application\/grpc/i.test(value));

/** Resolves once `count` stays the same for a moment. */
async function unchanging(count: () => number): Promise<void> {
  for (let before = -1; before !== count(); await setTimeout(QUIET_MS)) before = count();
}

/** Of each program, tried once for all tests. */
const tried = new Map<Program, ReadonlyMap<Choice, Chosen>>();

async function chosenBy(program: Program): Promise<ReadonlyMap<Choice, Chosen>> {
  const known = tried.get(program);
  if (known !== undefined) return known;
  const rig = await rigForTest({ flags: { listenTrustedProxies: "127.0.0.1" } });
  const [carryover, platform] = [await startTap(rig.url), await startTap(rig.sandboxUrl)];
  const proxy = await startProxy(program, {
    ...{ carryoverUrl: carryover.url, adminUrl: rig.adminUrl, platformUrl: platform.url },
  });
  const written = ({ connections }: typeof carryover): number =>
    connections.reduce((sum, { asked }) => sum + asked.length, 0);
  const all = new Map<Choice, Chosen>();
  for (const choice of CHOICES) {
    // Over HTTP/2 a proxy acknowledges what an earlier response brought.
    await unchanging(() => written(carryover) + written(platform));
    const before = [written(carryover), written(platform)];
    const { method = "GET", target, headers = [] } = choice;
    const fields = ["Host", "v1.example.com", "Authorization", `Bearer ${rig.sandbox.token("admin")}`, ...headers];
    const { status } = await ask(proxy.url, { method, target, headers: fields });
    const there = written(carryover) !== before[0];
    const past = written(platform) !== before[1];
    expect([choice.what, there && past]).toEqual([choice.what, false]);
    all.set(choice, { side: there ? "carryover" : past ? "platform" : "refused", status });
  }
  tried.set(program, all);
  return all;
}

describe.each(PROGRAMS)("$title", (program) => {
  it("sends v1 and v2, and what `x-canary` says, where they belong", async () => {
    const chosen = await chosenBy(program);
    const wrong = CHOICES.filter((choice) => choice.must !== undefined && chosen.get(choice)?.side !== choice.must);
    expect(wrong).toEqual([]);
  });

  it("sends nothing to carryover that carryover would serve as another version than its path says", async () => {
    const chosen = await chosenBy(program);
    const served = CHOICES.filter((choice) => {
      const { side, status } = chosen.get(choice) ?? { side: "refused", status: 0 };
      return side === "carryover" && status < 300;
    });
    // v1 as it is written, or with letters encoded that need not be, which are the same path (RFC 3986 section 6.2.2.2).
    const odd = served.filter(({ target }) => !/^(?:http:\/\/[a-z0-9.]+)?\/iam\/v1\//.test(plainLetters(target)));
    expect(odd).toEqual([]);
  });

  it(`lets ${LETS_PAST.has(program.name) ? "only encoded" : "no"} v1 past carryover without x-canary`, async () => {
    const chosen = await chosenBy(program);
    const past = CHOICES.filter((choice) => {
      const { side, status } = chosen.get(choice) ?? { side: "refused", status: 0 };
      const isV2 = /^(?:http:\/\/[a-z0-9.]+)?\/iam\/v2beta1\//.test(`${choice.target}/`.replace("?", "/"));
      return side === "platform" && status < 300 && !isV2 && !canaried(choice) && !isGrpc(choice);
    });
    const encoded = past.filter(({ target }) => target.includes("%"));
    expect(past).toEqual(LETS_PAST.has(program.name) ? encoded : []);
  });
});

function plainLetters(target: string): string {
  return target.replaceAll(/%([46-7][0-9A-Fa-f]|3[0-9])/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

it("docs/ingress.md shows where they go (-u regenerates it)", { timeout: 120_000 }, async () => {
  const columns: ReadonlyMap<Choice, Chosen>[] = [];
  for (const program of PROGRAMS) columns.push(await chosenBy(program));
  const rows = CHOICES.map((choice) => [choice.what, ...columns.map((chosen) => words(chosen.get(choice)))]);
  const page = await readFile(PAGE, "utf8");
  const head = ["", ...PROGRAMS.map(({ title }) => title)];
  await expect(placed(page, "what chooses", table(head, rows))).toMatchFileSnapshot(PAGE);
});

function words(chosen: Chosen | undefined): string {
  const { side, status } = chosen ?? { side: "refused", status: 0 };
  return status === 0 ? side : `${side}, ${status}`;
}
