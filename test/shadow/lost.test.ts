import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import type { Row } from "../../src/model/resource.ts";
import { lostFields } from "../../src/shadow/written-fields.ts";

const ROWS: readonly Row[] = [
  { v1: "displayName", v2: "title", kind: "string", zero: "" },
  { v1: "baz", v1Proto: "old_baz", v2: "baz", kind: "string", zero: "" },
  { v1: "gone", v2: null, from: ["x.y"], kind: "string", access: "output" },
];

function paths(sent: JsonObject, native: JsonObject, built: JsonObject = {}): string[] {
  return lostFields(sent, native, built, ROWS).map(({ path }) => path);
}

/** The rows, and how often anything of them was looked at. */
function watched() {
  const looks = { count: 0 };
  const rows = ROWS.map(
    (row) =>
      new Proxy(row, {
        get: (target, name) => {
          looks.count++;
          return Reflect.get(target, name);
        },
      }),
  );
  return { rows, looks };
}

function unknown(count: number): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`x${i}`, 1]));
}

describe("lost fields", () => {
  test("a member is known by each of its spellings, and is lost when native stored it and v2 is not told", () => {
    for (const name of ["displayName", "display_name"]) {
      expect(paths({ [name]: "a" }, { displayName: "a" })).toEqual(["displayName"]);
      expect(paths({ [name]: "a" }, { displayName: "a" }, { title: "a" })).toEqual([]);
      expect(paths({ [name]: "a" }, { displayName: "b" })).toEqual([]);
      expect(paths({ [name]: "a" }, {})).toEqual([]);
      expect(paths({ [name]: "" }, { displayName: "" })).toEqual([]);
    }
    expect(paths({ old_baz: "a" }, { baz: "a" })).toEqual(["baz"]);
    // Of two rows of one name the first counts.
    const two = [...ROWS, { v1: "other", v1Proto: "baz", v2: "other", kind: "string", zero: "" } as const];
    expect(lostFields({ baz: "a" }, { baz: "a", other: "a" }, {}, two).map(({ path }) => path)).toEqual(["baz"]);
    expect(paths({ gone: "a" }, { gone: "a" })).toEqual([]);
    expect(paths({ motto: [1] }, { motto: [1] })).toEqual(["motto"]);
    expect(paths(JSON.parse('{"__proto__":"a","constructor":"b"}'), {})).toEqual([]);
  });

  test.each([
    ["native does not have", {}],
    ["native has", unknown(10_000)],
  ])("rows are looked at as often for 10 members as for 10,000 that %s", (_name, native) => {
    const [few, many] = [watched(), watched()];
    lostFields(unknown(10), native, {}, few.rows);
    lostFields(unknown(10_000), native, {}, many.rows);
    expect(many.looks.count).toBe(few.looks.count);
    expect(few.looks.count).toBeGreaterThan(0);
  });

  test("a value is looked at only where native's answer has a member of that name", () => {
    let looks = 0;
    const value = new Proxy(
      {},
      {
        ownKeys: () => {
          looks++;
          return [];
        },
      },
    );
    lostFields({ x: value, y: value }, {}, {}, ROWS);
    expect(looks).toBe(0);
    lostFields({ x: value }, { x: { a: 1 } }, {}, ROWS);
    expect(looks).toBeGreaterThan(0);
  });

  test("a name and a value are shortened as in every difference", () => {
    const name = "n".repeat(100_000);
    const [found] = lostFields({ [name]: name }, { [name]: name }, {}, ROWS);
    expect([found?.path.length, found?.native?.length]).toEqual([200, 200]);
  });
});
