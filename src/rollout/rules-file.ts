/** Which rules does the file hold that operators change while carryover runs? (Design section 7.) */

import type { Catalogue } from "../catalogue.ts";
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
import { snakeCase } from "../model/field-names.ts";
import type { Operation, Resource } from "../model/resource.ts";
import type { Rules } from "../model/rules.ts";

export interface RulesFileOptions
  extends Pick<
    WatchedFileOptions<ParsedRules>,
    "path" | "read" | "everyMs" | "later" | "wall" | "failed" | "recovered"
  > {
  /**
   * Throws for what is no right rules file; `faults` of what it throws, where there are any, say where. `first`: it is
   * the file that the process starts with, which may have grown old without anybody's doing.
   */
  readonly parse: (bytes: Uint8Array, first: boolean) => ParsedRules;
  /** Takes the rules into force, at once. */
  readonly apply: (rules: Rules, warnings: readonly string[]) => void;
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

/** `start` rejects when there are no right rules. */
export interface RulesFile extends Omit<WatchedFile<ParsedRules>, "state"> {
  state(): RulesFileState;
}

/** Rules from a file, kept up to date. */
export function createRulesFile(options: RulesFileOptions): RulesFile {
  const { path, apply } = options;
  const file = createWatchedFile<ParsedRules>({
    ...options,
    apply: ({ rules, warnings }) => apply(rules, warnings),
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

/** Which rules does a command mean? (A file that it is given, or that of the configuration.) */

export interface RulesSource {
  /** The file that `--rules` names; undefined: `cutover.rulesFile`. */
  readonly file: string | undefined;
  readonly config: Config;
  readonly catalogue: Catalogue;
  readonly readFile: ConfigInput["readFile"];
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly expired: RulesContext["expired"];
  /** Whether native v1 is there; undefined: as the configuration has it. */
  readonly native?: boolean | undefined;
}

/** The name of the file, and the option that it comes from; undefined when none is named. */
export function givenRulesFile({
  file,
  config,
}: Pick<RulesSource, "file" | "config">): { readonly name: string; readonly option: string } | undefined {
  if (file !== undefined) return { name: file, option: "--rules" };
  const { rulesFile } = config.cutover;
  return rulesFile === undefined ? undefined : { name: rulesFile, option: "cutover.rulesFile" };
}

/** The rules; undefined without a file. Throws ConfigError with all that is wrong, each with line and remedy. */
export function readGivenRules(
  given: RulesSource,
): { readonly rules: Rules; readonly warnings: readonly string[] } | undefined {
  const named = givenRulesFile(given);
  if (named === undefined) return undefined;
  const { config, catalogue, now, expired, native = config.upstream.v1 !== undefined } = given;
  const bytes = readRulesBytes(named, given.readFile);
  // Without native v1 the default says nothing of how it would be with one.
  const fallback = config.upstream.v1 === undefined ? undefined : config.fallback;
  return readRules(bytes, rulesContext(catalogue, { name: named.name, native, fallback, now, expired }));
}

function readRulesBytes(
  { name, option }: { readonly name: string; readonly option: string },
  readFile: ConfigInput["readFile"],
): Uint8Array {
  try {
    return readFile(name);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError([
      { where: option, what: `${name} cannot be read (${why})`, remedy: "name a rules file that is there" },
    ]);
  }
}

/** Which resources and operations can a rules file speak of? (What it is read against, from the catalogue.) */

/**
 * What `readRules` needs to know beside the file. Resources may also be called as v1 and v2 call their collections. Operations
 * that only native v1 serves are left out: no rule decides about them.
 */
export function rulesContext(
  { resources }: { readonly resources: readonly Resource[] },
  rest: Omit<RulesContext, "resources">,
): RulesContext {
  return {
    ...rest,
    resources: resources.map(({ name, v1, v2, operations }) => ({
      name,
      aliases: [...new Set([v1, v2, snakeCase(v2).replaceAll("_", "-")])].filter((alias) => alias !== name),
      operations: operations.flatMap((operation) =>
        operation.kind === "native"
          ? []
          : [{ name: operation.name, write: isWriteOperation(operation), guessed: operation.guessed === true }],
      ),
    })),
  };
}

/** As a request of that operation is judged: whatever is no GET. */
function isWriteOperation(operation: Operation): boolean {
  return "method" in operation ? operation.method !== "GET" : operation.kind !== "list" && operation.kind !== "get";
}
