import { describe, expect, test } from "vitest";
import { zeroOf } from "../../../src/catalogue/check.ts";
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

const text: Row = { v1: "a", v2: "a", kind: "string", zero: "" };
const masked: Row = { ...text, mask: "when-changed" };
const around = { ...names, kind: "message", zero: null } as const;
const reading: Row = { v1: "more", v2: null, from: ["other.uid"], kind: "string", access: "output" };
const READS = "`from` reads other, which would reach v1 as well; add it to `v2Only`";

test.each<[promise: string, row: Row, fault: string]>([
  ["two rows with one v1 name", { ...text, v1: "name", v2: "more" }, "name: two rows have this v1 name; remove one"],
  [
    "two rows with one v2 name",
    { ...text, v1: "more", v2: "name" },
    "name: two rows have this v2 name; read the second through `from`",
  ],
  [
    "two rows of a nested message with one name",
    { ...around, rows: [text, { ...text, v2: "b" }] },
    "more.a: two rows have this v1 name; remove one",
  ],
  [
    "a row that nothing fills and nothing sends",
    { v1: "more", v2: null, kind: "string", access: "output" },
    "more: dead row: nothing fills it and nothing sends it; name `v2`, `from` or a join, or remove it",
  ],
  [
    "a mask on a member that v2 lost",
    { v1: "more", v2: null, kind: "bool", zero: false, mask: "always" },
    "more: dead mask: v2 has no such member; remove `mask`",
  ],
  [
    "a mask inside a message that is named as a whole",
    { ...around, rows: [masked] },
    'more.a: dead mask: the message around it is named as a whole; remove it or give that one `mask: "members"`',
  ],
  [
    "members of what is no message, named one by one",
    { ...names, kind: "string", zero: "", mask: "members" },
    "more: `members` needs one message; use another mask class",
  ],
  [
    "a comparison of what is never sent",
    { ...names, kind: "string", zero: "", mask: "never", echo: "none" },
    "more: dead echo: the member is never sent; remove `echo`",
  ],
  ["a `from` without paths", { ...reading, from: [] }, "more: dead `from`: it names no path; remove it or name one"],
  ["a `from` that v1 would see as well", reading, `more: ${READS}`],
  [
    "the same inside a message",
    { v1: "around", v2: "around", kind: "message", rows: [reading], access: "output" },
    `around.more: ${READS}`,
  ],
  [
    "a member of a oneof without presence",
    { ...names, kind: "string", oneof: "which", zero: "" },
    'more: a member of a oneof is absent when unset; add `presence: "explicit"`',
  ],
])("%s is refused", (_, row, fault) => {
  expect(faultsWithRow(row)).toEqual([fault]);
});

test("a v2 member that a row carries cannot be v2's alone", () => {
  expect(faultsWithRow({ ...names, kind: "string", zero: "" }, ["more"])).toEqual([
    "more: dead `v2Only`: a row carries this member, or it is there twice; remove it there",
  ]);
});

test("a v1 member that v2 lost, a mask below `members` and a `from` of what is v2's alone are sound", () => {
  expect(faultsWithRow({ v1: "more", v2: null, kind: "bool", zero: false })).toEqual([]);
  expect(faultsWithRow({ ...around, rows: [masked], mask: "members" })).toEqual([]);
  expect(faultsWithRow(reading, ["other"])).toEqual([]);
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
