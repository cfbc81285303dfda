/** Loads the configuration: flags, variables, file, defaults; checks it and names every fault. */

import { deepFreeze } from "../model/json.ts";
import type { FieldMatcher } from "../model/matcher.ts";
import type { NativeDomain, Resource } from "../model/resource.ts";
import type { CutoverMode } from "../model/rules.ts";
import { didYouMean, nearest } from "../model/text.ts";
import { ALL_OPTIONS } from "./all-options.ts";
import { certificateFaults, contradictions, doubts, type OptionRemark, pathsOfTheApi, upstreamsOf } from "./checks.ts";
import { ADMIN_TOKEN_VARIABLE } from "./command-variables.ts";
import {
  ConfigError,
  type ConfigFault,
  faultText,
  faultWords,
  remedyOfRemoved,
  shownValue,
  valueAt,
} from "./faults.ts";
import { readMatchers, unknownMatchers } from "./matchers.ts";
import { type Settings, SettingsSchema } from "./schema.ts";
import { FILE_VARIABLE, type GatheredOptions, gather, type Option, type OptionSources } from "./sources.ts";
import { isTokenText } from "./values.ts";

/** Contents of PEM files, as `tls.*` names them. */
export interface Tls {
  readonly caFile?: Uint8Array;
  readonly certFile?: Uint8Array;
  readonly keyFile?: Uint8Array;
}

/** Where these were read, by the same names. */
export type TlsFiles = Readonly<Partial<Record<keyof Tls, string>>>;

type WithTls<Upstream> = Readonly<Omit<Upstream, "tls">> & { readonly tls: Tls; readonly tlsFiles: TlsFiles };

/** Complete, checked and frozen. Durations are seconds, sizes bytes, TLS files are read. */
export interface Config
  extends Readonly<
    Omit<Settings, "upstream" | "admin" | "lists" | "cutover" | "fallback" | "grpc" | "state" | "shadow">
  > {
  readonly upstream: {
    readonly v2: WithTls<Settings["upstream"]["v2"]> & { readonly audience: string };
    readonly v1?: WithTls<NonNullable<Settings["upstream"]["v1"]>>;
    /** Token exchange belongs to the platform: it has the timeouts, connections and breaker of v2. */
    readonly sts?: WithTls<NonNullable<Settings["upstream"]["v1"]>>;
  };
  readonly admin: Readonly<Settings["admin"]> & {
    /** Contents of `tokenFile` without white space around it. */
    readonly token?: string;
  };
  readonly lists: Readonly<Settings["lists"]> & { readonly bufferBytes: number };
  readonly cutover: Readonly<Settings["cutover"]> & { readonly mode: CutoverMode };
  /** `matchers`: those of `matchersFile`. */
  readonly shadow: Readonly<Settings["shadow"]> & { readonly matchers: readonly FieldMatcher[] };
  /** The password is not here: it is read for each connection. */
  readonly state: WithTls<Settings["state"]>;
  readonly fallback: "native" | "refuse";
  /** `descriptors`: the contents of the file. */
  readonly grpc: Readonly<Omit<Settings["grpc"], "descriptors" | "streamIdleSeconds">> & {
    readonly descriptors?: Uint8Array;
    readonly streamIdleSeconds: number;
  };
}

/** Default of `lists.bufferBytes`, lowered to `lists.maxBytes` where that is smaller. */
const BUFFER_BYTES = 2 * 1024 ** 2;

/** Where `loadConfig` looks. */
export interface ConfigInput {
  /** As commander hands them over (`upstreamV2Url`, `config`); keys that are no option are the command's and not looked at. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a whole file; throws when it cannot. */
  readonly readFile: (path: string) => Uint8Array;
  /** The options whose files are read. Undefined: all; a file of any other is not looked at, and need not be there. */
  readonly reads?: readonly string[];
  /** Nothing is to be missed for want of `upstream.v1.url`. */
  readonly assumesNative?: true;
  /** In place of a configuration file: the same tree as an object. */
  readonly object?: { readonly given: unknown };
}

/** What a configuration depends on of the catalogue. */
export interface CatalogueNames {
  readonly resources: readonly Pick<Resource, "name" | "domain">[];
  readonly natives: readonly Pick<NativeDomain, "domain">[];
}

/** What `loadConfig` found. */
export interface LoadedConfig {
  readonly config: Config;
  readonly warnings: readonly string[];
  /** Whether `cutover.mode` is set; otherwise it is the default. */
  readonly saysMode: boolean;
  /** Judges what takes the catalogue's names. Throws ConfigError for unknown resources, and for addresses that hold the path of the API. */
  requireKnown(catalogue: CatalogueNames): void;
}

