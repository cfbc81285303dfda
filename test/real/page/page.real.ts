/** The page in a real Chromium, over a fortnight of real traffic. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { takeDownAfterAll } from "../../support/take-down.ts";
import { axeFindings, closeBrowser, expectNoSidewaysScroll, open, PHONE } from "./browser.ts";
import { fortnight, type Stage } from "./stage.ts";

takeDownAfterAll();
afterAll(closeBrowser);

let made: Stage;
beforeAll(async () => {
  made = await fortnight();
});

const SECTIONS = [
  "headline",
  "progress",
  "rules",
  "clients",
  "brownouts",
  "differences",
  "events",
  "load",
  "cost",
  "fleet",
];

test("shows every section with real figures, and the console stays empty", async () => {
  const { page, complaints } = await open(made.rig.adminUrl);
  expect(await page.title()).toMatch(/^\d+ % translated · carryover$/);
  expect(await page.locator("main > section").evaluateAll((all) => all.map(({ id }) => id))).toEqual(SECTIONS);
  expect(await page.locator("#headline .big").first().textContent()).toMatch(/^\d+ %$/);
  expect(await page.locator("#headline .paste").first().textContent()).toMatch(/^\w+: /);
  expect(await page.locator("#progress .plot path").count()).toBe(4);
  expect(await page.locator("#progress .marks > g").count()).toBeGreaterThan(1);
  expect(await page.locator("#rules h3").allTextContents()).toEqual(["group-reads", "role-reads", "terraform-writes"]);
  expect(await page.locator("#clients tbody tr").first().textContent()).toContain("Build team");
  expect(await page.locator("#differences td code").first().textContent()).not.toBe("");
  expect(await page.locator("#events li").count()).toBeGreaterThan(3);
  expect(await page.locator("#cost tbody tr").first().textContent()).toContain("group get");
  expect(complaints).toEqual([]);
});

test("follows the traffic without a reload, and keeps open what a reader opened", async () => {
  const { page, complaints } = await open(made.rig.adminUrl);
  const cell = page.locator("#clients tbody tr", { hasText: "newcomer" });
  expect(await cell.count()).toBe(0);
  await page.locator("#progress-table summary").click();
  await made.rig.ask("GET", "/iam/v1/roles?name=viewer", { headers: { "user-agent": "newcomer/1.0" } });
  await cell.waitFor({ timeout: 10_000 });
  expect(await page.locator("#progress-table").evaluate((one) => one.hasAttribute("open"))).toBe(true);
  expect(await page.locator("html").getAttribute("data-connection")).toBe("live");
  expect(complaints).toEqual([]);
});

describe.each([
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["on a phone", { viewport: PHONE }],
  ["on a phone in the dark", { viewport: PHONE, colorScheme: "dark" }],
  // A browser that zooms to 200 % has half as many CSS pixels.
  ["at 200 % zoom", { viewport: { width: 640, height: 450 }, deviceScaleFactor: 2 }],
] as const)("%s", (_, options) => {
  test.each(["/", "/?span=days", "/page/client?client=terraform"])(
    "axe finds nothing in %s, and nothing scrolls sideways",
    async (path) => {
      const { page, complaints } = await open(`${made.rig.adminUrl}${path}`, options);
      for (const summary of await page.locator("summary").all()) await summary.click();
      expect(await axeFindings(page)).toEqual([]);
      await expectNoSidewaysScroll(page);
      expect(complaints).toEqual([]);
    },
  );
});

test("is complete without scripts: filter, order, pages and tables work by links and forms", async () => {
  const { page } = await open(made.rig.adminUrl, { javaScriptEnabled: false });
  await page.locator("input[name=q]").fill("platform engineering");
  await page.locator(".filter button").click();
  expect(await page.locator("#clients tbody tr").count()).toBe(1);
  await page.locator("#clients tbody a").click();
  expect(await page.locator("h2").first().textContent()).toBe("terraform");
  expect(await page.locator(".markdown").textContent()).toContain("/iam/v2beta1/groups");
  await page.goto(made.rig.adminUrl);
  await page.getByRole("link", { name: "180 days" }).click();
  await page.locator("#progress-table summary").click();
  expect(await page.locator("#progress-table tbody tr").count()).toBeGreaterThan(13);
});

test("is usable by keyboard alone: the skip link, the sections, a disclosure, the filter", async () => {
  const { page } = await open(made.rig.adminUrl);
  const focused = () =>
    page.evaluate(
      () =>
        (globalThis as unknown as { document: { activeElement: { textContent: string } } }).document.activeElement
          .textContent,
    );
  await page.keyboard.press("Tab");
  expect(await focused()).toBe("Skip to the content");
  await page.locator("#progress-table summary").focus();
  await page.keyboard.press("Enter");
  expect(await page.locator("#progress-table").evaluate((one) => one.hasAttribute("open"))).toBe(true);
  await page.locator("input[name=q]").focus();
  await page.keyboard.type("portal");
  await page.keyboard.press("Enter");
  await page.waitForURL(/q=portal/);
  expect(await page.locator("#clients tbody tr").count()).toBe(1);
});

test("shows times in UTC, and in the reader's own zone on hover", async () => {
  const { page } = await open(made.rig.adminUrl, { timezoneId: "Asia/Kolkata", locale: "en-GB" });
  const time = page.locator("#events time").first();
  expect(await time.textContent()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\dZ$/);
  const at = new Date((await time.getAttribute("datetime")) ?? "");
  const there = new Intl.DateTimeFormat("en-GB", {
    dateStyle: "medium",
    timeStyle: "medium",
    timeZone: "Asia/Kolkata",
  });
  expect(await time.getAttribute("title")).toBe(`${there.format(at)} (your time)`);
});
