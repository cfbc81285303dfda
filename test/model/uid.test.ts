import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isInHierarchy, isUid, parentOf } from "../../src/model/uid.ts";

describe("a uid", () => {
  test.each(["a", "a/b/c", "A-b_c.d", "a..b", "..a", "a.", "-", "group.name/x", "a".repeat(10_000)])("%s", (text) => {
    expect(isUid(text)).toBe(true);
  });

  test("is made of letters, digits, -, _ and .", () => {
    const all = Array.from({ length: 0x500 }, (_, code) => String.fromCharCode(code));
    const taken = all.filter((char) => isUid(`a${char}b`) && char !== "/");
    expect(taken.join("")).toBe("-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz");
  });

  test.each(["", "/", "/a", "a/", "a//b", ".", "...", "a/.", "a/..", "./a", "../a", "a/../b", "a/./b", "a\n", "\na"])(
    "is not %j",
    (text) => {
      expect(isUid(text)).toBe(false);
    },
  );

  test("never changes what a path means, whatever text is taken for one", () => {
    const nasty = fc.string({ unit: fc.constantFrom("a", ".", "/", "%", "2", "e", "\\", "?", "#", ":", " ", "\n") });
    fc.assert(
      fc.property(nasty, (text) => {
        if (!isUid(text)) return;
        const url = new URL(`http://h/v2/things/${text}`);
        expect(url.pathname + url.search + url.hash).toBe(`/v2/things/${text}`);
      }),
      { numRuns: 2_000 },
    );
  });

  test("is judged quickly, also when it is long and nearly one", () => {
    expect(isUid(`${"a.".repeat(200_000)}/..`)).toBe(false);
    expect(isUid(`${"./".repeat(200_000)}`)).toBe(false);
  });
});

test.each([
  ["a", ""],
  ["a/b", "a"],
  ["a/b/c", "a/b"],
  ["", ""],
])("the parent of %j is %j", (uid, parent) => {
  expect(parentOf(uid)).toBe(parent);
});

describe("a place in the hierarchy", () => {
  test.each([
    ["a", "ancestors", "a/b", true],
    ["a/b", "ancestors", "a/b", true],
    ["a/b", "ancestors", "a/bc", false],
    ["a/b/c", "ancestors", "a/b", false],
    ["a/b", "descendants", "a", true],
    ["a", "descendants", "a", true],
    ["a/b/c", "descendants", "a", true],
    ["ab", "descendants", "a", false],
    ["a", "descendants", "a/b", false],
    ["a/b", "children", "a", true],
    ["a", "children", "a", false],
    ["a/b/c", "children", "a", false],
    ["ab/c", "children", "a", false],
    ["a", "root", "true", true],
    ["a/b", "root", "true", false],
    ["a", "root", "false", false],
    ["a/b", "root", "false", true],
    ["a", "ids", "a", true],
    ["a", "ids", "a/b", false],
  ] as const)("%s by %s of %s: %s", (uid, hierarchy, value, expected) => {
    expect(isInHierarchy(uid, hierarchy, value)).toBe(expected);
  });

  test("is the same seen from above and from below", () => {
    const uid = fc
      .array(fc.constantFrom("a", "b", "ab"), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join("/"));
    fc.assert(
      fc.property(uid, uid, (a, b) => {
        expect(isInHierarchy(a, "descendants", b)).toBe(isInHierarchy(b, "ancestors", a));
        expect(isInHierarchy(a, "children", b)).toBe(
          isInHierarchy(a, "descendants", b) && a.split("/").length === b.split("/").length + 1,
        );
      }),
    );
  });
});
