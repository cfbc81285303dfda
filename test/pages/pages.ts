/** Lists the pages of the project. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Page, readPage } from "./page.ts";

export const ROOT = resolve(import.meta.dirname, "../..");

/** Every file of the project that is not ignored, from its root: what a clone of it would hold once it is committed. */
export function projectFiles(): readonly string[] {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: ROOT });
  return (
    listed
      .toString("utf8")
      .split("\0")
      // A link in the place of the packages is no folder to git, and so not ignored.
      .filter((name) => name !== "" && name !== "node_modules" && existsSync(join(ROOT, name)))
  );
}

/** Every page of Markdown; those below `test` are expectations of tests. */
export function allPages(): readonly Page[] {
  return projectFiles()
    .filter((name) => name.endsWith(".md"))
    .map((name) => readPage(name, readFileSync(join(ROOT, name), "utf8")));
}

/** Pages that people follow: every command on them is run. */
export function pagesToFollow(): readonly Page[] {
  return allPages().filter(({ name }) => /^(?:[A-Z]+\.md|helm\/README\.md|(?:docs|deploy)\/.*\.md)$/.test(name));
}
