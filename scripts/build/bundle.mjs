/**
 * How esbuild makes the program: `main.js` loads each command when it is called, `index.js` is for embedding, `fastify/plugin.js` for a Fastify app, and
 * all share chunks. The thread of the page is one of these, under a name that the module finds which starts it.
 */
import { fileURLToPath } from "node:url";
import { catalogueRegistry, listOfOptions } from "./generated.mjs";
import { slimPackages } from "./slim.mjs";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What all builds have in common. */
export const COMMON = {
  absWorkingDir: ROOT,
  format: "esm",
  platform: "node",
  target: "node20.19",
  logLevel: "warning",
  // A checkout's node_modules may be a link. The names of the files in it are part of the output.
  preserveSymlinks: true,
  // `#sandbox` is the sandbox's source (package.json, `imports`).
  conditions: ["carryover-source"],
  // Packages in CommonJS ask for node's own modules with `require`.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
};

/** Options of esbuild for `dist`. */
export function bundleOptions(outdir) {
  return {
    ...COMMON,
    entryPoints: [
      ...["main", "index", "fastify/plugin"].map((name) => ({ in: `src/${name}.ts`, out: name })),
      { in: "src/runtime/page-worker.ts", out: "chunks/page-worker" },
    ],
    // The plugin's app has it.
    external: ["@fastify/http-proxy"],
    outdir,
    bundle: true,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    metafile: true,
    // White space and names stay: a stack trace from production says where. (Without them a start is no faster that can be measured.)
    minifySyntax: true,
    // They are in THIRD-PARTY-LICENSES.txt.
    legalComments: "none",
    plugins: [catalogueRegistry({ checked: true }), listOfOptions(COMMON), slimPackages()],
  };
}
