import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { arrivalOf } from "./arrival.ts";
import { MISTAKES } from "./mistakes.ts";
import { PROGRAMS, type Program } from "./programs.ts";
import { startProxy } from "./proxy.ts";
import { startStandIn } from "./standin.ts";
import { placed, table } from "./tables.ts";
import { HEADS, TARGETS, type Trip } from "./trip.ts";

takeDownAfterEach();

const PAGE = resolve(import.meta.dirname, "../../../docs/ingress.md");
const TRIPS = [...TARGETS, ...HEADS];
const MUST = TRIPS.filter(({ must }) => must);

type Results = ReadonlyMap<Trip, string>;

async function arrivals(program: Program, trips: readonly Trip[], edit?: (recipe: string) => string): Promise<Results> {
  const carryover = await startStandIn("carryover");
  const platform = await startStandIn("platform");
  const behind = { carryoverUrl: carryover.url, platformUrl: platform.url };
  const proxy = await startProxy(program, edit === undefined ? behind : { ...behind, edit });
  const results = new Map<Trip, string>();
  for (const trip of trips) results.set(trip, await arrivalOf(trip, { proxy, carryover, platform }));
  return results;
}

/** Of each program and each mistake, tried once for all tests. */
const tried = new Map<unknown, Results>();

async function once(key: unknown, attempt: () => Promise<Results>): Promise<Results> {
  const results = tried.get(key) ?? (await attempt());
  tried.set(key, results);
  return results;
}

const withRecipe = (program: Program): Promise<Results> => once(program, () => arrivals(program, TRIPS));

/** What the mistakes of a program's users change, in the order of the trips. */
function withMistake(mistake: (typeof MISTAKES)[number]): Promise<Results> {
  const program = PROGRAMS.find(({ name }) => name === mistake.of);
  if (program === undefined) throw new Error(`there is no program ${mistake.of}`);
  return once(mistake, () => arrivals(program, MUST, mistake.edit));
}

describe.each(PROGRAMS)("$title", (program) => {
  it("hands carryover uids, targets, heads and bodies as they went out, byte for byte", async () => {
    const results = await withRecipe(program);
    const lost = MUST.flatMap((trip) => (results.get(trip) === "kept" ? [] : [[trip.what, results.get(trip)]]));
    expect(lost).toEqual([]);
  });
});

describe.each(MISTAKES)("$of with $setting", (mistake) => {
  it("does not keep everything", async () => {
    const results = await withMistake(mistake);
    expect([...results.values()].filter((result) => result !== "kept")).not.toEqual([]);
  });
});

it("docs/ingress.md shows what was seen (-u regenerates it)", { timeout: 60_000 }, async () => {
  const results = await Promise.all(PROGRAMS.map(withRecipe));
  const rows = TRIPS.map((trip) => [trip.what, ...results.map((seen) => seen.get(trip) ?? "")]);
  const kept = table(["", ...PROGRAMS.map(({ title }) => title)], rows);

  const mistakes: string[][] = [];
  for (const mistake of MISTAKES) {
    const seen = await withMistake(mistake);
    const changed = [...seen].flatMap(([trip, result]) => (result === "kept" ? [] : [`${trip.what} ${result}`]));
    mistakes.push([mistake.of, mistake.setting, changed.join("; ")]);
  }
  const page = await readFile(PAGE, "utf8");
  const written = placed(
    placed(page, "what arrives", kept),
    "mistakes",
    table(["", "setting", "what it does"], mistakes),
  );
  await expect(written).toMatchFileSnapshot(PAGE);
});
