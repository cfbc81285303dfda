import { expect, test } from "vitest";
import type { FieldMatcher } from "../../src/model/matcher.ts";
import { compareAnswers } from "../../src/shadow/compare.ts";
import { shapeOf } from "../../src/shadow/shape.ts";
import { sharedCatalogue } from "../support/shared.ts";

const { resources } = await sharedCatalogue("v2beta1");

function compared(name: string, one: object, other: object, matcher?: Partial<FieldMatcher>): string {
  const resource = resources.find((each) => each.name === name);
  const operation = resource?.operations.find(({ kind }) => kind === "list");
  if (resource === undefined || operation === undefined) throw new Error(name);
  const matchers =
    matcher === undefined ? [] : [{ resource: name, path: "", withinMs: 0, match: "ignore" as const, ...matcher }];
  const body = (record: object) => ({
    status: 200,
    body: Buffer.from(JSON.stringify({ items: [{ id: "1", ...record }] })),
  });
  const steps = compareAnswers(body(one), body(other), shapeOf({ resource, operation }, [], matchers));
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value.result;
  }
}

const AT = "2026-11-29T11:22:06.000Z";

test.each([
  ["ignore", "group", { description: "a" }, { description: "b" }, { path: "description" }, "value", "equal"],
  ["ignore", "group", { colour: { a: 1 } }, {}, { path: "colour" }, "missing", "equal"],
  [
    "unordered",
    "repo",
    { aliases: ["a", "b"] },
    { aliases: ["b", "a"] },
    { path: "aliases", match: "unordered" },
    "order",
    "order",
  ],
  [
    "unordered",
    "repo",
    { colours: ["a", "b"] },
    { colours: ["b", "a"] },
    { path: "colours", match: "unordered" },
    "value",
    "order",
  ],
  [
    "unordered",
    "repo",
    { colours: ["a", "a"] },
    { colours: ["a"] },
    { path: "colours", match: "unordered" },
    "missing",
    "missing",
  ],
  [
    "set",
    "repo",
    { colours: ["a", "b", "a"] },
    { colours: ["b", "a"] },
    { path: "colours", match: "set" },
    "missing",
    "order",
  ],
  [
    "set",
    "repo",
    { colours: ["a", "b"] },
    { colours: ["b", "c"] },
    { path: "colours", match: "set" },
    "value",
    "value",
  ],
  [
    "time",
    "group",
    { updatedAt: AT },
    { updatedAt: "2026-11-29T11:22:08.000Z" },
    { path: "updatedAt", match: "time", withinMs: 2000 },
    "value",
    "equal",
  ],
  [
    "time",
    "group",
    { updatedAt: AT },
    { updatedAt: "2026-11-29T11:22:08.001Z" },
    { path: "updatedAt", match: "time", withinMs: 2000 },
    "value",
    "value",
  ],
  [
    "time",
    "advisory",
    { events: [{ id: "e", timestamp: AT }] },
    { events: [{ id: "e", timestamp: "2026-11-29T11:22:06.5Z" }] },
    { path: "events[].timestamp", match: "time", withinMs: 500 },
    "value",
    "equal",
  ],
] as const)("%s for %s: %j and %j with %j", (_, name, one, other, matcher, without, result) => {
  expect(compared(name, one, other)).toBe(without);
  expect(compared(name, one, other, matcher)).toBe(result);
});
