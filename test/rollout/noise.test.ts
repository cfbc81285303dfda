import { describe, expect, test } from "vitest";
import { compareAnswers } from "../../src/shadow/compare.ts";
import { withoutNoise, withoutPassing } from "../../src/shadow/differences.ts";
import { compare, compareLists, driven, LIST, ONE } from "./compared.ts";

const list = (...names: readonly string[]) => names.map((name, i) => ({ id: `r${i}`, name, note: "n" }));

describe("withoutNoise", () => {
  test("what native shows in the same record, class and place is noise; the total stays", () => {
    const left = withoutNoise(
      compareLists(list("a", "b"), list("x", "b")),
      compareLists(list("a", "b"), list("y", "b")),
    );
    expect(left).toEqual({ result: "noise", total: 1, differences: [] });
  });

  test("in another record it is none, and that record is the one shown", () => {
    const compared = compareLists(list("a", "b"), list("x", "y"));
    expect(compared.differences[0]?.id).toBe("r0");
    const left = withoutNoise(compared, compareLists(list("a", "b"), list("z", "b")));
    expect(left).toMatchObject({ result: "value", total: 2 });
    expect(left.differences).toEqual([
      { class: "value", path: "items[].name", id: "r1", native: '"b"', translated: '"y"' },
    ]);
  });

  test("another class or another path explains nothing", () => {
    const compared = compareLists(list("a"), list("x"));
    expect(withoutNoise(compared, compareLists(list("a"), list(""))).result).toBe("noise");
    expect(withoutNoise(compared, compareLists(list("a"), [{ id: "r0", note: "n" }])).result).toBe("value");
    expect(withoutNoise(compared, compareLists(list("a"), [{ id: "r0", name: "a", note: "m" }])).result).toBe("value");
    expect(withoutNoise(compared, compareLists(list("a"), list("a")))).toMatchObject({ result: "value", total: 1 });
  });

  test("more in one record than native shows is a difference", () => {
    const labels = (...values: readonly number[]) => ({
      labels: Object.fromEntries(values.map((value, i) => [`k${i}`, value])),
    });
    const compared = compare(labels(1, 2, 3), labels(4, 5, 6), ONE);
    expect(withoutNoise(compared, compare(labels(1, 2, 3), labels(7, 2, 3), ONE)).result).toBe("value");
    expect(withoutNoise(compared, compare(labels(1, 2, 3), labels(7, 8, 9), ONE)).result).toBe("noise");
  });

  test("a record that came or went between native's answers explains both", () => {
    const [a, b] = list("a", "b");
    const gone = compareLists([a, b], [a]);
    const come = compareLists([a], [a, b]);
    for (const control of [gone, come]) {
      expect(withoutNoise(gone, control)).toMatchObject({ result: "noise", total: 1 });
      expect(withoutNoise(come, control)).toMatchObject({ result: "noise", total: 1 });
    }
    expect(withoutNoise(gone, compareLists([a, b], [b])).result).toBe("missing");
    // Before it went it may have been anything.
    expect(withoutNoise(compareLists([{ ...a, m: 1 }], [a]), compareLists([a], [])).result).toBe("noise");
    // A member that is missing is no record that went.
    const member = compareLists([{ ...a, m: 1 }], [a]);
    expect(withoutNoise(gone, member).result).toBe("missing");
  });

  test("a record that native says was written meanwhile says nothing, whatever differs in it", () => {
    const at = (updatedAt: string, name: string, id = "r0") => ({ id, name, updatedAt });
    const before = at("2026-01-01T00:00:00Z", "a");
    const back = at("2026-01-01T00:00:02Z", "a");
    const between = at("2026-01-01T00:00:01Z", "b");
    const other = { id: "r1", name: "c", updatedAt: "2026-01-01T00:00:00Z" };
    expect(withoutNoise(compareLists([before], [between]), compareLists([before], [back])).result).toBe("noise");
    expect(withoutNoise(compare(before, between, ONE), compare(before, back, ONE)).result).toBe("noise");
    // No writing makes a status.
    const body = Buffer.from("{}");
    const refused = driven(compareAnswers({ status: 200, body }, { status: 404, body }, ONE));
    expect(withoutNoise(refused, compare(before, back, ONE)).result).toBe("status");
    // Of another record it says nothing.
    const wrong = compareLists([before, other], [between, { ...other, name: "d" }]);
    const left = withoutNoise(wrong, compareLists([before, other], [back, other]));
    expect(left.differences.map(({ id }) => id)).toEqual(["r1"]);
  });

  test("a status or a place without a record is explained as well", () => {
    const flapping = compare({ code: 5 }, { code: 7 }, ONE, 500);
    expect(withoutNoise(flapping, flapping).result).toBe("noise");
    expect(withoutNoise(compare({ a: 1 }, { a: 2 }, ONE), compare({ a: 1 }, { a: 3 }, ONE)).result).toBe("noise");
  });

  test("what changes by itself stays noise, another order stays what it is", () => {
    const seen = compare({ seen: "2026-01-01T00:00:00Z" }, { seen: "2026-01-02T00:00:00Z" }, ONE);
    const none = compareLists([], []);
    expect(withoutNoise(seen, none)).toEqual({ result: "noise", total: 1, differences: [] });
    expect(withoutNoise(compareLists(list("a", "b"), list("a", "b").reverse()), none).result).toBe("order");
    expect(withoutNoise(none, none)).toEqual({ result: "equal", total: 0, differences: [] });
  });

  test("a thousand records that change each time are noise, and one more is found", () => {
    const many = (name: string, last = "same") =>
      Array.from({ length: 1000 }, (_, i) => ({ id: `r${i}`, name: i === 999 ? last : `${name}${i}` }));
    const control = compareLists(many("a"), many("b"));
    expect(withoutNoise(compareLists(many("a"), many("c")), control)).toMatchObject({ result: "noise", total: 999 });
    const found = withoutNoise(compareLists(many("a"), many("c", "other")), control);
    expect(found).toMatchObject({ result: "value", total: 1000 });
    expect(found.differences).toMatchObject([{ class: "value", path: "items[].name", id: "r999" }]);
  });

  test("more than is remembered is never explained", () => {
    const many = (value: number) => Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`m${i}`, value]));
    const compared = compare(many(1), many(2), ONE);
    expect(withoutNoise(compared, compare(many(1), many(3), ONE))).toMatchObject({ result: "value", total: 1500 });
  });

  test("a copy of a result leaves its detail behind", () => {
    const compared = compareLists(list("a"), list("x"));
    expect(Object.keys({ ...compared })).toEqual(["result", "total", "differences"]);
    expect(JSON.parse(JSON.stringify(compared))).not.toHaveProperty("detail");
  });
});

