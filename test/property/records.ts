/** Generates records and rows of the catalogue for property tests of the maps. */
import fc from "fast-check";
import type { Json, JsonObject } from "../../src/model/json.ts";
import type { Operation, Resource, Row, Shape, Value } from "../../src/model/resource.ts";
import { operationOf } from "../translate/support.ts";

/** The list of a resource; throws when it has none. */
export function listOf(resource: Resource): Operation & { kind: "list" } {
  const operation = operationOf(resource, "list");
  if (operation.kind !== "list") throw new Error("no list");
  return operation;
}

/** The resource with the operations that its rows allow, also where v2's are not used yet. */
export function written(resource: Resource): { readonly resource: Resource; readonly shape: Shape } {
  const update = resource.operations.find((operation) => operation.kind === "update");
  const shape = update?.kind === "update" ? update.body : listOf(resource).answer;
  const operations: Operation[] = [
    { kind: "get", name: "get", answer: shape, extension: false },
    { kind: "create", name: "create", body: shape, answer: shape },
    { kind: "update", name: "update", body: shape, answer: shape },
  ];
  return { resource: { ...resource, operations }, shape };
}

const TEXT = fc.string({ unit: "grapheme", maxLength: 6 });
const TIME = fc.integer({ min: 0, max: 4_000_000_000 }).map((second) => new Date(second * 1_000).toISOString());

function scalar(value: Value): fc.Arbitrary<Json> {
  switch (value.kind) {
    case "string":
      return TEXT;
    case "bool":
      return fc.boolean();
    case "int32":
      return fc.integer();
    case "uint32":
      return fc.nat();
    case "int64":
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
    case "timestamp":
      return TIME;
    case "duration":
      return fc.nat().map((seconds) => `${seconds}s`);
    case "bytes":
      return fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes).toString("base64"));
    case "enum":
      return fc.constantFrom(...value.values.values.flatMap(([v1, , v2]) => (v1 === null || v2 === null ? [] : [v2])));
    case "message":
      return recordOf(value.rows);
    case "map": {
      const texts = fc.oneof(TEXT, fc.constantFrom("uid", "id", "createTime", "name"));
      const keys = value.keys === "int64" ? fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String) : texts;
      const each = typeof value.of === "object" ? recordOf(value.of.rows) : scalar({ kind: value.of });
      return fc.dictionary(keys, each, { maxKeys: 3 }) as fc.Arbitrary<Json>;
    }
    default:
      return value satisfies never;
  }
}

/** A v2 message of these rows: any of them left out, of each oneof at most one. */
export function recordOf(rows: readonly Row[]): fc.Arbitrary<JsonObject> {
  const members = rows.flatMap((row) => {
    if (row.v2 === null || row.v2 === "uid") return [];
    const value = row.kind !== "map" && row.list === true ? fc.array(scalar(row), { maxLength: 3 }) : scalar(row);
    return [fc.tuple(fc.constant(row), fc.option(value as fc.Arbitrary<Json>, { nil: undefined }))];
  });
  return fc.tuple(...members).map((all) => {
    const taken = new Set<string>();
    const record: JsonObject = {};
    for (const [row, value] of all) {
      if (value === undefined || (row.oneof !== undefined && taken.has(row.oneof))) continue;
      if (row.oneof !== undefined) taken.add(row.oneof);
      record[row.v2 ?? ""] = value;
    }
    return record;
  });
}

/** Without what stands for unset, so that both spellings of unset are one. */
export function bare(value: Json | undefined, zeros: ReadonlySet<string>): Json | undefined {
  if (value === undefined || value === null || value === "" || value === 0 || value === false || value === "0")
    return undefined;
  if (typeof value === "string") return zeros.has(value) ? undefined : value;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => bare(item, zeros) ?? null);
  if (typeof value !== "object") return value;
  const members = Object.entries(value).flatMap(([key, each]) => {
    const kept = bare(each, zeros);
    return kept === undefined ? [] : [[key, kept] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The v2 names of every enum's zero value in these rows. */
export function zerosOf(rows: readonly Row[]): string[] {
  return rows.flatMap((row) => {
    if (row.kind === "enum")
      return row.values.values.flatMap(([, number, v2]) => (number === 0 && v2 !== null ? [v2] : []));
    if (row.kind === "message") return zerosOf(row.rows);
    return row.kind === "map" && typeof row.of === "object" ? zerosOf(row.of.rows) : [];
  });
}

/** What of a v2 record a client may write. */
export function writable(rows: readonly Row[], record: JsonObject): JsonObject {
  const part = (row: Row, value: Json): Json => {
    if (row.kind !== "message") return value;
    if (Array.isArray(value)) return value.map((item) => writable(row.rows, item as JsonObject));
    return writable(row.rows, value as JsonObject);
  };
  return Object.fromEntries(
    rows.flatMap((row) => {
      const value = row.v2 === null ? undefined : record[row.v2];
      if (value === undefined || row.v2 === null || row.access === "output" || row.mask === "never") return [];
      return [[row.v2, part(row, value)]];
    }),
  );
}
