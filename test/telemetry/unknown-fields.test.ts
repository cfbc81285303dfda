import { expect, test } from "vitest";
import { createUnknownFields } from "../../src/telemetry/unknown-fields.ts";
import { finished } from "./exchange.ts";

const request = (name: string) => ({ direction: "request" as const, name });

test("names are counted by resource and direction, the most frequent first", () => {
  const seen = createUnknownFields();
  seen.observe(finished({ unknownFields: [request("a"), request("b")] }));
  seen.observe(finished({ unknownFields: [request("b"), { direction: "response", name: "c" }] }));
  seen.observe(finished({ resource: "role", unknownFields: [request("a[0].b"), request("a[1].b")] }));
  expect(seen.view()).toEqual([
    {
      resource: "group",
      direction: "request",
      fields: [
        { name: "b", count: 2 },
        { name: "a", count: 1 },
      ],
      others: 0,
    },
    { resource: "group", direction: "response", fields: [{ name: "c", count: 1 }], others: 0 },
    { resource: "role", direction: "request", fields: [{ name: "a.b", count: 1 }], others: 0 },
  ]);
});

test("a client that invents names is counted, not remembered", () => {
  const seen = createUnknownFields({ resources: 2, names: 3 });
  for (let at = 0; at < 1000; at++) {
    seen.observe(finished({ resource: `r${at % 100}`, unknownFields: [request(`${at} ${"x ".repeat(500)}`)] }));
  }
  const view = seen.view();
  expect(view.length).toBeLessThanOrEqual(5);
  for (const { fields } of view) expect(fields.length).toBeLessThanOrEqual(3);
  expect(
    view.reduce((sum, { fields, others }) => sum + others + fields.reduce((n, { count }) => n + count, 0), 0),
  ).toBe(1000);
  expect(JSON.stringify(view).length).toBeLessThan(5 * 4 * 150);
});

test("two hundred names are remembered of each resource, unless told otherwise", () => {
  const seen = createUnknownFields();
  seen.observe(finished({ unknownFields: Array.from({ length: 250 }, (_, at) => request(`n${at}`)) }));
  expect(seen.view().map(({ fields, others }) => [fields.length, others])).toEqual([[200, 50]]);
});

test("of a caller whom the platform did not know only the number is kept", () => {
  const seen = createUnknownFields({ resources: 2, names: 3 });
  for (let at = 0; at < 10; at++) seen.observe(finished({ status: 401, unknownFields: [request(`n${at}`)] }));
  seen.observe(finished({ status: 403, unknownFields: [request("known")] }));
  expect(seen.view()).toEqual([
    { resource: "group", direction: "request", fields: [{ name: "known", count: 1 }], others: 10 },
  ]);
});
