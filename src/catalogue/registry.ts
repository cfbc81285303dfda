/**
 * The catalogue's files, by their path in the folder `home`. This module reads the folder, which is what tests and tools do that run from
 * the sources. In `dist`, the build puts a fixed list of the same files in its place (scripts/build/generated.mjs).
 */
import { readdir } from "node:fs/promises";

/** Whether the files were checked when they were listed. */
export const CHECKED: boolean = false;

const HOME = new URL("./", import.meta.url);
const EXAMPLES = "/examples/";
const CODE = /(?<!\.d)\.[jt]s$/;

type Files = ReadonlyMap<string, () => Promise<unknown>>;

/** `v1-v2.ts`, `v1-v2beta1/group.ts`: each with a function that returns its default export. */
export async function catalogueFiles(home: URL = HOME): Promise<Files> {
  return filesOf(home, (name) => !name.includes(EXAMPLES));
}

/** `v1-v2beta1/examples/group.ts`, in the same way. */
export async function exampleFiles(home: URL = HOME): Promise<Files> {
  return filesOf(home, (name) => name.includes(EXAMPLES));
}

async function filesOf(home: URL, wants: (name: string) => boolean): Promise<Files> {
  const names = (await readdir(home, { recursive: true })).map((name) => name.replaceAll("\\", "/"));
  const files = names.filter((name) => /^v1-/.test(name) && CODE.test(name) && wants(name));
  return new Map(files.sort().map((file) => [file, () => defaultExport(new URL(file, home))]));
}

async function defaultExport(url: URL): Promise<unknown> {
  const loaded: unknown = await import(url.href);
  return typeof loaded === "object" && loaded !== null && "default" in loaded ? loaded.default : undefined;
}
