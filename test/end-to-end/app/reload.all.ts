/** Hundreds of reloads under load: eight replicas, 25 changes each (125 in `npm run real -- long`). */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "vitest";
import { scale } from "../../support/scale.ts";
import { reloadUnderLoad } from "./reload.ts";
import { later, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

it("hundreds of reloads fail no request and cut no connection", async () => {
  const folder = mkdtempSync(join(tmpdir(), "reload-"));
  later(async () => rmSync(folder, { recursive: true, force: true }));
  await reloadUnderLoad({ path: join(folder, "rules.yaml"), replicas: 8, changes: scale(25, 125) });
}, 180_000);
