import { describe, expect, it } from "vitest";
import { runPage } from "../../pages/run-page.ts";
import { programsInCache } from "../../pages/tools.ts";
import { pagesTried } from "../../pages/tried.ts";

describe("a page", () => {
  it.each(pagesTried("docs"))(
    "$name works as it stands, from top to bottom",
    { timeout: 1_200_000 },
    async ({ page }) => {
      await expect(runPage(page, programsInCache())).resolves.toBeUndefined();
    },
  );
});
