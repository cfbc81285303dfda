/** Does a wrong row say what is wrong with it, and what to do? */
import { describe, expect, test } from "vitest";
import { zeroOf } from "../../../src/catalogue/check/rows.ts";
import type { EnumTable, EnumValue, Row } from "../../../src/model/resource.ts";
import { colour, faultsWithRow } from "./small.ts";

const names = { v1: "more", v2: "more" } as const;

describe("zeros", () => {
  const right: readonly Row[] = [
    { ...names, kind: "string", zero: "" },
    { ...names, kind: "bytes", zero: "" },
    { ...names, kind: "bool", zero: false },
    { ...names, kind: "int32", zero: 0 },
    { ...names, kind: "uint32", zero: 0 },
    { ...names, kind: "int64", zero: "0" },
    { ...names, kind: "timestamp", zero: null },
    { ...names, kind: "duration", zero: null },
    { ...names, kind: "enum", values: colour, zero: "NONE" },
    { ...names, kind: "enum", values: colour, list: true, zero: [] },
    { ...names, kind: "message", rows: [], zero: null },
    { ...names, kind: "map", of: "string", zero: {} },
    { ...names, kind: "string", presence: "explicit", zero: null },
  ];

  test.each(right.map((row) => [`${row.kind} ${JSON.stringify("zero" in row ? row.zero : "")}`, row] as const))(
    "%s is sound",
    (_, row) => {
      expect(faultsWithRow(row)).toEqual([]);
      expect(zeroOf(row)).toEqual("zero" in row ? row.zero : undefined);
    },
  );

  test.each(right.map((row) => [row.kind, row] as const))("a wrong zero of %s is told the right one", (_, row) => {
    expect(faultsWithRow({ ...row, zero: 7 } as Row)).toEqual([
      `more: its zero is 7; for this kind and presence write ${JSON.stringify("zero" in row ? row.zero : "")}`,
    ]);
  });

  test("a writable row that lost its zero on the way is refused", () => {
    expect(faultsWithRow({ ...names, kind: "string" } as unknown as Row)).toEqual([
      'more: its zero is undefined; for this kind and presence write ""',
    ]);
  });
});

describe("names", () => {
  test("two rows with one v1 name are refused", () => {
    expect(faultsWithRow({ v1: "name", v2: "more", kind: "string", zero: "" })).toEqual([
      "name: two rows have this v1 name; remove one",
    ]);
  });

  test("two rows with one v2 name are refused", () => {
    expect(faultsWithRow({ v1: "more", v2: "name", kind: "string", zero: "" })).toEqual([
      "name: two rows have this v2 name; read the second through `from`",
    ]);
  });

  test("two rows of a nested message with one name are refused at their place", () => {
    const inner: Row = { v1: "a", v2: "a", kind: "string", zero: "" };
    const again: Row = { v1: "a", v2: "b", kind: "string", zero: "" };
    expect(faultsWithRow({ ...names, kind: "message", rows: [inner, again], zero: null })).toEqual([
      "more.a: two rows have this v1 name; remove one",
    ]);
  });

  test("a v2 member that a row carries cannot be v2's alone", () => {
    expect(faultsWithRow({ ...names, kind: "string", zero: "" }, ["more"])).toEqual([
      "more: dead `v2Only`: a row carries this member, or it is there twice; remove it there",
    ]);
  });
});

