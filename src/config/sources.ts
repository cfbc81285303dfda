/** What did flags, variables and the file say, and where does each value come from? */
import { didYouMean, type Fault, nearest } from "./fault.ts";
import { readConfigFile } from "./file.ts";
import { readObject } from "./object.ts";
import { type Option, VARIABLE_PREFIX, valueOfText } from "./options.ts";

/** A tree as the schema reads it, with the way back from a path to where its value was written. */
export interface Gathered {
  readonly tree: Record<string, unknown>;
  readonly faults: readonly Fault[];
  /** True when the file could not be read as options at all. */
  readonly broken: boolean;
  /** Where the value at `path` was given; the path itself when nowhere. */
  locate(path: readonly PropertyKey[]): string;
  /** Where the unknown key `key` stands in the file. */
  locateKey(path: readonly PropertyKey[], key: string): string;
  /** What is to be done where `option` is missing. */
  howToSet(option: Option): string;
}

export interface Sources {
  /** By commander's attribute (`upstreamV2Url`); keys that are no option belong to the command and are not looked at. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The configuration file, when there is one. */
  readonly file: { readonly name: string; readonly text: string } | undefined;
  /** What a program that embeds carryover says, in place of a file. */
  readonly object?: { readonly given: unknown } | undefined;
}

/** The variable that names the configuration file. */
export const FILE_VARIABLE = `${VARIABLE_PREFIX}CONFIG`;

/** Merges the sources: flags win over variables, variables over the file. An empty variable is as good as none. */
export function gather(sources: Sources, options: readonly Option[]): Gathered {
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

function givenOutside(sources: Sources, option: Option): { value: unknown; where: string } | undefined {
  const flag = Object.hasOwn(sources.flags, option.attribute) ? sources.flags[option.attribute] : undefined;
  if (flag !== undefined) {
    return { value: typeof flag === "string" ? valueOfText(flag, option.form) : flag, where: option.flag };
  }
  const variable = sources.env[option.variable];
  if (variable === undefined || variable === "" || isServiceLink(option.variable, variable)) return undefined;
  return { value: valueOfText(variable, option.form), where: option.variable };
}

/** Puts `value` into `tree`; a branch that is no map stays as it is, for the schema to refuse. */
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

function unknownVariables(env: Sources["env"], options: readonly Option[]): readonly Fault[] {
  const known = new Set([FILE_VARIABLE, ...options.map((option) => option.variable)]);
  const faults: Fault[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith(VARIABLE_PREFIX) || value === undefined || known.has(name)) continue;
    if (isServiceLink(name, value)) continue;
    faults.push({ where: name, what: "there is no such option", remedy: didYouMean(nearest(name, known)) });
  }
  return faults;
}

/**
 * Kubernetes gives each pod variables about each Service of its namespace: a Service called `carryover-admin` makes
 * CARRYOVER_ADMIN_PORT=tcp://10.0.0.1:8081. They are not about options and must not keep a pod from starting.
 */
function isServiceLink(name: string, value: string): boolean {
  if (/_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$/.test(name)) return true;
  if (/_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name)) return true;
  return name.endsWith("_PORT") && /^(tcp|udp|sctp):\/\//.test(value);
}
