/** A thousand reloads under load: eight replicas, 125 changes each. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "vitest";
import { reloadUnderLoad } from "./reload.ts";
import { later, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

it("a thousand reloads fail no request and cut no connection", async () => {
  const folder = mkdtempSync(join(tmpdir(), "reload-"));
  later(async () => rmSync(folder, { recursive: true, force: true }));
  await reloadUnderLoad({ path: join(folder, "rules.yaml"), replicas: 8, changes: 125 });
}, 180_000);