/** All options, in the order of the documentation. */
export function configOptions(): readonly Option[] {
  return ALL_OPTIONS;
}

/** One flag as commander expects it. */
export interface OptionFlag {
  /** `--upstream-v2-url <url>`. */
  readonly flags: string;
  readonly attribute: string;
  readonly description: string;
  /** For the help text only; the loader fills in defaults after variables and the file. */
  readonly default: string | undefined;
  readonly env: string;
  readonly usual: boolean;
}

/** Every option as a flag, `--config` first, then the other usual ones. */
export function optionFlags(): readonly OptionFlag[] {
  const config = {
    flags: "--config <file>",
    attribute: "config",
    description: "YAML file with any of these options",
    default: undefined,
    env: FILE_VARIABLE,
    usual: true,
  };
  const others = ALL_OPTIONS.map((option) => ({
    flags: `${option.flag} <${option.form}>`,
    attribute: option.attribute,
    description: option.description,
    default: option.default,
    env: option.variable,
    usual: option.usual,
  }));
  return [config, ...others.filter(({ usual }) => usual), ...others.filter(({ usual }) => !usual)];
}

/** Reads the configuration file and the files that options name. Flags win over variables, variables over the file. Throws ConfigError with every fault. */
export function loadConfig(input: ConfigInput): LoadedConfig {
  const { flags, env, object } = input;
  const gathered = gather({ flags, env, object, file: configFile(input) }, ALL_OPTIONS);
  const settings = parseSettings(gathered, ALL_OPTIONS);
  const locate = (remark: OptionRemark): ConfigFault => ({ ...remark, where: gathered.locate(remark.path.split(".")) });
  const remarks = [...contradictions(settings, input.assumesNative)];
  const config = complete(settings, (path, name) => {
    const read = input.reads?.includes(path) === false ? UNREAD : readBytes(input.readFile, name);
    if (typeof read === "string") remarks.push({ path, what: read, remedy: "name a file that is there and not empty" });
    return typeof read === "string" ? new Uint8Array() : read;
  });
  const { token } = config.admin;
  if (token !== undefined && !isTokenText(token) && remarks.length === 0) remarks.push(INVALID_TOKEN);
  if (remarks.length === 0 && input.reads === undefined) remarks.push(...unusableFiles(settings, config));
  if (remarks.length > 0) throw new ConfigError(remarks.map(locate));
  return {
    config: deepFreeze(config),
    warnings: [...doubts(settings).map(locate), ...tokenDoubts(input.env, settings)].map(faultText),
    saysMode: settings.cutover.mode !== undefined,
    requireKnown: ({ resources, natives }) => {
      const domains = new Set([...resources, ...natives].map(({ domain }) => domain));
      const names = resources.map(({ name }) => name);
      const wrong = [...unknownResources(settings, names), ...pathsOfTheApi(settings, domains)];
      const { matchers, matchersFile = "" } = config.shadow;
      const faults = [...wrong.map(locate), ...unknownMatchers(matchers, names, matchersFile)];
      if (faults.length > 0) throw new ConfigError(faults);
    },
  };
}

/** A token there protects nothing: it is what commands send. */
function tokenDoubts(env: ConfigInput["env"], { admin }: Settings): readonly ConfigFault[] {
  if ((env[ADMIN_TOKEN_VARIABLE] ?? "") === "" || admin.tokenFile !== undefined) return [];
  const what = "only commands that ask an instance use it, and admin.tokenFile is not set";
  return [{ where: ADMIN_TOKEN_VARIABLE, what, remedy: "put the token into a file and name it in admin.tokenFile" }];
}

/** Stands for the contents of a file that is not read. */
const UNREAD = new TextEncoder().encode("unread");

/** No request could present such a token in a header field. */
const INVALID_TOKEN: OptionRemark = {
  path: "admin.tokenFile",
  what: "the file holds no token",
  remedy: "put one word of visible ASCII characters into it",
};

/** The configuration file that a flag or a variable names. */
export function configFileName({ flags, env }: Pick<ConfigInput, "flags" | "env">): string | undefined {
  const flag = Object.hasOwn(flags, "config") ? flags["config"] : undefined;
  const name = typeof flag === "string" ? flag : env[FILE_VARIABLE];
  return name === "" ? undefined : name;
}

function configFile(input: ConfigInput): OptionSources["file"] {
  const { flags, readFile } = input;
  const name = configFileName(input);
  if (name === undefined) return undefined;
  const where = typeof flags["config"] === "string" ? "--config" : FILE_VARIABLE;
  const read = readBytes(readFile, name);
  if (typeof read !== "string") return { name, text: new TextDecoder().decode(read) };
  throw new ConfigError([{ where, what: read, remedy: "name a YAML file that is there and not empty" }]);
}

