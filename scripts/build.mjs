/**
 * Compiles `src` into `dist`, and the sandbox into `dist/sandbox`. The folder is rewritten whenever an input changed, because the catalogue's folder is its own registry and a stale
 * file would be served. When nothing changed since the last build, nothing is written: programs that run from `dist` are not disturbed.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const dist = join(root, "dist");
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");

function compile(words, stdio) {
  return spawnSync(process.execPath, [tsc, ...words], {
    cwd: root,
    stdio,
    encoding: "utf8",
  });
}

/** The declarations of `file` and of what they import, from the folder `from` into `dist`; gives their names. */
function copyTypes(from, file, done = new Set()) {
  const name = relative(from, file);
  if (done.has(name)) return done;
  done.add(name);
  const text = readFileSync(file, "utf8").replaceAll(/((?:from |import\()"\.[^"]*)\.ts"/g, '$1.js"');
  writeFileSync(join(dist, name), text);
  for (const [, other] of text.matchAll(/(?:from |import\()"(\.[^"]*)\.js"/g)) {
    copyTypes(from, join(dirname(file), `${other}.d.ts`), done);
  }
  return done;
}

/** Types for those who embed carryover: of the package's entry and what that names. The rest is nobody else's to use. */
function addTypes() {
  const all = mkdtempSync(join(tmpdir(), "carryover-types-"));
  try {
    // With comments, which editors show; the code goes without. Types were checked when the code was compiled.
    const words = [
      "--declaration",
      "--emitDeclarationOnly",
      "--noCheck",
      "--incremental",
      "false",
      "--tsBuildInfoFile",
      "null",
      "--removeComments",
      "false",
      "--outDir",
      all,
    ];
    const { stdout } = compile(["-p", "tsconfig.build.json", ...words], "pipe");
    const copied = copyTypes(all, join(all, "index.d.ts"));
    const faults = stdout
      .split("\n")
      .filter((line) => copied.has(/^src\/(.*)\.ts\(/.exec(line)?.[1]?.concat(".d.ts") ?? ""));
    if (faults.length > 0) throw new Error(`the types cannot be written:\n${faults.join("\n")}`);
  } finally {
    rmSync(all, { recursive: true, force: true });
  }
}

/** Deletes the sandbox's declarations and build record: only the compiler needs them, to check `src` against the sandbox. */
function removeReference() {
  for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
    if (/^sandbox.*\.d\.ts$/.test(name) || name.endsWith(".tsbuildinfo")) rmSync(join(dist, name));
  }
}

/** A hash of everything that the build reads. */
function hashInputs() {
  const hash = createHash("sha256");
  const sources = ["src", "sandbox/src"].flatMap((folder) => {
    const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
    return names.filter((name) => name.endsWith(".ts")).map((name) => join(folder, name));
  });
  const others = [
    "tsconfig.json",
    "tsconfig.build.json",
    "sandbox/tsconfig.build.json",
    "scripts/build.mjs",
    "package.json",
  ];
  for (const name of [...others, ...sources.sort()]) {
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(root, name)))
      .update("\0");
  }
  return hash.update(readFileSync(join(dirname(dirname(tsc)), "package.json"))).digest("hex");
}

const stamp = join(dist, ".inputs");
const inputs = hashInputs();
if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== inputs) {
  rmSync(dist, { recursive: true, force: true });
  const { status } = compile(["--build", "tsconfig.build.json"], "inherit");
  if (status === 0) {
    addTypes();
    removeReference();
    // npm marks the command executable only when it links it for the first time.
    chmodSync(join(dist, "main.js"), 0o755);
    writeFileSync(stamp, inputs);
  }
  process.exitCode = status ?? 1;
}
