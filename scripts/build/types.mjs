/** Types for those who embed carryover: of the package's entries and what they name. The rest is private. */

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { ROOT } from "./bundle.mjs";

export const TSC = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");

const ENTRIES = ["index.d.ts", "fastify/plugin.d.ts"];

/** Runs the compiler over `src` and the sandbox; resolves with its exit code and what it printed. */
export function compile(words) {
  const child = spawn(process.execPath, [TSC, "-p", "tsconfig.build.json", ...words], { cwd: ROOT });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (out += text));
  return new Promise((done, failed) => child.on("error", failed).on("close", (code) => done({ code, out })));
}

/** The declarations of `file` and of what they import, from the folder `from` into `dist`; gives their names. */
function copyTypes(from, file, dist, done = new Set()) {
  const name = relative(from, file);
  if (done.has(name)) return done;
  done.add(name);
  const text = readFileSync(file, "utf8").replaceAll(/((?:from |import\()"\.[^"]*)\.ts"/g, '$1.js"');
  mkdirSync(dirname(join(dist, name)), { recursive: true });
  writeFileSync(join(dist, name), text);
  for (const [, other] of text.matchAll(/(?:from |import\()"(\.[^"]*)\.js"/g)) {
    copyTypes(from, join(dirname(file), `${other}.d.ts`), dist, done);
  }
  return done;
}

export async function addTypes(dist) {
  const all = mkdtempSync(join(tmpdir(), "carryover-types-"));
  try {
    // With comments, which editors show. Types are checked by themselves.
    const words = ["--declaration", "--emitDeclarationOnly", "--noCheck", "--removeComments", "false", "--outDir", all];
    const { out } = await compile(words);
    const copied = new Set();
    for (const entry of ENTRIES) copyTypes(join(all, "src"), join(all, "src", entry), dist, copied);
    const faults = out
      .split("\n")
      .filter((line) => copied.has(/^src\/(.*)\.ts\(/.exec(line)?.[1]?.concat(".d.ts") ?? ""));
    if (faults.length > 0) throw new Error(`the types cannot be written:\n${faults.join("\n")}`);
  } finally {
    rmSync(all, { recursive: true, force: true });
  }
}
