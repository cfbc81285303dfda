/** Checks and freezes the catalogue of a pair of versions. */

import { deepFreeze, isJsonObject, member } from "../model/json.ts";
import type { DerivedPair, Example, Examples, NativeDomain, Resource } from "../model/resource.ts";
import { type CatalogueFile, faultsOf } from "./check.ts";
import natives from "./native.ts";
import { CHECKED, catalogueFiles, exampleFiles } from "./registry.ts";

/** Everything carryover knows of v1 beside one v2 version; deep frozen. */
export interface Catalogue {
  /** v2's version segment: `v2beta1`. */
  readonly version: string;
  /** By name, ascending. */
  readonly resources: readonly Resource[];
  readonly natives: readonly NativeDomain[];
}

function isResource(value: unknown): value is Resource {
  return (
    isJsonObject(value) &&
    ["name", "domain", "v1", "v2", "items", "key"].every((name) => typeof member(value, name) === "string") &&
    Array.isArray(member(value, "operations"))
  );
}

function isDerivedPair(value: unknown): value is DerivedPair {
  return isJsonObject(value) && typeof member(value, "like") === "string" && Array.isArray(member(value, "less"));
}

type Files = Awaited<ReturnType<typeof catalogueFiles>>;

/** The resource files of the folder `name`. Throws when one holds no resource. */
async function readFolder(name: string, all: Files): Promise<readonly CatalogueFile[]> {
  const files = [...all].filter(([path]) => path.startsWith(`${name}/`));
  return Promise.all(
    files.map(async ([path, load]) => {
      const file = path.slice(name.length + 1);
      const resource = await load();
      if (!isResource(resource)) {
        throw new Error(`${file}: it has no resource; export one as its default, or move the file out of the folder`);
      }
      return { file, resource };
    }),
  );
}

/** Of the pair `entry`: its folder, or the one that it is like, and the resources that it lacks. */
async function pairOf(entry: string, all: Files): Promise<DerivedPair> {
  const load = all.get(entry);
  if (load === undefined) return { like: entry, less: [] };
  const pair = await load();
  if (!isDerivedPair(pair)) throw new Error(`${entry}: it has no derived pair; export { like, less } as its default`);
  return pair;
}

async function readPair(entry: string, all: Files): Promise<readonly CatalogueFile[]> {
  const { like, less } = await pairOf(entry, all);
  const files = await readFolder(like, all);
  const unknown = less.filter((name) => !files.some(({ resource }) => resource.name === name));
  if (unknown.length > 0) throw new Error(`${entry}: less: ${like} has no ${unknown.join(", ")}; correct the name`);
  return files.filter(({ resource }) => !less.includes(resource.name));
}

/** Version to entry: a folder, or a file that says which folder it is like. */
function pairsOf(all: Files): ReadonlyMap<string, string> {
  const entries = [...all.keys()].map((path) => path.replace(/\/.*/, ""));
  return new Map(entries.map((entry) => [entry.replace(/\.[jt]s$/, "").slice("v1-".length), entry]));
}

/** Throws for a version without a catalogue. */
function entryOf(version: string, all: Files): string {
  const pairs = pairsOf(all);
  const entry = pairs.get(version);
  if (entry !== undefined) return entry;
  const known = [...pairs.keys()].sort().join(", ");
  throw new Error(`there is no catalogue for version ${JSON.stringify(version)}; known versions: ${known}`);
}

/** The v2 versions that have a catalogue, in order. */
export async function catalogueVersions(home?: URL): Promise<readonly string[]> {
  return [...pairsOf(await catalogueFiles(home)).keys()].sort();
}

/**
 * The catalogue of v1 beside the v2 version `version` (`v2beta1`), from the folder `home` (default: our own). Throws an `Error`
 * that names every fault with its file, its row and a remedy; for a version that has no catalogue it names those that have one.
 */
export async function loadCatalogue(version: string, home?: URL): Promise<Catalogue> {
  const all = await catalogueFiles(home);
  const entry = entryOf(version, all);
  const files = await readPair(entry, all);
  const faults = CHECKED ? [] : faultsOf(files, natives, await loadExamples(version, home));
  if (faults.length > 0) throw new Error(`the catalogue ${entry} is not sound:\n${faults.join("\n")}`);
  const resources = files.map(({ resource }) => resource).sort((a, b) => (a.name < b.name ? -1 : 1));
  return deepFreeze({ version, resources, natives });
}

/** The examples of that catalogue. They are of no use for requests: only `explain`, checks of the catalogue and tests load them. */
export async function loadExamples(version: string, home?: URL): Promise<Examples> {
  const files = await catalogueFiles(home);
  const { like } = await pairOf(entryOf(version, files), files);
  const folder = `${like}/examples/`;
  const own = [...(await exampleFiles(home))].filter(([path]) => path.startsWith(folder));
  const all = await Promise.all(
    own.map(async ([path, load]): Promise<readonly [string, readonly Example[]]> => {
      const examples = await load();
      if (!isExamples(examples)) throw new Error(`${path}: it has no examples; export a list of them as its default`);
      return [path.slice(folder.length).replace(/\.[jt]s$/, ""), examples];
    }),
  );
  return new Map(all.map(([name, examples]) => [name, deepFreeze(examples)]));
}

function isExamples(value: unknown): value is readonly Example[] {
  return Array.isArray(value) && value.every((each) => typeof member(each, "of") === "string");
}

/** Tells operations that v2 has as well, and that carryover does not translate. */
export function untranslatedOf({ natives }: Pick<Catalogue, "natives">): IsUntranslated {
  const names = new Map<string, Set<string>>();
  for (const { resource, name, inV2 } of natives.flatMap(({ operations }) => operations)) {
    if (inV2 !== true) continue;
    names.set(resource, (names.get(resource) ?? new Set()).add(name));
  }
  return ({ resource, operation }) => names.get(resource)?.has(operation) === true;
}

/** By catalogue names. */
export type IsUntranslated = (one: { readonly resource: string; readonly operation: string }) => boolean;
