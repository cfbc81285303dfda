/**
 * The smallest sound catalogue, for tests that break it. (It has its own words: these tests know no resource of the
 * API.)
 */
import { type CatalogueFile, faultsOf } from "../../../src/catalogue/check.ts";
import type { EnumTable, Example, NativeDomain, Operation, Resource, Row, Shape } from "../../../src/model/resource.ts";

/** The same type with everything open to change, but for rows and examples, which are replaced whole. */
export type Open<T> = T extends Row | Example ? T : T extends object ? { -readonly [Key in keyof T]: Open<T[Key]> } : T;

export const colour: EnumTable = {
  name: "colour",
  unknown: "drop",
  values: [
    ["NONE", 0, "COLOUR_NONE", 0],
    ["RED", 1, "COLOUR_RED", 2],
    ["OLD", 2, null, -1],
  ],
};

const rows: readonly Row[] = [
  { v1: "id", v2: "uid", kind: "string", access: "output" },
  { v1: "name", v2: "name", kind: "string", zero: "" },
  { v1: "colour", v2: "colour", kind: "enum", values: colour, zero: "NONE" },
  {
    v1: "box",
    v2: "box",
    kind: "message",
    rows: [{ v1: "size", v2: "dimension", kind: "int32", zero: 0 }],
    zero: null,
  },
];

/** One resource, `tree`, in `tree.ts`. */
export function small(): { file: string; resource: Open<Resource>; examples: readonly Example[] } {
  const shape = (): Shape => ({ rows: [...rows], v2Only: ["hidden"] });
  const resource: Resource = {
    name: "tree",
    domain: "iam",
    v1: "trees",
    v2: "bigTrees",
    items: "bigTrees",
    key: "id",
    list: "drain",
    orderedByUid: true,
    operations: [
      {
        kind: "list",
        name: "list",
        answer: shape(),
        filters: [
          { v1: "name", use: "send", v2: "name", kind: "string" },
          { v1: "id", use: "get" },
        ],
      },
      { kind: "get", name: "get", answer: shape(), extension: true },
      { kind: "update", name: "update", body: shape(), answer: shape() },
    ],
  };
  const examples: readonly Example[] = [
    {
      of: "answer",
      operation: "list",
      v2: { uid: "1", hidden: 1, box: { dimension: 3 } },
      v1: { id: "1", box: { size: 3 } },
    },
    { of: "update", v1: { name: "n" }, mask: ["name"], v2: { name: "n" } },
    { of: "filters", v1: "name=a", v2: "name=a" },
  ];
  return { file: "tree.ts", resource: structuredClone(resource) as Open<Resource>, examples };
}

/** `small()` after `change`, with `others` beside it: its faults. */
export function faultsAfter(
  change: (resource: Open<Resource>, file: { examples: readonly Example[] }) => void,
  others: readonly CatalogueFile[] = [],
  natives: readonly NativeDomain[] = [],
): readonly string[] {
  const file = small();
  change(file.resource, file);
  const files = [file as CatalogueFile, ...others];
  return faultsOf(files, natives, new Map(files.map(({ resource }) => [resource.name, file.examples])));
}

/** The operation `kind` of `resource`. */
export function operation<Kind extends Operation["kind"]>(
  resource: Open<Resource>,
  kind: Kind,
): Open<Extract<Operation, { kind: Kind }>> {
  return resource.operations.find((each) => each.kind === kind) as Open<Extract<Operation, { kind: Kind }>>;
}

/** `small()` whose list answers with `row` as well: its faults, each without the file. */
export function faultsWithRow(row: Row, v2Only: readonly string[] = []): readonly string[] {
  const faults = faultsAfter((resource) => {
    const { answer } = operation(resource, "list");
    answer.rows.push(row);
    answer.v2Only.push(...v2Only);
  });
  return faults.map((fault) => fault.replace("tree.ts: list: ", ""));
}
