/** Which files have tests that are named after a trap or a difference? (`T05: …`, or several: `T-PUT-01, T26, V16: …`.) */
import { readdirSync, readFileSync } from "node:fs";

const TESTS = new URL("../../test/", import.meta.url);
/** The ids that a title begins with, where a title can stand. */
const TITLE =
  /(?:^|\b(?:test|it|describe)\(|\]\)\(|\)\()\s*["'`]((?:(?:T-[A-Z]{3}-\d\d|[TV]\d\d), )*(?:T-[A-Z]{3}-\d\d|[TV]\d\d)): /gm;
const LEFT_OUT = /\b(?:test|it|describe)\.(?:skip|todo|only|fails)\b/;

/** By id, `letter` and two digits: the files with such tests, by their paths from `test/FOLDER/`, in order. */
export function testsNamed(letter: "T" | "V", folder = ""): ReadonlyMap<string, readonly string[]> {
  const root = new URL(folder, TESTS);
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.(?:test|all)\.ts$/.test(name),
  );
  const found = new Map<string, string[]>();
  for (const file of files.toSorted()) {
    const text = readFileSync(new URL(file, root), "utf8");
    const titles = [...text.matchAll(TITLE)].flatMap(([, names = ""]) => names.split(", "));
    const ids = new Set(titles.filter((id) => id.length === 3 && id.startsWith(letter)));
    if (ids.size > 0 && LEFT_OUT.test(text)) throw new Error(`${file} leaves tests out`);
    for (const id of ids) found.set(id, [...(found.get(id) ?? []), file]);
  }
  return found;
}
