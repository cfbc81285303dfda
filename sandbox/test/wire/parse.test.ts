import { expect, test } from "vitest";
import { bodyText, parseFirst } from "../../src/wire/parse.ts";

test("repeated keys and the text of numbers survive", () => {
  expect(parseFirst('{"a":12345678901234567890,"a":1.0}')).toEqual({
    kind: "object",
    members: [
      ["a", { kind: "number", text: "12345678901234567890" }],
      ["a", { kind: "number", text: "1.0" }],
    ],
  });
});

test("white space alone is no value, and what follows the first value is ignored", () => {
  expect(parseFirst(" \n\t")).toBeUndefined();
  expect(parseFirst('[true] garbage {"')).toEqual({ kind: "array", items: [{ kind: "bool", value: true }] });
});

test.each([
  ['{"a" 1}'],
  ["{a:1}"],
  ["[1,]"],
  ['{"a":1,}'],
  ["[1"],
  ['"\u0001"'],
  ['"\\x"'],
  ['"\\ud800"'],
  ['{"a":01}'],
  ["tru"],
  ["\ufeff{}"],
  ["[".repeat(2_000)],
])("%j is refused", (text) => {
  expect(() => parseFirst(text)).toThrow(/syntax error/);
});

test("escapes and surrogate pairs are understood", () => {
  expect(parseFirst('"\\ud83d\\ude80\\n\\/"')).toEqual({ kind: "string", text: "🚀\n/" });
});

test("bytes that are not UTF-8 are refused", () => {
  expect(() => bodyText(new Uint8Array([0x22, 0xff, 0x22]))).toThrow(/UTF-8/);
});

test("a string of megabytes is read", () => {
  const long = "x\\n".repeat(1_000_000);
  expect(parseFirst(`"${long}"`)).toEqual({ kind: "string", text: "x\n".repeat(1_000_000) });
});
