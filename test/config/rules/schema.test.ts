import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { EXAMPLE_RULES } from "../../../scripts/docs/rules.ts";
import { RulesSchema, rulesJsonSchema } from "../../../src/config/rules-schema.ts";
import { scale } from "../../support/scale.ts";
import { faults } from "./context.ts";

const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(rulesJsonSchema());
const EXAMPLE = parse(EXAMPLE_RULES) as Record<string, unknown>;

type Path = readonly (string | number)[];

/** The way to every value in the tree. */
function pathsOf(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const inner = Object.entries(value).map(([key, child]) =>
    pathsOf(child, [...path, Array.isArray(value) ? Number(key) : key]),
  );
  return [path, ...inner.flat()];
}

/** A copy in which `path` is `value`; undefined takes it away. */
function changed(tree: unknown, path: Path, value: unknown): unknown {
  const copy = structuredClone(tree);
  let node = copy as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) node = node[key] as Record<string | number, unknown>;
  const last = path.at(-1) ?? "";
  if (value === undefined && !Array.isArray(node)) delete node[last];
  else node[last] = value;
  return copy;
}

const PATHS = pathsOf(EXAMPLE).filter((path) => path.length > 0);
const TEXTS = ["", "x", "native", "shadow", "90", "5m", "08:00-17:00", "2027-01-01", "tue"];
const NESTED: readonly unknown[] = JSON.parse(
  '[[],["x"],["mon","x"],[1],{},{"x":"y"},{"x":1},{"x":"y","z":"y"},{"unknown":{}}]',
);
const JUNK: readonly unknown[] = [undefined, null, true, false, 0, 1, -1, 0.5, 42, 101, 1e9, ...TEXTS, ...NESTED];

test("every value of the example, replaced by every kind of value, is judged alike by JSON Schema and program", () => {
  let [taken, refused] = [0, 0];
  for (const path of PATHS) {
    for (const junk of JUNK) {
      const tree = changed(EXAMPLE, path, junk);
      const valid = isValid(tree);
      expect(valid, `${path.join(".")} = ${JSON.stringify(junk)}`).toBe(RulesSchema.safeParse(tree).success);
      if (valid) taken += 1;
      else refused += 1;
    }
  }
  expect(taken).toBeGreaterThan(200);
  expect(refused).toBeGreaterThan(500);
});

test("what the program takes is right by the JSON Schema, and what is wrong by the schema is refused", () => {
  const change = fc.tuple(fc.constantFrom(...PATHS), fc.constantFrom(...JUNK));
  let taken = 0;
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 2 }), (changes) => {
      let tree: unknown = EXAMPLE;
      for (const [path, junk] of changes) {
        try {
          tree = changed(tree, path, junk);
        } catch {
          return;
        }
      }
      const found = faults(`${stringify(tree)}...\n`);
      if (found.length === 0) taken += 1;
      if (!isValid(tree)) expect(found).not.toEqual([]);
    }),
    { numRuns: scale(120, 400) },
  );
  expect(taken).toBeGreaterThan(2);
});

describe("an unknown key is refused by JSON Schema and program", () => {
  const maps = PATHS.filter((path) => {
    let node: unknown = EXAMPLE;
    for (const key of path) node = (node as Record<string | number, unknown>)[key];
    return typeof node === "object" && !Array.isArray(node);
  });
  test.each(maps.map((path) => [path.join("."), path] as const))("in %s", (name, path) => {
    const said = /\.(?:header|cookie)$/.test(name) ? /expected one name/ : /unknown: there is no such key/;
    const tree = changed(EXAMPLE, [...path, "unknown"], "value");
    expect(isValid(tree)).toBe(false);
    expect(faults(`${stringify(tree)}...\n`).join("\n")).toMatch(said);
  });
});

test("the example is valid", () => {
  expect(isValid(EXAMPLE), JSON.stringify(isValid.errors)).toBe(true);
});
