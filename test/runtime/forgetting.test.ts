import { expect, test } from "vitest";
import { createRetention } from "../../src/ledger/retention.ts";
import { createForgetting } from "../../src/runtime/forgetting.ts";
import { exchange, ledgerOf } from "../ledger/samples.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** One that looks each time `tick` is called, with all that it says to others. */
function forgetting() {
  const { ledger, clock } = ledgerOf();
  const said: unknown[] = [];
  const timer = { run: () => {} };
  const made = createForgetting({
    ledger,
    shadow: {
      forget: (client) => (client === "compared" ? { comparisons: 3, samples: 1 } : { comparisons: 0, samples: 0 }),
    },
    retention: createRetention({ after: 180 * DAY, wall: () => clock.at, now: () => clock.at }),
    later: (ms, run) => {
      expect(ms).toBe(HOUR);
      timer.run = run;
      return () => said.push("cancelled");
    },
    log: { info: (message, facts) => said.push([message, facts]) },
    save: async () => true,
    forgotten: (client) => said.push(client),
  });
  const tick = (): void => {
    clock.at += HOUR;
    timer.run();
  };
  return { ...made, ledger, clock, said, tick };
}

test("a client that no longer calls is dropped while the process runs, and no log line has its name", () => {
  const { start, close, ledger, clock, said, tick } = forgetting();
  ledger.observe(exchange("ann"));
  start();
  clock.at += 180 * DAY - HOUR;
  ledger.observe(exchange("ben"));
  for (let hour = 0; hour < 25; hour++) tick();
  expect([ledger.snapshot().clients.length, said]).toEqual([2, []]);
  tick();
  expect(ledger.snapshot().clients.map(({ name }) => name)).toEqual(["ben"]);
  expect(said).toEqual(["ann", ["clients that have not called for clients.forgetAfter are forgotten", { clients: 1 }]]);
  close();
  expect(said.at(-1)).toBe("cancelled");
});

test("what is asked for is dropped at once, and a name that is not known is answered with the nearest", async () => {
  const { forget, ledger } = forgetting();
  ledger.observe(exchange("ann"));
  expect(await forget("anne")).toMatchObject({ known: false, near: "ann" });
  expect(await forget("ann")).toMatchObject({ known: true, entry: { v1: 1, v2: 0, operations: 1 }, survives: true });
  // It was pushed out of the ledger before.
  expect(await forget("compared")).toMatchObject({ known: true, comparisons: 3, samples: 1 });
  expect(ledger.snapshot().clients).toEqual([]);
});
