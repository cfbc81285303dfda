import { describe, expect, it } from "vitest";
import { createAdmission } from "../../src/listener/admission.ts";

interface Load {
  /** Milliseconds of the processor: to do one, to let one in, to refuse one. */
  readonly cost: { readonly work: number; readonly arrive: number; readonly refuse: number };
  /** How long the platform takes, milliseconds. */
  readonly platform: number;
  /** Requests that come, as a multiple of those that could be done. */
  readonly times: number;
}

const SECONDS = 10;
/** Until the first of these is over, carryover may be finding out. */
const FROM_MS = 2_000;

/**
 * One thread by a clock that costs move: each turn lets in or refuses what has arrived, then does what the platform has answered.
 * Gives requests done a second, those of them that the time left by refusals allows, and how long refused ones waited.
 */
function run({ cost, platform, times }: Load) {
  let at = 0;
  let timers: { due: number; run: () => void }[] = [];
  const admission = createAdmission({
    inFlight: 1_000,
    now: () => at,
    nextTurn: (next) => timers.push({ due: at + 1, run: next }),
  });
  const capacity = 1_000 / (cost.work + cost.arrive);
  const waits: number[] = [];
  let [due, here, done] = [0, 0, 0];
  let asked: { readonly answered: number; readonly since: number }[] = [];
  while (at < SECONDS * 1_000) {
    const began = at;
    const ripe = timers.filter((timer) => timer.due <= began);
    timers = timers.filter((timer) => timer.due > began);
    for (const timer of ripe) timer.run();
    for (; due <= began; due += 1_000 / (capacity * times)) {
      const refused = admission.refusal(here) !== undefined;
      at += refused ? cost.refuse : cost.arrive;
      if (refused && due >= FROM_MS) waits.push(at - due);
      if (refused) continue;
      here++;
      asked.push({ answered: at + platform, since: due });
    }
    for (const { since } of asked.filter(({ answered }) => answered <= began)) {
      at += cost.work;
      here--;
      if (since >= FROM_MS) done++;
    }
    asked = asked.filter(({ answered }) => answered > began);
    if (at === began) at += 0.1;
  }
  const seconds = SECONDS - FROM_MS / 1_000;
  const left = 1 - (waits.length * cost.refuse) / (seconds * 1_000);
  waits.sort((a, b) => a - b);
  const wait = (share: number) => waits[Math.floor(waits.length * share)] ?? 0;
  return {
    share: done / seconds / (capacity * Math.min(times, left)),
    refused: waits.length,
    p50: wait(0.5),
    p99: wait(0.99),
  };
}

const GET = { work: 0.2, arrive: 0.04, refuse: 0.03 };
const LIST = { work: 0.6, arrive: 0.12, refuse: 0.03 };
const HEAVY = { work: 3, arrive: 0.6, refuse: 0.03 };

describe("three times the requests that fit", () => {
  it.each([
    { what: "gets", cost: GET, platform: 1, p99: 20 },
    { what: "gets from a platform that takes 10 ms", cost: GET, platform: 10, p99: 20 },
    { what: "lists", cost: LIST, platform: 1, p99: 20 },
    { what: "lists from a platform that takes 10 ms", cost: LIST, platform: 10, p99: 20 },
    { what: "lists from a platform that takes 40 ms", cost: LIST, platform: 40, p99: 50 },
    { what: "what costs most", cost: HEAVY, platform: 10, p99: 20 },
  ])(
    "T-LOD-05: leave nine tenths of what refusals leave of the processor to $what, and who is refused knows it soon",
    (load) => {
      const { share, p50, p99 } = run({ ...load, times: 3 });
      expect(share).toBeGreaterThan(0.9);
      expect(p50).toBeLessThan(20);
      expect(p99).toBeLessThan(load.p99);
    },
  );

  it("T-LOD-05: leave the processor idle for a sixth of the time at worst, with a platform that takes 200 ms", () => {
    expect(run({ cost: LIST, platform: 200, times: 3 }).share).toBeGreaterThan(5 / 6);
  });
});

describe("requests that fit", () => {
  it.each([0.5, 0.9])("T-LOD-05: are never refused: %d of the capacity", (times) => {
    const { share, refused } = run({ cost: LIST, platform: 2, times });
    expect(refused).toBe(0);
    expect(share).toBeGreaterThan(0.99);
  });
});
