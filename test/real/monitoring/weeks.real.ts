/** Asks a real Prometheus that was fed with a simulated fortnight what the dashboards ask. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Dashboard, firstScreenOf, panelsOf, rowsOf } from "./dashboard.ts";
import { takeDown } from "./processes.ts";
import { DASHBOARDS } from "./programs.ts";
import { asked, feedWeeks, type Weeks } from "./weeks.ts";

const place = { folder: "", weeks: undefined as Weeks | undefined };
const weeks = (): Weeks => {
  if (place.weeks === undefined) throw new Error("nothing was fed");
  return place.weeks;
};
beforeAll(async () => {
  place.folder = await mkdtemp(join(tmpdir(), "weeks-"));
  place.weeks = await feedWeeks(place.folder);
}, 900_000);
afterAll(async () => {
  await takeDown();
  await rm(place.folder, { recursive: true, force: true });
});

const values = async (expr: string): Promise<readonly number[]> =>
  (await weeks().prometheus.query(asked(expr), weeks().now)).flatMap((one) => one.values.map(([, value]) => value));

const dashboards = () =>
  Promise.all(DASHBOARDS.map(async (file) => JSON.parse(await readFile(file, "utf8")) as Dashboard));

describe("a Prometheus that was fed for a fortnight", () => {
  test("answers what looks back for days with numbers, and everything else without an error", async () => {
    const [main, ...others] = await dashboards();
    if (main === undefined) throw new Error("no dashboard");
    const [progress, ...rows] = rowsOf(main);
    const silent: string[] = [];
    for (const { title, targets } of [...firstScreenOf(main), ...(progress?.panels ?? [])]) {
      for (const { expr, legendFormat } of targets) {
        const numbers = (await values(expr)).filter(Number.isFinite);
        if (numbers.length === 0) silent.push(`${title}: ${legendFormat}`);
      }
    }
    // Nobody forces anything on a calm day.
    expect(silent).toEqual(["Rules stepped back: all forced to {{mode}}"]);
    for (const { targets } of [...rows.flatMap(({ panels }) => panels), ...others.flatMap(panelsOf)]) {
      for (const { expr } of targets) await values(expr);
    }
  });

  test("tells who is left, also of those that called before a rollout only", async () => {
    const [main] = await dashboards();
    const panels = main === undefined ? [] : firstScreenOf(main);
    const exprOf = (title: string, at = 0) => panels.find((panel) => panel.title === title)?.targets[at]?.expr ?? "";
    const left = await weeks().prometheus.query(asked(exprOf("Who is left")), weeks().now);
    const names = left.map(({ metric }) => metric["client"]);
    expect(names).toContain("old-cron-job");
    expect(names).toContain("mobile-app");
    expect(await values(exprOf("Clients left"))).toEqual([names.length]);
    const ago =
      (weeks().now * 1000 - (left.find(({ metric }) => metric["client"] === "old-cron-job")?.values[0]?.[1] ?? 0)) /
      86_400_000;
    expect(ago).toBeGreaterThan(8.9);
    expect(ago).toBeLessThan(9.2);
    const [change = 0] = await values(exprOf("v1 since four weeks ago"));
    expect(change).toBeLessThan(-0.2);
    expect(change).toBeGreaterThan(-0.8);
  });
});
