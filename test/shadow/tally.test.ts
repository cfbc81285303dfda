import { describe, expect, test } from "vitest";
import type { Comparison, ComparisonResult } from "../../src/model/comparison.ts";
import { upperBound } from "../../src/rollout/upper-bound.ts";
import { createComparisonTally } from "../../src/shadow/tally.ts";
import { comparison } from "../rollout/control-rig.ts";

function over(result: ComparisonResult, more: Partial<Comparison> = {}): Comparison {
  const failure = result === "failed" ? "busy" : undefined;
  return comparison("ci", { at: 10, served: "shadow", result, failure, ...more });
}

describe("tally", () => {
  test("failed comparisons are part of no bound; noise and order are comparisons without a difference", () => {
    const tally = createComparisonTally();
    const results = ["equal", "order", "noise", "value", "value", "status", "failed"] as const;
    for (const result of results) tally.add(over(result), undefined);
    const [row] = tally.rows();
    expect(row).toEqual({
      resource: "group",
      operation: "list",
      client: undefined,
      comparisons: 6,
      differences: 3,
      results: new Map(Object.entries({ equal: 1, order: 1, noise: 1, value: 2, status: 1, failed: 1 })),
      controls: 0,
      noisy: 0,
    });
    expect(upperBound(row?.differences ?? 0, row?.comparisons ?? 0)).toBeGreaterThan(0.5);
  });

  test("each operation has a row of all, and one of each client behind it", () => {
    const tally = createComparisonTally();
    tally.add(over("equal"), true);
    tally.add(over("value", { client: "web" }), false);
    tally.add(over("equal", { operation: "update" }), undefined);
    expect(tally.rows().map((row) => [row.operation, row.client, row.comparisons, row.controls, row.noisy])).toEqual([
      ["list", undefined, 2, 2, 1],
      ["list", "ci", 1, 1, 1],
      ["list", "web", 1, 1, 0],
      ["update", undefined, 1, 0, 0],
      ["update", "ci", 1, 0, 0],
    ]);
  });

  test("a client that is forgotten loses its rows, and no operation its counts", () => {
    const tally = createComparisonTally(1);
    tally.add(over("value"), undefined);
    tally.add(over("equal", { operation: "update" }), undefined);
    expect(tally.forget("ci")).toBe(1);
    expect(tally.forget("ci")).toBe(0);
    tally.add(over("equal", { client: "web" }), undefined);
    expect(tally.rows().map((row) => [row.operation, row.client, row.comparisons])).toEqual([
      ["list", undefined, 2],
      ["list", "web", 1],
      ["update", undefined, 1],
    ]);
  });

  test("rows of an earlier process go on, and two clients that have one name now are one", () => {
    const tally = createComparisonTally(2);
    const row = { resource: "group", operation: "list", comparisons: 9, differences: 1 };
    const clients = ["ci", "web", "ci", "one too many"].map((client) => ({ ...row, client }));
    tally.restore([{ ...row, client: undefined, comparisons: 36 }, ...clients]);
    tally.add(over("value"), undefined);
    expect(tally.rows().map(({ client, comparisons, differences }) => [client, comparisons, differences])).toEqual([
      [undefined, 37, 2],
      ["ci", 19, 3],
      ["web", 9, 1],
    ]);
  });

  test("clients beyond the most count for their operation, and no row of a client ever goes", () => {
    const tally = createComparisonTally(2);
    for (const client of ["a", "b", "c", "d", "c"]) tally.add(over("value", { client }), undefined);
    tally.add(over("value", { client: "a" }), undefined);
    expect(tally.rows().map(({ client, comparisons }) => [client, comparisons])).toEqual([
      [undefined, 6],
      ["a", 2],
      ["b", 1],
    ]);
  });

  test("a name that was never let in takes no client's row", () => {
    const tally = createComparisonTally(2);
    for (let i = 0; i < 10; i++) tally.add(over("failed", { client: `stranger${i}`, failure: "refused" }), undefined);
    for (const client of ["a", "b"]) tally.add(over("equal", { client }), undefined);
    tally.add(over("failed", { client: "a" }), undefined);
    expect(
      tally.rows().map(({ client, comparisons, results }) => [client, comparisons, results.get("failed")]),
    ).toEqual([
      [undefined, 2, 11],
      ["a", 1, 1],
      ["b", 1, undefined],
    ]);
  });
});
