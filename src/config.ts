/** Which configuration does this process run with, and what is wrong with the one it was given? */
import { OPTIONS } from "./config/all-options.ts";
import { certificateFaults } from "./config/certificates.ts";
import { contradictions, doubts, type Remark, upstreamsOf } from "./config/checks.ts";
import { ConfigError, didYouMean, type Fault, nearest, textOf } from "./config/fault.ts";
import { judge } from "./config/judge.ts";
import type { Option } from "./config/options.ts";
import type { Settings } from "./config/schema.ts";
import { FILE_VARIABLE, gather, type Sources } from "./config/sources.ts";
import { isTokenText } from "./config/token-text.ts";
import { deepFreeze } from "./model/freeze.ts";

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
export interface Config extends Readonly<Omit<Settings, "upstream" | "admin" | "lists" | "fallback">> {
  readonly upstream: {
    readonly v2: WithTls<Settings["upstream"]["v2"]> & { readonly audience: string };
    readonly v1?: WithTls<NonNullable<Settings["upstream"]["v1"]>>;
    readonly sts?: WithTls<NonNullable<Settings["upstream"]["sts"]>>;
  };
  readonly admin: Readonly<Settings["admin"]> & {
    /** Contents of `tokenFile` without white space around it. */
    readonly token?: string;
  };
  readonly lists: Readonly<Settings["lists"]> & { readonly bufferBytes: number };
  readonly fallback: "native" | "refuse";
}

/** Defaults of what must not be above another option: setting that one alone is no contradiction. */
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
  /** In place of a configuration file: the same tree as an object. */
  readonly object?: { readonly given: unknown };
}

/** What `loadConfig` found. */
export interface Loaded {
  readonly config: Config;
  readonly warnings: readonly string[];
  /** To be called with the names of all resources, which only the catalogue knows. Throws ConfigError for others in `lists.require`. */
  requireKnown(resources: readonly string[]): void;
}

/** All options, in the order of the documentation. */
export function configOptions(): readonly Option[] {
  return OPTIONS;
}

/** One flag as commander takes it. */
export interface OptionFlag {
  /** `--upstream-v2-url <url>`. */
  readonly flags: string;
  readonly attribute: string;
  readonly description: string;
  /** For the help text only: the loader fills defaults in, so that variables and the file can speak first. */
  readonly default: string | undefined;
  readonly env: string;
}

/** Every option as a flag, `--config` first. */
export function optionFlags(): readonly OptionFlag[] {
  const config = {
    flags: "--config <file>",
    attribute: "config",
    description: "YAML file with any of these options",
    default: undefined,
    env: FILE_VARIABLE,
  };
  const others = OPTIONS.map((option) => ({
    flags: `${option.flag} <${option.form}>`,
    attribute: option.attribute,
    description: option.description,
    default: option.default,
    env: option.variable,
  }));
  return [config, ...others];
}

/**
 * Flags over variables over the file over defaults (design: configuration). Reads the configuration file and the files
 * that options name. Throws ConfigError with every fault that it can see.
 */
export function loadConfig(input: ConfigInput): Loaded {
  const { flags, env, object } = input;
  const gathered = gather({ flags, env, object, file: configFile(input) }, OPTIONS);
  const settings = judge(gathered, OPTIONS);
  const locate = (remark: Remark): Fault => ({ ...remark, where: gathered.locate(remark.path.split(".")) });
  const remarks = [...contradictions(settings)];
  const config = complete(settings, (path, name) => {
    const read = input.reads?.includes(path) === false ? UNREAD : readBytes(input.readFile, name);
    if (typeof read === "string") remarks.push({ path, what: read, remedy: "name a file that is there and not empty" });
    return typeof read === "string" ? new Uint8Array() : read;
  });
  const { token } = config.admin;
  if (token !== undefined && !isTokenText(token) && remarks.length === 0) remarks.push(NO_TOKEN);
  if (remarks.length === 0 && input.reads === undefined) remarks.push(...unusableFiles(settings, config));
  if (remarks.length > 0) throw new ConfigError(remarks.map(locate));
  return {
    config: deepFreeze(config),
    warnings: doubts(settings).map(locate).map(textOf),
    requireKnown: (resources) => {
      const unknown = unknownResources(settings, resources);
      if (unknown.length > 0) throw new ConfigError(unknown.map(locate));
    },
  };
}

/** Stands for what is in a file that is not read. */
const UNREAD = new TextEncoder().encode("unread");

/** No request could ever present such a token in a header field. */
const NO_TOKEN: Remark = {
  path: "admin.tokenFile",
  what: "the file holds no token",
  remedy: "put one word of visible ASCII characters into it",
};

/** The configuration file that a flag or a variable names. */
function configFile({ flags, env, readFile }: ConfigInput): Sources["file"] {
  const flag = Object.hasOwn(flags, "config") ? flags["config"] : undefined;
  const name = typeof flag === "string" ? flag : env[FILE_VARIABLE];
  if (name === undefined || name === "") return undefined;
  const where = typeof flag === "string" ? "--config" : FILE_VARIABLE;
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

function unknownResources(settings: Settings, known: readonly string[]): readonly Remark[] {
  return [...settings.lists.require.resources.keys()]
    .filter((name) => !known.includes(name))
    .map((name) => ({
      path: `lists.require.${name}`,
      what: `there is no resource ${JSON.stringify(name)}`,
      remedy: didYouMean(nearest(name, known)),
    }));
}

function unusableFiles(settings: Settings, { upstream }: Config): readonly Remark[] {
  return upstreamsOf(settings).flatMap(([name, { tls }]) =>
    certificateFaults(`upstream.${name}`, tls, upstream[name]?.tls ?? {}),
  );
}

/** Fills in what follows from other options, and the contents of files: `read` is given the option and its file. */
function complete(settings: Settings, read: (path: string, name: string) => Uint8Array): Config {
  const withTls = <U extends { readonly tls: Settings["upstream"]["v2"]["tls"] }>(name: string, upstream: U) => {
    const files = Object.entries(upstream.tls).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const tls: Tls = Object.fromEntries(files.map(([key, file]) => [key, read(`upstream.${name}.tls.${key}`, file)]));
    return { ...upstream, tls, tlsFiles: Object.fromEntries(files) };
  };
  const { v2, v1, sts } = settings.upstream;
  const { tokenFile } = settings.admin;
  const { saltFile } = settings.cutover;
  const { lists } = settings;
  return {
    ...settings,
    lists: {
      ...lists,
      bufferBytes: lists.bufferBytes ?? Math.min(BUFFER_BYTES, lists.maxBytes),
    },
    upstream: {
      v2: { ...withTls("v2", v2), audience: v2.audience ?? v2.url },
      ...(v1 === undefined ? {} : { v1: withTls("v1", v1) }),
      ...(sts === undefined ? {} : { sts: withTls("sts", sts) }),
    },
    admin: {
      ...settings.admin,
      ...(tokenFile === undefined ? {} : { token: textOfFile(read("admin.tokenFile", tokenFile)) }),
    },
    cutover: {
      ...settings.cutover,
      ...(saltFile === undefined ? {} : { salt: textOfFile(read("cutover.saltFile", saltFile)) }),
    },
    fallback: settings.fallback ?? (v1 === undefined ? "refuse" : "native"),
  };
}

/** Without white space around it, which editors leave at the end. */
function textOfFile(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).trim();
}
