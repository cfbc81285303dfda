import { expect, test } from "vitest";
import { type ListQuery, matchesQuery } from "../../src/translate/query.ts";

const QUERY: ListQuery = {
  params: [],
  get: "a/b",
  keyTests: [],
  getTests: [],
  memberTests: [],
  empty: false,
  pageParams: [],
  unknown: [],
};

function keeps(record: object, query: Partial<ListQuery>): boolean {
  return matchesQuery(Buffer.from(JSON.stringify(record)), "a/b", { ...QUERY, ...query });
}

const named = { member: "name", values: new Set(["x", "y"]), zero: "" };
const old = { member: "old", values: new Set(["false"]), zero: "false" };

test("one that only some member filters match is not shown", () => {
  const query = { memberTests: [named, old] };
  expect(keeps({ name: "x", old: false }, query)).toBe(true);
  expect(keeps({ name: "z", old: false }, query)).toBe(false);
  expect(keeps({ name: "x", old: true }, query)).toBe(false);
});

test("a member that v2 left out says its zero", () => {
  expect(keeps({ name: "y" }, { memberTests: [named, old] })).toBe(true);
  expect(keeps({}, { memberTests: [named] })).toBe(false);
  expect(keeps({ name: null }, { memberTests: [{ ...named, values: new Set(["null"]) }] })).toBe(false);
});

test("a member of every object is none of the record", () => {
  const member = { member: "constructor", values: new Set(["function Object() { [native code] }"]), zero: "" };
  expect(keeps({}, { memberTests: [member] })).toBe(false);
});

test("every place is asked for its uid", () => {
  const is = (uid: string) => (key: string) => key === uid;
  expect(keeps({}, { keyTests: [is("a/b")], getTests: [is("a/b")] })).toBe(true);
  expect(keeps({}, { keyTests: [is("a/b")], getTests: [is("a/b"), is("c")] })).toBe(false);
  expect(keeps({}, { keyTests: [is("c")], getTests: [is("a/b")] })).toBe(false);
});
