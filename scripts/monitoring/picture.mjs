/**
 * Draws docs/dashboard.svg: `node scripts/monitoring/picture.mjs`, after `npm run build` and scripts/install-monitoring-tools.sh. It
 * takes two minutes: real carryovers serve the traffic that the picture shows.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { withTypeScript } from "../typescript.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "picture-"));
try {
  await withTypeScript(async (load) => {
    const { feedWeeks } = await load("/test/real/monitoring/weeks.ts");
    const { takeDown } = await load("/test/real/monitoring/processes.ts");
    const { drawFirstScreen } = await load("/scripts/monitoring/picture.ts");
    try {
      const dashboard = JSON.parse(await readFile(join(ROOT, "helm/files/dashboards/carryover.json"), "utf8"));
      await writeFile(join(ROOT, "docs/dashboard.svg"), await drawFirstScreen(dashboard, await feedWeeks(folder)));
    } finally {
      await takeDown();
    }
    console.log("docs/dashboard.svg written");
  });
} finally {
  await rm(folder, { recursive: true, force: true });
}
