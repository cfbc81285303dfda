import { expect, test } from "vitest";
import { noteReports } from "../../src/translate/operation.ts";
import { ID, NAME, run, thing } from "./support.ts";

const THINGS = thing({
  rows: [
    ID,
    NAME,
    {
      v1: "apps",
      v2: "apps",
      kind: "map",
      of: {
        rows: [
          { v1: "size", v2: "size", kind: "int32", zero: 0 },
          {
            v1: "colour",
            v2: "colour",
            kind: "enum",
            values: { name: "Colour", unknown: "drop", values: [["NONE", 0, "NONE", 0]] },
            zero: "NONE",
          },
          { v1: "inner", v2: "inner", kind: "map", of: { rows: [] }, zero: {} },
        ],
      },
      zero: {},
    },
  ],
});

test("the keys of a map are data: the fields in its values are noted without them", async () => {
  const { exchange } = await run(THINGS, "create", {
    body: { name: "a", apps: { "a@b.example": { x: 1, size: 2, colour: "PINK", inner: { "k.l": { y: 1 } } } } },
  });
  expect(exchange.unknownFields.map(({ name }) => name)).toEqual(["apps.x", "apps.inner.y"]);
  expect(exchange.notes).toEqual(["enum-dropped"]);
});

test("a request or a platform that invents names without end costs a bounded list", async () => {
  const names = Array.from({ length: 10_000 }, (_, at) => [`n${at}`, 1]);
  const { exchange } = await run(THINGS, "create", { body: Object.fromEntries([["name", "a"], ...names]) });
  expect(exchange.unknownFields).toHaveLength(1_000);
  const reports = names.map(([name]) => ({ kind: "unknown", object: "", member: String(name), count: 1 }) as const);
  noteReports(reports, { exchange });
  expect(exchange.unknownFields).toHaveLength(1_000);
});
