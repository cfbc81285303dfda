/** The npm package holds every file that its pages link: of its options, its alerts, its dashboards, and how it is deployed. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const { files } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { files: readonly string[] };
const ALWAYS = ["README.md", "LICENSE", "package.json"];

const named = (path: string, entry: string) => path === entry || path.startsWith(`${entry}/`);
const isShipped = (path: string): boolean => {
  const [left, taken] = [files.filter((one) => one.startsWith("!")), files.filter((one) => !one.startsWith("!"))];
  return [...taken, ...ALWAYS].some((one) => named(path, one)) && !left.some((one) => named(path, one.slice(1)));
};
const pages = [...ALWAYS, ...files]
  .filter((entry) => !entry.startsWith("!") && !entry.startsWith("dist"))
  .flatMap((entry) => (statSync(join(ROOT, entry)).isDirectory() ? pagesIn(entry) : [entry]))
  .filter((path) => path.endsWith(".md"));

function pagesIn(folder: string): readonly string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".md")).map((name) => join(folder, name));
}

test("every page that is shipped links only what is shipped, too", () => {
  expect(pages.length).toBeGreaterThan(30);
  const dead = pages.flatMap((page) => {
    const links = readFileSync(join(ROOT, page), "utf8").matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)[^)]*\)/g);
    return [...links].flatMap(([, link = ""]) => {
      const to = normalize(join(dirname(page), link)).replace(/\/$/, "");
      return isShipped(to) && existsSync(join(ROOT, to)) ? [] : [`${page}: ${link}`];
    });
  });
  expect(dead).toEqual([]);
});
