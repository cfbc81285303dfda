/**
 * Takes the pictures of README.md and docs/page.md from a demo: `node scripts/docs/page-pictures.mjs` after `npm run build` and
 * `scripts/install-page-tools.sh`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { chromium } from "playwright-core";

const ROOT = join(import.meta.dirname, "../..");
const PICTURES = join(ROOT, "docs/page");
const TOOLS = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "carryover-ci/page");
/** The demo's clients have called by then. */
const TRAFFIC_MS = 30_000;

/** Name of the picture, options of the browser, and the section at its top. */
const SHOTS = [
  ["overview", { viewport: { width: 1280, height: 860 }, colorScheme: "light" }, undefined],
  ["rules", { viewport: { width: 1280, height: 900 }, colorScheme: "light" }, "rules"],
  ["clients-dark", { viewport: { width: 1280, height: 860 }, colorScheme: "dark" }, "clients"],
  ["phone", { viewport: { width: 360, height: 740 }, colorScheme: "light", deviceScaleFactor: 2 }, undefined],
];

/** Resolves with the address of the page, which the demo prints first. */
async function startDemo() {
  const words = ["dist/main.js", "demo", "--listen-port", "0", "--admin-port", "0", "--sandbox-port", "0"];
  const demo = spawn(process.execPath, words, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const part of demo.stdout.iterator({ destroyOnReturn: false })) {
    text += part;
    const [, url] = /open (http:\S+) in a browser/.exec(text) ?? [];
    if (url !== undefined) {
      demo.stdout.resume();
      return { demo, url };
    }
  }
  throw new Error(`the demo printed no address of a page:\n${text}`);
}

const { demo, url } = await startDemo();
mkdirSync(PICTURES, { recursive: true });
const browser = await chromium.launch({
  executablePath: join(TOOLS, "bin/chromium"),
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  await setTimeout(TRAFFIC_MS);
  for (const [name, options, section] of SHOTS) {
    const page = await browser.newPage({ ...options, reducedMotion: "reduce" });
    await page.goto(section === undefined ? url : `${url}#${section}`);
    // Live by then.
    await page.waitForSelector('[data-connection="live"]');
    await page.screenshot({ path: join(PICTURES, `${name}.png`) });
    await page.close();
  }
} finally {
  await browser.close();
  demo.kill("SIGINT");
  await once(demo, "exit");
}
