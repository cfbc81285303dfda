import { describe, expect, test } from "vitest";
import { Problem } from "../../src/model/problem.ts";
import type { Filter } from "../../src/model/resource.ts";
import { parameterValues, parseQuery, readListQuery } from "../../src/translate/query.ts";
import { COLOUR } from "./support.ts";

const FILTERS: readonly Filter[] = [
  { v1: "id", use: "get" },
  { v1: "parent", use: "parent" },
  { v1: "name", use: "send", v2: "name", kind: "string", local: { member: "name" } },
  { v1: "key_id", use: "send", v2: "key_uid", kind: "string", repeated: true, local: { member: "keyUid" } },
  { v1: "size", use: "send", v2: "size", kind: "int32", local: { member: "size" } },
  { v1: "big", use: "send", v2: "big", kind: "bool", local: { member: "big" } },
  { v1: "seen_since", use: "send", v2: "seen_since", kind: "timestamp" },
  { v1: "uidp.children_of", use: "send", v2: "uidp.children_of", kind: "string", local: { hierarchy: "children" } },
  {
    v1: "uidp.descendants_of",
    use: "send",
    v2: "uidp.descendants_of",
    kind: "string",
    local: { hierarchy: "descendants" },
  },
  { v1: "uidp.in_root", use: "send", v2: "uidp.in_root", kind: "bool", local: { hierarchy: "root" } },
  { v1: "uidp.ids", use: "send", v2: "uidp.ids", kind: "string", repeated: true, local: { hierarchy: "ids" } },
  { v1: "colour", use: "enum", v2: "colour", values: COLOUR },
  { v1: "colours", use: "enum", v2: "colours", values: COLOUR, repeated: true },
  { v1: "exclude_old", use: "inverted", v2: "include_old" },
  { v1: "page_size", use: "page-size", v2: "page_size" },
  { v1: "page_token", use: "page-token", v2: "page_token" },
];

/** What is sent, without the inverted boolean that always is. */
function sent(query: string): readonly string[] {
  return readListQuery(query, FILTERS).params.filter((param) => param !== "include_old=true");
}

