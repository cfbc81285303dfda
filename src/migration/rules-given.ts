/** Which rules does a command mean? (A file that it is given, or that of the configuration.) */
import type { Catalogue } from "../catalogue.ts";
import { ConfigError } from "../config/fault.ts";
import { type RulesContext, readRules } from "../config/rules.ts";
import type { Config, ConfigInput } from "../config.ts";
import type { Rules } from "../model/rules.ts";
import { rulesContext } from "./rules-context.ts";

export interface GivenRules {
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
export function rulesFileOf({
  file,
  config,
}: Pick<GivenRules, "file" | "config">): { readonly name: string; readonly option: string } | undefined {
  if (file !== undefined) return { name: file, option: "--rules" };
  const { rulesFile } = config.cutover;
  return rulesFile === undefined ? undefined : { name: rulesFile, option: "cutover.rulesFile" };
}

/** The rules; undefined without a file. Throws ConfigError with all that is wrong, each with line and remedy. */
export function rulesGiven(
  given: GivenRules,
): { readonly rules: Rules; readonly warnings: readonly string[] } | undefined {
  const named = rulesFileOf(given);
  if (named === undefined) return undefined;
  const { config, catalogue, now, expired, native = config.upstream.v1 !== undefined } = given;
  const bytes = bytesOf(named, given.readFile);
  // Without native v1 the default says nothing of how it would be with one.
  const fallback = config.upstream.v1 === undefined ? undefined : config.fallback;
  return readRules(bytes, rulesContext(catalogue, { name: named.name, native, fallback, now, expired }));
}

function bytesOf(
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
