/** Debian's Chromium, driven by playwright-core, and what each test looks for in every page. */
import { homedir } from "node:os";
import { join } from "node:path";
import axe from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect } from "vitest";
import { later } from "../../support/take-down.ts";

const TOOLS = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "carryover-ci/page");

export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 360, height: 740 };

let shared: Promise<Browser> | undefined;

/** One for all tests of a file. */
export function browser(): Promise<Browser> {
  shared ??= chromium.launch({
    executablePath: join(TOOLS, "bin/chromium"),
    args: ["--no-sandbox", "--disable-gpu"],
  });
  return shared;
}

export async function closeBrowser(): Promise<void> {
  await (await shared)?.close();
  shared = undefined;
}

export interface Opened {
  readonly page: Page;
  /** What the console and the page complained of. */
  readonly complaints: readonly string[];
}

/** A page of its own context, closed after the test. */
export async function open(url: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await (await browser()).newContext({ viewport: DESKTOP, ...options });
  later(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("requestfailed", (request) => {
    // The next page ends what the one before it was loading.
    if (request.failure()?.errorText !== "net::ERR_ABORTED") complaints.push(`failed: ${request.url()}`);
  });
  await page.goto(url, { waitUntil: "load" });
  return { page, complaints };
}

/** What axe finds, a line each. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  // The policy of the page forbids scripts that are put into it, and the debugger is not bound by it.
  await page.evaluate(axe.source);
  const found = await page.evaluate(() => (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run());
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** Nothing is wider than the screen. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const [content, screen] = await page.evaluate(() => {
    const root = (
      globalThis as unknown as { document: { documentElement: { scrollWidth: number; clientWidth: number } } }
    ).document.documentElement;
    return [root.scrollWidth, root.clientWidth];
  });
  expect(content).toBeLessThanOrEqual(screen ?? 0);
}
