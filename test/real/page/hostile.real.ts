/** 200 hostile texts in every place of the page, in a real Chromium: no script of theirs runs, and no policy is violated. */
import { afterAll, expect, test } from "vitest";
import { createAdminServer } from "../../../src/admin/server.ts";
import { ASSET_PATHS, assetAt } from "../../../src/page/assets.ts";
import { clientPage } from "../../../src/page/client.ts";
import { faultPage, forcePage, loginPage } from "../../../src/page/forms.ts";
import { liveParts, renderPage } from "../../../src/page/page.ts";
import type { AdminPage } from "../../../src/page/views.ts";
import { linesOf, wholeEvents } from "../../../src/runtime/page-lines.ts";
import { AT, clientOf, pageData } from "../../page/data.ts";
import { HOSTILE_TEXTS } from "../../support/hostile/markup.ts";
import { later, takeDownAfterEach } from "../../support/take-down.ts";
import { closeBrowser, open } from "./browser.ts";

takeDownAfterEach();
afterAll(closeBrowser);

test("no hostile text runs a script, loads anything, or leaves the page", async () => {
  let text = "plain";
  const page: AdminPage = {
    home: async (query) => Buffer.from(renderPage(pageData(text), query, { assets: ASSET_PATHS })),
    news: async (_, asked) => ({
      found: asked.map(({ query }) => {
        const lines = linesOf(liveParts(pageData(text), new URLSearchParams(query)));
        return { query, before: undefined, changes: Buffer.from(""), whole: Buffer.from(wholeEvents(lines)) };
      }),
      restMs: 0,
    }),
    client: async () => {
      const wayOut = `# ${text}\n\n${text}\n\n\`${text}\``;
      return Buffer.from(
        clientPage({ entry: clientOf(text), wayOut, at: AT, samples: pageData(text).samples.samples }, ASSET_PATHS),
      );
    },
    login: async (view) => loginPage(view, ASSET_PATHS),
    force: async (view) => forcePage({ ...view, force: text, hasNative: true }, ASSET_PATHS),
    fault: async (title, why) => faultPage(title, why, ASSET_PATHS),
    asset: async (path, accepted) => assetAt(path, accepted),
    close: () => {},
  };
  const metrics = { contentType: "text/plain", text: async () => "" };
  const admin = createAdminServer({ host: "127.0.0.1", port: 0, metrics, ready: () => true, views: new Map(), page });
  later(() => admin.close());
  const { url } = await admin.listen();
  const opened = await open(url);
  const dialogs: string[] = [];
  opened.page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  const requested = new Set<string>();
  opened.page.on("request", (request) => requested.add(new URL(request.url()).origin));
  for (const one of HOSTILE_TEXTS) {
    text = one;
    for (const path of ["/", "/page/client?client=x"]) {
      await opened.page.goto(`${url}${path}`, { waitUntil: "load" });
      expect([one, new URL(opened.page.url()).origin]).toEqual([one, url]);
    }
  }
  // The live parts replace what is there without a reload.
  await opened.page.goto(url);
  for (const one of HOSTILE_TEXTS.slice(0, 4)) {
    text = one;
    await opened.page.waitForTimeout(1_500);
  }
  expect(await opened.page.evaluate(() => "__hostile" in globalThis)).toBe(false);
  expect(dialogs).toEqual([]);
  expect([...requested]).toEqual([url]);
  expect(opened.complaints).toEqual([]);
});
