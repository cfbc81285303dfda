/** Loads the scripts that are TypeScript, which Node 20 does not run: Vite does. */
import { fileURLToPath } from "node:url";
import { createViteServer } from "vitest/node";

/** Calls `run` with a function that loads a module by its path from the root of the project, such as `/scripts/docs/files.ts`. */
export async function withTypeScript(run) {
  const server = await createViteServer({
    root: fileURLToPath(new URL("../", import.meta.url)),
    configFile: false,
    logLevel: "error",
    appType: "custom",
    optimizeDeps: { noDiscovery: true },
    ssr: { resolve: { conditions: ["carryover-source"] } },
    server: { middlewareMode: true, hmr: false, watch: null, ws: false },
  });
  try {
    await run((path) => server.ssrLoadModule(path));
  } finally {
    await server.close();
  }
}
