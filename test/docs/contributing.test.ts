/** Does CONTRIBUTING.md name every room of the code, and every npm script there is? */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const ROOT = new URL("../../", import.meta.url);
const page = readFileSync(new URL("CONTRIBUTING.md", ROOT), "utf8");

test("the table of floors has every folder of src once, and no other", () => {
  const rooms = readdirSync(new URL("src", ROOT), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const table = page.split("| floor | rooms |")[1]?.split("\n\n")[0] ?? "";
  const named = [...table.replaceAll(/\([^)]*\)/g, "").matchAll(/`([a-z]+)`/g)].map(([, name]) => name);
  expect(named.toSorted()).toEqual(rooms.map(({ name }) => name).toSorted());
});

/** Parts of `npm run check`, or for one's own use. */
const OWN: ReadonlySet<string> = new Set(["prepare", "build", "pretest", "format", "lint", "types", "coverage"]);

test("it says what each npm script is for", () => {
  const { scripts } = JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8")) as {
    scripts: Record<string, string>;
  };
  const readme = readFileSync(new URL("README.md", ROOT), "utf8");
  const told = (name: string) => new RegExp(`npm (?:run )?${name}\\b`).test(`${page}\n${readme}`);
  expect(Object.keys(scripts).filter((name) => !OWN.has(name) && !told(name))).toEqual([]);
});
