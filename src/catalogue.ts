/** Finds, checks and freezes the catalogue of a pair of versions. */

import { readdir } from "node:fs/promises";
import { type CatalogueFile, faultsOf } from "./catalogue/check.ts";
import natives from "./catalogue/native.ts";
import { deepFreeze, isJsonObject, member } from "./model/json.ts";
import type { DerivedPair, NativeDomain, Resource } from "./model/resource.ts";

/** Everything carryover knows of v1 beside one v2 version; deep frozen. */
export interface Catalogue {
  /** v2's version segment: `v2beta1`. */
  readonly version: string;
  /** By name, ascending. */
  readonly resources: readonly Resource[];
  readonly natives: readonly NativeDomain[];
}

const CODE = /\.[jt]s$/;
const HOME = new URL("./catalogue/", import.meta.url);

async function defaultExport(url: URL): Promise<unknown> {
  const loaded: unknown = await import(url.href);
  return typeof loaded === "object" && loaded !== null && "default" in loaded ? loaded.default : undefined;
}

function isResource(value: unknown): value is Resource {
  return (
    isJsonObject(value) &&
    ["name", "domain", "v1", "v2", "items", "key"].every((name) => typeof member(value, name) === "string") &&
    ["operations", "examples"].every((name) => Array.isArray(member(value, name)))
  );
}

function isDerivedPair(value: unknown): value is DerivedPair {
  return isJsonObject(value) && typeof member(value, "like") === "string" && Array.isArray(member(value, "less"));
}

/** The resource files of `folder`. Throws when one holds no resource. */
async function readFolder(folder: URL): Promise<readonly CatalogueFile[]> {
  const names = (await readdir(folder)).filter((name) => CODE.test(name) && !name.endsWith(".d.ts")).sort();
  return Promise.all(
    names.map(async (file) => {
      const resource = await defaultExport(new URL(file, folder));
      if (!isResource(resource)) {
        throw new Error(`${file}: it has no resource; export one as its default, or move the file out of the folder`);
      }
      return { file, resource };
    }),
  );
}

/** The files of the pair `entry`, which is a folder, or a file that says which folder it is like. */
async function readPair(entry: string, home: URL): Promise<readonly CatalogueFile[]> {
  if (!CODE.test(entry)) return readFolder(new URL(`${entry}/`, home));
  const pair = await defaultExport(new URL(entry, home));
  if (!isDerivedPair(pair)) throw new Error(`${entry}: it has no derived pair; export { like, less } as its default`);
  const files = await readFolder(new URL(`${pair.like}/`, home));
  const unknown = pair.less.filter((name) => !files.some(({ resource }) => resource.name === name));
  if (unknown.length > 0)
    throw new Error(`${entry}: less: ${pair.like} has no ${unknown.join(", ")}; correct the name`);
  return files.filter(({ resource }) => !pair.less.includes(resource.name));
}

/** The entries of `home` that are pairs: a folder, or a file that says which folder it is like. */
async function pairsOf(home: URL): Promise<readonly { readonly entry: string; readonly version: string }[]> {
  const entries = (await readdir(home)).filter((name) => name.startsWith("v1-") && !/\.(?:d\.ts|map)$/.test(name));
  return entries.map((entry) => ({ entry, version: entry.replace(CODE, "").slice("v1-".length) }));
}

/** The v2 versions that have a catalogue, in order. */
export async function catalogueVersions(home: URL = HOME): Promise<readonly string[]> {
  return (await pairsOf(home)).map(({ version }) => version).sort();
}

/**
 * The catalogue of v1 beside the v2 version `version` (`v2beta1`), from the folder `home` (default: the one beside this
 * module). Throws an `Error` that names every fault with its file, its row and a remedy; for a version that has no
 * catalogue it names those that have one.
 */
export async function loadCatalogue(version: string, home: URL = HOME): Promise<Catalogue> {
  const entry = (await pairsOf(home)).find((pair) => pair.version === version)?.entry;
  if (entry === undefined) {
    const known = (await catalogueVersions(home)).join(", ");
    throw new Error(`there is no catalogue for version ${JSON.stringify(version)}; known versions: ${known}`);
  }
  const files = await readPair(entry, home);
  const faults = faultsOf(files, natives);
  if (faults.length > 0) throw new Error(`the catalogue ${entry} is not sound:\n${faults.join("\n")}`);
  const resources = files.map(({ resource }) => resource).sort((a, b) => (a.name < b.name ? -1 : 1));
  return deepFreeze({ version, resources, natives });
}
