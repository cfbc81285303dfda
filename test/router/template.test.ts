import { describe, expect, test } from "vitest";
import { bySpecificity, matches, parseTemplate, respelled, shapeOf } from "../../src/router/template.ts";

const fits = (template: string, path: string) => matches(parseTemplate(template), path.split("/"));

describe("matching", () => {
  test.each([
    ["a", "a", true],
    ["a", "b", false],
    ["a", "a/b", false],
    ["a/{id=**}", "a/b/c", true],
    ["a/{id=**}", "a", true],
    ["a/{id=**}", "b/c", false],
    ["a/{x.id=**}", "a/b", true],
    ["a/{id=*}/v", "a/b/v", true],
    ["a/{id}/v", "a/b/v", true],
    ["a/{id=*}/v", "a/b/c/v", false],
    ["a/{id=*}/v", "a/v", false],
    ["a/{id=*}/v", "a//v", false],
    ["a/{id=**}/d/{x=*}/s", "a/1/2/d/sha256:0/s", true],
    ["a/{id=**}/d/{x=*}/s", "a/d/x/s", true],
    ["a/{id=**}/d/{x=*}/s", "a/d/s", false],
    ["a/{id=**}:go", "a/b/c:go", true],
    ["a/{id=**}:go", "a:go", true],
    ["a/{id=**}:go", "a/b:go/c", false],
    ["a/{id=**}:go", "a/b:going", false],
    ["a:go", "a:go", true],
    ["a:go", "a", false],
    ["a/b:go", "a/b:go", true],
  ])("%s against %s is %s", (template, path, expected) => {
    expect(fits(template, path)).toBe(expected);
  });
});

test("literals come before verbs, verbs before one segment, one segment before many", () => {
  const templates = ["a/{p=**}", "a/{p=*}", "a/{p=**}:go", "a/b/{p=**}", "a/{p=**}/b", "a/b/c"];
  const sorted = templates.map(parseTemplate).sort(bySpecificity).map(shapeOf);
  expect(sorted).toEqual(["a/b/c", "a/b/**", "a/**/b", "a/**:go", "a/*", "a/**"]);
});

test("templates that match the same paths have the same shape, whatever their variables are called", () => {
  expect(shapeOf(parseTemplate("a/{x=**}/{y=*}:z"))).toBe(shapeOf(parseTemplate("a/{k.id=**}/{w}:z")));
  expect(shapeOf(respelled(parseTemplate("a/{x=**}:z"), "b"))).toBe("b/**:z");
});

test.each(["", "/a", "a//b", "{id=**}", "a/{id=**}/{other=**}", "a/{id", "a/b c", "a/{id=***}"])(
  "%j is no template",
  (text) => {
    expect(() => parseTemplate(text)).toThrow(Error);
  },
);
