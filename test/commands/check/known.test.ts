import { describe, expect, it } from "vitest";
import { loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import { listsOf } from "../../../src/commands/check/platform.ts";
import { lookAtRecords, rowsOf } from "../../../src/commands/check/records.ts";
import type { JsonObject } from "../../../src/model/json.ts";
import type { Row } from "../../../src/model/resource.ts";
import type { ListOperation } from "../../../src/translate/list.ts";
import { examplesOf } from "../../support/examples.ts";

function list(rows: readonly Row[], rest: Partial<ListOperation> = {}): ListOperation {
  return { kind: "list", name: "list", answer: { rows, v2Only: [] }, filters: [], ...rest };
}

const seen = (record: JsonObject, operation: ListOperation) => lookAtRecords([record], operation);

const text = { kind: "string", access: "output" } as const;

describe("known names", () => {
  it("are those of every example of the catalogue", async () => {
    const catalogue = await loadCatalogue("v2beta1");
    const lists = listsOf(catalogue, undefined);
    let examples = 0;
    for (const { resource, operation } of lists) {
      for (const example of examplesOf(resource)) {
        if (example.of !== "answer" || example.operation !== "list") continue;
        examples++;
        const { unknown, unknownValues } = seen(example.v2, operation);
        expect([resource.name, [...unknown], [...unknownValues]]).toEqual([resource.name, [], []]);
      }
    }
    expect(examples).toBeGreaterThanOrEqual(lists.length);
  });

  it("include what is read from elsewhere: `from`, joins, v2-only members", () => {
    const inner: readonly Row[] = [{ v1: "n", v2: "n", from: ["deep.n"], ...text }];
    const rows: readonly Row[] = [
      { v1: "a", v2: null, from: ["x.y", "z"], ...text },
      { v1: "m", v2: "m", kind: "message", access: "output", rows: inner },
    ];
    const operation = list(rows, {
      answer: { rows, v2Only: ["only"] },
      joins: [{ v1: "j", resource: "group", by: "g.uid", when: "w", take: "record", missing: { reduced: "r" } }],
    });
    const record = { x: { any: 1 }, z: 1, m: { n: "" }, deep: {}, only: 1, g: {}, w: 1, r: {}, stranger: 1 };
    expect([...seen(record, operation).unknown]).toEqual(["stranger"]);
  });

  it("are looked for inside lists, messages and maps of messages, not among the keys of maps", () => {
    const rows: readonly Row[] = [{ v1: "n", v2: "n", ...text }];
    const operation = list([
      { v1: "l", v2: "l", kind: "message", rows, list: true, access: "output" },
      { v1: "u", v2: "u", kind: "map", of: "string", access: "output" },
      { v1: "d", v2: "d", kind: "map", of: { rows }, access: "output" },
    ]);
    const record = { l: [{ n: "" }, { o: 1 }], u: { anything: "x" }, d: { key: { n: "", p: 1 } } };
    const all = seen(record, operation);
    expect([...all.unknown].sort()).toEqual(["d.*.p", "l.o"]);
    expect(all.present.get("l.n")).toBe(1);
    expect(all.possible.get("l.n")).toBe(2);
    expect(all.zeros).toEqual(new Set(["l.n", "d.*.n"]));
    expect(rowsOf(operation.answer.rows).map(({ path }) => path)).toEqual(["l", "l.n", "u", "d", "d.*.n"]);
  });

  it('a zero is one of its kind: an enum\'s first value, an empty list, map or text, false, 0 and "0"', () => {
    const values = {
      name: "e",
      unknown: "drop",
      values: [
        ["A", 0, "E_NONE", 0],
        ["B", 1, "E_ONE", 1],
      ],
    } as const;
    const operation = list([
      { v1: "e", v2: "e", kind: "enum", values, access: "output" },
      { v1: "l", v2: "l", kind: "string", list: true, access: "output" },
      { v1: "m", v2: "m", kind: "map", of: "string", access: "output" },
      { v1: "b", v2: "b", kind: "bool", access: "output" },
      { v1: "n", v2: "n", kind: "int64", access: "output" },
      { v1: "o", v2: "o", kind: "string", presence: "explicit", access: "output" },
    ]);
    const zeros = seen({ e: "E_NONE", l: [], m: {}, b: false, n: "0", o: "" }, operation).zeros;
    expect([...zeros]).toEqual(["e", "l", "m", "b", "n"]);
    expect(seen({ e: "E_ONE", l: [""], m: { a: "" }, b: true, n: "1" }, operation).zeros.size).toBe(0);
  });
});
