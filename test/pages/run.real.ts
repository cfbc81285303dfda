/** Does every command work that a page tells people to type? (Pages that need further programs, or install packages; the others are part of `npm test`.) */
import { describe, expect, it } from "vitest";
import { runPage } from "./run-page.ts";
import { programsInCache } from "./tools.ts";
import { pagesTried } from "./tried.ts";

describe("a page", () => {
  it.each(pagesTried("docs"))(
    "$name works as it stands, from top to bottom",
    { timeout: 1_200_000 },
    async ({ page }) => {
      await expect(runPage(page, programsInCache())).resolves.toBeUndefined();
    },
  );
});
