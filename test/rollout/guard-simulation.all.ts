import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { scale } from "../support/scale.ts";
import { delays, falseAlarms, promotionDelay } from "./guard-measures.ts";

const RULES = [
  { name: "20 per hour", rate: 20 / 3600 },
  { name: "1 per second", rate: 1 },
  { name: "20 per second", rate: 20 },
  { name: "200 per second", rate: 200 },
];
const SHARES = [1, 0.2, 0.05];
const HEALTHY = [
  { name: "minute", seconds: 60 },
  { name: "hour", seconds: 3600 },
  { name: "day", seconds: 86_400 },
];

const LIMIT = 900_000;

test("ten rules raise at most one false alarm with a fortnight's outages", { timeout: LIMIT }, () => {
  const days = scale(1, 14);
  const alarms = falseAlarms(days, 3 * 14, 1);
  console.log(`False alarms of ten rules in ${days} days: ${alarms}`);
  expect(alarms).toBeLessThanOrEqual(1);
});

test("docs/evidence.md has the delays that the simulation finds", { timeout: LIMIT }, () => {
  // Each row has random numbers of its own.
  const lines = RULES.flatMap(({ name, rate }) =>
    HEALTHY.slice(0, scale(1, HEALTHY.length)).map((healthy) => {
      const cells = SHARES.map((share) => {
        const { median, high } = delays(rate, share, healthy.seconds, 100);
        return `${time(median)} (${time(high)})`;
      });
      return `| ${name} | ${healthy.name} | ${cells.join(" | ")} | ${time(promotionDelay(rate, healthy.seconds))} |`;
    }),
  );
  console.log(lines.join("\n"));
  const page = readFileSync("docs/evidence.md", "utf8");
  for (const line of lines) expect(page).toContain(line);
});

/** Two digits: a third would depend on the seed. */
function time(seconds: number): string {
  const [unit, of] =
    seconds < 120 ? ["s", 1] : seconds < 7200 ? ["min", 60] : seconds < 172_800 ? ["h", 3600] : ["d", 86_400];
  return `${Number((seconds / Number(of)).toPrecision(2))} ${unit}`;
}