describe("dead rows", () => {
  test("a row that nothing fills and nothing sends is refused", () => {
    expect(faultsWithRow({ v1: "more", v2: null, kind: "string", access: "output" })).toEqual([
      "more: dead row: nothing fills it and nothing sends it; name `v2`, `from` or a join, or remove it",
    ]);
  });

  test("a v1 member that v2 lost is sound: answers show its zero", () => {
    expect(faultsWithRow({ v1: "more", v2: null, kind: "bool", zero: false })).toEqual([]);
  });

  test("a mask on a member that v2 lost is refused", () => {
    expect(faultsWithRow({ v1: "more", v2: null, kind: "bool", zero: false, mask: "always" })).toEqual([
      "more: dead mask: v2 has no such member; remove `mask`",
    ]);
  });

  test("a mask inside a message that is named as a whole is refused", () => {
    const inner: Row = { v1: "a", v2: "a", kind: "string", zero: "", mask: "when-changed" };
    const around = { ...names, kind: "message", rows: [inner], zero: null } as const;
    expect(faultsWithRow(around)).toEqual([
      'more.a: dead mask: the message around it is named as a whole; remove it or give that one `mask: "members"`',
    ]);
    expect(faultsWithRow({ ...around, mask: "members" })).toEqual([]);
  });

  test("members of what is no message cannot be named one by one", () => {
    expect(faultsWithRow({ ...names, kind: "string", zero: "", mask: "members" })).toEqual([
      "more: `members` needs one message; use another mask class",
    ]);
  });

  test("a comparison of what is never sent is refused", () => {
    expect(faultsWithRow({ ...names, kind: "string", zero: "", mask: "never", echo: "none" })).toEqual([
      "more: dead echo: the member is never sent; remove `echo`",
    ]);
  });

  test("a `from` without paths is refused", () => {
    expect(faultsWithRow({ v1: "more", v2: null, from: [], kind: "string", access: "output" })).toEqual([
      "more: dead `from`: it names no path; remove it or name one",
    ]);
  });
});

describe("reading", () => {
  const row: Row = { v1: "more", v2: null, from: ["other.uid"], kind: "string", access: "output" };
  const fault = "`from` reads other, which would reach v1 as well; add it to `v2Only`";

  test("what `from` reads must not reach v1 under its own name", () => {
    expect(faultsWithRow(row)).toEqual([`more: ${fault}`]);
    expect(faultsWithRow(row, ["other"])).toEqual([]);
  });

  test("the same holds inside a message", () => {
    const around: Row = { v1: "around", v2: "around", kind: "message", rows: [row], access: "output" };
    expect(faultsWithRow(around)).toEqual([`around.more: ${fault}`]);
  });

  test("a member of a oneof without presence is refused", () => {
    expect(faultsWithRow({ ...names, kind: "string", oneof: "which", zero: "" })).toEqual([
      'more: a member of a oneof is absent when unset; add `presence: "explicit"`',
    ]);
  });
});

describe("enums", () => {
  const withValue = (value: EnumValue): readonly string[] => {
    const values: EnumTable = { ...colour, values: [...colour.values, value] };
    return faultsWithRow({ ...names, kind: "enum", values, zero: "NONE" });
  };

  test.each<[promise: string, value: EnumValue, fault: string]>([
    ["a v1 name means one v2 value", ["RED", 7, "COLOUR_BLUE", 7], "RED is there twice"],
    ["a v2 name means one v1 value", ["BLUE", 7, "COLOUR_RED", 7], "COLOUR_RED is there twice"],
    ["a v1 number means one value", ["BLUE", 1, "COLOUR_BLUE", 7], "1 is there twice"],
    ["a v2 number means one value", ["BLUE", 7, "COLOUR_BLUE", 2], "2 is there twice"],
    ["a value has a name somewhere", [null, -1, null, -1], "-1 has no name in either version; remove it"],
    ["a number needs its v1 name", [null, 7, "COLOUR_BLUE", 7], "COLOUR_BLUE has a v1 number without a v1 name"],
    ["a number needs its v2 name", ["BLUE", 7, null, 7], "BLUE has a v2 number without a v2 name; write -1"],
  ])("%s", (_, value, fault) => {
    expect(withValue(value)).toEqual([expect.stringContaining(`more: enum colour: ${fault}`)]);
  });

  test("values that only one version knows are sound", () => {
    expect(withValue([null, -1, "COLOUR_BLUE", 7])).toEqual([]);
  });
});
