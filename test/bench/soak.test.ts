import { describe, expect, it } from "vitest";
import { randomOf } from "../support/random.mjs";

interface Asked {
  readonly kind: string;
  readonly fault: string;
  readonly tenant: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly allowed: readonly number[];
}
type Random = () => number;
const { slope } = (await import("../../bench/soak/slope.mjs" as string)) as {
  slope(points: readonly (readonly number[])[]): number;
};
const { nextRequest } = (await import("../../bench/soak/mix.mjs" as string)) as {
  nextRequest(random: Random): Asked;
};

function asked(count: number, seed: number): readonly Asked[] {
  const random = randomOf(seed);
  return Array.from({ length: count }, () => nextRequest(random));
}

describe("the slope", () => {
  it("is that of the straight line nearest to the points", () => {
    expect(slope([[0, 1], [1, 3], [2, 5]])).toBeCloseTo(2); // biome-ignore format: three points in a row
    expect(slope([[0, 0], [1, 2], [2, 1], [3, 3]])).toBeCloseTo(0.8); // biome-ignore format: four points in a row
  });

  it("is none of one point, or of points at one time", () => {
    expect([slope([[1, 1]]), slope([]), slope([[1, 1], [1, 9]])]).toEqual([0, 0, 0]); // biome-ignore format: lists of points
  });
});

describe("the requests", () => {
  it("are the same for one seed, and others for another", () => {
    expect(asked(200, 1)).toEqual(asked(200, 1));
    expect(asked(200, 1)).not.toEqual(asked(200, 2));
  });

  it("are of every kind and every fault, and say what they may be answered", () => {
    const all = asked(5_000, 3);
    expect(new Set(all.map(({ kind }) => kind))).toEqual(
      new Set(["get", "pass", "update", "native", "shadow", "list", "big"]),
    );
    expect(new Set(all.map(({ fault }) => fault))).toEqual(
      new Set(["ok", "slow", "cancel", "reset", "unavailable", "cut"]),
    );
    expect(all.filter(({ fault, allowed }) => fault === "ok" && allowed.join() !== "200")).toEqual([]);
    expect(all.filter(({ fault, allowed }) => fault === "reset" && allowed.includes(200))).toEqual([]);
    expect(all.filter(({ tenant, headers }) => !headers["authorization"]?.startsWith(`Bearer t${tenant}.`))).toEqual(
      [],
    );
  });
});
