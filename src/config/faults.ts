/** Faults of a configuration: where, what, and how to fix it. */

/** One fault. */
export interface ConfigFault {
  /** A flag, a variable, `file:line:column path`, or the option's path when it has no value. */
  readonly where: string;
  readonly what: string;
  readonly remedy: string;
}

/** Options of earlier releases by their path, each with its remedy. */
const REMOVED: ReadonlyMap<string, string> = new Map([
  ["grpc.maxMessageBytes", "set grpc.maxRequestBytes and grpc.maxResponseBytes instead"],
  ["lists.shareSeconds", "remove it: carryover keeps no list for other requests"],
]);

/** The remedy for an option of an earlier release, in the file, as a variable or as a flag; undefined for any other name. */
export function remedyOfRemoved(name: string): string | undefined {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replace(/^(?:--|carryover_)/, "")
      .replace(/[-_.]/g, "");
  for (const [old, remedy] of REMOVED) if (plain(name) === plain(old)) return remedy;
  return undefined;
}

/** One line for a person. */
export function faultText(fault: ConfigFault): string {
  return `${fault.where}: ${fault.what}; ${fault.remedy}`;
}

/** All faults of a configuration. */
export class ConfigError extends Error {
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[], heading = "the configuration cannot be used:") {
    super([heading, ...faults.map((fault) => `  ${faultText(fault)}`)].join("\n"));
    this.name = "ConfigError";
    this.faults = faults;
  }
}

/** A fault of a command's arguments, or of what they name. */
export class ArgumentError extends ConfigError {
  constructor(fault: ConfigFault) {
    super([fault], "the command cannot run:");
  }
}

/** The own value at `path` of a tree; undefined when there is none. */
export function valueAt(tree: unknown, path: readonly PropertyKey[]): unknown {
  let value = tree;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** A value as JSON, shortened to 60 characters; values without a JSON form in words. */
export function shownValue(value: unknown): string {
  if (value === undefined) return "undefined";
  const text = plainWords(value) ?? JSON.stringify(value, (_key, inner: unknown) => plainWords(inner) ?? inner);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function plainWords(value: unknown): string | undefined {
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "symbol") return value.description ?? "a symbol";
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : undefined;
}

/** Splits the message of a leaf: `what; remedy`, or only the expected form. */
export function faultWords(message: string, value: unknown): Pick<ConfigFault, "what" | "remedy"> {
  const [first = "", ...rest] = message.split("; ");
  return rest.length > 0
    ? { what: first, remedy: rest.join("; ") }
    : { what: `got ${shownValue(value)}`, remedy: first };
}
