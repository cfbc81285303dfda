/** What do the comments of the chart's values.yaml say of each value? */
import { isMap, isNode, isPair, isScalar, parse, parseDocument, type YAMLMap } from "yaml";

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
