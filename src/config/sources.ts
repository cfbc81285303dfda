/** Merges flags, variables and the file, and remembers where each value came from. */

import { isJsonObject, type JsonObject, member } from "../model/json.ts";
import { didYouMean, nearest } from "../model/text.ts";
import { ADMIN_TOKEN_VARIABLE, CHECK_TOKEN_VARIABLE } from "./command-variables.ts";
import { type ConfigFault, remedyOfRemoved, shownValue } from "./faults.ts";
import { type ConfigFile, readConfigFile } from "./yaml-file.ts";

/** The merged tree, and the source of each value. */
export interface GatheredOptions {
  readonly tree: Record<string, unknown>;
  readonly faults: readonly ConfigFault[];
  /** True when the file could not be read as options at all. */
  readonly broken: boolean;
  /** The source of the value at `path`; the path itself when it has none. */
  locate(path: readonly PropertyKey[]): string;
  /** The location of the unknown key `key` in the file. */
  locateKey(path: readonly PropertyKey[], key: string): string;
  /** How to set `option` where it is missing. */
  howToSet(option: Option): string;
}

export interface OptionSources {
  /** By commander's attribute (`upstreamV2Url`); keys that are no option belong to the command and are not looked at. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The configuration file, when there is one. */
  readonly file: { readonly name: string; readonly text: string } | undefined;
  /** The configuration of a program that embeds carryover, instead of a file. */
  readonly object?: { readonly given: unknown } | undefined;
}

/** Prefix of every variable. */
const VARIABLE_PREFIX = "CARRYOVER_";
/** The variable that names the configuration file. */
export const FILE_VARIABLE = `${VARIABLE_PREFIX}CONFIG`;

/** Flags win over variables, variables over the file. An empty variable counts as unset. */
export function gather(sources: OptionSources, options: readonly Option[]): GatheredOptions {
  const file = sources.object === undefined ? readConfigFile(sources.file) : readObject(sources.object.given);
  const faults = [...file.faults, ...unknownVariables(sources.env, options)];
  const tree = file.tree;
  const origins = new Map<string, string>();
  for (const option of options) {
    const given = givenOutside(sources, option);
    if (given === undefined) continue;
    put(tree, option.path.split("."), given.value);
    origins.set(option.path, given.where);
  }
  const locate = (path: readonly PropertyKey[]): string => {
    for (let length = path.length; length > 0; length--) {
      const origin = origins.get(path.slice(0, length).join("."));
      if (origin !== undefined) return origin;
    }
    return file.at(path) ?? path.join(".");
  };
  return {
    tree,
    faults,
    broken: file.faults.length > 0,
    locate,
    locateKey: (path, key) => file.at(path, key) ?? [...path, key].join("."),
    howToSet: ({ flag, variable, path }) =>
      sources.object === undefined ? `set ${flag}, ${variable} or ${path} in the file` : `set ${path}`,
  };
}

function givenOutside(sources: OptionSources, option: Option): { value: unknown; where: string } | undefined {
  const flag = Object.hasOwn(sources.flags, option.attribute) ? sources.flags[option.attribute] : undefined;
  if (flag !== undefined) {
    return { value: typeof flag === "string" ? valueOfText(flag, option.form) : flag, where: option.flag };
  }
  const variable = sources.env[option.variable];
  if (variable === undefined || variable === "" || isServiceLink(option.variable, variable)) return undefined;
  return { value: valueOfText(variable, option.form), where: option.variable };
}

/** Sets `value` in `tree`. A branch that is not a map stays as it is, and the schema refuses it. */
function put(tree: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let branch = tree;
  for (const key of path.slice(0, -1)) {
    branch[key] ??= {};
    const next = branch[key];
    if (typeof next !== "object" || next === null || Array.isArray(next)) return;
    branch = next as Record<string, unknown>;
  }
  branch[path.at(-1) ?? ""] = value;
}

function unknownVariables(env: OptionSources["env"], options: readonly Option[]): readonly ConfigFault[] {
  const known = new Set([FILE_VARIABLE, ...options.map((option) => option.variable)]);
  const tokens: readonly string[] = [ADMIN_TOKEN_VARIABLE, CHECK_TOKEN_VARIABLE];
  const faults: ConfigFault[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith(VARIABLE_PREFIX) || value === undefined || known.has(name) || tokens.includes(name)) continue;
    if (isServiceLink(name, value)) continue;
    const remedy = remedyOfRemoved(name) ?? didYouMean(nearest(name, known));
    faults.push({ where: name, what: "there is no such option", remedy });
  }
  return faults;
}

/**
 * Kubernetes sets variables in each pod for the Services of its namespace: a Service called `carryover-admin` makes
 * CARRYOVER_ADMIN_PORT=tcp://10.0.0.1:8081. They are not options and must not prevent a start.
 */
function isServiceLink(name: string, value: string): boolean {
  if (/_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$/.test(name)) return true;
  if (/_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name)) return true;
  return name.endsWith("_PORT") && /^(tcp|udp|sctp):\/\//.test(value);
}

