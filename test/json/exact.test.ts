import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonError } from "../../src/json/error.ts";
import { parseExact } from "../../src/json/exact.ts";

test.each([
  ["9007199254740993", "9007199254740993"],
  ["-9223372036854775808", "-9223372036854775808"],
  ["9223372036854775807.0", "9223372036854775807"],
  ["0.9007199254740993e16", "9007199254740993"],
  ["9007199254740991", 9007199254740991],
  ["1.0", 1],
  ["1e3", 1000],
  ["9007199254740993.5", 9007199254740994],
  ["0.1", 0.1],
  ['{"a":[18446744073709551615,"9007199254740993"]}', { a: ["18446744073709551615", "9007199254740993"] }],
  ['{"a":1,"a":2}', { a: 2 }],
])("%s is %j", (text, value) => {
  expect(parseExact(text)).toEqual(value);
});

test("a member called __proto__ is one like any other", () => {
  expect(Object.keys(parseExact('{"__proto__":{"x":1}}') as object)).toEqual(["__proto__"]);
});

test("JSON without large whole numbers is what JSON.parse makes of it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const text = JSON.stringify(value, (_, each) =>
        typeof each === "number" && Math.abs(each) > 2 ** 53 ? 0 : each,
      );
      expect(parseExact(text)).toEqual(JSON.parse(text));
    }),
  );
});

test("invalid JSON is a JsonError", () => {
  expect(() => parseExact("{")).toThrow(JsonError);
});