describe("withoutPassing", () => {
  const native = list("a", "b");
  const passing = { id: "p", name: "n", note: "n" };
  const compared = compareLists(native, [...native, passing]);

  test("an extra record that a later translated response has no longer came and went", () => {
    expect(withoutPassing(compared, compareLists(native, native))).toMatchObject({ result: "noise", differences: [] });
    expect(withoutPassing(compared, compareLists(native, [...native, { ...passing, name: "m" }]))).toMatchObject({
      result: "extra",
      differences: [{ id: "p" }],
    });
    const two = compareLists(native, [...native, { ...passing, id: "q" }, passing]);
    expect(withoutPassing(two, compared)).toMatchObject({ result: "extra", total: 2, differences: [{ id: "p" }] });
  });

  test("it explains nothing but extra records", () => {
    const [first] = native;
    const wrong = compareLists(native, [{ ...first, name: "x", more: 1 }, passing]);
    const left = withoutPassing(wrong, compareLists(native, native));
    expect(left.differences.map(({ class: of, path }) => `${of} ${path}`)).toEqual([
      "missing items[]",
      "extra items[].more",
      "value items[].name",
    ]);
  });

  test("a later error explains nothing, nor does a response without JSON or with more than is remembered", () => {
    const one = { status: 200, body: Buffer.from(JSON.stringify({ items: native })) };
    const later = (status: number, body: unknown) =>
      driven(compareAnswers(one, { status, body: Buffer.from(JSON.stringify(body)) }, LIST));
    expect(withoutPassing(compared, later(502, {})).result).toBe("extra");
    const page = driven(compareAnswers(one, { status: 200, body: Buffer.from("<html>") }, LIST));
    expect(withoutPassing(compared, page).result).toBe("extra");
    const members = Object.fromEntries(Array.from({ length: 1_500 }, (_, n) => [`m${n}`, n + 1]));
    expect(withoutPassing(compared, later(200, { items: native, ...members })).result).toBe("extra");
    const many = Array.from({ length: 50_001 }, (_, n) => ({ id: `x${n}` }));
    expect(withoutPassing(compared, later(200, { items: [...native, ...many] })).result).toBe("extra");
  });
});
