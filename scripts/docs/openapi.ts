/** The v1 that carryover serves, as an OpenAPI 3.1 document. */
import type { Json, JsonObject } from "../../src/model/json.ts";
import { PROBLEMS } from "../../src/model/problem.ts";
import type {
  EnumTable,
  EnvelopeRow,
  Filter,
  Operation,
  Resource,
  Row,
  ScalarKind,
  Shape,
  Value,
} from "../../src/model/resource.ts";

type Served = Exclude<Operation, { kind: "native" }>;

const METHODS = { list: "GET", get: "GET", create: "POST", update: "PUT", delete: "DELETE" } as const;

/** `docs/openapi.yaml`: every v1 operation that is translated; those that go to native v1 are the platform's own. */
export function openApi(resources: readonly Resource[]): JsonObject {
  const components = createComponents();
  const paths = new Map<string, Record<string, Json>>();
  for (const resource of resources) {
    for (const operation of resource.operations) {
      if (operation.kind === "native") continue;
      for (const { method, path } of pathsOf(resource, operation)) {
        const item = paths.get(path) ?? {};
        paths.set(path, item);
        item[method.toLowerCase()] = operationObject(resource, operation, path, components);
      }
    }
  }
  return {
    openapi: "3.1.0",
    info: INFO,
    servers: [{ url: "http://127.0.0.1:8080", description: "carryover, as `carryover serve` listens" }],
    security: [{ token: [] }],
    tags: resources.map(({ name }) => ({ name, description: `v1 operations on ${plural(name.replaceAll("-", " "))}` })),
    paths: Object.fromEntries(paths),
    components: {
      schemas: components.schemas(),
      responses: { Error: ERROR_RESPONSE },
      securitySchemes: { token: { type: "http", scheme: "bearer", description: "The platform's own token." } },
    },
  };
}

const INFO: JsonObject = {
  title: "v1 as carryover serves it",
  version: "1",
  description:
    "What a v1 client can ask of carryover without native v1. A uid is one or more segments with `/` between them, sent raw " +
    "or as `%2F`: tools that escape it reach the same record. Query parameters are also read in camelCase.",
  license: { name: "Apache-2.0", identifier: "Apache-2.0" },
};

const ERROR: JsonObject = {
  type: "object",
  properties: {
    code: { type: "integer", description: "The RPC code." },
    message: { type: "string" },
    details: { type: "array", items: { type: "object", properties: { "@type": { type: "string" } } } },
  },
  required: ["code", "message", "details"],
};

const ERROR_RESPONSE: JsonObject = {
  description: "The platform's error in v1's words, or one of carryover's own (ErrorInfo with domain `carryover`).",
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
};

/** Carryover answers these by design: 501 what it does not serve, the rest what the platform did. (500 would be a fault of its own.) */
const BY_DESIGN: readonly number[] = [...new Set(Object.values(PROBLEMS).map(({ http }) => http))].filter(
  (status) => status > 500,
);

/** Schemas by name; the same shape is written once. */
interface Components {
  /** A reference to the schema of `shape`, under the name `wanted` when it is new. */
  answer(shape: Shape, wanted: string): JsonObject;
  schemas(): JsonObject;
}

function createComponents(): Components {
  const names = new Map<Shape, string>();
  const schemas = new Map<string, Json>([["Error", ERROR]]);
  return {
    answer(shape, wanted) {
      const known = names.get(shape);
      const name = known ?? (schemas.has(wanted) ? `${wanted}Answer` : wanted);
      if (known === undefined) {
        names.set(shape, name);
        schemas.set(name, answerSchema(shape));
      }
      return { $ref: `#/components/schemas/${name}` };
    },
    schemas: () => Object.fromEntries(schemas),
  };
}

/** An operation of a resource has its collection's path; `**` may be empty only where v1 allowed that. */
function pathsOf(resource: Resource, operation: Served): readonly { readonly method: string; readonly path: string }[] {
  const base = `/${resource.domain}/v1`;
  if ("path" in operation) {
    const path = operation.path.replace(/\{[^}]*=\*\*\}/, "{uid}").replace(/\{([^}=]*)=\*\}/, "{$1}");
    return [{ method: operation.method, path: `${base}/${path}` }];
  }
  const method = METHODS[operation.kind];
  const one = { method, path: `${base}/${resource.v1}/{uid}` };
  if (operation.kind === "list") return [{ method, path: `${base}/${resource.v1}` }];
  const rooted = operation.kind === "create" && operation.emptyParent === true;
  return rooted ? [one, { method, path: `${base}/${resource.v1}` }] : [one];
}