function problem(query: string): Problem {
  try {
    readListQuery(query, FILTERS);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error(`${query} was not refused`);
}

describe("a filter is sent", () => {
  test.each([
    ["text", "name=docs", ["name=docs"]],
    ["text with what must be encoded", "name=a%20b%26c%3Dd+e%2B", ["name=a%20b%26c%3Dd%20e%2B"]],
    ["its snake_case spelling", "key_id=k", ["key_uid=k"]],
    ["its camelCase spelling", "keyId=k", ["key_uid=k"]],
    ["both spellings of a repeated one", "keyId=a&key_id=b", ["key_uid=a", "key_uid=b"]],
    ["a number", "size=12", ["size=12"]],
    ["the largest number", "size=2147483647", ["size=2147483647"]],
    ["the smallest number", "size=-2147483648", ["size=-2147483648"]],
    ["a boolean", "big=True", ["big=true"]],
    ["a false boolean", "big=0", ["big=false"]],
    ["a time", "seenSince=2026-03-01T09%3A30%3A00.5%2B01%3A00", ["seen_since=2026-03-01T09%3A30%3A00.5%2B01%3A00"]],
    ["a nested name", "uidp.childrenOf=a%2Fb", ["uidp.children_of=a%2Fb"]],
    ["several uids", "uidp.ids=a&uidp.ids=b", ["uidp.ids=a", "uidp.ids=b"]],
    ["an enum name", "colour=RED", ["colour=COLOUR_RED"]],
    ["an enum by its v1 number", "colour=1", ["colour=COLOUR_RED"]],
    [
      "several uids, two of them in brackets",
      "uidp.ids[a]=b&uidp.ids[]=c",
      ["uidp.ids=a", "uidp.ids=b", "uidp.ids=", "uidp.ids=c"],
    ],
    ["an empty uid, which is an element of its list", "uidp.ids=", ["uidp.ids="]],
    ["an empty text among others of its list", "key_id=&keyId=b", ["key_uid=", "key_uid=b"]],
    ["the zero of an enum list by its name", "colours=ANY", ["colours=COLOUR_UNSPECIFIED"]],
    [
      "the zero of an enum list by its number",
      "colours=0&colours=RED",
      ["colours=COLOUR_UNSPECIFIED", "colours=COLOUR_RED"],
    ],
    ["a comma as it came", "uidp.ids=a,b&key_id=c%2Cd", ["key_uid=c%2Cd", "uidp.ids=a%2Cb"]],
    ["an enum list", "colours=RED&colours=NAMED", ["colours=COLOUR_RED", "colours=COLOUR_NAMED"]],
    ["empty parts between ampersands are nothing", "&&name=a&", ["name=a"]],
  ])("%s", (_, query, expected) => {
    expect(sent(query)).toEqual(expected);
  });
});

describe("TRAP-43: what means no filter is not sent", () => {
  test.each(["name=", "name", "uidp.children_of=", "id=", "parent=", "page_token=", "colour=ANY", ""])(
    "%s",
    (query) => {
      const read = readListQuery(query, FILTERS);
      expect(sent(query)).toEqual([]);
      expect(read).toMatchObject({ keyTests: [], getTests: [], get: undefined, empty: false, pageParams: [] });
    },
  );
});

describe("a query that cannot be understood is refused", () => {
  test.each([
    ["a repeated text", "name=a&name=b", "name"],
    ["a repeated text, once empty", "name=&name=b", "name"],
    ["both spellings of one value", "seenSince=&seen_since=", "seen_since"],
    ["a repeated number", "size=1&size=1", "size"],
    ["a repeated enum", "colour=RED&colour=RED", "colour"],
    ["a repeated id", "id=a&id=b", "id"],
    ["a repeated parent", "parent=a&parent=a", "parent"],
    ["a repeated inverted boolean", "exclude_old=true&excludeOld=true", "exclude_old"],
    ["an empty number", "size=", "size"],
    ["an empty boolean", "big=", "big"],
    ["an empty time", "seen_since=", "seen_since"],
    ["a value with brackets", "name[]=a", "name"],
    ["a value with a key in brackets", "name[a]", "name"],
    ["an id with brackets", "id[]=a", "id"],
    ["a message with brackets", "uidp[ids]=a", "uidp"],
    ["a member of a text", "name.first=a", "name"],
    ["a deep member of a text, in the other spelling", "exclude_old=true&excludeOld.a.b=1", "exclude_old"],
    ["a member of a time", "seen_since.seconds=1", "seen_since"],
    ["a member of a nested filter", "uidp.ids.first=a", "uidp.ids"],
    ["an empty nested boolean", "uidp.in_root=", "uidp.in_root"],
    ["an empty inverted boolean", "exclude_old", "exclude_old"],
    ["an empty page size", "page_size=", "page_size"],
    ["a number that is none", "size=1e3", "size"],
    ["a number too large", "size=2147483648", "size"],
    ["a boolean that is none", "big=yes", "big"],
    ["a time with an unescaped plus", "seen_since=2026-03-01T09:30:00+01:00", "seen_since"],
    ["a time that does not exist", "seen_since=2026-13-01T09:30:00Z", "seen_since"],
    ["an unknown enum name", "colour=BLUE", "colour"],
    ["an unknown enum number", "colour=3", "colour"],
    ["the mark for having no number", "colour=-1", "colour"],
    ["v2's number of an enum", "colour=7", "colour"],
    ["v2's name of an enum", "colour=COLOUR_RED", "colour"],
    ["an enum that v2 lacks", "colour=ULTRAVIOLET", "colour"],
    ["an enum list with an empty name", "colours=", "colours"],
    ["a parameter that is a whole message", "uidp=1", "uidp"],
    ["the same without a value", "uidp", "uidp"],
    ["a page size over 64 bits", "page_size=9223372036854775808", "page_size"],
    ["a page size below them", "page_size=-9223372036854775809", "page_size"],
  ])("%s", (_, query, field) => {
    const refused = problem(query);
    expect(refused.reason).toBe("INVALID_FILTER");
    expect(refused.message).toContain(field);
    expect(refused.fieldViolations.map((violation) => violation.field)).toEqual([field]);
  });

  test.each(["name=a;size=1", "name=a%3Bb;", ";"])("a semicolon: %s", (query) => {
    expect(problem(query).message).toContain("semicolon");
  });

  test.each(["name=%", "name=%zz", "name=%ff", "%=1", "name=%ED%A0%80"])("bad percent encoding: %s", (query) => {
    expect(problem(query).reason).toBe("INVALID_FILTER");
  });

  test("the value that was wrong is not repeated to whoever reads the error", () => {
    expect(problem("colour=hunter2").message).not.toContain("hunter2");
    expect(problem("size=hunter2").message).not.toContain("hunter2");
    const without = FILTERS.filter(({ v1 }) => v1 !== "uidp.ids");
    expect(() => readListQuery("id=hunter2&exclude_old=true", without)).toThrow(/^invalid filter: exclude_old [^2]*$/);
  });
});

test.each([
  "uidp.nonsense=a",
  "uidp.nonsense.ids=a",
  "Name=a",
  "NAME=a",
  "uidp.Ids=a",
  "Uidp.ids=a",
  "name%20=a",
  "name[a][b]=c",
  "uid=a",
])("what only looks like a filter is none, as in v1: %s", (query) => {
  expect(sent(query)).toEqual([]);
  expect(readListQuery(query, FILTERS).unknown).toHaveLength(1);
});

test("an escaped semicolon is data", () => {
  expect(sent("name=a%3Bb")).toEqual(["name=a%3Bb"]);
});

test("a parameter in no filter is ignored and remembered", () => {
  expect(readListQuery("nonsense=1&__proto__=2&constructor=3&name=a", FILTERS)).toMatchObject({
    unknown: ["nonsense", "__proto__", "constructor"],
  });
  expect(sent("nonsense=1&__proto__=2&name=a")).toEqual(["name=a"]);
});

test("names are decoded before they are looked up", () => {
  expect(sent("n%61me=a")).toEqual(["name=a"]);
});

describe("an inverted boolean is always sent", () => {
  test.each([
    ["", "include_old=true"],
    ["exclude_old=false", "include_old=true"],
    ["excludeOld=1", "include_old=false"],
    ["exclude_old=T", "include_old=false"],
  ])("%s", (query, expected) => {
    expect(readListQuery(query, FILTERS).params).toEqual([expected]);
  });
});

describe("TRAP-40, DIFF-49: paging of a list that v1 paged", () => {
  test.each([
    ["page_size=1", "page_size=1"],
    ["pageSize=200", "page_size=200"],
    ["page_size=201", "page_size=200"],
    ["page_size=9223372036854775807", "page_size=200"],
    ["page_size=%2B5", "page_size=5"],
    ["page_size=0", "page_size=0"],
    ["page_size=007", "page_size=7"],
    ["page_size=-1", "page_size=-1"],
    ["page_size=-9223372036854775808", "page_size=-2147483648"],
    ["page_size=0000000000201", "page_size=200"],
    ["page_size=0000000000050", "page_size=50"],
    ["page_token=a%2Bb%2F%3D", "page_token=a%2Bb%2F%3D"],
  ])("%s", (query, expected) => {
    expect(readListQuery(query, FILTERS).pageParams).toEqual([expected]);
  });
});

describe("TRAP-44: the parent filter", () => {
  test("of the root asks for the root and keeps only uids of one segment", () => {
    const { params, keyTests } = readListQuery("parent=%2F", FILTERS);
    expect(params).toContain("uidp.in_root=true");
    expect(["a", "a/b", "b"].filter((uid) => keyTests.every((keep) => keep(uid)))).toEqual(["a", "b"]);
  });

  test("of a group asks for its children and keeps only those", () => {
    const { params, keyTests } = readListQuery("parent=a%2Fb", FILTERS);
    expect(params).toContain("uidp.children_of=a%2Fb");
    expect(["a/b", "a/b/c", "a/b/c/d", "a/bb/c"].filter((uid) => keyTests.every((keep) => keep(uid)))).toEqual([
      "a/b/c",
    ]);
  });

  test.each([
    ["parent=a&uidp.children_of=a", ["uidp.children_of=a"]],
    ["uidp.children_of=b&parent=a", ["uidp.children_of=b"]],
    ["parent=%2F&uidp.in_root=true", ["uidp.in_root=true"]],
    ["parent=%2F&uidp.in_root=false", ["uidp.in_root=true"]],
  ])("never makes a parameter twice, which the platform would refuse: %s", (query, expected) => {
    expect(sent(query)).toEqual(expected);
  });

  test("narrows also beside a filter of another place", () => {
    const { keyTests } = readListQuery("parent=a&uidp.children_of=b", FILTERS);
    expect(["a/x", "b/x"].filter((uid) => keyTests.every((keep) => keep(uid)))).toEqual(["a/x"]);
  });
});

describe("a query is split as a form", () => {
  test.each([
    ["a=b", [{ name: "a", value: "b" }]],
    ["a", [{ name: "a", value: "" }]],
    ["a=b=c", [{ name: "a", value: "b=c" }]],
    ["a+b=c+d", [{ name: "a b", value: "c d" }]],
    ["=v", [{ name: "", value: "v" }]],
    ["", []],
    ["&", []],
  ])("%s", (query, expected) => {
    expect(parseQuery(query)).toEqual(expected);
  });
});

describe("a name in brackets", () => {
  test.each([
    ["ids[a]", "ids", ["a", "v"]],
    ["ids[a][b]", "ids[a]", ["b", "v"]],
    ["ids[]", "ids", ["", "v"]],
    ["[a]", "", ["a", "v"]],
    ["ids[a", "ids[a", ["v"]],
    ["ids]a[", "ids]a[", ["v"]],
    ["ids[\n]", "ids[\n]", ["v"]],
  ])("%j means %j", (name, base, values) => {
    expect(parameterValues({ name, value: "v" })).toEqual({ name: base, values });
  });

  test("is read in one pass: brackets without an end hold nobody up", () => {
    const name = "[".repeat(2_000_000);
    expect(parameterValues({ name, value: "v" }).name).toBe(name);
  });
});
