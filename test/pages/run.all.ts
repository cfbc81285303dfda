/** Does every command work that a page tells people to type? (Pages that need nothing but Node, bash and curl; `npm run real -- pages` tries the others.) */
import { describe, expect, it } from "vitest";
import { runPage } from "./run-page.ts";
import { pagesTried } from "./tried.ts";

describe("a page", () => {
  it.each(pagesTried("all"))("$name works as it stands, from top to bottom", { timeout: 600_000 }, async ({ page }) => {
    await expect(runPage(page)).resolves.toBeUndefined();
  });
});
