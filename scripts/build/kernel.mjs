/**
 * Compiles the kernel of the JSON rewriter (`kernel/*.ts`, AssemblyScript) to WebAssembly, and writes it into a module of `src` that is not in the repository: so the
 * bundle, the modules one by one, and the tests all find it.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import asc from "assemblyscript/asc";
import { ROOT } from "./bundle.mjs";

const SOURCES = "kernel";
const SHARED = "src/json/layout.ts";
const OUT = join(ROOT, "src/json/kernel-bytes.ts");

const OPTIONS = ["-O3", "--runtime", "stub", "--enable", "simd", "--noAssert", "--initialMemory", "6"];

/** Does nothing while the sources are as they were. Vitest calls it as `setup` before all tests. */
export async function buildKernel() {
  const files = readdirSync(join(ROOT, SOURCES)).filter((name) => name.endsWith(".ts"));
  const hash = createHash("sha256");
  for (const name of [...files.sort().map((file) => join(SOURCES, file)), SHARED, "scripts/build/kernel.mjs"]) {
    hash.update(readFileSync(join(ROOT, name)));
  }
  const mark = `// From kernel/*.ts, ${hash.digest("hex").slice(0, 16)}. Made by scripts/build/kernel.mjs.`;
  if (existsSync(OUT) && readFileSync(OUT, "utf8").startsWith(mark)) return;
  const bytes = await compileKernel();
  mkdirSync(join(OUT, ".."), { recursive: true });
  writeFileSync(
    OUT,
    [mark, "", `const BASE64 = "${Buffer.from(bytes).toString("base64")}";`, "", ...READER, ""].join("\n"),
  );
}

export { buildKernel as setup };

const READER = [
  "/** The kernel's WebAssembly. */",
  "export function kernelBytes(): Uint8Array<ArrayBuffer> {",
  '  return new Uint8Array(Buffer.from(BASE64, "base64"));',
  "}",
];

async function compileKernel() {
  let bytes;
  const { error, stderr } = await asc.main(["kernel/walk.ts", "--outFile", "kernel.wasm", ...OPTIONS], {
    readFile: (name, base) => (existsSync(join(base, name)) ? readFileSync(join(base, name), "utf8") : null),
    writeFile: (name, contents) => {
      if (name === "kernel.wasm") bytes = contents;
    },
    listFiles: () => [],
  });
  if (error !== null || bytes === undefined) throw new Error(`the kernel cannot be compiled:\n${stderr.toString()}`);
  return bytes;
}
