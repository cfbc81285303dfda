/** This tree as a package of another version, installed. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { later } from "../../support/take-down.ts";
import { installed, packed } from "../package/packed.ts";

/** Path of the installed program. */
export async function installedAs(version: string): Promise<string> {
  const { tarball, remove } = await packed((tree) => {
    const edit = (file: string, change: (text: string) => string): void => {
      const path = join(tree, file);
      writeFileSync(path, change(readFileSync(path, "utf8")));
    };
    edit("package.json", (text) => JSON.stringify({ ...JSON.parse(text), version }));
    edit("src/version.ts", (text) => text.replace(/^(export const VERSION =) ".*";$/m, `$1 "${version}";`));
  });
  const folder = await installed(tarball);
  remove();
  later(async () => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "node_modules/carryover/dist/main.js");
}
