import { expect, it } from "vitest";
import { rigForTest, takeDownAfterEach } from "../../app/rig.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";

takeDownAfterEach();

it("T-FLT-24: metrics that are scraped under load are whole, bounded, and hold no token and no uid", async () => {
  const rig = await rigForTest({ sandbox: { size: scale(0, 300) } });
  const count = scale(200, 10_000);
  const done = { yet: false };
  const took: number[] = [];
  let text = "";
  const scraping = (async () => {
    while (!done.yet) {
      const began = performance.now();
      text = await (await fetch(`${rig.adminUrl}/metrics`)).text();
      took.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  const uids = rig.sandbox.snapshot().groups.map((group) => String(group["uid"]));
  for (let made = 0; made < count; made += 20) {
    await Promise.all(
      Array.from({ length: 20 }, (_, at) => {
        const uid = uids[(made + at) % uids.length];
        const headers = { "user-agent": `client-${made + at}/1`, "x-request-id": `request-${made + at}` };
        const target = at % 5 === 0 ? `/iam/v1/anything-${made + at}` : `/iam/v1/groups/${uid}?x=secret-${made}`;
        return rig.ask("GET", target, { headers });
      }),
    );
  }
  done.yet = true;
  await scraping;
  text = await (await fetch(`${rig.adminUrl}/metrics`)).text();
  const [token = ""] = rig.sandbox.token("admin").split(".").slice(-1);
  expect(text.includes(token)).toBe(false);
  expect(uids.filter((uid) => text.includes(uid.split("/").at(-1) ?? uid))).toEqual([]);
  expect(text).not.toMatch(/anything-|secret-|request-\d/);
  const counted = [...text.matchAll(/^carryover_requests_total\{.*\} (\d+)$/gm)].reduce(
    (sum, [, one]) => sum + Number(one),
    0,
  );
  expect(counted).toBe(count);
  // Thousands of clients are told apart up to a number, and are `other` beyond.
  expect(text.length).toBeLessThan(1024 ** 2);
  const views = ["clients", "clients.txt", "unknown-fields", "progress", "rules", "samples"];
  for (const name of views) {
    const { length } = await (await fetch(`${rig.adminUrl}/${name}`)).text();
    expect([name, length < 4 * 1024 ** 2]).toEqual([name, true]);
    figure("T-FLT-24", `size of /${name} after ${count} requests of as many clients`, length, "bytes");
  }
  figure("T-FLT-24", "scrapes under load", took.length, "scrapes");
  figure("T-FLT-24", "size of a scrape", text.length, "bytes");
  figure(
    "T-FLT-24",
    "time of a scrape under load, 99th percentile",
    took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? 0,
    "ms",
  );
});
