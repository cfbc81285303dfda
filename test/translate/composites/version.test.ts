import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareMoments, laterVersion, momentOf } from "../../../src/translate/composites/summarise.ts";

describe("the later version", () => {
  test.each([
    ["1.2.10", "1.2.9"],
    ["v2.0", "1.99.99"],
    ["1.2.0", "1.2"],
    ["1.2", ""],
    ["1.2", "latest"],
    ["1.0", "20260101"],
    ["1.0", "9.0-rc1"],
    ["1.0", "9.0.x"],
    ["1.0", "V9.0"],
    ["1.2.3", "v1.2.3"],
    ["1.02", "1.1"],
    ["99999999999999999999.1", "99999999999999999999.0"],
  ])("of both orders, %s and %s, is the first", (later, other) => {
    expect([laterVersion(later, other), laterVersion(other, later)]).toEqual([later, later]);
  });

  test("of two names that are none is none", () => {
    expect(laterVersion("latest", "3")).toBe("");
  });

  test("of many does not depend on their order", () => {
    const number = fc.integer({ min: 0, max: 12 });
    const name = fc
      .tuple(fc.boolean(), fc.array(number, { minLength: 1, maxLength: 3 }))
      .map(([v, numbers]) => `${v ? "v" : ""}${numbers.join(".")}`);
    fc.assert(
      fc.property(fc.array(name), (names) => {
        const found = names.reduce(laterVersion, "");
        expect([...names].reverse().reduce(laterVersion, "")).toBe(found);
        expect([...names].sort().reduce(laterVersion, "")).toBe(found);
      }),
    );
  });
});

describe("a moment", () => {
  const order = (a: string, b: string): number => {
    const [left, right] = [momentOf(a), momentOf(b)];
    if (left === undefined || right === undefined) throw new Error("no moment");
    return Math.sign(compareMoments(left, right));
  };

  test.each([
    ["2026-01-01T10:00:00Z", "2026-01-01T10:00:01Z", -1],
    ["2026-01-01T10:00:00.5Z", "2026-01-01T10:00:00.50Z", 0],
    ["2026-01-01T10:00:00.1234Z", "2026-01-01T10:00:00.123Z", 1],
    ["2026-01-01T10:00:00.123456788Z", "2026-01-01T10:00:00.123456789Z", -1],
    ["2026-01-01T12:00:00+02:00", "2026-01-01T10:00:00Z", 0],
  ])("%s against %s", (a, b, sign) => {
    expect([order(a, b), order(b, a)]).toEqual([sign, sign === 0 ? 0 : -sign]);
  });

  test.each([undefined, null, "", "soon", 7])("%j is none", (text) => {
    expect(momentOf(text)).toBeUndefined();
  });
});
