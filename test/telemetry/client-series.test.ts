import { describe, expect, test } from "vitest";
import { createClientSeries } from "../../src/telemetry/rollout-metrics.ts";

const counted = (max: number, calls: readonly string[], own: readonly string[] = []) => {
  const series = createClientSeries(max, (label) => own.includes(label));
  for (const label of calls) series.count(label, "v1", 0);
  return Object.fromEntries([...series.rows()].map(([label, { v1 }]) => [label, v1]));
};
const times = (label: string, count: number) => Array.from({ length: count }, () => label);

describe("clients with series of their own", () => {
  test("whoever comes first gets one, up to half of the places", () => {
    expect(counted(4, ["a", "b", "c", "c"])).toEqual({ a: 1, b: 1, other: 2 });
  });

  test("a client that stays gets one of the other half, and what it was counted before stays with other", () => {
    expect(counted(4, ["a", "b", ...times("c", 25), ...times("d", 19)])).toEqual({ a: 1, b: 1, other: 19 + 19, c: 6 });
  });

  test("no more than max and other, whatever comes, and every request is counted once", () => {
    const calls = Array.from({ length: 100_000 }, (_, at) => `c-${at}`);
    const rows = counted(200, [...calls, ...times("late", 30), ...times("c-7", 3)]);
    expect(Object.keys(rows).length).toBeLessThanOrEqual(201);
    expect(Object.values(rows).reduce((sum, count) => sum + count, 0)).toBe(100_033);
    expect(rows["late"]).toBe(11);
    expect(rows["c-7"]).toBe(4);
  });

  test("a configured name always has one, and takes none from others", () => {
    const strangers = ["a", "b", "c", "d"].flatMap((label) => times(label, 25));
    expect(counted(2, [...strangers, "billing"], ["billing", "idle"])["billing"]).toBe(1);
    expect(counted(0, ["billing", "a"], ["billing"])["billing"]).toBe(1);
    expect(counted(2, ["billing", "a"], ["billing"])["a"]).toBe(1);
  });

  test("none at all: everybody is other", () => {
    expect(counted(0, times("a", 50))).toEqual({ other: 50 });
  });

  test("versions are counted apart", () => {
    const series = createClientSeries(2, () => false);
    series.count("a", "v1", 5);
    series.count("a", "v2", 6);
    series.count("a", "v2", 7);
    expect([...series.rows()]).toEqual([["a", { v1: 1, v2: 2, lastV1: 5 }]]);
  });

  test("a client that is forgotten leaves its place to another one", () => {
    const series = createClientSeries(2, (label) => label === "billing");
    for (const label of ["a", "a", "billing"]) series.count(label, "v1", 5);
    for (const label of ["a", "a", "billing", "other"]) series.forget(label);
    expect([...series.rows()]).toEqual([]);
    for (const label of [...times("b", 1), ...times("c", 20)]) series.count(label, "v1", 6);
    expect([...series.rows()].map(([label]) => label).toSorted()).toEqual(["b", "c", "other"]);
  });

  test("the time of the last v1 request stays, whatever is called later and wherever the clock goes", () => {
    const series = createClientSeries(2, () => false);
    for (const at of [10, 30, 20]) series.count("a", "v1", at);
    series.count("a", "v2", 40);
    expect([...series.rows()]).toEqual([["a", { v1: 3, v2: 1, lastV1: 30 }]]);
  });
});
