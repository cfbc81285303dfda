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

/** A fault that is known of, and put into words when it is to be told. */
export type Untold = () => Fault;

/** Nobody reads more, and to explain each of very many would hold up whoever reads the file. */
export const MAX_TOLD = 20;

/** The first `MAX_TOLD` in full; of the others only how many they are, as one more fault. */
export function tell(untold: readonly Untold[], name: string): readonly Fault[] {
  const told = untold.slice(0, MAX_TOLD).map((fault) => fault());
  const more = untold.length - told.length;
  if (more === 0) return told;
  const what = `and ${more.toLocaleString("en-US")} more`;
  return [...told, { where: `${name}:1:1`, what, remedy: "correct these first" }];
}

/** Turns an issue of the schema about what stands at `base` into faults, each with line and remedy. */
export type Explain = (issue: Issue, base: readonly PropertyKey[]) => readonly Untold[];

export function createExplainer(file: ConfigFile, name: string): Explain {
  let schema: unknown;
  return (issue, base) => {
    const path = [...base, ...issue.path];
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => () => {
        schema ??= rulesJsonSchema();
        const remedy = didYouMean(nearest(key, keysAt(schema, path)));
        return { where: locate(file, name, path, key), what: "there is no such key", remedy };
      });
    }
    return [() => explainValue(issue, { where: locate(file, name, path), value: valueAt(file.tree, path) })];
  };
}

function explainValue(issue: Issue, { where, value }: { readonly where: string; readonly value: unknown }): Fault {
  const isMap = issue.code === "invalid_type" && issue.expected === "object";
  const remedy = isMap ? "expected a map of keys" : issue.message;
  if (value === undefined) return { where, what: "required, and not given", remedy };
  if (value === null) return { where, what: "nothing stands behind it", remedy };
  return { where, ...wordsFor(remedy, value) };
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
