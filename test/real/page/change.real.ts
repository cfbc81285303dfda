/** Login, and the one change that the page can make, as a person does it. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { folder } from "../../end-to-end/cutover/rig.ts";
import { takeDownAfterEach } from "../../support/take-down.ts";
import { axeFindings, closeBrowser, open } from "./browser.ts";
import { stage } from "./stage.ts";

takeDownAfterEach();
afterAll(closeBrowser);

const TOKEN = "an-admin-token-of-the-test";

test("a person logs in, forces native v1 with a reason, sees the event, and lifts it again", async () => {
  const file = join(await folder(), "token");
  await writeFile(file, TOKEN);
  const { rig } = await stage({ adminTokenFile: file });
  const { page, complaints } = await open(rig.adminUrl);
  await page.getByLabel("Token").fill("not the token");
  await page.getByRole("button", { name: "Log in" }).click();
  expect(await page.getByRole("alert").textContent()).toContain("not the token");
  expect(await axeFindings(page)).toEqual([]);
  await page.getByLabel("Token").fill(TOKEN);
  await page.getByRole("button", { name: "Log in" }).click();
  expect(new URL(page.url()).pathname).toBe("/");
  expect(page.url()).not.toContain(TOKEN);
  const cookies = await page.context().cookies();
  expect(cookies).toHaveLength(1);
  expect(cookies[0]).toMatchObject({ httpOnly: true, sameSite: "Lax", path: "/" });
  expect(cookies[0]?.value).not.toContain(TOKEN);

  await page.getByRole("link", { name: "Force native v1" }).click();
  await page.getByLabel(/Reason/).fill("v2 returns <b>503</b>");
  await page.getByLabel(/name/).fill("anna");
  await page.getByRole("button", { name: "Continue" }).click();
  expect(await axeFindings(page)).toEqual([]);
  const native = () => rig.ask("GET", "/iam/v1/roles?name=viewer");
  await page.getByRole("button", { name: "Force native v1" }).click();
  await page.waitForURL(/#events$/);
  expect((await native()).field("carryover-mode")).toBe("native");
  const event = page.locator("#events li", { hasText: "forced" }).first();
  expect(await event.textContent()).toMatch(/v2 returns <b>503<\/b>.*by anna/s);
  expect(await page.locator("#state").textContent()).toContain("forced: native");

  await page.getByRole("link", { name: "Force native v1" }).click();
  await page.getByLabel(/Reason/).fill("v2 is back");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Lift the force" }).click();
  await page.waitForURL(/#events$/);
  expect(await page.locator("#state").textContent()).not.toContain("forced");
  // The refused login is the one complaint that a browser has of it.
  expect(complaints.filter((one) => !one.includes("401"))).toEqual([]);
});
