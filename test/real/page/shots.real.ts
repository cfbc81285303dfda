/** Pictures of the page for a person to look at: PAGE_SHOTS names the folder. */
import { afterAll, describe, test } from "vitest";
import { takeDownAfterEach } from "../../support/take-down.ts";
import { closeBrowser, DESKTOP, open, PHONE } from "./browser.ts";
import { fortnight } from "./stage.ts";

takeDownAfterEach();
afterAll(closeBrowser);

const folder = process.env["PAGE_SHOTS"];

describe.skipIf(folder === undefined)("pictures", () => {
  test("are taken at desktop and phone width, light and dark", async () => {
    const { rig } = await fortnight();
    for (const [name, viewport] of [
      ["desktop", DESKTOP],
      ["phone", PHONE],
    ] as const) {
      for (const colorScheme of ["light", "dark"] as const) {
        const { page } = await open(rig.adminUrl, { viewport, colorScheme });
        await page.screenshot({ path: `${folder}/${name}-${colorScheme}.png`, fullPage: true });
      }
    }
    const { page } = await open(`${rig.adminUrl}/page/client?client=terraform`);
    await page.screenshot({ path: `${folder}/client.png`, fullPage: true });
  });
});
