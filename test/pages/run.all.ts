import { describe, expect, it } from "vitest";
import { runPage } from "./run-page.ts";
import { pagesTried } from "./tried.ts";

describe("a page", () => {
  it.each(pagesTried("all"))("$name works as it stands, from top to bottom", { timeout: 600_000 }, async ({ page }) => {
    await expect(runPage(page)).resolves.toBeUndefined();
  });
});
