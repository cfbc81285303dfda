import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LedgerSchema } from "../../src/ledger/entry.ts";
import { mergeSnapshots } from "../../src/ledger/snapshot.ts";
import { readRecord } from "../../src/rules/record.ts";
import { exchange, ledgerOf, snapshots } from "./samples.ts";

const { ledger } = ledgerOf();
ledger.observe(
  exchange("a", {
    unknownFields: [
      { direction: "request", name: "" },
      { direction: "request", name: " x\n" },
    ],
  }),
);
const whole = ledger.snapshot();
const client = whole.clients[0]!;
const read = (value: unknown) => readRecord(LedgerSchema, JSON.parse(JSON.stringify(value)), "ledger");

test("what a ledger writes is read as it was, also of several merged", () => {
  expect(read(whole)).toEqual(whole);
  fc.assert(
    fc.property(snapshots, (list) => {
      const merged = mergeSnapshots(
        list.map((one) => ({ ...one, clients: one.clients.map((each) => ({ ...each, over: 0 })) })),
      );
      expect(read(merged)).toEqual(merged);
    }),
  );
});

test("since when it has watched is read where it is told", () => {
  expect(read({ ...whole, watchedSince: 1500 })).toEqual({ ...whole, watchedSince: 1500 });
  expect(() => read({ ...whole, watchedSince: "now" })).toThrow("watchedSince");
});

test("errors are read where there are any: earlier versions wrote none", () => {
  const [operation] = client.operations;
  const of = (more: object) => ({ ...whole, clients: [{ ...client, operations: [{ ...operation, ...more }] }] });
  expect(read(of({ errors: { translation: 1, other: 9 } }))).toEqual(of({ errors: { translation: 1 } }));
  for (const errors of [undefined, null, {}, { client: 0 }]) {
    expect(read(of({ errors })).clients[0]?.operations).toEqual([operation]);
  }
});

test("members that are none of it are left out", () => {
  expect(read({ ...whole, more: 1, clients: [{ ...client, secret: "x" }] })).toEqual(whole);
});

describe("refused is", () => {
  const of = (given: object) => ({ ...whole, clients: [{ ...client, ...given }] });
  const failing = (errors: object) => of({ operations: [{ ...client.operations[0], errors }] });
  test.each<[string, unknown, string]>([
    ["another version", { ...whole, version: 2 }, "expected 1"],
    ["no object", 7, "expected object"],
    ["a count below zero", { ...whole, bound: -1 }, "bound"],
    ["half a request", { ...whole, requests: { v1: 0.5, v2: 0 } }, "v1"],
    ["a text for a time", { ...whole, at: "now" }, "at"],
    ["a name twice", { ...whole, clients: [client, client] }, "a name twice"],
    ["a name with blanks around it", of({ name: " a" }), "name"],
    ["a name with a mark of direction", of({ name: "a\u202e" }), "name"],
    ["a name that is too long", of({ name: "x".repeat(129) }), "name"],
    [
      "a field with a control byte",
      of({ needs: { ...client.needs, unknownFields: [{ resource: "r", field: "\u0007" }] } }),
      "field",
    ],
    ["an error larger than the count of v1 requests", of({ over: 2, requests: { v1: 1, v2: 9 } }), "over"],
    [
      "65 operations",
      of({
        operations: Array.from({ length: 65 }, (_, n) => ({
          resource: "r",
          operation: `o${n}`,
          requests: 1,
          lastSeen: 1,
        })),
      }),
      "operations",
    ],
    [
      "33 needs of a kind",
      of({
        needs: {
          ...client.needs,
          lacking: Array.from({ length: 33 }, (_, n) => ({ resource: "r", operation: `o${n}` })),
        },
      }),
      "lacking",
    ],
    ["more errors than requests", failing({ client: 1, platform: 1 }), "operations[0].errors"],
    ["an error below zero", failing({ client: -1 }), "operations[0].errors.client"],
    ["half an error", failing({ capacity: 0.5 }), "operations[0].errors.capacity"],
    ["an entry without needs", of({ needs: undefined }), "needs"],
  ])("%s", (_what, value, said) => {
    expect(() => read(value)).toThrow(said);
  });

  test("whatever else is put in the place of a member, never with another kind of error", () => {
    const places = ["version", "instances", "since", "at", "requests", "bound", "clients"];
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.jsonValue(), (place, value) => {
        try {
          read({ ...whole, [place]: value });
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
          expect(error).not.toBeInstanceOf(TypeError);
        }
      }),
    );
  });
});
