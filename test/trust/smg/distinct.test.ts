import { expect, it } from "vitest";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { type Front, front } from "./front.ts";
import { sendNovelties } from "./novelties.ts";

const page = async (here: Front, path: string) => (await fetch(here.adminUrl + path)).text();
/** Without Node's own, which come with its first collection of each kind. */
const seriesOf = (metrics: string) => new Set(metrics.match(/^carryover_(?!nodejs_)[^ ]+/gm));

it("T-SMG-37: paths, tokens, agents and names that are new each time add no series and no entry once all places are taken", async () => {
  // The default of the long run; three of five requests are of v1, each by a client of its own.
  const clients = scale(100, 1_000);
  const here = await front(undefined, { clientsMax: `${clients}` });
  const half = scale(200, 50_000);
  try {
    const fresh = seriesOf(await page(here, "/metrics"));
    await sendNovelties(here.port, 0, half);
    const taken = seriesOf(await page(here, "/metrics"));
    await sendNovelties(here.port, half, 2 * half);
    const after = await page(here, "/metrics");
    expect([...seriesOf(after)].filter((name) => !taken.has(name))).toEqual([]);
    expect(taken.size).toBeLessThan(1_000);
    expect(after).not.toMatch(/novelt|unknown-\d|agent-|token-|host-\d|x-\d{3}/);
    expect(JSON.parse(await page(here, "/clients")).clients).toHaveLength(clients);
    const names = (await page(here, "/unknown-fields")).match(/novelty\d+/g) ?? [];
    expect([names.length > 0, names.length <= 200]).toEqual([true, true]);
    expect(here.exchanges.length).toBe(2 * half);
    figure("T-SMG-37", "requests of which none resembles another", 2 * half, "requests");
    figure("T-SMG-37", "series when there are no such requests", fresh.size, "series");
    figure("T-SMG-37", "series after them", taken.size, "series");
  } finally {
    await here.close();
  }
}, 600_000);