/** The contents, or what is wrong with the file. */
function readBytes(readFile: ConfigInput["readFile"], name: string): Uint8Array | string {
  try {
    const bytes = readFile(name);
    return new TextDecoder().decode(bytes).trim() === "" ? `${name} is empty` : bytes;
  } catch (error) {
    return `${name} cannot be read (${error instanceof Error ? error.message : String(error)})`;
  }
}

function unknownResources(settings: Settings, known: readonly string[]): readonly OptionRemark[] {
  const named = [
    ...Array.from(settings.lists.require.resources.keys(), (name) => ({ path: `lists.require.${name}`, name })),
    ...settings.shadow.ignore.map((entry) => ({ path: "shadow.ignore", name: entry.split(".", 1)[0] ?? "" })),
  ];
  return named
    .filter(({ name }) => !known.includes(name))
    .map(({ path, name }) => ({
      path,
      what: `there is no resource ${JSON.stringify(name)}`,
      remedy: didYouMean(nearest(name, known)),
    }));
}

function unusableFiles(settings: Settings, { upstream, state }: Config): readonly OptionRemark[] {
  return [
    ...upstreamsOf(settings).flatMap(([name, { tls }]) =>
      certificateFaults(`upstream.${name}`, tls, upstream[name]?.tls ?? {}),
    ),
    ...certificateFaults("state", settings.state.tls, state.tls),
  ];
}

/** Fills in defaults that depend on other options, and the contents of files. `read` gets the option's path and the file. */
function complete(settings: Settings, read: (path: string, name: string) => Uint8Array): Config {
  const withTls = <U extends { readonly tls: Settings["upstream"]["v2"]["tls"] }>(name: string, upstream: U) => {
    const files = Object.entries(upstream.tls).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const tls: Tls = Object.fromEntries(files.map(([key, file]) => [key, read(`${name}.tls.${key}`, file)]));
    return { ...upstream, tls, tlsFiles: Object.fromEntries(files) };
  };
  const { v2, v1, sts } = settings.upstream;
  const { tokenFile } = settings.admin;
  const { saltFile } = settings.cutover;
  const { lists } = settings;
  const { passwordFile } = settings.state;
  // A file that is not there is a fault of the configuration.
  if (passwordFile !== undefined) read("state.passwordFile", passwordFile);
  const { descriptors, streamIdleSeconds = settings.limits.requestSeconds, ...messages } = settings.grpc;
  return {
    ...settings,
    grpc: {
      ...messages,
      streamIdleSeconds,
      ...(descriptors === undefined ? {} : { descriptors: read("grpc.descriptors", descriptors) }),
    },
    lists: {
      ...lists,
      bufferBytes: lists.bufferBytes ?? Math.min(BUFFER_BYTES, lists.maxBytes),
    },
    upstream: {
      v2: { ...withTls("upstream.v2", v2), audience: v2.audience ?? v2.url },
      ...(v1 === undefined ? {} : { v1: withTls("upstream.v1", v1) }),
      ...(sts === undefined ? {} : { sts: { ...withTls("upstream.sts", sts), ...callLimitsOf(v2) } }),
    },
    admin: {
      ...settings.admin,
      ...(tokenFile === undefined ? {} : { token: textOfFile(read("admin.tokenFile", tokenFile)) }),
    },
    cutover: {
      ...settings.cutover,
      mode: settings.cutover.mode ?? "translate",
      ...(saltFile === undefined ? {} : { salt: textOfFile(read("cutover.saltFile", saltFile)) }),
    },
    shadow: { ...settings.shadow, matchers: matchersOf(settings, read) },
    state: withTls("state", settings.state),
    fallback: settings.fallback ?? (v1 === undefined ? "refuse" : "native"),
  };
}

/** Throws ConfigError for a file that cannot be used. */
function matchersOf(
  { shadow: { matchersFile } }: Settings,
  read: (path: string, name: string) => Uint8Array,
): readonly FieldMatcher[] {
  if (matchersFile === undefined) return [];
  const bytes = read("shadow.matchersFile", matchersFile);
  // One that cannot be read is a fault already.
  return bytes === UNREAD || bytes.length === 0 ? [] : readMatchers(bytes, matchersFile);
}

function callLimitsOf({ timeouts, connections, breaker }: Settings["upstream"]["v2"]) {
  return { timeouts, connections, breaker };
}

/** Trimmed: editors leave a newline at the end. */
function textOfFile(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).trim();
}

