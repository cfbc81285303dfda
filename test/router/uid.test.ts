import { describe, expect, test } from "vitest";
import { Problem } from "../../src/model/problem.ts";
import { v2PathOf } from "../../src/model/request.ts";
import { decodePath, uidForPath } from "../../src/router/path.ts";
import { CHILD, RESOURCES, ROOT } from "./fixture.ts";

const ODD = ["", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "a/...", "a:b", "a b", "a%", "é", "\ud800", "a\n", "a~"];

describe("emitting", () => {
  test("an escaped slash means a slash, in either case", () => {
    expect(uidForPath(decodePath("a%2Fb%2fc/d"))).toBe("a/b/c/d");
  });

  test.each(ODD)("%j is no uid", (text) => {
    expect(() => uidForPath(text)).toThrow(Problem);
  });

  test.each(["%2F", "a%2F", "%2e%2e", "%61", "a%2F%2Fb", "a%252Fb"])("the escaped %j is no uid", (text) => {
    expect(() => uidForPath(decodePath(text))).toThrow(Problem);
  });

  test.each([ROOT, CHILD, "a", "A-Z_0.9", "..a", "a..", "x/y/z"])("%s is a uid and stays as it is", (uid) => {
    expect(uidForPath(uid)).toBe(uid);
  });

  test("a uid that is still escaped is never emitted", () => {
    expect(() => uidForPath("a%2Fb")).toThrow(Problem);
  });
});

test("a v2 path is spelled as v2 spells it", () => {
  const resource = RESOURCES.find(({ name }) => name === "role-binding")!;
  const operation = resource.operations.find(({ kind }) => kind === "list")!;
  expect(v2PathOf({ resource, operation, uidPath: "", segment: "" }, "v2beta1")).toBe("/iam/v2beta1/roleBindings");
  expect(v2PathOf({ resource, operation, uidPath: CHILD, segment: "" }, "v2")).toBe(`/iam/v2/roleBindings/${CHILD}`);
});
