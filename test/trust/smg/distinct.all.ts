import { expect, it } from "vitest";
import { later, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { createDouble } from "../../server/support/double.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { serve } from "../lod/serving.ts";
import { serving } from "./front.ts";
import { sendNovelties } from "./novelties.ts";

takeDownAfterEach();

const LOOKS = 50;
/** What the collector may not have come to yet; 600 bytes for each request of the long run. */
const MOST_GROWN = 30e6;

/** What the process holds with as little as possible that is not collected yet: the least of some looks, bytes. */
async function leastHeap(adminUrl: string, between: (look: number) => Promise<void>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < LOOKS; look++) {
    await between(look);
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
    least = Math.min(least, Number(/^carryover_nodejs_heap_size_used_bytes (\S+)/m.exec(metrics)?.[1]));
  }
  return least;
}

it("T-SMG-37: paths, tokens, agents and names that are new each time leave no memory behind", async () => {
  const platform = await createDouble(serving);
  later(platform.close);
  const { url, adminUrl } = await serve({ upstreamV2Url: platform.url });
  const port = Number(new URL(url).port);
  const step = scale(20, 1_000);
  const heapOver = (from: number) =>
    leastHeap(adminUrl, (look) => sendNovelties(port, from + look * step, from + (look + 1) * step));
  // All places are taken, all code has run, before anything is compared.
  await sendNovelties(port, 1_000_000, 1_000_000 + scale(2_000, 10_000));
  const [before, after] = [await heapOver(0), await heapOver(LOOKS * step)];
  expect(after).toBeLessThan(before + MOST_GROWN);
  figure("T-SMG-37", "heap that as many as these left behind in a process of its own", (after - before) / 1e6, "MB");
  figure("T-SMG-37", "requests that were compared with those before them", LOOKS * step, "requests");
}, 600_000);
