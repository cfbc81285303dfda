/** What did the schema find wrong with a rules file, and which key may have been meant? */
import { isJsonObject, member } from "../../model/json.ts";
import { didYouMean, type Fault, nearest } from "../fault.ts";
import type { ConfigFile } from "../file.ts";
import { valueAt, wordsFor } from "../issue.ts";
import { type RulesSchema, rulesJsonSchema } from "./schema.ts";

type Issue = NonNullable<ReturnType<typeof RulesSchema.safeParse>["error"]>["issues"][number];

/** `name:line:column path`; of what is not there, the line of what it should be in. */
export function locate(file: ConfigFile, name: string, path: readonly PropertyKey[], key?: string): string {
  const whole = key === undefined ? path : [...path, key];
  const exact = file.placeOf(path, key);
  let place = exact;
  for (let length = path.length; place === undefined && length >= 0; length--)
    place = file.placeOf(path.slice(0, length));
  return `${name}:${place?.line ?? 1}:${place?.column ?? 1} ${whole.join(".")}`.trimEnd();
}

/** Turns issues of the schema into faults, each with line and remedy. */
export function createExplainer(file: ConfigFile, name: string): (issue: Issue) => readonly Fault[] {
  let schema: unknown;
  return (issue) => {
    if (issue.code === "unrecognized_keys") {
      schema ??= rulesJsonSchema();
      const known = keysAt(schema, issue.path);
      return issue.keys.map((key) => ({
        where: locate(file, name, issue.path, key),
        what: "there is no such key",
        remedy: didYouMean(nearest(key, known)),
      }));
    }
    const where = locate(file, name, issue.path);
    const value = valueAt(file.tree, issue.path);
    const isMap = issue.code === "invalid_type" && issue.expected === "object";
    const remedy = isMap ? "expected a map of keys" : issue.message;
    if (value === undefined) return [{ where, what: "required, and not given", remedy }];
    if (value === null) return [{ where, what: "nothing stands behind it", remedy }];
    return [{ where, ...wordsFor(remedy, value) }];
  };
}

/** The keys of the map at `path`, by the JSON Schema. */
function keysAt(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  let node = schema;
  for (const key of path) {
    node = typeof key === "number" ? member(node, "items") : member(member(node, "properties"), String(key));
  }
  const properties = member(node, "properties");
  return isJsonObject(properties) ? Object.keys(properties) : [];
}
