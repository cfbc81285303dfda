/** Reads from the titles of the tests which ids of docs/trust.md they try. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");
const ID = /T-[A-Z]{3}-\d{2}/g;
/** Files with tests, the corpus whose requests are tests, and the programs that try what no test can: under load, for long. */
const TRIES = /(?:\.(?:test|all|real|guards)\.ts|^test\/corpus\/requests\.ts|^bench\/.*\.mjs)$/;
/** The tests of the page itself name ids that they do not try. */
const ABOUT = /^test\/trust\/(?:plan|page)\.all\.ts$/;

/** The ids in titles of `text`: not those in comments, nor those that only say where a figure belongs. */
export function idsIn(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const line of text.split("\n")) {
    if (/^\s*(?:\/\/|\/\*|\*)|\bfigure\(/.test(line)) continue;
    for (const match of line.matchAll(ID)) {
      const before = line.slice(0, match.index);
      const alone = /["'`]$/.test(before) && /^["'`]/.test(line.slice(match.index + match[0].length));
      // Alone in its quotes it is an argument of figure() on a line of its own, or the first cell of a table of tests, or the id of one.
      if (alone && !/(?:\[|\bid"?:)\s*["'`]$/.test(before)) continue;
      if (/["'`]/.test(before)) found.add(match[0]);
    }
  }
  return found;
}

/** Each id with the files of the repository that try something under it. */
export function triedIn(): ReadonlyMap<string, readonly string[]> {
  const tried = new Map<string, string[]>();
  const names = ["test", "bench"]
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
    )
    .filter((name) => TRIES.test(name) && !ABOUT.test(name));
  for (const name of names.sort()) {
    for (const id of idsIn(readFileSync(join(ROOT, name), "utf8"))) {
      tried.set(id, [...(tried.get(id) ?? []), name]);
    }
  }
  return tried;
}
