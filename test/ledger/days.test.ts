import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type ClientDays,
  COUNTED_DAYS,
  calledOn,
  countOn,
  createDayPool,
  DAY_MS,
  DaysSchema,
  daysView,
  MAPPED_DAYS,
  mergeDays,
} from "../../src/ledger/days.ts";
import { readRecord } from "../../src/rules/record.ts";
import { exchange, ledgerOf, v2Exchange } from "./samples.ts";

const TODAY = 20_778;

interface Call {
  readonly version: "v1" | "v2";
  readonly day: number;
}

function daysOf(calls: readonly Call[]): ClientDays | undefined {
  const pool = createDayPool();
  const slot = pool.take();
  for (const { version, day } of calls) pool.note(slot, version, day);
  return pool.read(slot);
}

const call = fc.record({ version: fc.constantFrom("v1", "v2"), day: fc.integer({ min: TODAY - 220, max: TODAY }) });
const callsInOrder = fc
  .array(call, { minLength: 1, maxLength: 60 })
  .map((calls) => calls.toSorted((a, b) => a.day - b.day));

/** What days say about the window, counted by hand. */
function expected(calls: readonly Call[], version: string, from: number, to: number) {
  return calls.filter((one) => one.version === version && one.day >= from && one.day <= to).length;
}

test("the days of a client are its calls: counts of the last ones, and whether it called before", () => {
  fc.assert(
    fc.property(
      callsInOrder,
      fc.nat(COUNTED_DAYS - 1),
      fc.nat(MAPPED_DAYS - 1),
      fc.nat(30),
      (calls, ago, long, span) => {
        const days = daysOf(calls);
        for (const version of ["v1", "v2"] as const) {
          const from = TODAY - ago;
          expect(countOn(days, version, { from, to: TODAY, today: TODAY })).toBe(expected(calls, version, from, TODAY));
          const [first, last] = [TODAY - long, Math.min(TODAY, TODAY - long + span)];
          expect(calledOn(days, version, first, last)).toBe(expected(calls, version, first, last) > 0);
        }
      },
    ),
  );
  expect(countOn(undefined, "v1", { from: TODAY, to: TODAY, today: TODAY })).toBe(0);
  expect(countOn(undefined, "v1", { from: TODAY - COUNTED_DAYS, to: TODAY, today: TODAY })).toBeUndefined();
});

test("days of two instances add up, as if one had seen all calls", () => {
  fc.assert(
    fc.property(callsInOrder, callsInOrder, (a, b) => {
      const together = daysOf([...a, ...b].toSorted((one, other) => one.day - other.day));
      expect(mergeDays(daysOf(a), daysOf(b))).toEqual(together);
    }),
  );
});

test("days are read as they were written, also into another slot", () => {
  fc.assert(
    fc.property(callsInOrder, (calls) => {
      const days = daysOf(calls)!;
      expect(readRecord(DaysSchema, JSON.parse(JSON.stringify(days)))).toEqual(days);
      const pool = createDayPool();
      for (let n = 0; n < 100; n++) pool.take();
      const slot = pool.take();
      pool.write(slot, days);
      expect(pool.read(slot)).toEqual(days);
      pool.release(slot);
      expect([pool.take(), pool.read(slot)]).toEqual([slot, undefined]);
    }),
  );
  for (const wrong of [{ calledV1: "g" }, { calledV2: "0".repeat(46) }, { v1: [1.5] }, { last: -1 }]) {
    expect(() => readRecord(DaysSchema, { last: 1, v1: [], v2: [], calledV1: "", calledV2: "", ...wrong })).toThrow();
  }
});

describe("a clock that is set back", () => {
  test("counts on the day that it shows", () => {
    const days = daysOf([
      { version: "v1", day: TODAY },
      { version: "v1", day: TODAY - 3 },
    ]);
    expect(days).toMatchObject({ last: TODAY, v1: [1, 0, 0, 1], calledV1: "9" });
  });

  test("from a far future keeps the days before that it still has, and counts again", () => {
    const days = daysOf([
      { version: "v1", day: TODAY - 20 },
      { version: "v1", day: TODAY + 100 },
      { version: "v1", day: TODAY },
    ]);
    expect(days).toEqual({ last: TODAY, v1: [1], v2: [], calledV1: (2 ** 20 + 1).toString(16), calledV2: "" });
  });
});

test("the view has dates", () => {
  const day = Date.UTC(2026, 10, 21) / DAY_MS;
  const calls = [{ version: "v2", day: day - 40 } as const, { version: "v1", day } as const];
  expect(daysView(daysOf(calls))).toEqual({ counts: [{ date: "2026-11-21", v1: 1, v2: 0 }], v1Days: 1, v2Days: 1 });
});

describe("a ledger", () => {
  const at = TODAY * DAY_MS;

  test("counts the calls of each client by day, over a restart and with its new name", () => {
    const { ledger, clock } = ledgerOf();
    clock.at = at;
    ledger.observe(exchange("a"));
    ledger.observe(exchange("b"));
    clock.at += DAY_MS;
    ledger.observe(exchange("b"));
    ledger.observe(v2Exchange("b"));
    const after = ledgerOf({ instance: "i2" });
    after.ledger.restore(JSON.parse(JSON.stringify(ledger.snapshot())));
    after.ledger.rename((name) => (name === "b" ? "a" : name));
    const [only] = after.ledger.snapshot().clients;
    expect(only?.days).toEqual({ last: TODAY + 1, v1: [1, 2], v2: [1], calledV1: "3", calledV2: "1" });
    expect(after.ledger.snapshot().daysSince).toBe(1000);
  });

  test("gives the place of a client that is dropped to the next one, empty", () => {
    const { ledger, clock } = ledgerOf({ max: 2 });
    clock.at = at;
    for (const name of ["a", "a", "b", "b", "c", "d"]) ledger.observe(exchange(name));
    expect(ledger.snapshot().clients.map(({ name, days }) => [name, days?.v1])).toEqual([
      ["c", [1]],
      ["d", [1]],
    ]);
  });

  test("of an older file has no days before now", () => {
    const { ledger, clock } = ledgerOf();
    clock.at = at;
    ledger.observe(exchange("a"));
    const { daysSince: _, ...old } = ledger.snapshot();
    const clients = old.clients.map(({ days: _days, ...one }) => one);
    const after = ledgerOf();
    after.clock.at = at + DAY_MS;
    after.ledger.rename((name) => name);
    after.ledger.restore({ ...old, clients });
    const { daysSince, clients: known } = after.ledger.snapshot();
    expect([daysSince, known[0]?.days]).toEqual([1000, undefined]);
  });
});
