import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requests } from "../../corpus/requests.ts";
import { save } from "../../fuzz/found.ts";
import { type Failure, type FuzzOptions, faultOf, fuzz, shrink } from "../../fuzz/fuzz.ts";
import { wellFormed } from "../../fuzz/requests.ts";
import { createFuzzTarget, type FuzzTarget } from "../../fuzz/target.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";

/** FUZZ_SEED=random tries others; any other text repeats a run. FUZZ_INPUTS: how many. */
const asked = process.env["FUZZ_SEED"] ?? "20261122";
const seed = asked === "random" ? String(Date.now()) : asked;
const inputs = Number(process.env["FUZZ_INPUTS"] ?? scale(6_000, 100_000));
const PATIENCE_MS = 5_000;

let target: FuzzTarget;
let crashes = 0;
const crashed = () => crashes++;
beforeAll(async () => {
  process.on("uncaughtExceptionMonitor", crashed);
  target = await createFuzzTarget();
});
afterAll(async () => {
  await target.close();
  process.off("uncaughtExceptionMonitor", crashed);
});

/** Finds the input that did it, shrinks it, and saves it where a test replays it for ever. */
async function keep({ suspects, why }: Failure): Promise<string> {
  const again = async (text: string) => (await faultOf(target, text, PATIENCE_MS)) !== undefined;
  for (const suspect of new Set(suspects)) {
    if (await again(suspect)) return `${why}\nsaved as ${save(await shrink(suspect, again, 300), why, seed)}`;
  }
  return `${why}\nno input does it by itself; one of them saved as ${save(suspects[0] ?? "", why, seed)}`;
}

describe("whatever bytes come", () => {
  it(`T-SMG-33: nothing crashes or hangs, answers are whole, and upstreams get only what may reach them (FUZZ_SEED=${seed})`, {
    timeout: 900_000,
  }, async () => {
    const texts = [...requests.map(({ bytes }) => bytes), ...wellFormed(target.catalogue)];
    const [first = "", ...rest] = texts;
    const options: FuzzOptions = { seed, inputs, lanes: 20, patienceMs: PATIENCE_MS, corpus: [first, ...rest] };
    const { tried, failures, statuses } = await fuzz(target, options);
    const reports: string[] = [];
    for (const failure of failures.slice(0, 2)) reports.push(await keep(failure));
    console.log(`seed ${seed}: ${tried} inputs, answers by status ${JSON.stringify(Object.fromEntries(statuses))}`);
    expect(reports).toEqual([]);
    expect([tried, crashes]).toEqual([inputs, 0]);
    // Far from all was refused at the gate, and far from all got through.
    const share = (...of: number[]) => of.reduce((sum, status) => sum + (statuses.get(status) ?? 0), 0) / tried;
    expect(share(200)).toBeGreaterThan(0.1);
    expect(share(400, 401, 404, 413, 414, 431, 501)).toBeGreaterThan(0.2);
    expect(target.upstreams.every((upstream) => upstream.count() > 0)).toBe(true);
    await expect.poll(() => target.inFlight()).toBe(0);
    expect(target.slipped()).toEqual([]);
    figure("T-SMG-33", "spoilt requests tried", tried, "requests");
    figure("T-SMG-33", "crashes by spoilt requests", crashes, "crashes");
    figure(
      "T-SMG-33",
      "spoilt requests without an answer or an end within 5 s",
      failures.filter(({ hung }) => hung).length,
      "requests",
    );
  });
});
