/** Are uids read and written in one form, and placed rightly in the hierarchy? */
import { describe, expect, test } from "vitest";
import { Problem } from "../../src/model/problem.ts";
import {
  emitUid,
  isAncestor,
  isChild,
  isDescendant,
  isRoot,
  isUid,
  parentOf,
  parseUid,
  v2Path,
} from "../../src/route/uid.ts";
import { CHILD, RESOURCES, ROOT } from "./fixture.ts";

const ODD = ["", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "a/...", "a:b", "a b", "a%", "é", "\ud800", "a\n", "a~"];

describe("parsing and emitting", () => {
  test("an escaped slash means a slash, in either case", () => {
    expect(parseUid("a%2Fb%2fc/d")).toBe("a/b/c/d");
  });

  test.each(ODD)("%j is no uid", (text) => {
    expect(isUid(text)).toBe(false);
    expect(() => parseUid(text)).toThrow(Problem);
    expect(() => emitUid(text)).toThrow(Problem);
  });

  test.each(["%2F", "a%2F", "%2e%2e", "%61", "a%2F%2Fb", "a%252Fb"])("the escaped %j is no uid", (text) => {
    expect(() => parseUid(text)).toThrow(Problem);
  });

  test.each([ROOT, CHILD, "a", "A-Z_0.9", "..a", "a..", "x/y/z"])("%s is a uid and stays as it is", (uid) => {
    expect(isUid(uid)).toBe(true);
    expect(parseUid(uid)).toBe(uid);
    expect(emitUid(uid)).toBe(uid);
  });

  test("a uid that is still escaped is never emitted", () => {
    expect(() => emitUid("a%2Fb")).toThrow(Problem);
  });
});

describe("hierarchy", () => {
  test("the parent of a root is undefined, of any other the part before the last slash", () => {
    expect(parentOf("a")).toBeUndefined();
    expect(parentOf("a/b/c")).toBe("a/b");
  });

  test("a name that only begins alike is no descendant", () => {
    expect(isDescendant("ab/c", "a")).toBe(false);
    expect(isDescendant("a", "a")).toBe(false);
    expect(isDescendant("a/", "a")).toBe(false);
    expect(isDescendant("/a", "")).toBe(false);
    expect(isDescendant("a/b/c", "a")).toBe(true);
  });

  test("children are one level below, ancestors the other way round", () => {
    expect(isChild("a/b", "a")).toBe(true);
    expect(isChild("a/b/c", "a")).toBe(false);
    expect(isAncestor("a", "a/b/c")).toBe(true);
    expect(isAncestor("a/b/c", "a")).toBe(false);
    expect(isRoot("a")).toBe(true);
    expect(isRoot("a/b")).toBe(false);
    expect(isRoot("")).toBe(false);
  });
});

test("a v2 path is spelled as v2 spells it, with its suffix behind", () => {
  const binding = RESOURCES.find((resource) => resource.name === "role-binding")!;
  expect(v2Path(binding, "v2beta1")).toBe("/iam/v2beta1/roleBindings");
  expect(v2Path(binding, "v2", CHILD)).toBe(`/iam/v2/roleBindings/${CHILD}`);
  expect(v2Path(binding, "v2", "", ":batchCreate")).toBe("/iam/v2/roleBindings:batchCreate");
  expect(v2Path(binding, "v2", "a", "/readme")).toBe("/iam/v2/roleBindings/a/readme");
});
