/** A record that v2 shows is sent back as it was shown: nothing may change, whatever v2 has that the catalogue has never seen. */
import { describe, expect, test } from "vitest";
import { loadCatalogue } from "../../src/catalogue/catalogue.ts";
import type { ApiRequest, ApiResponse } from "../../src/model/http.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../../src/model/json.ts";
import type { Resource, Row, Value } from "../../src/model/resource.ts";
import { json, maskOf, operationOf, runOperation, textOf } from "../translate/support.ts";

const { resources } = await loadCatalogue("v2beta1");
const UID = "a/b";

/** `arm`: which member of each oneof is set; beyond the last one none that is known. */
interface Variant {
  readonly enums: "known" | "named" | "numbered";
  readonly arm: number;
  /** Members that no row has. */
  readonly grown: boolean;
}

function valueFor(as: Value, variant: Variant): Json {
  switch (as.kind) {
    case "bool":
      return true;
    case "int32":
    case "uint32":
      return 2 ** 31 - 1;
    case "int64":
      return "9007199254740993";
    case "timestamp":
      return "2026-01-02T03:04:05.678901234Z";
    case "duration":
      return "3600.000000001s";
    case "bytes":
      return "+/8=";
    case "enum": {
      const [, , last = "", number = 0] = as.values.values.at(-1) ?? [];
      if (variant.enums === "known") return last;
      // Capabilities were texts in v1.
      if (variant.enums === "numbered" && as.values.unknown === "drop") return number + 1;
      return `${last}_QUANTUM`;
    }
    case "message":
      return { ...recordFor(as.rows, variant), ...(variant.grown ? GROWN : {}) };
    case "map": {
      const each = typeof as.of === "object" ? valueFor({ kind: "message", rows: as.of.rows }, variant) : undefined;
      const value = each ?? valueFor({ kind: as.of as "string" | "int32" }, variant);
      return as.keys === "int64" ? { "9007199254740993": value, "-7": value } : { uid: value, "": value, __x: value };
    }
    default:
      return 'odd "text" \u2028 {"id":1}';
  }
}

const GROWN = { quantumState: { spin: "9007199254740993", up: false }, quantumList: [0, ""] };

function recordFor(rows: readonly Row[], variant: Variant): JsonObject {
  const arms = new Map<string, number>();
  const record: JsonObject = {};
  for (const row of rows) {
    if (row.v2 === null || row.v2 === "uid") continue;
    if (row.oneof !== undefined) {
      const place = arms.get(row.oneof) ?? 0;
      arms.set(row.oneof, place + 1);
      if (place !== variant.arm) continue;
    }
    const value = valueFor(row, variant);
    record[row.v2] = row.kind !== "map" && row.list === true ? [value, value] : value;
  }
  return record;
}

/** v2: it stores what it is sent, by the mask. */
function platform(records: Map<string, JsonObject>): (request: ApiRequest) => ApiResponse {
  return (request) => {
    const { method, target } = request;
    const rest = target.split("?")[0]?.split("/").slice(4).join("/") ?? "";
    if (rest.endsWith("/readme")) return json(200, { uid: rest.slice(0, -"/readme".length), content: "# Text" });
    const stored = records.get(rest) ?? records.get(UID) ?? {};
    if (method === "GET") return json(200, stored);
    const sent = JSON.parse(textOf(request)) as JsonObject;
    const { createTime = null, updateTime = null } = stored;
    const next = method === "POST" ? { uid: UID, ...sent, createTime, updateTime } : structuredClone(stored);
    if (method === "PATCH") for (const path of maskOf(request)) assign(next, sent, path.split("."));
    records.set(UID, next);
    return json(200, next);
  };
}

function assign(into: JsonObject, from: JsonObject, [name = "", ...rest]: readonly string[]): void {
  const inner = (into[name] ?? {}) as JsonObject;
  if (rest.length > 0) assign(inner, (from[name] ?? {}) as JsonObject, rest);
  into[name] = rest.length > 0 ? inner : (member(from, name) ?? null);
}

/** A shown record as a gRPC client has it: without zeros and names that have no v1 number. */
function overGrpc(record: JsonObject, rows: readonly Row[]): JsonObject {
  const members = Object.entries(record).flatMap(([name, value]) => {
    const row = rows.find(({ v1 }) => v1 === name);
    if (row?.kind === "message" && row.list !== true && isJsonObject(value)) return [[name, overGrpc(value, row.rows)]];
    const isNumbered = row?.kind === "enum" && row.values.unknown === "drop";
    if (
      isNumbered &&
      !row.values.values.some(([v1, number]) => v1 === value && number > 0) &&
      typeof value === "string"
    )
      return [];
    return value === "" || value === 0 || value === false || value === null ? [] : [[name, value]];
  });
  return Object.fromEntries(members) as JsonObject;
}

const updated = resources.filter(({ operations }) => operations.some(({ kind }) => kind === "update"));
const variants = (["known", "named", "numbered"] as const).flatMap((enums) =>
  [0, 1, 2, 3, 4].flatMap((arm) => [true, false].map((grown): Variant => ({ enums, arm, grown }))),
);

test("every resource with an update is tried", () => {
  expect(updated.map(({ name }) => name).toSorted()).toEqual([
    "account-association",
    "group",
    "identity",
    "identity-provider",
    "repo",
    "role",
    "role-binding",
    "tag",
  ]);
});

describe.each(updated.map((resource) => [resource.name, resource] as const))("%s", (_, resource) => {
  const update = operationOf(resource, "update");
  if (update.kind !== "update") throw new Error("no update");
  // Clients send back the shape in which an update responds.
  const get = { kind: "get", name: "get", answer: update.answer, joins: update.joins ?? [], extension: true } as const;
  const own: Resource = { ...resource, operations: [get, update] };

  describe.each([false, true])("over gRPC: %s", (numbersOnly) => {
    test.each(variants)(
      "sent back as shown, nothing changes: $enums values of enums, oneof member $arm, new members: $grown",
      async (variant) => {
        const record = { uid: UID, ...recordFor(update.body.rows, variant), ...(variant.grown ? GROWN : {}) };
        const records = new Map([[UID, record]]);
        const run = (operation: typeof get | typeof update, body = "") =>
          runOperation({
            resources: [own],
            resource: own,
            operation,
            uid: UID,
            body,
            numbersOnly,
            answer: platform(records),
            options: { mismatch: "fail", unknownResponse: "drop" },
          });
        const shown = (await run(get)).body as JsonObject;
        const { exchange } = await run(
          update,
          JSON.stringify(numbersOnly ? overGrpc(shown, update.answer.rows) : shown),
        );
        expect(exchange.mismatches).toEqual([]);
        expect(records.get(UID)).toEqual(record);
      },
    );
  });
});
