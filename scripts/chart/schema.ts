/** Which values does the chart take? (values.schema.json: from values.yaml's comments and the schemas of configuration and rules.) */
import type { Value } from "./values.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Forms that many values share; `@schema {$ref: name}` names one. Draft 7, which Helm 3 and 4 both read. */
const FORMS: Readonly<Record<string, Schema>> = {
  strings: { type: "object", additionalProperties: { type: "string" } },
  port: { type: "integer", minimum: 1, maximum: 65535 },
  quantity: { type: ["string", "integer"], pattern: "^[0-9]+(\\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$" },
  key: { type: "string", pattern: "^[-._a-zA-Z0-9]+$" },
  /** Of a namespace, or a part of other names. */
  name: { type: "string", pattern: "^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$" },
  registry: {
    type: "string",
    pattern: "^(([a-zA-Z0-9.-]+|\\[[0-9a-fA-F:]+\\])(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*)?$",
  },
  duration: { type: "string", pattern: "^(([0-9]+(ms|[smhdwy]))+)?$" },
};

/** The schema of all values. `file` gives the parsed JSON of a file named in a comment. */
export function valuesSchema(values: readonly Value[], file: (path: string) => Schema): Schema {
  const of = (value: Value): Schema => {
    const { file: named, like, without, optional: _, ...rest } = value.schema;
    const described = value.says === "" ? {} : { description: value.says };
    if (typeof named === "string") return { ...described, ...fitForHelm(file(named)) };
    if (typeof like === "string") return { ...described, ...without_(of(find(values, like)), without) };
    return { ...described, ...inferred(value), ...(refs(rest) as Schema) };
  };
  const inferred = (value: Value): Schema => {
    if (value.children !== undefined) return objectOf(value.children);
    if ("type" in value.schema || "enum" in value.schema || "$ref" in value.schema) return {};
    return { type: typeOf(value) };
  };
  const objectOf = (children: readonly Value[]): Schema => ({
    type: "object",
    properties: Object.fromEntries(children.map((child) => [child.key, of(child)])),
    // Helm takes away what somebody sets to null; templates need what is not said to be optional.
    required: children.filter(isNeeded).map(({ key }) => key),
    additionalProperties: false,
  });
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Values of the carryover chart",
    ...objectOf(values),
    definitions: FORMS,
  };
}

/** The schema as a file, with lists of plain values on one line where they fit, as the formatter of this project has them. */
export function schemaText(schema: Schema): string {
  const text = JSON.stringify(schema, undefined, 2);
  const lists = text.replace(/^(.*)(\[\n[^[\]{}]*\])(.*)$/gm, (whole, before: string, list: string, after: string) => {
    const line = `${before}[${list
      .slice(1, -1)
      .trim()
      .replace(/\s*\n\s*/g, " ")}]${after}`;
    return line.length <= 120 ? line : whole;
  });
  return `${lists}\n`;
}

/** Whether templates cannot do without it: what may be null or is called optional may be taken away. */
function isNeeded({ default: shown, schema }: Value): boolean {
  return shown !== null && schema["optional"] !== true && ![schema["type"]].flat().includes("null");
}

/** The type that a default shows. Throws `Error` for null, which shows none. */
function typeOf(value: Value): string {
  const shown = value.default;
  if (shown === null) throw new Error(`${value.path.join(".")}: its default is null, so say its type with @schema`);
  if (Array.isArray(shown)) return "array";
  if (typeof shown === "number") return Number.isInteger(shown) ? "integer" : "number";
  return typeof shown;
}

function find(values: readonly Value[], path: string): Value {
  const [key, ...below] = path.split(".");
  const found = values.find((value) => value.key === key);
  if (found === undefined) throw new Error(`@schema like ${path}: there is no such value`);
  return below.length === 0 ? found : find(found.children ?? [], below.join("."));
}

function without_(schema: Schema, keys: unknown): Schema {
  if (!Array.isArray(keys)) return schema;
  const properties = Object.entries(schema["properties"] as Schema).filter(([key]) => !keys.includes(key));
  const required = (schema["required"] as readonly string[]).filter((key) => !keys.includes(key));
  return { ...schema, properties: Object.fromEntries(properties), required };
}

/** `$ref: strings` as JSON Schema writes it. */
function refs(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(refs);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key !== "$ref") return [key, refs(value)];
      if (!(String(value) in FORMS)) throw new Error(`@schema {$ref: ${String(value)}}: there is no such form`);
      return [key, `#/definitions/${String(value)}`];
    }),
  );
}

/**
 * A schema of carryover's own, for values. Nothing is required, since the chart and variables add what is missing; defaults are left
 * out, since they are not the chart's; and what Helm reads otherwise than carryover is mended.
 */
function fitForHelm(schema: Schema): Schema {
  const { $schema: _, title: __, required: ___, ...rest } = schema;
  return fitted(rest) as Schema;
}

function fitted(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(fitted);
  if (typeof schema !== "object" || schema === null) return schema;
  const { "x-form": form, ...rest } = schema as Schema;
  const kept = Object.entries(rest).filter(([key, value]) => !droppedByHelm(key, value));
  const result = Object.fromEntries(kept.map(([key, value]) => [key, fitted(value)]));
  if (form === "url") return { ...result, pattern: "^https?://[^/?#\\s]" };
  return withBooleans(result);
}

function droppedByHelm(key: string, value: unknown): boolean {
  // Go's regular expressions look neither ahead nor behind.
  if (key === "pattern" && typeof value === "string") return /\(\?<?[!=]/.test(value);
  return key === "default" && (typeof value !== "object" || Array.isArray(value));
}

/** Helm reads `yes` and `no` without quotes as true and false; the chart turns them back. */
function withBooleans(schema: Schema): Schema {
  const words = schema["enum"];
  if (!Array.isArray(words) || !words.includes("yes")) return schema;
  const { type: _, ...rest } = schema;
  return { ...rest, enum: [...words, true, false] };
}
