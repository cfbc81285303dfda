import { describe, expect, test } from "vitest";
import { readProgress } from "../../../src/commands/report/ask.ts";
import { busy, progress } from "./support.ts";

/** What arrives is JSON: undefined members are gone. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

// biome-ignore lint/suspicious/noExplicitAny: tests change members of every shape.
function changed(change: (told: any) => void): unknown {
  const told = sent(busy()[0]);
  change(told);
  return told;
}

const faultOf = (value: unknown): string => {
  try {
    readProgress(value);
  } catch (error) {
    return error instanceof Error ? error.message : "?";
  }
  return "none";
};

describe("the progress of an instance", () => {
  test("comes back as it was sent", () => {
    const [first, second] = busy();
    expect(readProgress(sent(first))).toEqual(first);
    expect(readProgress(sent(second))).toEqual(second);
    expect(readProgress(sent(progress()))).toEqual(progress());
    const off = progress({ ledger: { watchedSince: 1_700_000_000_000 } });
    expect(readProgress(sent(off))).toEqual(off);
  });

  test("members that nobody knows are left out, so that a newer instance of the same form is read", () => {
    const told = changed((all) => {
      all.colour = "blue";
      all.ledger.clients[0].shoe = 44;
    });
    expect(readProgress(told)).toEqual(busy()[0]);
  });

  test.each([[null], [[]], ["x"], [{}], [{ status: "ok" }], [{ version: 0 }], [{ version: "1" }]])(
    "%j is none",
    (value) => {
      expect(faultOf(value)).toMatch(/it is no progress of carryover/);
    },
  );

  test("another form is refused: what is not known could only be left out", () => {
    expect(faultOf({ ...progress(), version: 2 })).toBe(
      "the instance is newer than this report: run the report of its release",
    );
    expect(faultOf(changed((all) => (all.ledger.version = 2)))).toBe("ledger.version: expected 1, found 2");
  });

  test("each wrong member is named with its place", () => {
    const faults = [
      changed((all) => delete all.totals),
      changed((all) => (all.totals.rows[1].requests = "40")),
      changed((all) => (all.ledger.clients[0].needs.longLists[0].records = null)),
      changed((all) => (all.ledger.clients[1].lastV1 = 1e300)),
      changed((all) => (all.ledger.clients[1].requests.v1 = -1)),
      changed((all) => (all.totals.rows[0].requests = 1.5)),
      changed((all) => (all.ledger.requests.v2 = 1e16)),
      changed((all) => (all.bounds[1].comparisons = 1e18)),
      changed((all) => (all.bounds[1].upper = 1.1)),
      changed((all) => (all.rules[0].state = "asleep")),
      changed((all) => (all.bounds = {})),
      changed((all) => (all.lastReloadSuccessful = 1)),
      changed((all) => (all.ledger.instances = [1])),
      changed((all) => (all.ledger.clients = [null])),
    ].map(faultOf);
    expect(faults).toEqual([
      "totals: Invalid input: expected object, received undefined",
      "totals.rows[1].requests: Invalid input: expected number, received string",
      "ledger.clients[0].needs.longLists[0].records: Invalid input: expected number, received null",
      "ledger.clients[1].lastV1: Too big: expected int to be <=9007199254740991",
      "ledger.clients[1].requests.v1: Too small: expected number to be >=0",
      "totals.rows[0].requests: Invalid input: expected int, received number",
      "ledger.requests.v2: Too big: expected int to be <=9007199254740991",
      "bounds[1].comparisons: Too big: expected int to be <=9007199254740991",
      "bounds[1].upper: Too big: expected number to be <=1",
      'rules[0].state: Invalid option: expected one of "as-written"|"stepped-back"|"returning"|"could-move"|"promoted"|"expired"',
      "bounds: Invalid input: expected array, received object",
      "lastReloadSuccessful: Invalid input: expected boolean, received number",
      "ledger.instances[0]: Invalid input: expected string, received number",
      "ledger.clients[0]: Invalid input: expected object, received null",
    ]);
  });
});