type SettingsIssue = NonNullable<ReturnType<typeof SettingsSchema.safeParse>["error"]>["issues"][number];

/** The settings of a gathered tree. Throws ConfigError with the faults of the sources and of the schema. */
export function parseSettings(gathered: GatheredOptions, options: readonly Option[]): Settings {
  const result = SettingsSchema.safeParse(withUpstream(gathered.tree));
  if (result.success && gathered.faults.length === 0) return result.data;
  // A file that is not YAML has no values, so the schema's complaints about missing ones add nothing.
  const issues = result.success || gathered.broken ? [] : result.error.issues;
  throw new ConfigError([...gathered.faults, ...issues.flatMap((issue) => faultsOf(issue, gathered, options))]);
}

/** Makes the schema report a missing address as `upstream.v2.url`, not as `upstream`. */
function withUpstream(tree: Record<string, unknown>): Record<string, unknown> {
  const upstream = tree["upstream"] ?? {};
  if (typeof upstream !== "object" || Array.isArray(upstream)) return tree;
  return { ...tree, upstream: { v2: {}, ...upstream } };
}

function faultsOf(issue: SettingsIssue, gathered: GatheredOptions, options: readonly Option[]): readonly ConfigFault[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      where: gathered.locateKey(issue.path, key),
      what: "there is no such option",
      // The item of a list names its own keys.
      remedy: issue.path.some((part) => typeof part === "number")
        ? issue.message
        : (remedyOfRemoved([...issue.path, key].join(".")) ?? didYouMean(nearestKey(issue.path, key, options))),
    }));
  }
  const path = issue.path.join(".");
  const where = gathered.locate(issue.path);
  const value = valueAt(gathered.tree, issue.path);
  const option = options.find((candidate) => candidate.path === path);
  if (value === undefined && option !== undefined) {
    return [{ where, what: "required, and not set", remedy: gathered.howToSet(option) }];
  }
  if (issue.code === "invalid_type" && issue.expected === "object") {
    return [{ where, what: `got ${shownValue(value)}`, remedy: "expected a map of options" }];
  }
  return [{ where, ...faultWords(issue.message, value) }];
}

/** A similar key of the same map, else any option that ends with this key. */
function nearestKey(path: readonly PropertyKey[], key: string, options: readonly Option[]): string | undefined {
  const prefix = path.map((part) => `${String(part)}.`).join("");
  const siblings = options
    .filter((option) => option.path.startsWith(prefix))
    .map((option) => option.path.slice(prefix.length).split(".")[0] ?? "");
  const sibling = nearest(key, siblings);
  if (sibling !== undefined) return `${prefix}${sibling}`;
  return options.find((option) => option.path.endsWith(`.${key}`))?.path;
}

/** What commands that call no platform can do without, and the flag that stands in for it. */
const ASSUMED: ReadonlyMap<string, readonly [attribute: string, value: string]> = new Map([
  ["upstream.v2.url", ["upstreamV2Url", "http://v2.invalid"]],
  ["cutover.mode", ["cutoverMode", "translate"]],
]);

export interface AssumedConfig {
  readonly config: Config;
  /** Whether the address of v2 is set. */
  readonly known: boolean;
  /** Whether `cutover.mode` is what `serve` would use; otherwise it is assumed to be `translate`. */
  readonly modeKnown: boolean;
}

/**
 * The configuration that `serve` would use, for commands that call no platform. The address of v2 may be missing, and so may the mode. Certificates and
 * tokens are not read, except the files of the options in `reads`. Throws ConfigError.
 */
export function assumedConfig(given: ConfigInput, reads: readonly string[] = []): AssumedConfig {
  return withAssumed({ ...given, reads }, new Set());
}

function withAssumed(input: ConfigInput, assumed: ReadonlySet<string>): AssumedConfig {
  try {
    const { config, saysMode } = loadConfig(input);
    const known = !assumed.has("upstream.v2.url");
    return { config, known, modeKnown: !assumed.has("cutover.mode") && (known || saysMode) };
  } catch (error) {
    const missing = error instanceof ConfigError ? error.faults.map(({ where }) => where) : [];
    if (missing.length === 0 || missing.some((where) => !ASSUMED.has(where) || assumed.has(where))) throw error;
    const added = [...ASSUMED].flatMap(([where, flag]) => (missing.includes(where) ? [flag] : []));
    const flags = { ...input.flags, ...Object.fromEntries(added) };
    // Without an address of v2 no configuration was given: it cannot lack the address of v1.
    const native = missing.includes("upstream.v2.url") ? { assumesNative: true as const } : {};
    return withAssumed({ ...input, flags, ...native }, new Set([...assumed, ...missing]));
  }
}
