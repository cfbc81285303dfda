/**
 * Prints how `src` is cut: its files and lines, the layers of its folders, the type names declared more than once, and the files whose only
 * importer sits beside them. `--all` names each of these types and files.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { optionsOf } from "./options.mjs";

const SRC = fileURLToPath(new URL("../src/", import.meta.url));
/** Lines from which a file is said to be long. */
const LONG = 200;

const { all } = optionsOf({ all: { type: "boolean", default: false } }, "node scripts/structure.mjs [--all]");

/** What the source file at `path` imports and declares, as the formatter leaves it. */
function read(path) {
  const text = readFileSync(path, "utf8");
  const imports = text.matchAll(/(?: from |^import |\bimport\()"(\.[^"]+)"/gm);
  const types = text.matchAll(/^(export )?(?:abstract )?(?:interface|type|class) (\w+)/gm);
  return {
    name: relative(SRC, path),
    lines: text.split("\n").length - 1,
    imports: [...new Set([...imports].map(([, specifier]) => relative(SRC, resolve(dirname(path), specifier))))],
    types: [...types].map(([, exported, name]) => ({ name, exported: exported !== undefined })),
  };
}

/** Values of `pairs` by key. */
function grouped(pairs) {
  const groups = new Map();
  for (const [key, value] of pairs) groups.set(key, [...(groups.get(key) ?? []), value]);
  return [...groups];
}

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => read(join(SRC, name)));

/** The longest path of imports from folder to folder, the files directly in `src` being one. */
function layers() {
  const folderOf = (name) => name.split("/").slice(0, -1)[0] ?? "src";
  const below = new Map(
    grouped(files.flatMap(({ name, imports }) => imports.map((other) => [folderOf(name), folderOf(other)]))),
  );
  const depth = (folder, path) => {
    const next = new Set((below.get(folder) ?? []).filter((other) => other !== folder && !path.includes(other)));
    return 1 + Math.max(0, ...[...next].map((other) => depth(other, [...path, folder])));
  };
  // Files directly in `src` import everything; nothing but their types is imported.
  const tops = [...below.keys()].filter((folder) => folder !== "src");
  return Math.max(...tops.map((folder) => depth(folder, ["src"])));
}

const sizes = files.map(({ lines }) => lines).toSorted((a, b) => a - b);
const total = sizes.reduce((sum, lines) => sum + lines, 0);
const long = sizes.filter((lines) => lines > LONG).length;
const repeated = grouped(
  files.flatMap(({ name, types }) => types.map((type) => [type.name, { name, ...type }])),
).filter(([, places]) => places.length > 1);
const exportedTwice = repeated.filter(([, places]) => places.filter(({ exported }) => exported).length > 1);
const beside = grouped(files.flatMap(({ name, imports }) => imports.map((other) => [other, name]))).filter(
  ([other, importers]) =>
    importers.length === 1 &&
    dirname(importers[0]) === dirname(other) &&
    // The registry loads each of these, too, without an import.
    !other.startsWith("catalogue/v1-v2beta1/"),
);

console.log(`${files.length} files, ${total} lines; median ${sizes[sizes.length >> 1]}, ${long} over ${LONG} lines`);
console.log(`${layers()} layers of folders below the files directly in src`);
console.log(
  `${repeated.length} type names declared more than once, ${exportedTwice.length} of them exported more than once`,
);
console.log(`${beside.length} files whose only importer sits beside them`);
if (all) {
  for (const [name, places] of repeated) console.log(`type ${name}: ${places.map((place) => place.name).join(", ")}`);
  for (const [name, [importer]] of beside) console.log(`${name} <- ${importer}`);
}
