/**
 * Removes each guard in turn and expects a test to fail. `GUARDS=gate npm run real -- guards` tries those whose file or
 * name contains that; `GUARDS_TELL=1` prints which test failed.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { figure } from "../support/figures.ts";
import { GUARDS } from "./all.ts";
import { type Hunters, type Outcome, startHunters } from "./hunters.ts";

/** More than there are cores: tests that miss their guard often wait. */
const PROCESSES = 3;
const wanted = process.env["GUARDS"] ?? "";
const guards = GUARDS.filter(({ file, name }) => file.includes(wanted) || name.includes(wanted));
const tests = [...new Set(guards.flatMap((guard) => guard.tests))];

const asItIs = new Map<string, Promise<Outcome>>();
const without = new Map<string, Promise<Outcome>>();
let hunters: Hunters;
let caught = 0;

beforeAll(async () => {
  hunters = await startHunters(PROCESSES);
  for (const test of tests) asItIs.set(test, hunters.try({ tests: [test] }));
  for (const guard of guards) without.set(guard.name, hunters.try(guard));
});

afterAll(() => {
  hunters.end();
  figure("T-SEC-04", "guards taken out", guards.length, "guards");
  figure("T-SEC-04", "share of guards whose removal a test noticed", caught / guards.length, "ratio");
});

describe("with all guards in place", () => {
  it.each(tests)("%s passes", async (test) => {
    expect(await asItIs.get(test)).toEqual({ ms: expect.any(Number) });
  });
});

describe("T-SEC-04: a guard that is taken out is missed", () => {
  it.each(guards)("$file: $name", async ({ name, tests: own }) => {
    // Tests that fail anyway notice nothing.
    for (const test of own) expect(await asItIs.get(test), test).toEqual({ ms: expect.any(Number) });
    const outcome = await without.get(name);
    if (process.env["GUARDS_TELL"] !== undefined) console.log(`${outcome?.ms} ms: ${name} <- ${outcome?.by}`);
    expect(outcome?.error).toBeUndefined();
    expect(outcome?.by, "no test fails without it").toBeDefined();
    caught += 1;
  });
});
