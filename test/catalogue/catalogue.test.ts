/**
 * The catalogue is sound, pure, and covered by its own examples. The tests loop over what they find, never over a list
 * of names.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadCatalogue, loadExamples } from "../../src/catalogue/catalogue.ts";
import { allPaths, nestedRows } from "../../src/catalogue/check.ts";
import { isJsonObject, type Json } from "../../src/model/json.ts";
import type { EnumTable, Example, Filter, Resource, Row, Shape } from "../../src/model/resource.ts";
import { examplesOf } from "../support/examples.ts";

const VERSIONS = ["v2beta1", "v2"];
const catalogues = await Promise.all(VERSIONS.map((version) => loadCatalogue(version)));
const each = catalogues.flatMap(({ version, resources }) =>
  resources.map((resource) => [`${version} ${resource.name}`, resource] as const),
);

type Side = "v1" | "v2";

/** Rows that no example speaks of, and why. */
const UNCOVERED: ReadonlyMap<string, string> = new Map([["group v2 groupUid", "v2 takes it from the path alone"]]);

function shapesOf(resource: Resource): readonly Shape[] {
  return resource.operations.flatMap((operation) => {
    if (operation.kind === "native" || operation.kind === "delete") return [];
    return "body" in operation ? [operation.answer, operation.body] : [operation.answer];
  });
}

function enumsOf(resource: Resource): readonly EnumTable[] {
  const inRows = (rows: readonly Row[]): readonly EnumTable[] =>
    rows.flatMap((row) => (row.kind === "enum" ? [row.values] : inRows(nestedRows(row) ?? [])));
  const inFilters = resource.operations.flatMap((operation) =>
    operation.kind === "list"
      ? operation.filters.flatMap((filter) => (filter.use === "enum" ? [filter.values] : []))
      : [],
  );
  return [...shapesOf(resource).flatMap(({ rows }) => inRows(rows)), ...inFilters];
}

function pathsOf(rows: readonly Row[], side: Side, prefix = ""): readonly string[] {
  return rows.flatMap((row) => {
    const name = row[side];
    return name === null ? [] : [`${prefix}${name}`, ...pathsOf(nestedRows(row) ?? [], side, `${prefix}${name}.`)];
  });
}

/** Every path of keys in `value`; the keys of a map are data, so its values follow the map itself. */
function keysIn(value: Json | undefined, rows: readonly Row[], side: Side, prefix = ""): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => keysIn(item, rows, side, prefix));
  if (!isJsonObject(value)) return [];
  return rows.flatMap((row) => {
    const name = row[side];
    if (name === null || !Object.hasOwn(value, name)) return [];
    const held = value[name];
    const inner = row.kind === "map" && isJsonObject(held) ? Object.values(held) : held;
    return [`${prefix}${name}`, ...keysIn(inner, nestedRows(row) ?? [], side, `${prefix}${name}.`)];
  });
}

/** What an example says in that version's words: of an exchange all bodies and answers, and the records of their lists. */
function recordsOf(example: Example, side: Side): readonly Json[] {
  if (example.of === "filters") return [];
  if (example.of !== "exchange") return [example[side]];
  const said =
    side === "v1" ? [example.body, example.answer] : example.calls.flatMap(({ body, answer }) => [body, answer]);
  return said.flatMap((value) => {
    if (value === undefined) return [];
    const lists = isJsonObject(value) ? Object.values(value).filter((each) => Array.isArray(each)) : [];
    return [value, ...lists];
  });
}

function covered(resource: Resource, shapes: readonly Shape[], side: Side): ReadonlySet<string> {
  const records = examplesOf(resource).flatMap((example) => recordsOf(example, side));
  return new Set(records.flatMap((record) => shapes.flatMap((shape) => keysIn(record, shape.rows, side))));
}

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

