/**
 * Regenerates pages and schemas: `npm run docs`, or `npm run docs -- docs/metrics.md` for some of them.
 * Vite loads the generators, since Node 20 does not run TypeScript.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createViteServer } from "vitest/node";
import { USAGE } from "../options.mjs";

const ROOT = new URL("../../", import.meta.url);
const asked = process.argv.slice(2);

const server = await createViteServer({
  root: fileURLToPath(ROOT),
  configFile: false,
  logLevel: "error",
  appType: "custom",
  optimizeDeps: { noDiscovery: true },
  ssr: { resolve: { conditions: ["carryover-source"] } },
  server: { middlewareMode: true, hmr: false, watch: null, ws: false },
});
try {
  const { GENERATED } = await server.ssrLoadModule("/scripts/docs/files.ts");
  const unknown = asked.filter((path) => !GENERATED.has(path));
  if (unknown.length > 0) {
    console.error(
      `not generated: ${unknown.join(", ")}\nusage: npm run docs -- [${[...GENERATED.keys()].join(" | ")}]`,
    );
    process.exitCode = USAGE;
  } else {
    for (const path of asked.length > 0 ? asked : GENERATED.keys()) {
      const file = new URL(path, ROOT);
      const text = await GENERATED.get(path)();
      if (text === readFileSync(file, "utf8")) continue;
      writeFileSync(file, text);
      console.log(`${path} written`);
    }
  }
} finally {
  await server.close();
}
