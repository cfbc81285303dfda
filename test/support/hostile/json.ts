/** JSON that is odd, poisonous or broken, as latin1: one character is one byte. */
import type { Odd } from "./targets.ts";

/** Names that every object of JavaScript has. */
export const OWN_NAMES = ["__proto__", "constructor", "prototype", "hasOwnProperty", "toString", "valueOf"] as const;

/** Members that would change a prototype if they were assigned. */
export const POISONS = [
  '"__proto__":{"polluted":1}',
  '"__proto__":null',
  '"constructor":{"prototype":{"polluted":1}}',
  '"prototype":{"polluted":1}',
  '"\\u005f_proto__":{"polluted":1}',
  '"__proto__":{"toJSON":1,"then":1,"name":"evil","uid":"evil"}',
] as const;

/** Whole bodies that are invalid JSON, or invalid UTF-8. */
export const BROKEN: Odd = {
  "a comma too many": '{"a":1,}',
  "a comment": '{/* a */"name":"a"}',
  "a comment behind a member": '{"name":"n"/**/}',
  "single quotes": "{'name':'n'}",
  "a leading zero": '{"x":01}',
  NaN: '{"x":NaN}',
  "a byte order mark": "\xef\xbb\xbf{}",
  "UTF-16": "\xff\xfe{\0}\0",
  "no UTF-8": '{"name":"\xff"}',
  "a lone surrogate": '{"name":"\\ud800"}',
  "the other half of a surrogate": '{"name":"\\udc00n"}',
  "a lone surrogate as a name": '{"name":"n","\\ud800":1}',
  "a control character in a text": '{"name":"a\nb"}',
  "a NUL in a text": '{"name":"\0"}',
};

/** Values that stand where another kind of value is expected. */
export const VALUES = [
  ...["null", "true", "false", "0", "-0", "-1", "0.1", "1e400", "9007199254740993", "123456789012345678901234567890"],
  ...['""', '"x"', '"../../x"', '"a/b/c/d"', '"\\u0000"', '"\\ud800"', '"\\u002e\\u002e/x"', '"<script>"'],
  ...['"2026-02-30T00:00:00Z"', "[]", "[null]", "[[]]", "[{}]", "[1,2]", "{}", '{"a":1,"a":2}'],
  ...POISONS.map((poison) => `{${poison}}`),
  `"${"s".repeat(20_000)}"`,
  "9".repeat(3000),
  `${"[".repeat(99)}${"]".repeat(99)}`,
  `${"[".repeat(5000)}${"]".repeat(5000)}`,
  `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`,
] as const;

/** Pieces to put into JSON: what lenient readers take, and invalid UTF-8. */
export const PIECES = [
  ...["{", "}", "[", "]", ",", ":", '"', "\\", "\\u", ",,", "[[", "}}", '"\\', '"a"', "null", "1e400", "-0"],
  ...["00", "01,", "-01", "-,", "+1,", "1.,", ".5,", "1e,", "1e+,", "0x1,", "1_0,", "NaN,", "-Infinity,", "undefined,"],
  ...["tru", "True,", "nulll,", "'a',", '"\\x41",', '"\\u12",', '"\\u00zz",', '"\t",', "//a\n", "/**/", "#"],
  ...[
    '"\\ud800"',
    '"\\udc00",',
    '"\\ud800\\udc00",',
    "9007199254740993",
    '{"a":1,"a":2},',
    '"name":"a","name":"b",',
    '"uid":"x",',
  ],
  ...["\xef\xbb\xbf", "\xe2\x80\xa8", "\xc2\xa0", "\xff", "\xc0\x80", "\0", "\x0b", "\x0c", "\x7f"],
  ...POISONS.map((poison) => `${poison},`),
  "[".repeat(2000),
  '{"a":'.repeat(300),
  `"${"s".repeat(3000)}"`,
] as const;
