/** The inputs of a build. A build stores the hash of its inputs and is skipped while they are unchanged. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./bundle.mjs";

const OTHERS = ["package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json", "scripts/build.mjs"];

const filesIn = (folder, ending) =>
  readdirSync(join(ROOT, folder), { recursive: true })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name))
    .sort();

export function hashInputs() {
  const hash = createHash("sha256");
  for (const name of [
    ...OTHERS,
    ...filesIn("scripts/build", ".mjs"),
    ...filesIn("kernel", ".ts"),
    ...filesIn("page", ""),
    ...filesIn("src", ".ts"),
    ...filesIn("sandbox/src", ".ts"),
  ]) {
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(ROOT, name)))
      .update("\0");
  }
  return hash.digest("hex");
}

const STAMP = ".inputs";

export function isBuiltFrom(folder, inputs) {
  const stamp = join(folder, STAMP);
  return existsSync(stamp) && readFileSync(stamp, "utf8") === inputs;
}

export function markBuilt(folder, inputs) {
  writeFileSync(join(folder, STAMP), inputs);
}
