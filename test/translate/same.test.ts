import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/model/json.ts";
import type { Row } from "../../src/model/resource.ts";
import { isSame, isZero } from "../../src/translate/same.ts";
import { COLOUR } from "./support.ts";

const text: Row = { v1: "t", v2: "t", kind: "string", zero: "" };
const time: Row = { v1: "moment", v2: "at", kind: "timestamp", zero: null };
const large: Row = { v1: "l", v2: "l", kind: "int64", zero: "0" };
const map: Row = { v1: "m", v2: "m", kind: "map", of: "string", zero: {} };
const inner: Row = { v1: "x", v2: "y", kind: "message", rows: [text, time, large, map], zero: null };
const blob: Row = { v1: "b", v2: "b", kind: "bytes", zero: "" };
const span: Row = { v1: "s", v2: "s", kind: "duration", zero: null };
const hue: Row = { v1: "hue", v2: "hue", kind: "enum", values: COLOUR, zero: "ANY" };
const numbered: Row = { v1: "n", v2: "n", kind: "map", of: "int32", keys: "int64", zero: {} };
const apps: Row = { v1: "a", v2: "a", kind: "map", of: { rows: [text, large] }, zero: {} };

describe("zero is", () => {
  test.each([undefined, null, "", 0, false, [], {}, -0])("%j, of whatever kind", (value) => {
    expect(isZero(value)).toBe(true);
    expect(isZero(value, text)).toBe(true);
  });

  test.each([
    ["0", large, true],
    ["0", text, false],
    ["00", large, true],
    ["1", large, false],
    [{ t: "", l: "0", m: {} }, inner, true],
    [{ t: "", l: "0", m: { k: "" } }, inner, false],
    [{ k: "" }, map, false],
    [{}, map, true],
    [{ k: {} }, apps, false],
    [[""], text, false],
    [" ", text, false],
    ["false", text, false],
    [true, text, false],
  ] as const)("%j of %j: %s", (value, row, zero) => {
    expect(isZero(value as Json, row as Row)).toBe(zero);
  });
});

describe("the same", () => {
  test.each([
    ["9007199254740993", "9007199254740992", large, false],
    ["9007199254740993", "9007199254740993", large, true],
    ["12", 12, large, true],
    ["1e1", "10", large, true],
    ["1e1", 10, { ...large, kind: "uint32", zero: 0 }, true],
    ["a", "b", large, false],
    ["2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", time, true],
    ["2026-01-01T00:00:00Z", "not a time", time, false],
    ["not a time", "not a time", time, true],
    ["2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", text, false],
    [{ y: 1 }, [], text, false],
    [[1], { 0: 1 }, text, false],
    ["true", true, text, false],
    ["9007199254740993.0", "9007199254740993", large, true],
    ["0.9007199254740993e16", "9007199254740993", large, true],
    ["9007199254740993", "9007199254740994", { ...large, list: true }, false],
    ["2026-01-01T00:00:05.678901Z", "2026-01-01t01:00:05.678901000+01:00", time, true],
    ["2026-01-01T00:00:05.678901Z", "2026-01-01T00:00:05.678902Z", time, false],
    ["2026-01-01T00:00:05.678901Z", "2026-01-01T00:00:05.678Z", time, true],
    ["2026-01-01T00:00:05.678901Z", "2026-01-01T00:00:05.679Z", time, true],
    ["2026-01-01T00:00:05.678901Z", "2026-01-01T00:00:05Z", time, false],
    ["2026-02-30T00:00:00Z", "2026-03-02T00:00:00Z", time, false],
    ["aGk_", "aGk/", blob, true],
    ["aGk", "aGk=", blob, true],
    ["aGk", "aGo=", blob, false],
    ["1.5s", "+1.500s", span, true],
    ["1.5s", "1.6s", span, false],
    ["COLOUR_RED", 7, hue, true],
    ["COLOUR_RED", 1, hue, false],
    ["COLOUR_QUANTUM", "COLOUR_QUANTUM", hue, true],
    ["COLOUR_QUANTUM", "COLOUR_RED", hue, false],
    [{ "0123": 1, "-5": "2" }, { "123": "1", "-05": 2.0 }, numbered, true],
    [{ "0123": 1 }, { "124": 1 }, numbered, false],
    [{ "0123": "1" }, { "123": "1" }, map, false],
    ["1", ["1"], text, false],
    [{ a: "", b: "1" }, { b: "1" }, map, false],
    [{ a: "", b: "1" }, { b: "1", a: "" }, map, true],
    [{ t: "a", at: "2026-01-01T00:00:00Z" }, { t: "a", at: "2026-01-01T00:00:00.000Z", l: "0" }, inner, true],
    [{ t: "a", more: 1 }, { t: "a" }, inner, false],
    [{ k: { l: "1" } }, { k: { l: 1, t: "" } }, apps, true],
    [{ k: {}, j: {} }, { k: {} }, apps, false],
  ] as const)("%j and %j of %j: %s", (a, b, row, same) => {
    expect(isSame(a as Json, b as Json, row as Row, false)).toBe(same);
    expect(isSame(b as Json, a as Json, row as Row, false)).toBe(same);
  });

  test("compares members by their v1 names as well", () => {
    const part = { ...inner, rows: [{ ...time, v1: "until" }, hue] } as Row;
    const same = (a: Json, b: Json) => isSame(a, b, part, false, "v1");
    expect(same({ hue: "RED" }, { hue: 1 })).toBe(true);
    expect(same({ hue: "ANY" }, {})).toBe(true);
    expect(same({ until: "2026-01-01T00:00:00Z" }, { until: "2026-01-01T01:00:00+01:00" })).toBe(true);
    expect(same({ at: "2026-01-01T00:00:00Z" }, { at: "2026-01-01T01:00:00+01:00" })).toBe(false);
  });

  test("is every value and itself, in both directions, as sets too", () => {
    const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
    fc.assert(
      fc.property(value, value, fc.boolean(), (a, b, asSets) => {
        expect(isSame(a, a, text, asSets)).toBe(true);
        expect(isSame(a, b, text, asSets)).toBe(isSame(b, a, text, asSets));
      }),
      { numRuns: 300 },
    );
  });

  test("as sets is told of long lists too", () => {
    const long = Array.from({ length: 100_000 }, (_, index) => `name ${index}`);
    expect(isSame(long, [...long].reverse(), text, true)).toBe(true);
    expect(isSame(long, [...long.slice(1), "other"], text, true)).toBe(false);
  });

  test("as sets compares what is more than a name by what it says", () => {
    expect(
      isSame([{ t: "a" }, { t: "b", l: "0" }], [{ t: "b" }, { t: "a", l: 0 }], { ...inner, list: true } as Row, true),
    ).toBe(true);
    expect(isSame([{ t: "a" }], [{ t: "a" }, { t: "b" }], { ...inner, list: true } as Row, true)).toBe(false);
  });

  test("as sets ignores order and repeats, and nothing else", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "b", "c")), fc.array(fc.constantFrom("a", "b", "c")), (a, b) => {
        expect(isSame(a, b, text, true)).toBe([...new Set(a)].sort().join() === [...new Set(b)].sort().join());
        expect(isSame(a, b, text, false)).toBe(a.join() === b.join());
      }),
      { numRuns: 300 },
    );
  });
});
