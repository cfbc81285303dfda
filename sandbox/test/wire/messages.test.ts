import { describe, expect, test } from "vitest";
import { decodeMessage, decodeQuery, parseQuery } from "../../src/wire/decode.ts";
import { encodeMessage, normalMessage } from "../../src/wire/encode.ts";
import { applyMask, deriveMask, parseMask } from "../../src/wire/mask.ts";
import { parseFirst } from "../../src/wire/parse.ts";
import { parseSchema } from "../../src/wire/schema.ts";

const SCHEMA = parseSchema(`
message Thing
  uid string readonly
  some_name string
  count int32
  big int64
  tags []string
  labels map<string,string>
  inner Inner
  left string in side
  right Inner in side
  maybe string optional
  at timestamp
  mood enum Mood
  moods []enum Mood
  odd_key=odd_key bool
  odd_inner=odd_inner Inner
message Inner
  leaf string
  other_leaf string
enum Mood
  NONE 0
  GLAD 1
`);
const THING = SCHEMA.message("Thing");
const decode = (text: string) => decodeMessage(SCHEMA, THING, parseFirst(text) ?? { kind: "null" });
const encode = (value: object, omitZeros = false) => encodeMessage(SCHEMA, THING, value as never, { omitZeros });

describe("decoding", () => {
  test("reads both spellings, enums by name and number, integers as texts", () => {
    expect({
      ...decode('{"some_name":"n","count":"7","big":12345678901234567,"mood":"GLAD","moods":[1,"GLAD"]}'),
    }).toEqual({
      someName: "n",
      count: 7,
      big: "12345678901234567",
      mood: 1,
      moods: [1, 1],
    });
  });

  test("drops unknown keys and unknown enum names in silence, and takes null for absent", () => {
    expect({ ...decode('{"nope":1,"nope":2,"mood":"SAD","moods":["SAD","GLAD"],"inner":null}') }).toEqual({
      moods: [1],
    });
  });

  test.each([
    ['{"someName":"a","some_name":"b"}'],
    ['{"count":1,"count":1}'],
    ['{"left":"a","right":{}}'],
    ['{"labels":{"a":"1","a":"2"}}'],
    ['{"labels":{"a":null}}'],
    ['{"tags":[null]}'],
    ['{"tags":"a"}'],
    ['{"count":1.5}'],
    ['{"someName":1}'],
    ['{"odd_key":"true"}'],
    ['{"at":"soon"}'],
    ['{"mood":true}'],
    ["null"],
    ["[]"],
    ['"x"'],
  ])("refuses %s", (text) => {
    expect(() => decode(text)).toThrow(/invalid value/);
  });

  test("keeps a user's own keys, whatever they are called", () => {
    const { labels } = decode('{"labels":{"__proto__":"p","id":"1","constructor":"c"}}');
    expect(Object.entries(labels as object)).toEqual([
      ["__proto__", "p"],
      ["id", "1"],
      ["constructor", "c"],
    ]);
  });
});

describe("encoding", () => {
  test("writes zeros, null for an unset message, and leaves out unset oneof members and optional fields", () => {
    expect(encode({})).toBe(
      '{"uid":"","someName":"","count":0,"big":"0","tags":[],"labels":{},"inner":null,"at":null,"mood":"NONE","moods":[],"odd_key":false,"odd_inner":null}',
    );
  });

  test("leaves zeros out on request, but never the zero of a set oneof member or optional field", () => {
    expect(encode({ uid: "u", count: 0, left: "", maybe: "", inner: {} }, true)).toBe(
      '{"uid":"u","inner":{},"left":"","maybe":""}',
    );
  });

  test("sorts the keys of maps and keeps an enum number that has no name", () => {
    expect(encode({ labels: { b: "1", a: "2" }, mood: 9 }, true)).toBe('{"labels":{"a":"2","b":"1"},"mood":9}');
  });

  test("what is stored has one form", () => {
    const given = { uid: "u", someName: "", tags: [], inner: { leaf: "" }, left: "", unknown: 1 };
    expect(normalMessage(SCHEMA, THING, given)).toEqual({ uid: "u", inner: {}, left: "" });
  });
});

