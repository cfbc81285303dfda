/**
 * The chart's values, as the comments of values.yaml describe them: their schema (values.schema.json, with those of configuration and
 * rules in it) and the tables in the chart's README.
 */
import { isMap, isNode, isPair, isScalar, parse, parseDocument, type YAMLMap } from "yaml";
import { withBlock } from "./blocks.ts";

/** A value with all that is written above it. */
export interface Value {
  readonly path: readonly string[];
  readonly key: string;
  readonly default: unknown;
  /** The text behind `--`, on one line. Empty when the value is described with its parent. */
  readonly says: string;
  /** The map behind `@schema`. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The heading (`## …`) above it. */
  readonly heading: string | undefined;
  /** Values below it, when they have comments of their own; else it is one value, whatever its default. */
  readonly children: readonly Value[] | undefined;
}

/** All values of the text, in order. Throws `Error` for a comment that cannot be read. */
export function readValues(text: string): readonly Value[] {
  const { contents } = parseDocument(text);
  if (!isMap(contents)) throw new Error("values.yaml: no map");
  return readMap(contents, []);
}

function readMap(map: YAMLMap, path: readonly string[]): readonly Value[] {
  return map.items.map((item, at) => {
    if (!isPair(item) || !isScalar(item.key)) throw new Error(`${path.join(".")}: a key that is no text`);
    const key = String(item.key.value);
    // The comment above the first key belongs to the map, for the parser; the document's own first one to its key.
    const above = [at === 0 && path.length > 0 ? map.commentBefore : undefined, item.key.commentBefore];
    const comment = readComment(above.filter((part) => typeof part === "string").join("\n"), [...path, key]);
    const children = isMap(item.value) ? readMap(item.value, [...path, key]) : [];
    return {
      path: [...path, key],
      key,
      default: isNode(item.value) ? (item.value.toJSON() as unknown) : null,
      ...comment,
      children: "like" in comment.schema || !children.some(hasComment) ? undefined : children,
    };
  });
}

function hasComment({ says, schema, children }: Value): boolean {
  return says !== "" || Object.keys(schema).length > 0 || children !== undefined;
}

function readComment(text: string, path: readonly string[]): Pick<Value, "says" | "schema" | "heading"> {
  const lines = text.split("\n").map((line) => line.trim());
  const heading = lines.findLast((line) => line.startsWith("# "))?.slice(2);
  const annotation = lines.find((line) => line.startsWith("@schema "))?.slice("@schema ".length);
  const begin = lines.findIndex((line) => line.startsWith("-- "));
  const says = begin === -1 ? [] : lines.slice(begin).filter((line) => !line.startsWith("@schema "));
  const schema: unknown = annotation === undefined ? {} : parse(annotation);
  if (typeof schema !== "object" || schema === null) throw new Error(`${path.join(".")}: @schema holds no map`);
  return { says: says.join(" ").slice("-- ".length).trim(), schema: { ...schema }, heading };
}

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
  const { "x-form": form, "x-usual": _, ...rest } = schema as Schema;
  const kept = Object.entries(rest).filter(([key, value]) => !droppedByHelm(key, value));
  const result = Object.fromEntries(kept.map(([key, value]) => [key, fitted(value)]));
  if (form === "url") return { ...result, pattern: "^https?://[^/?#\\s]" };
  if (form === "redis url") return { ...result, pattern: "^rediss?://[^/?#\\s]+/?$" };
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

/** The README with its list of values regenerated. */
export const readmeWith = (readme: string, values: readonly Value[]): string =>
  withBlock(readme, "values", tables(values).trimEnd());

function tables(values: readonly Value[]): string {
  const lines: string[] = [];
  for (const value of values) {
    if (value.heading !== undefined) lines.push(`### ${value.heading}`, "", "| value | default | |", "|---|---|---|");
    lines.push(...rows(value));
    if (values[values.indexOf(value) + 1]?.heading !== undefined) lines.push("");
  }
  return `${lines.join("\n")}\n`;
}

function rows(value: Value): readonly string[] {
  const { children, says, path } = value;
  const below = (children ?? []).flatMap(rows);
  if (says === "" && children !== undefined) return below;
  const shown = children === undefined ? `\`${cell(JSON.stringify(value.default))}\`` : "";
  return [`| \`${path.join(".")}\` | ${shown} | ${cell(says)} |`, ...below];
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
