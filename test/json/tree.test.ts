import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonError } from "../../src/json/error.ts";
import { encodeString } from "../../src/json/text.ts";
import { parseTree, rawOf } from "../../src/json/tree.ts";
import { text, utf8 } from "./documents.ts";

/** That it says what JSON.parse says: test/trust/smg/fuzz-json-oracle.test.ts. */
describe("parseTree", () => {
  it("keeps digits, repeated names, their order, and names of prototypes", () => {
    const node = parseTree(
      utf8(' {"b":1.0,"a":12345678901234567890,"b":true,"__proto__":{"x":null},"constructor":"\\u0041"} '),
    );
    if (node.kind !== "object") throw new Error("an object was expected");
    expect(node.members.map(({ key, value }) => [key, value.kind, text(rawOf(value))])).toEqual([
      ["b", "number", "1.0"],
      ["a", "number", "12345678901234567890"],
      ["b", "true", "true"],
      ["__proto__", "object", '{"x":null}'],
      ["constructor", "string", '"\\u0041"'],
    ]);
    expect(node.members[4]?.value).toMatchObject({ value: "A" });
  });

  it("gives views of the bytes it was given, also of a part of a buffer", () => {
    const whole = utf8('xx[1,"a"]yy');
    const node = parseTree(whole.subarray(2, 9));
    expect(rawOf(node).buffer).toBe(whole.buffer);
    expect(text(rawOf(node))).toBe('[1,"a"]');
  });

  it.each([
    ['{"a":1', 6, "unexpected end of data"],
    ['{"a":[1,]}', 8, "comma after the last one"],
    ['{"a":1,}', 7, "comma after the last one"],
    ['{"a":flase}', 6, "expected a value"],
    ["1 2", 2, "data after the value"],
    ["\ufeff1", 0, "byte order mark"],
    ['["\\ud800"]', 2, "lone surrogate"],
    ["'a'", 0, "expected a value"],
    ["-", 1, "unexpected end of data"],
  ])("refuses %s at byte %i: %s", (source, offset, reason) => {
    const parse = () => parseTree(utf8(source));
    expect(parse).toThrow(JsonError);
    expect(parse).toThrow(expect.objectContaining({ offset, reason }));
  });

  it("refuses any text that is cut off", () => {
    const whole = utf8('{"a":["é",{"b":-1.5e3}],"c":[true,false,null]}');
    expect(parseTree(whole).kind).toBe("object");
    for (let length = 0; length < whole.length; length++)
      expect(() => parseTree(whole.subarray(0, length))).toThrow(JsonError);
  });

  it("lets half a character pass when asked to", () => {
    expect(parseTree(utf8('"\\ud800"'), { surrogates: "pass" })).toMatchObject({ value: "\ud800" });
    for (const lone of ["\\ud800", "x\\udfff", "\\ud800\\ud800", "\\ud83dx\\ude00", "\\\\\\udc00", "\\ud800\\n"]) {
      expect(() => parseTree(utf8(`{"a":"${lone}"}`))).toThrow(
        expect.objectContaining({ reason: "lone surrogate", pointer: "/a" }),
      );
    }
    for (const whole of ["\\ud83d\\ude00", "\\\\ud800", "\\uD83D\\uDE00\\ud83d\\ude00", "\\u00e9"]) {
      expect(parseTree(utf8(`{"a":"${whole}"}`)).kind).toBe("object");
    }
  });

  it("refuses nesting beyond 100 without exhausting the stack", () => {
    expect(() => parseTree(utf8("[".repeat(100_000)))).toThrow(
      expect.objectContaining({ offset: 100, reason: "nested too deeply" }),
    );
    expect(() => parseTree(utf8('{"a":'.repeat(100_000)))).toThrow(expect.objectContaining({ offset: 500 }));
  });
});

describe("encodeString", () => {
  it("is read back as the same string, and is valid UTF-8 whatever it holds", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (value) => {
        const node = parseTree(utf8(encodeString(value)), { surrogates: "pass" });
        expect(node).toMatchObject({ kind: "string", value });
      }),
    );
    expect(parseTree(utf8(encodeString("\ud800")), { surrogates: "pass" })).toMatchObject({ value: "\ud800" });
  });
});
