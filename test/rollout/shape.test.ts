import { describe, expect, test } from "vitest";
import type { Operation, Resource, Row } from "../../src/model/resource.ts";
import { compareAnswers } from "../../src/shadow/compare.ts";
import { type CompareShape, shapeOf } from "../../src/shadow/shape.ts";
import { driven, placesOf } from "./compared.ts";

const rows: readonly Row[] = [
  { v1: "id", v2: "uid", kind: "string", access: "output" },
  { v1: "seen", v2: "seenTime", kind: "timestamp", access: "output" },
  { v1: "tags", v2: "tags", kind: "string", list: true, zero: [], echo: "normalised" },
  { v1: "steps", v2: "steps", kind: "string", list: true, zero: [] },
  { v1: "size", v2: "size", kind: "int64", access: "output" },
  {
    v1: "kind",
    v2: "kind",
    kind: "enum",
    values: {
      name: "kind",
      unknown: "drop",
      values: [
        ["OLD", 1, "KIND_OLD", 1],
        ["NONE", 0, "KIND_NONE", 0],
      ],
    },
    zero: "NONE",
  },
  { v1: "labels", v2: "labels", kind: "map", of: "string", zero: {} },
  {
    v1: "box",
    v2: "box",
    kind: "message",
    rows: [{ v1: "seen", v2: "seen", kind: "timestamp", access: "output" }],
    access: "output",
  },
  {
    v1: "apps",
    v2: "apps",
    kind: "map",
    of: { rows: [{ v1: "at", v2: "at", kind: "timestamp", access: "output" }] },
    access: "output",
  },
];
const answer = { rows, v2Only: [] };
const list: Operation = {
  kind: "list",
  name: "list",
  answer,
  filters: [],
  envelope: [{ v1: "token", v2: "token", kind: "string", access: "output" }],
};
const get: Operation = { kind: "get", name: "get", answer, extension: true };
const parts: Operation = {
  kind: "composite",
  name: "parts",
  method: "GET",
  path: "trees/{id=**}/parts",
  by: "list-member",
  answer: { rows: [{ v1: "items", v2: "parts", kind: "message", rows, list: true, access: "output" }], v2Only: [] },
};
const resource: Resource = {
  name: "tree",
  domain: "iam",
  v1: "trees",
  v2: "trees",
  items: "trees",
  key: "group",
  list: "drain",
  orderedByUid: true,
  volatile: ["seen", "box.seen", "token"],
  operations: [list, get, parts],
};

function placesFor(shape: CompareShape, native: unknown, translated: unknown): readonly string[] {
  const answerOf = (body: unknown) => ({ status: 200, body: new TextEncoder().encode(JSON.stringify(body)) });
  return placesOf(driven(compareAnswers(answerOf(native), answerOf(translated), shape)));
}

describe("shapeOf", () => {
  test("a list: its key, and volatile members of records and envelope", () => {
    expect(shapeOf({ resource, operation: list })).toMatchObject({
      list: true,
      key: "group",
      volatile: ["items[].seen", "items[].box.seen", "token"],
    });
  });

  test("one record, and a list of parts that have ids of their own", () => {
    expect(shapeOf({ resource, operation: get })).toMatchObject({
      list: false,
      key: "group",
      volatile: ["seen", "box.seen"],
    });
    expect(shapeOf({ resource, operation: parts })).toMatchObject({ list: true, key: "id", volatile: [] });
  });

  test("an operation without an answer has nothing to say", () => {
    const operation: Operation = { kind: "delete", name: "delete" };
    expect(shapeOf({ resource, operation })).toMatchObject({ list: false, volatile: [] });
    const { volatile: _, ...still } = resource;
    expect(shapeOf({ resource: still, operation: list }).volatile).toEqual([]);
  });

  test("ignored members of this resource are not compared, in a list as in a record, nor is anything in them", () => {
    const native = { group: "a", kind: "OLD", labels: { x: "1" }, box: { seen: "2026-01-01T00:00:00Z" } };
    const translated = { group: "a", labels: { x: "2" }, box: { seen: "2026-02-01T00:00:00Z" } };
    const ignore = ["tree.kind", "tree.box", "tree-house.labels", "other.labels"];
    expect(placesFor(shapeOf({ resource, operation: get }, ignore), native, translated)).toEqual(["value labels.*"]);
    const shape = shapeOf({ resource, operation: list }, ignore);
    expect(placesFor(shape, { items: [native] }, { items: [translated] })).toEqual(["value items[].labels.*"]);
  });

  test("kinds of members are known in a list as in a record", () => {
    const [native, translated] = [
      {
        tags: ["a", "b"],
        steps: ["a", "b"],
        kind: "NONE",
        size: "0",
        labels: { x: "1" },
        apps: { y: { at: "2026-01-01T00:00:00Z" } },
      },
      { tags: ["b", "a"], steps: ["b", "a"], labels: { x: "2" }, apps: { y: { at: "2026-01-01T00:00:00.0Z" } } },
    ];
    const expected = ["value steps[]", "value labels.*", "presence kind", "presence size", "order tags[]"];
    expect(placesFor(shapeOf({ resource, operation: get }), native, translated)).toEqual(expected);
    const inList = placesFor(
      shapeOf({ resource, operation: list }),
      { items: [{ ...native, group: "a" }] },
      { items: [{ ...translated, group: "a" }] },
    );
    expect(inList).toEqual(expected.map((place) => place.replace(" ", " items[].")));
  });
});
