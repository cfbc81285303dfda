import { describe, expect, test } from "vitest";
import { Problem } from "../../src/model/problem.ts";
import { checkSegments, decodePath } from "../../src/router/path.ts";

const CODES = Array.from({ length: 256 }, (_, code) => code);
const escaped = (code: number) => `%${code.toString(16).padStart(2, "0")}`;

describe("decoding", () => {
  test("of all escapes only punctuation and the space are decoded", () => {
    const decoded = CODES.flatMap((code) => {
      try {
        return [decodePath(`/${escaped(code)}`).slice(1)];
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(Problem);
        return [];
      }
    });
    expect(decoded.join("")).toBe(" !\"$&'()*+,/:<=>@[]^`{|}");
  });

  test("of all characters only those that a path may hold are taken as themselves", () => {
    const taken = CODES.map((code) => String.fromCharCode(code)).filter((char) => {
      try {
        return decodePath(char) === char;
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(Problem);
        return false;
      }
    });
    expect(taken.join("")).toBe("!$&'()*+,-./0123456789:=@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~");
  });

  test.each(["%", "%2", "%2g", "%zz", "%u0041", "%+1", "% 1", "%0x"])("%s is a broken escape", (text) => {
    expect(() => decodePath(`/a${text}`)).toThrow(
      'broken percent escape at offset 2; expected two hex digits after "%"',
    );
  });

  test("what was decoded is not decoded again", () => {
    expect(() => decodePath("/%252F")).toThrow(Problem);
  });
});

describe("segments", () => {
  test.each(["//", "/a//b", "/a//", "/.", "/..", "/...", "/a/./b", "/a/.."])("%s is refused", (path) => {
    expect(() => checkSegments(path)).toThrow(Problem);
  });

  test.each(["/", "/a", "/a/", "/.a", "/a.", "/a/..b/c"])("%s is accepted", (path) => {
    expect(() => checkSegments(path)).not.toThrow();
  });
});