function operationObject(resource: Resource, operation: Served, path: string, components: Components): JsonObject {
  const variables = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name ?? "");
  const filters = "filters" in operation ? (operation.filters ?? []) : [];
  const parameters = [...variables.map((name) => pathParameter(name, operation)), ...filters.map(queryParameter)];
  const atRoot = operation.kind === "create" && variables.length === 0;
  const body = "body" in operation ? operation.body : undefined;
  return {
    operationId: `${camel(operation.name)}${pascal(resource.name)}${atRoot ? "AtRoot" : ""}`,
    tags: [resource.name],
    summary: summaryOf(resource, operation, atRoot),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBody(operation, body) }),
    responses: {
      "200": {
        description: "OK",
        content: { "application/json": { schema: answerOf(resource, operation, components) } },
      },
      "4XX": { $ref: "#/components/responses/Error" },
      ...Object.fromEntries(BY_DESIGN.map((status) => [status, { $ref: "#/components/responses/Error" }])),
      "5XX": { $ref: "#/components/responses/Error" },
    },
  };
}

function summaryOf({ name }: Resource, operation: Served, atRoot: boolean): string {
  const words = operation.name.replaceAll("-", " ");
  const whose = name.replaceAll("-", " ");
  const what =
    "path" in operation
      ? `${words}, of ${plural(whose)}`
      : `${words} ${operation.kind === "list" ? plural(whose) : article(whose)}`;
  return `${what.charAt(0).toUpperCase()}${what.slice(1)}${atRoot ? " at the root" : ""}`;
}

/** A batch is an array of what its row describes. */
function requestBody(operation: Served, body: Shape): JsonObject {
  const one = bodySchema(body);
  const schema = isBatch(operation) ? { type: "array", items: one } : one;
  return { content: { "application/json": { schema } } };
}

function isBatch(operation: Served): boolean {
  return "by" in operation && operation.by === "create-batch";
}

function answerOf(resource: Resource, operation: Served, components: Components): JsonObject {
  if (operation.kind === "delete") return { type: "object" };
  const kind = operation.kind;
  const name =
    kind === "list" || kind === "get" ? pascal(resource.name) : `${pascal(resource.name)}${pascal(operation.name)}`;
  const record = components.answer(operation.answer, name);
  if (isBatch(operation)) {
    const list = { type: "array", items: record };
    return { type: "object", properties: { [resource.items]: list }, required: [resource.items] };
  }
  if (operation.kind !== "list") return record;
  const envelope: readonly EnvelopeRow[] = operation.envelope ?? [];
  const rest = answerSchema({ rows: envelope, v2Only: [] });
  return {
    type: "object",
    properties: { items: { type: "array", items: record }, ...(rest["properties"] as JsonObject) },
    required: ["items", ...envelope.filter(({ presence }) => presence !== "explicit").map(({ v1 }) => v1)],
  };
}

function pathParameter(name: string, operation: Served): JsonObject {
  const whose = operation.kind === "create" ? "The uid of the parent" : "The uid of the record";
  const uid = name === "uid";
  return {
    name,
    in: "path",
    required: true,
    description: uid ? `${whose}; it may hold \`/\`.` : "One segment.",
    schema: {
      type: "string",
      pattern: uid ? "^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$" : "^[A-Za-z0-9][A-Za-z0-9._:+-]*$",
    },
  };
}

function queryParameter(filter: Filter): JsonObject {
  const repeated = "repeated" in filter && filter.repeated === true;
  const schema = filterSchema(filter);
  return {
    name: filter.v1,
    in: "query",
    description: filterWords(filter),
    ...(repeated ? { style: "form", explode: true } : {}),
    schema: repeated ? { type: "array", items: schema } : schema,
  };
}

function filterSchema(filter: Filter): JsonObject {
  switch (filter.use) {
    case "send":
      if (filter.kind === "bool") return { type: "boolean" };
      if (filter.kind === "int32") return { type: "integer", format: "int32" };
      return filter.kind === "timestamp" ? { type: "string", format: "date-time" } : { type: "string" };
    case "enum":
      return queryEnumSchema(filter.values);
    case "inverted":
      return { type: "boolean" };
    case "page-size":
      return { type: "string", format: "int64", pattern: "^\\d+$" };
    default:
      return { type: "string" };
  }
}

function filterWords(filter: Filter): string {
  switch (filter.use) {
    case "get":
      return "The one record with this uid; an empty list when it is missing or not allowed.";
    case "parent":
      return "Records directly under this parent; `/` for those at the root.";
    case "page-size":
      return "At most 200 records a page.";
    case "page-token":
      return "Where to go on; v2's own token.";
    default:
      return `Sent to v2 as \`${filter.v2}\`${filter.use === "inverted" ? ", inverted" : ""}.`;
  }
}

