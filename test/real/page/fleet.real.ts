/** The pages of three real processes that share a real store, in a real Chromium: one login, the same figures, and a store that goes and comes back. */
import { afterAll, expect, test } from "vitest";
import { later, takeDownAfterEach } from "../../support/take-down.ts";
import { startFleet, TOKEN } from "../state/fleet.ts";
import { startServer } from "../state/server.ts";
import { closeBrowser, open } from "./browser.ts";

takeDownAfterEach();
afterAll(closeBrowser);

const SOON = { timeout: 30_000 };

test("one login opens the page of every replica, each shows what all of them counted, and all say at once that the store went and came back", async () => {
  const server = await startServer("valkey-9.1");
  later(() => server.close());
  const { member } = await startFleet({ stateUrl: server.url });
  const [a, b, c] = [await member(), await member(), await member()];
  // Twelve requests of four clients, some to each replica.
  for (const one of [a, b, c]) for (let at = 0; at < 4; at++) expect((await one.ask()).status).toBe(200);

  const { page, complaints } = await open(a.adminUrl);
  await page.getByLabel("Token").fill(TOKEN);
  await page.getByRole("button", { name: "Log in" }).click();
  const replicas = page.locator("#fleet tbody tr");
  await expect.poll(() => replicas.filter({ hasText: "present" }).count(), SOON).toBe(3);
  // Live: each client's requests to the other two arrive without a reload.
  const requests = page.locator("#clients tbody td[data-label='v1 requests']");
  await expect.poll(() => requests.allTextContents(), SOON).toEqual(["3", "3", "3", "3"]);
  expect(await page.locator("#rules").textContent()).toMatch(/Clients it takes4/);
  await expect.poll(() => page.locator("#rules .guard").textContent(), SOON).toContain("3 replicas counted together");

  // Cookies are of a host: the browser has the same for every port.
  await page.goto(b.adminUrl);
  expect(new URL(page.url()).pathname).toBe("/");
  await expect.poll(() => requests.allTextContents(), SOON).toEqual(["3", "3", "3", "3"]);
  await expect.poll(() => replicas.filter({ hasText: "present" }).count(), SOON).toBe(3);

  const store = page.locator("#fleet .figure", { hasText: "Store" });
  const attention = page.locator("#headline .card-attention");
  for (const [stop, start] of [
    [async () => server.signal("SIGSTOP"), async () => server.signal("SIGCONT")],
    [server.kill, server.start],
  ] as const) {
    await stop();
    await expect.poll(() => store.textContent(), SOON).toContain("away");
    await expect.poll(() => attention.textContent(), SOON).toContain("has had no store since");
    // What the others counted before is still shown.
    expect(await requests.allTextContents()).toEqual(["3", "3", "3", "3"]);
    await start();
    await expect.poll(() => store.textContent(), SOON).toContain("up");
    await expect.poll(() => attention.textContent(), SOON).not.toContain("no store");
    await expect.poll(() => replicas.filter({ hasText: "present" }).count(), SOON).toBe(3);
  }

  await c.kill();
  await expect.poll(() => replicas.filter({ hasText: "gone" }).count(), SOON).toBe(1);
  await expect.poll(() => attention.textContent(), SOON).toContain("is gone since");
  expect(await requests.allTextContents()).toEqual(["3", "3", "3", "3"]);
  expect(await page.locator("html").getAttribute("data-connection")).toBe("live");

  await page.getByRole("button", { name: "Log out" }).click();
  expect(new URL(page.url()).pathname).toBe("/page/login");
  await page.goto(a.adminUrl);
  expect(new URL(page.url()).pathname).toBe("/page/login");
  expect(complaints).toEqual([]);
});
