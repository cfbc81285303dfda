import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { type Front, front } from "./front.ts";
import { sendNovelties } from "./novelties.ts";

const page = async (here: Front, path: string) => (await fetch(here.adminUrl + path)).text();
/** Without Node's own, which come with its first collection of each kind. */
const seriesOf = (metrics: string) => new Set(metrics.match(/^carryover_(?!nodejs_)[^ ]+/gm));

it("T-SMG-37, T-FLT-24: paths, tokens, agents and names that are new each time add no series and no entry once all places are taken", async () => {
  // The default of the long run; three of five requests are of v1, each by a client of its own.
  const clients = scale(100, 1_000);
  const here = await front(undefined, { clientsMax: `${clients}` });
  const half = scale(200, 50_000);
  try {
    const fresh = seriesOf(await page(here, "/metrics"));
    await sendNovelties(here.port, 0, half);
    const taken = seriesOf(await page(here, "/metrics"));
    const [took, state] = [[] as number[], { over: false }];
    const scraping = (async () => {
      while (!state.over) {
        const began = performance.now();
        await page(here, "/metrics");
        took.push(performance.now() - began);
        await sleep(10);
      }
    })();
    await sendNovelties(here.port, half, 2 * half);
    state.over = true;
    await scraping;
    const after = await page(here, "/metrics");
    expect([...seriesOf(after)].filter((name) => !taken.has(name))).toEqual([]);
    expect(taken.size).toBeLessThan(1_000);
    expect(after).not.toMatch(/novelt|unknown-\d|agent-|token-|host-\d|x-\d{3}/);
    expect(JSON.parse(await page(here, "/clients")).clients).toHaveLength(clients);
    const names = (await page(here, "/unknown-fields")).match(/novelty\d+/g) ?? [];
    expect([names.length > 0, names.length <= 200]).toEqual([true, true]);
    expect(here.exchanges.length).toBe(2 * half);
    // Whole and bounded; that no series is new says that it holds no token and no uid.
    const counted = [...after.matchAll(/^carryover_requests_total\{.*\} (\d+)$/gm)].map(([, count]) => Number(count));
    expect(counted.reduce((sum, count) => sum + count)).toBe(2 * half);
    expect(after.length).toBeLessThan(1024 ** 2);
    for (const name of ["clients", "clients.txt", "unknown-fields", "progress", "rules", "samples"]) {
      const { length } = await page(here, `/${name}`);
      expect([name, length < 4 * 1024 ** 2]).toEqual([name, true]);
      figure("T-FLT-24", `size of /${name} after ${2 * half} requests of as many clients`, length, "bytes");
    }
    const p99 = took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? 0;
    figure("T-FLT-24", "scrapes under load", took.length, "scrapes");
    figure("T-FLT-24", "size of a scrape", after.length, "bytes");
    figure("T-FLT-24", "time of a scrape under load, 99th percentile", p99, "ms");
    figure("T-SMG-37", "requests of which none resembles another", 2 * half, "requests");
    figure("T-SMG-37", "series when there are no such requests", fresh.size, "series");
    figure("T-SMG-37", "series after them", taken.size, "series");
  } finally {
    await here.close();
  }
}, 600_000);