describe("masks", () => {
  const names = (paths: readonly (readonly { proto: string }[])[]) =>
    paths.map((path) => path.map((field) => field.proto).join("."));

  test("derived from a body go down to leaves and stop at maps, lists, {} and null", () => {
    const body = '{"someName":"","inner":{"leaf":"x"},"labels":{"a":"b"},"right":{},"at":null}';
    expect(names(deriveMask(SCHEMA, THING, parseFirst(body)))).toEqual([
      "some_name",
      "inner.leaf",
      "labels",
      "right",
      "at",
    ]);
  });

  test("derived from a body with an unknown key, at any depth, or without keys are refused", () => {
    expect(() => deriveMask(SCHEMA, THING, parseFirst('{"inner":{"nope":1}}'))).toThrow(/inner.nope/);
    expect(() => deriveMask(SCHEMA, THING, parseFirst("{}"))).toThrow(/empty path/);
  });

  test.each([
    ["some_name,inner.other_leaf", "snake_case", true],
    ["someName", "snake_case", false],
    ["someName,inner.otherLeaf", "camelCase", true],
    ["some_name", "camelCase", false],
    ["odd_key,odd_inner.otherLeaf", "camelCase", true],
    ["oddKey", "camelCase", false],
    ["oddInner.otherLeaf", "camelCase", false],
    ["odd_inner.other_leaf", "camelCase", false],
    ["some_name,inner.otherLeaf,odd_key", "both", true],
    ["oddKey", "both", false],
    ["inner.nope", "both", false],
    ["labels.a", "both", false],
    ["someName, count", "both", false],
  ] as const)("%s is spelt as %s: %s", (text, spelling, right) => {
    const parse = () => parseMask(SCHEMA, THING, text, spelling);
    if (right) expect(parse()).toHaveLength(text.split(",").length);
    else expect(parse).toThrow();
  });

  test("a star names everything that may be written", () => {
    expect(names(parseMask(SCHEMA, THING, "*", "both"))).not.toContain("uid");
  });

  test("applied, they take what is given and clear what is not, and a oneof keeps its newest member only", () => {
    const stored = { someName: "old", count: 3, inner: { leaf: "l", otherLeaf: "o" }, left: "x" };
    const paths = parseMask(SCHEMA, THING, "count,inner.leaf,right", "both");
    const given = { someName: "ignored", inner: {}, right: { leaf: "r" } };
    expect(applyMask(SCHEMA, THING, stored, given, paths)).toEqual({
      someName: "old",
      inner: { otherLeaf: "o" },
      right: { leaf: "r" },
    });
    expect(stored.count).toBe(3);
  });

  test("clearing a leaf of a message that is not there does not make one", () => {
    expect(applyMask(SCHEMA, THING, {}, {}, parseMask(SCHEMA, THING, "inner.leaf", "both"))).toEqual({});
  });
});

describe("queries", () => {
  const query = (text: string) => decodeQuery(SCHEMA, THING, parseQuery(text));

  test("are read in both spellings, dotted, repeated where a list is meant, and unknown ones are ignored", () => {
    const read = query("some_name=a+b%21&inner.otherLeaf=x&tags=1&tags=2&nope=1&nope=2&mood=GLAD&odd_key=T");
    expect(JSON.parse(JSON.stringify(read))).toEqual({
      someName: "a b!",
      inner: { otherLeaf: "x" },
      tags: ["1", "2"],
      mood: 1,
      odd_key: true,
    });
  });

  test.each([
    ["count=1&count=2"],
    ["someName=a&some_name=b"],
    ["inner=1"],
    ["odd_key="],
    ["odd_key=yes"],
    ["count="],
    ["mood=SAD"],
    ["mood=9"],
    ["a=1;b=2"],
    ["a=%zz"],
    ["at=soon"],
  ])("%s is refused", (text) => {
    expect(() => query(text)).toThrow();
  });
});
