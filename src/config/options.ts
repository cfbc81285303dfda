/** How is each option given as a flag, as a variable and in the file? (Derived from the JSON Schema, written by nobody.) */
import { isJsonObject, type JsonObject, member } from "../model/json.ts";

/** One option as every source knows it. */
export interface Option {
  /** `upstream.v2.url`: its place in the file, and its only name in messages. */
  readonly path: string;
  /** `--upstream-v2-url`. */
  readonly flag: string;
  /** `upstreamV2Url`: the key under which commander hands the flag over. */
  readonly attribute: string;
  /** `CARRYOVER_UPSTREAM_V2_URL`. */
  readonly variable: string;
  /** How a value is written: `number`, `seconds`, `bytes`, `file`, `url`, `list`, `a|b|c`, … */
  readonly form: string;
  readonly description: string;
  /** The default as it would be written; undefined when there is none. */
  readonly default: string | undefined;
  /** Limits in words, or empty. */
  readonly limits: string;
}

/** Prefix of every variable. */
export const VARIABLE_PREFIX = "CARRYOVER_";

/** All options of a JSON Schema, in its order: a node with `properties` is a branch, any other a leaf. */
export function optionsOf(schema: unknown): readonly Option[] {
  return walk(schema, []);
}

function walk(node: unknown, path: readonly string[]): readonly Option[] {
  const properties = member(node, "properties");
  if (!isJsonObject(properties)) return [option(node, path)];
  return Object.entries(properties).flatMap(([key, child]) => walk(child, [...path, key]));
}

function option(node: unknown, path: readonly string[]): Option {
  const words = path.flatMap((key) => key.split(/(?=[A-Z])/)).map((word) => word.toLowerCase());
  const attribute = words.map((word, at) => (at === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join("");
  return {
    path: path.join("."),
    flag: `--${words.join("-")}`,
    attribute,
    variable: VARIABLE_PREFIX + words.join("_").toUpperCase(),
    form: String(member(node, "x-form") ?? "text"),
    description: String(member(node, "description") ?? ""),
    default: defaultOf(member(node, "default")),
    limits: limitsOf(node),
  };
}

function defaultOf(value: unknown): string | undefined {
  if (value === undefined || value === "") return undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.join(",");
  return String(value);
}

function limitsOf(node: unknown): string {
  const branches = member(node, "anyOf");
  const numeric = Array.isArray(branches) ? branches.find((branch) => member(branch, "minimum") !== undefined) : node;
  const [min, max] = [member(numeric, "minimum"), member(numeric, "maximum")];
  return min === undefined || max === undefined ? "" : `${min} to ${max}`;
}

/** The value that `text` of a flag or a variable stands for; the schema judges whether it fits. */
export function valueOfText(text: string, form: string): unknown {
  if (form === "number") return /^[+-]?\d{1,15}$/.test(text) ? Number(text) : text;
  if (form === "list") return text.split(",").map((item) => item.trim());
  if (form.includes("=")) return text.includes("=") ? mapOfText(text) : text;
  return text;
}

function mapOfText(text: string): JsonObject {
  return Object.fromEntries(
    text.split(",").map((entry) => {
      const at = entry.indexOf("=");
      return at < 0 ? [entry.trim(), ""] : [entry.slice(0, at).trim(), entry.slice(at + 1).trim()];
    }),
  );
}
