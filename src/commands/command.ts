/** What every command shares: the process as it sees it, and the options of the configuration. */
import { type Command, Option } from "commander";
import { type ConfigInput, optionFlags } from "../config/config.ts";

/** The process, as far as a command needs it. */
export interface CommandIo {
  readonly env: ConfigInput["env"];
  readonly readFile: ConfigInput["readFile"];
  /** All of standard input. */
  readonly readStdin: () => Uint8Array;
  /** Throws when the file exists, unless `replace`. */
  readonly writeFile: (path: string, contents: string | Uint8Array, replace: boolean) => void;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Replaces the last line of standard error; undefined where it is not a terminal. */
  readonly progress?: ((line: string) => void) | undefined;
  readonly fetch: typeof fetch;
  print(text: string): void;
  warn(text: string): void;
  /**
   * Registers what happens when the process receives a stop signal: `graceMs` is the longest wait, by default what the command
   * itself thinks right. A rejection means that something was lost.
   */
  onStop(stop: (graceMs?: number) => Promise<void>, options?: StopOptions): void;
  /** Registers what happens on SIGHUP; to be called before `onStop`. It must not reject. */
  onReload(reload: () => Promise<void>): void;
  /** Registers what happens in the last moment of the process, whatever ends it. Nobody waits for it. */
  onExit(run: () => void): void;
}

export interface StopOptions {
  /** Milliseconds after the signal at which the process ends whatever is still in progress. */
  readonly withinMs: number;
  /** Receives uncaught errors. The first one stops the process. */
  readonly failed: (error: unknown) => void;
}

/** Exit code of a command; undefined while the process keeps running. */
export interface Outcome {
  code: number | undefined;
}

/** Adds every option of the configuration: the usual ones first, `--config` before all. */
export function addConfigOptions(command: Command): void {
  for (const { flags, description, default: byDefault, env, usual } of optionFlags()) {
    const text = byDefault === undefined ? description : `${description} (default: ${byDefault})`;
    const heading = usual ? "Usual options:" : "Advanced options:";
    command.addOption(new Option(flags, `${text} [${env}]`).helpGroup(heading));
  }
}
