/**
 * Draws docs/dashboard.svg: `node scripts/monitoring/picture.mjs`, after `npm run build` and scripts/install-monitoring-tools.sh. It
 * takes two minutes: real carryovers serve the traffic that the picture shows. Vite loads what is TypeScript.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createViteServer } from "vitest/node";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "picture-"));
const server = await createViteServer({
  root: ROOT,
  configFile: false,
  logLevel: "error",
  appType: "custom",
  optimizeDeps: { noDiscovery: true },
  ssr: { resolve: { conditions: ["carryover-source"] } },
  server: { middlewareMode: true, hmr: false, watch: null, ws: false },
});
try {
  const { feedWeeks } = await server.ssrLoadModule("/test/monitoring/weeks.ts");
  const { takeDown } = await server.ssrLoadModule("/test/monitoring/processes.ts");
  const { drawFirstScreen } = await server.ssrLoadModule("/scripts/monitoring/picture.ts");
  try {
    const dashboard = JSON.parse(await readFile(join(ROOT, "helm/files/dashboards/carryover.json"), "utf8"));
    await writeFile(join(ROOT, "docs/dashboard.svg"), await drawFirstScreen(dashboard, await feedWeeks(folder)));
  } finally {
    await takeDown();
  }
  console.log("docs/dashboard.svg written");
} finally {
  await server.close();
  await rm(folder, { recursive: true, force: true });
}