describe.each(each)("%s", (_, resource) => {
  test("is pure data", () => {
    expect(structuredClone(resource)).toEqual(resource);
  });

  test("is frozen to the bottom", () => {
    const thawed = (value: unknown): boolean =>
      typeof value === "object" && value !== null && (!Object.isFrozen(value) || Object.values(value).some(thawed));
    expect(thawed(resource)).toBe(false);
  });

  test("has an example that shows its list, and one for each shape that differs from it", () => {
    const answered = examplesOf(resource).flatMap((example) =>
      example.of === "answer" || example.of === "exchange" ? [example.operation] : [],
    );
    const list = resource.operations.find((operation) => operation.kind === "list");
    expect(answered).toContain("list");
    for (const operation of resource.operations) {
      if (operation.kind === "native" || operation.kind === "delete" || list?.kind !== "list") continue;
      if (operation.answer !== list.answer) expect(answered).toContain(operation.name);
    }
  });

  test("has examples for what clients send", () => {
    const kinds = new Set(examplesOf(resource).map((example) => example.of));
    const exchanges = new Set(
      examplesOf(resource).map((example) => (example.of === "exchange" ? example.operation : "")),
    );
    for (const operation of resource.operations) {
      if (exchanges.has(operation.name)) continue;
      if (operation.kind === "create") expect(kinds).toContain("body");
      if (operation.kind === "update") expect(kinds).toContain("update");
    }
  });

  test.each(["v1", "v2"] as const)("every %s name of a row is in an example", (side) => {
    const shapes = shapesOf(resource);
    const seen = covered(resource, shapes, side);
    const missing = shapes.flatMap((shape) => pathsOf(shape.rows, side)).filter((path) => !seen.has(path));
    expect(missing.filter((path) => !UNCOVERED.has(`${resource.name} ${side} ${path}`))).toEqual([]);
  });
});

describe.each(catalogues.map((catalogue) => [catalogue.version, catalogue] as const))("all of %s", (_, catalogue) => {
  test("no reason for a missing example is stale", () => {
    const stale = [...UNCOVERED.keys()].filter((entry) => {
      const [name, side, path] = entry.split(" ");
      const resource = catalogue.resources.find((each) => each.name === name);
      return resource === undefined || covered(resource, shapesOf(resource), side as Side).has(path ?? "");
    });
    expect(stale).toEqual([]);
  });

  test("every filter but a Get is in an example of a resource that has it", () => {
    const shown = new Set<Filter>();
    const all = new Map<Filter, string>();
    for (const resource of catalogue.resources) {
      const names = examplesOf(resource).flatMap((example) =>
        example.of === "filters" ? [...new URLSearchParams(example.v1).keys()].map(snake) : [],
      );
      for (const operation of resource.operations) {
        for (const filter of operation.kind === "list" ? operation.filters : []) {
          if (filter.use === "get") continue;
          all.set(filter, `${resource.name} ${filter.v1}`);
          if (names.includes(filter.v1)) shown.add(filter);
        }
      }
    }
    expect([...all].filter(([filter]) => !shown.has(filter)).map(([, name]) => name)).toEqual([]);
  });

  test("paths are unique over all domains", () => {
    const paths = allPaths(catalogue.resources, catalogue.natives);
    expect(new Set(paths).size).toBe(paths.length);
  });

  test("every resource is listed once, in the order of names", () => {
    const names = catalogue.resources.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)].sort());
  });

  test("every v1 operation of the API is known by name: at least the 139 of the contract, beside the Gets that v1 never had", () => {
    const extensions = catalogue.resources.flatMap(({ operations }) =>
      operations.filter((operation) => operation.kind === "get" && operation.extension),
    );
    expect(allPaths(catalogue.resources, catalogue.natives).length - extensions.length).toBeGreaterThanOrEqual(139);
  });

  test("names of resources and operations can be labels", () => {
    const names = [
      ...catalogue.resources.flatMap(({ name, operations }) => [name, ...operations.map((each) => each.name)]),
      ...catalogue.natives.flatMap(({ operations }) => operations.flatMap((each) => [each.resource, each.name])),
    ];
    expect(names.filter((name) => !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name))).toEqual([]);
  });

  test("no two operations outside the ten resources share a name, nor take one of theirs", () => {
    const names = catalogue.natives.flatMap(({ operations }) =>
      operations.map((each) => `${each.resource} ${each.name}`),
    );
    expect(names).toEqual([...new Set(names)]);
    const own = new Set(catalogue.resources.map(({ name }) => name));
    expect(names.filter((name) => own.has(name.split(" ")[0] ?? ""))).toEqual([]);
  });

  test("an enum has one table, whoever uses it", () => {
    const tables = new Map<string, EnumTable>();
    for (const table of catalogue.resources.flatMap(enumsOf)) {
      expect(tables.get(table.name) ?? table).toBe(table);
      tables.set(table.name, table);
    }
  });

  test("all 217 capabilities are there, and only the zero has no v1 name", () => {
    const table = catalogue.resources.flatMap(enumsOf).find(({ name }) => name === "capability");
    expect(table?.values.length).toBe(217);
    expect(table?.values.filter(([v1, , v2]) => v1 === null || v2 === null)).toEqual([[null, -1, "UNKNOWN", 0]]);
  });
});

