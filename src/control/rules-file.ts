/** Which rules does the file hold that operators change while carryover runs? (Design section 7.) */
import type { Rules } from "../model/rules.ts";
import {
  createWatchedFile,
  type FileFault,
  type WatchedFile,
  type WatchedFileOptions,
  type WatchedState,
} from "./watched-file.ts";

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