/** One option, as each source spells it. */
export interface Option {
  /** `upstream.v2.url`: its path in the file, and its name in messages. */
  readonly path: string;
  /** `--upstream-v2-url`. */
  readonly flag: string;
  /** `upstreamV2Url`: commander's key for the flag. */
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
  /** Most operators set it or look at it; all others are advanced. */
  readonly usual: boolean;
}

/** All options of a JSON Schema, in its order. A node with `properties` is a branch, any other node an option. */
export function optionsOf(schema: unknown): readonly Option[] {
  return optionsBelow(schema, []);
}

function optionsBelow(node: unknown, path: readonly string[]): readonly Option[] {
  const properties = member(node, "properties");
  if (!isJsonObject(properties)) return [optionOf(node, path)];
  return Object.entries(properties).flatMap(([key, child]) => optionsBelow(child, [...path, key]));
}

function optionOf(node: unknown, path: readonly string[]): Option {
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
    usual: member(node, "x-usual") === true,
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

/** The value of the text of a flag or variable; the schema checks it. */
function valueOfText(text: string, form: string): unknown {
  if (form.startsWith("number")) return /^[+-]?\d{1,15}$/.test(text) ? Number(text) : text;
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

/** Deeper than any option. */
const MAX_DEPTH = 16;

/** The same for an object passed by a program. The object is never modified. */
export function readObject(given: unknown): ConfigFile {
  const nowhere = { at: () => undefined, locationOf: () => undefined };
  const tree = asInFile(given, []);
  if (typeof tree === "object" && tree !== null && !Array.isArray(tree))
    return { ...nowhere, tree: tree as Record<string, unknown>, faults: [] };
  const fault = { where: "config", what: `got ${shownValue(tree)}`, remedy: "give an object of options" };
  return { ...nowhere, tree: {}, faults: [fault] };
}

/**
 * A copy in which a descriptive symbol replaces each value that no file could hold. No option accepts a symbol, so the
 * schema refuses it with its location. `around`: the objects that contain `value`.
 */
function asInFile(value: unknown, around: readonly object[]): unknown {
  if (typeof value === "function" || typeof value === "symbol") return Symbol(`a ${typeof value}`);
  if (typeof value !== "object" || value === null) return value;
  if (around.includes(value)) return Symbol("an object within itself");
  if (around.length === MAX_DEPTH) return Symbol("a tree that is too deep");
  const inner = (child: unknown) => asInFile(child, [...around, value]);
  if (Array.isArray(value)) return Array.from(value, inner);
  if (!isPlain(value)) return Symbol(`an instance of ${classNameOf(value)}`);
  // fromEntries keeps a key called __proto__, which is then refused like any unknown key.
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, inner(child)]));
}

/** An object literal or parsed JSON of any realm, or an object without a prototype. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function classNameOf(value: object): string {
  const { name } = value.constructor ?? {};
  return typeof name === "string" && name !== "" ? name : "a class";
}

const EMBEDDING_OPTIONS = ["log", "onRequest", "metrics"] as const;

/** Faults in the second argument of the library's entry; a JavaScript caller has no compiler. */
export function optionFaults(options: unknown): readonly ConfigFault[] {
  if (!isObject(options) || Array.isArray(options))
    return [
      {
        where: "options",
        what: gotValue(options),
        remedy: "expected an object with log, onRequest and metrics, or nothing",
      },
    ];
  const faults: ConfigFault[] = Object.keys(options)
    .filter((key) => !EMBEDDING_OPTIONS.some((name) => name === key))
    .map((key) => ({
      where: `options.${key}`,
      what: "there is no such option",
      remedy: didYouMean(nearest(key, EMBEDDING_OPTIONS)),
    }));
  const { log, onRequest, metrics }: { readonly [Name in (typeof EMBEDDING_OPTIONS)[number]]?: unknown } = options;
  if (!(metrics === undefined || (isObject(metrics) && isRegistry(metrics)))) {
    const remedy = "expected a Registry of prom-client";
    faults.push({ where: "options.metrics", what: gotValue(metrics), remedy });
  }
  if (!(log === undefined || typeof log === "function" || (isObject(log) && isWritable(log)))) {
    const remedy = "expected a function that takes a line, or a stream to write to";
    faults.push({ where: "options.log", what: gotValue(log), remedy });
  }
  if (!(onRequest === undefined || typeof onRequest === "function")) {
    const remedy = "expected a function that takes a request";
    faults.push({ where: "options.onRequest", what: gotValue(onRequest), remedy });
  }
  return faults;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isWritable(value: { readonly write?: unknown }): boolean {
  return typeof value.write === "function";
}

function isRegistry(value: object): boolean {
  const methods = ["registerMetric", "getSingleMetric", "removeSingleMetric"];
  return methods.every((name) => typeof (value as Record<string, unknown>)[name] === "function");
}

function gotValue(value: unknown): string {
  return `got ${shownValue(asInFile(value, []))}`;
}
