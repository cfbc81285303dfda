/** The configuration as a TypeScript type, from the same schema as the documentation. */
import { settingsJsonSchema } from "../../src/config/schema.ts";
import { isJsonObject, member } from "../../src/model/json.ts";

const HEAD = `/** The configuration of an embedded carryover. Generated from the schema by \`npm run docs\`. */

// biome-ignore format: a test compares it with the schema's output.
/**
 * The same tree as a configuration file. Only \`upstream.v2.url\` is required, and \`cutover.mode\` with a native v1 or rules; what is left out, or \`undefined\`, has its
 * default. Durations are seconds or text such as \`"1500ms"\`, \`"45s"\`, \`"1m"\`; sizes are bytes or text such as \`"64KiB"\`;
 * files are paths from the working directory.
 */
export interface CarryoverConfig `;

/** The only options without which there is nothing to begin with. */
const REQUIRED = new Set(["upstream", "upstream.v2", "upstream.v2.url", "upstream.v1.url", "upstream.sts.url"]);

/** `src/config/embedded-config.ts`. */
export function embeddedConfigFile(): string {
  return `${HEAD}${typeOf(settingsJsonSchema(), [])}\n`;
}

function typeOf(node: unknown, path: readonly string[]): string {
  const properties = member(node, "properties");
  if (!isJsonObject(properties)) {
    const items = member(member(node, "items"), "anyOf");
    if (Array.isArray(items)) return `readonly (${items.map(itemType).join(" | ")})[]`;
    return leafType(String(member(node, "x-form")));
  }
  const indent = "  ".repeat(path.length);
  const members = Object.entries(properties).map(([key, child]) => {
    const own = [...path, key];
    const required = REQUIRED.has(own.join("."));
    const type = `${typeOf(child, own)}${required ? "" : " | undefined"}`;
    return `${docOf(child, indent)}${indent}  readonly ${key}${required ? "" : "?"}: ${type};\n`;
  });
  return `{\n${members.join("")}${indent}}`;
}

/** The type of an item that may be a map: of texts, and of lists of texts. */
function itemType(node: unknown): string {
  const properties = member(node, "properties");
  if (isJsonObject(properties)) {
    const required = member(node, "required");
    const members = Object.entries(properties).map(([key, child]) => {
      const isRequired = Array.isArray(required) && required.includes(key);
      return `readonly ${key}${isRequired ? "" : "?"}: ${itemType(child)}${isRequired ? "" : " | undefined"}`;
    });
    return `{ ${members.join("; ")} }`;
  }
  const types = member(node, "anyOf");
  if (Array.isArray(types)) return types.map(itemType).join(" | ");
  return member(node, "type") === "array" ? "readonly string[]" : "string";
}

function docOf(node: unknown, indent: string): string {
  const description = member(node, "description");
  if (description === undefined) return "";
  const given = member(node, "default");
  const isShown = given !== undefined && given !== "" && !(Array.isArray(given) && given.length === 0);
  return `${indent}  /** ${String(description)}.${isShown ? ` Default: ${shown(given)}.` : ""} */\n`;
}

function shown(value: unknown): string {
  return `\`${Array.isArray(value) ? value.join(",") : String(value)}\``;
}

function leafType(form: string): string {
  if (form === "number") return "number";
  if (form === "number|none") return 'number | "none"';
  if (form === "seconds" || form === "days" || form === "bytes") return "number | string";
  if (form === "list") return "readonly string[]";
  if (form === "true|false") return "boolean";
  if (form.includes("=")) {
    const names = union(form.split("|").filter((name) => !name.includes("=")));
    return `${names} | Readonly<Record<string, ${names}>>`;
  }
  return form.includes("|") ? union(form.split("|")) : "string";
}

function union(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(" | ");
}