function camel(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function pascal(name: string): string {
  const word = camel(name);
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

/** `identity` → `identities`. */
export function plural(name: string): string {
  return name.endsWith("y") ? `${name.slice(0, -1)}ies` : `${name}s`;
}

/** `identity` → `an identity`. */
export function article(name: string): string {
  return `${/^[aeiou]/.test(name) ? "an" : "a"} ${name}`;
}

// The JSON Schemas of rows, as v1 clients see them: OpenAPI 3.1 is JSON Schema 2020-12.

/** `answer`: what carryover shows; `body`: what it takes. */
type Side = "answer" | "body";

const SCALARS: Readonly<Record<ScalarKind, JsonObject>> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int32: { type: "integer", format: "int32" },
  // v1's own limit was higher; v2 has no room above this one, and a larger number is refused.
  uint32: { type: "integer", minimum: 0, maximum: 2_147_483_647 },
  int64: { type: "string", format: "int64", pattern: "^-?\\d+$", description: "A 64-bit integer, as text." },
  timestamp: { type: "string", format: "date-time" },
  duration: { type: "string", pattern: "^-?\\d+(\\.\\d{1,9})?s$", examples: ["86400s"] },
  bytes: { type: "string", contentEncoding: "base64" },
};

/** The schema of one v1 message that carryover answers. Members that are always there are required. */
function answerSchema(shape: Shape): JsonObject {
  return messageSchema(shape.rows, "answer");
}

/** The schema of a v1 message that carryover takes: what is not required may be left out, `null` counts as left out. */
function bodySchema(shape: Shape): JsonObject {
  return messageSchema(
    shape.rows.filter((row) => row.access !== "output"),
    "body",
  );
}

function messageSchema(rows: readonly Row[], side: Side): JsonObject {
  const properties: JsonObject = {};
  for (const row of rows) properties[row.v1] = rowSchema(row, side);
  const required = rows.filter((row) => isRequired(row, side)).map(({ v1 }) => v1);
  return {
    type: "object",
    properties,
    ...(required.length > 0 ? { required } : {}),
  };
}

/** In answers what is always there; in bodies what is refused without it. */
function isRequired(row: Row, side: Side): boolean {
  return side === "answer" ? row.presence !== "explicit" : row.access !== "output" && row.required === true;
}

function rowSchema(row: Row, side: Side): JsonObject {
  const schema = valueSchema(row, side);
  const oneof = row.oneof === undefined ? {} : { description: `At most one member of ${row.oneof} is set.` };
  if (side === "body" && isRequired(row, side)) return { ...filled(schema), ...oneof };
  return { ...(maySayNull(row, side) ? nullable(schema) : schema), ...oneof };
}

/** v1 shows an unset message, and so an unset time, as null; in requests null is a member left out. */
function maySayNull(row: Row, side: Side): boolean {
  if (side === "body") return true;
  if (row.presence === "explicit" || (row.kind !== "map" && row.list === true)) return false;
  return row.kind === "message" || row.kind === "timestamp" || row.kind === "duration";
}

/** What is required may not be its zero either. */
function filled(schema: JsonObject): JsonObject {
  return schema["type"] === "string" && schema["pattern"] === undefined ? { ...schema, minLength: 1 } : schema;
}

function nullable(schema: JsonObject): JsonObject {
  return typeof schema["type"] === "string" && schema["enum"] === undefined
    ? { ...schema, type: [schema["type"], "null"] }
    : { anyOf: [schema, { type: "null" }] };
}

function valueSchema(value: Value, side: Side): JsonObject {
  if (value.kind === "map") {
    const of = value.of;
    const values: JsonObject = typeof of === "string" ? SCALARS[of] : messageSchema(of.rows, side);
    const keys = value.keys === undefined ? {} : { propertyNames: { pattern: "^-?\\d+$" } };
    return { type: "object", ...keys, additionalProperties: values, description: "Keys are the user's data." };
  }
  const one = elementSchema(value, side);
  return value.list === true ? { type: "array", items: one } : one;
}

function elementSchema(value: Exclude<Value, { kind: "map" }>, side: Side): JsonObject {
  switch (value.kind) {
    case "enum":
      return enumSchema(value.values, side);
    case "message":
      return messageSchema(value.rows, side);
    default:
      return SCALARS[value.kind];
  }
}

/** In a query the zero is no filter, also where v2 has no word for it. */
function queryEnumSchema(table: EnumTable): JsonObject {
  return enumSchema({ ...table, unknown: "drop" }, "body", true);
}

/** By name in answers; requests may give v1's number too, but capabilities, which were plain text in v1. */
function enumSchema(table: EnumTable, side: Side, withZero = false): JsonObject {
  const known = table.values.filter(([v1, number, v2]) => v1 !== null && (v2 !== null || (withZero && number === 0)));
  const names = known.flatMap(([v1]) => (v1 === null ? [] : [v1]));
  const named: JsonObject = { type: "string", enum: names };
  if (side === "answer" || table.unknown === "refuse") return named;
  return { anyOf: [named, { type: "integer", enum: known.map(([, number]) => number).filter((n) => n >= 0) }] };
}
