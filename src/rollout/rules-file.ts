/** The rules file: watched by the server, read once by commands. */
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Config, ConfigInput } from "../config/config.ts";
import { ConfigError } from "../config/faults.ts";
import { type RulesContext, readRules } from "../config/rules.ts";
import {
  createWatchedFile,
  type FileFault,
  type WatchedFile,
  type WatchedFileOptions,
  type WatchedState,
} from "../config/watched-file.ts";
import { namedClient } from "../model/client-names.ts";
import { member } from "../model/json.ts";
import type { Operation, Resource } from "../model/resource.ts";
import { snakeCase } from "../model/text.ts";
import type { Rules } from "../rules/rule.ts";

/** `parse`: `first` is true for the file that the process starts with, whose rules may have expired without anybody's doing. */
export interface RulesFileOptions
  extends Omit<WatchedFileOptions<ParsedRules>, "apply" | "unreadable" | "begin" | "spare"> {
  /** Takes the rules into force, at once. `isSpare`: they are those of `last`, since the file is invalid. */
  readonly apply: (rules: Rules, warnings: readonly string[], isSpare: boolean) => void;
  /** Is kept up to date, and used where the file is invalid at the start. */
  readonly last?: LastRules | undefined;
}

/** The bytes of the last valid rules file, which survive a restart in `state.dir`. */
export interface LastRules {
  bytes(): Uint8Array | undefined;
  take(bytes: Uint8Array): void;
  /** JSON. */
  saved(): Iterable<string>;
  /** Takes what `saved` returned. Throws for anything else. */
  restore(value: unknown): void;
  /** Grows with every change. */
  revision(): number;
}

export function createLastRules(): LastRules {
  let bytes: Uint8Array | undefined;
  let revision = 0;
  return {
    bytes: () => bytes,
    take: (taken) => {
      if (bytes !== undefined && Buffer.compare(bytes, taken) === 0) return;
      bytes = taken;
      revision += 1;
    },
    saved: () => [JSON.stringify({ version: 1, rules: bytes && Buffer.from(bytes).toString("base64") })],
    restore: (value) => {
      const rules = member(value, "rules");
      if (member(value, "version") !== 1) throw new Error("version: expected 1");
      bytes = typeof rules === "string" && rules !== "" ? Buffer.from(rules, "base64") : undefined;
    },
    revision: () => revision,
  };
}

export interface ParsedRules {
  readonly rules: Rules;
  readonly warnings: readonly string[];
}

export interface RulesFileState extends Omit<WatchedState<ParsedRules>, "content"> {
  readonly path: string;
  /** Of the rules in force; undefined before the first. */
  readonly digest: string | undefined;
  readonly warnings: readonly string[];
}

/** `start` rejects when the file cannot be read, and when it is invalid and no valid one is known from before. */
export interface RulesFile extends Omit<WatchedFile<ParsedRules>, "state"> {
  state(): RulesFileState;
}

export function createRulesFile(options: RulesFileOptions): RulesFile {
  const { path, apply, last } = options;
  const file = createWatchedFile<ParsedRules>({
    ...options,
    apply: ({ rules, warnings }, { bytes, isSpare }) => {
      if (!isSpare) last?.take(bytes);
      apply(rules, warnings, isSpare);
    },
    spare: last?.bytes,
    unreadable,
  });
  return {
    ...file,
    state: () => {
      const { content, loadedAt, failing, reloads } = file.state();
      const [digest, warnings] = [content?.rules.digest, content?.warnings ?? []];
      return { path, digest, loadedAt, warnings, failing, reloads };
    },
  };
}

function unreadable(path: string, cause: Error): Error {
  const fault: FileFault = {
    where: path,
    what: `it cannot be read (${cause.message})`,
    remedy: "put a rules file there that this process may read",
  };
  const error = new Error(`${fault.where}: ${fault.what}; ${fault.remedy}`, { cause });
  return Object.assign(error, { faults: [fault] });
}

export interface RulesSource {
  /** The file that `--rules` names; undefined: `cutover.rulesFile`. */
  readonly file: string | undefined;
  readonly config: Config;
  readonly catalogue: Catalogue;
  readonly readFile: ConfigInput["readFile"];
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly expired: RulesContext["expired"];
  /** Whether there is a native v1; undefined: as the configuration says. */
  readonly native?: boolean | undefined;
}

/** The file, and the option that names it; undefined when none does. */
interface GivenRulesFile {
  readonly name: string;
  readonly option: string;
}

export function givenRulesFile({ file, config }: Pick<RulesSource, "file" | "config">): GivenRulesFile | undefined {
  if (file !== undefined) return { name: file, option: "--rules" };
  const { rulesFile } = config.cutover;
  return rulesFile === undefined ? undefined : { name: rulesFile, option: "cutover.rulesFile" };
}

/** Reads the file that a command means; undefined without one. Throws ConfigError with every fault, its line and its remedy. */
export function readGivenRules(source: RulesSource): ParsedRules | undefined {
  const given = givenRulesFile(source);
  if (given === undefined) return undefined;
  const { config, catalogue, now, expired, native = config.upstream.v1 !== undefined } = source;
  const bytes = readRulesBytes(given, source.readFile);
  // Without a native v1 the default says nothing of how it would be with one.
  const fallback = config.upstream.v1 === undefined ? undefined : config.fallback;
  const clients = new Set(config.clients.names.map((entry) => namedClient(entry).name));
  // A command that assumes a native v1 was given no configuration.
  const shared = source.native === undefined ? config.state.url !== undefined : undefined;
  const context = { name: given.name, native, fallback, clients, shared, now, expired };
  return readRules(bytes, rulesContext(catalogue, context));
}

function readRulesBytes({ name, option }: GivenRulesFile, readFile: ConfigInput["readFile"]): Uint8Array {
  try {
    return readFile(name);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError([
      { where: option, what: `${name} cannot be read (${why})`, remedy: "name a rules file that is there" },
    ]);
  }
}

/**
 * What `readRules` needs to know beside the file. A resource has the names of its v1 and v2 collections as aliases. Operations
 * that only native v1 serves are left out, since no rule decides about them.
 */
export function rulesContext(
  { resources }: { readonly resources: readonly Resource[] },
  rest: Omit<RulesContext, "resources">,
): RulesContext {
  return {
    ...rest,
    resources: resourceNames(resources),
  };
}

/** The resources as rules may name them. */
export function resourceNames(resources: readonly Resource[]): RulesContext["resources"] {
  return resources.map(({ name, v1, v2, operations }) => ({
    name,
    aliases: [...new Set([v1, v2, snakeCase(v2).replaceAll("_", "-")])].filter((alias) => alias !== name),
    operations: operations.flatMap((operation) =>
      operation.kind === "native"
        ? []
        : [{ name: operation.name, write: isWriteOperation(operation), guessed: operation.guessed === true }],
    ),
  }));
}

function isWriteOperation(operation: Operation): boolean {
  return "method" in operation ? operation.method !== "GET" : operation.kind !== "list" && operation.kind !== "get";
}