test("the vendor's name is written once, where it is a key on the wire", async () => {
  const folder = new URL("../../src/catalogue/", import.meta.url);
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".ts"));
  const texts = await Promise.all(names.map((name) => readFile(new URL(name, folder), "utf8")));
  const key = (catalogues[0]?.resources ?? [])
    .flatMap(shapesOf)
    .flatMap(({ rows }) => rows)
    .find((row) => row.kind === "message" && row.rows.some((inner) => inner.v1 === "serviceBindings"));
  expect(
    texts
      .join("\n")
      .toLowerCase()
      .split(key?.v1 ?? "").length - 1,
  ).toBe(1);
});

describe("loading", () => {
  let home = "";
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "catalogue-"));
    await writeFile(join(home, "package.json"), '{"type":"module"}');
    for (const folder of ["v1-empty", "v1-wrong", "v1-bare"]) await mkdir(join(home, folder));
    const group = structuredClone(catalogues[0]?.resources.find((resource) => resource.key === "id"));
    await writeFile(join(home, "v1-wrong", "other.js"), `export default ${JSON.stringify(group)};`);
    await mkdir(join(home, "v1-untold", "examples"), { recursive: true });
    await writeFile(join(home, "v1-untold", "group.js"), `export default ${JSON.stringify(group)};`);
    await writeFile(join(home, "v1-untold", "examples", "group.js"), "export default 7;");
    await writeFile(join(home, "v1-bare", "bare.js"), "export default { name: 7 };");
    await writeFile(join(home, "v1-less.js"), 'export default { like: "v1-wrong", less: ["nobody"] };');
    await writeFile(join(home, "v1-strange.js"), "export default 7;");
  });
  afterAll(() => rm(home, { recursive: true }));
  const load = (version: string) => loadCatalogue(version, pathToFileURL(`${home}/`));

  test.each([
    ["a version that is a path", "../v2", "known versions"],
    ["an empty folder", "empty", "there is no catalogue for version"],
    ["a name that is not its file's", "wrong", /other\.js: its resource is called .*; name the file like the resource/],
    ["a file without a resource", "bare", "bare.js: it has no resource"],
    ["a file of examples without any", "untold", "v1-untold/examples/group.js: it has no examples"],
    ["a derived pair that takes away what is not there", "less", "v1-less.js: less: v1-wrong has no nobody"],
    ["a file that is no derived pair", "strange", "v1-strange.js: it has no derived pair"],
  ])("%s is refused", async (_, version, says) => {
    await expect(load(version)).rejects.toThrow(says);
  });

  test("an unknown version is refused with the known ones", async () => {
    await expect(loadCatalogue("v3")).rejects.toThrow('version "v3"; known versions: v2, v2beta1');
  });

  test("a derived pair speaks the words of the one it is like", async () => {
    const [first, second] = catalogues;
    expect(second?.resources).toEqual(first?.resources);
    const [examples, same] = await Promise.all([loadExamples("v2beta1"), loadExamples("v2")]);
    expect(same).toEqual(examples);
    expect([...examples.values()].flat().every(Object.isFrozen)).toBe(true);
  });
});
