/** Watches the configuration file: `clients.names` takes effect while carryover runs, anything else waits for a restart. */
import { isDeepStrictEqual } from "node:util";
import type { Timer } from "../model/clock.ts";
import type { RecordEvent } from "../model/event.ts";
import { type Config, type ConfigInput, configFileName, configOptions, loadConfig } from "./config.ts";
import { faultText, valueAt } from "./faults.ts";
import { createWatchedFile, type FileFault, type WatchedFile } from "./watched-file.ts";

/** The file that the process started with, and how to read the configuration again. */
export interface ConfigSource {
  readonly path: string;
  /** What the file held. */
  readonly begin: Uint8Array;
  /** The whole configuration, as it is when the file holds `bytes`. Throws ConfigError. */
  readonly load: (bytes: Uint8Array) => Config;
}

/** Undefined when neither a flag nor a variable names a file. */
export function configSource(input: ConfigInput): ConfigSource | undefined {
  const path = configFileName(input);
  if (path === undefined) return undefined;
  return {
    path,
    begin: input.readFile(path),
    load: (bytes) =>
      loadConfig({ ...input, readFile: (name) => (name === path ? bytes : input.readFile(name)) }).config,
  };
}

export interface ConfigWatchParts {
  /** Rejects if the file cannot be read. */
  readonly read: (path: string) => Promise<Uint8Array>;
  readonly later: Timer;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  readonly log: {
    info(message: string, facts: Readonly<Record<string, string | number>>): void;
    warn(message: string, cause: undefined, facts: Readonly<Record<string, string>>): void;
    error(message: string, cause: undefined, facts: Readonly<Record<string, string>>): void;
  };
  readonly record: RecordEvent;
  /** Puts the names of `clients.names` into force. */
  rename(names: Config["clients"]["names"]): void;
}

/** Between two reads. */
const EVERY_MS = 5_000;

/** `config`: what is in force. */
export function createConfigWatch(
  config: Config,
  { path, begin, load }: ConfigSource,
  { log, record, rename, ...parts }: ConfigWatchParts,
): Pick<WatchedFile<Config>, "start" | "check" | "close"> {
  let names = config.clients.names;
  return createWatchedFile<Config>({
    ...parts,
    path,
    begin,
    everyMs: EVERY_MS,
    parse: load,
    apply: (found) => {
      const options = changedOptions(config, found).join(", ");
      const isRenamed = !isDeepStrictEqual(found.clients.names, names);
      if (options === "" && !isRenamed) return;
      const changes = [
        ...(isRenamed ? [`clients.names has ${found.clients.names.length} names now`] : []),
        ...(options === "" ? [] : [`other options wait for a restart: ${options}`]),
      ];
      const event = record({ kind: "config", reason: changes.join("; ") });
      if (options !== "") {
        log.warn("the configuration file was changed: some options wait for a restart", undefined, { options, event });
      }
      if (!isRenamed) return;
      names = found.clients.names;
      rename(names);
      log.info("clients.names was changed: clients have their new names", { names: names.length, event });
    },
    failed: (error, faults: readonly FileFault[]) => {
      const what = faults.length > 0 ? faults.map(faultText).join(" | ") : error.message;
      const event = record({ kind: "config-refused", reason: what });
      log.error("the configuration file cannot be used; the one before it stays in force", undefined, {
        faults: what,
        event,
      });
    },
    recovered: () => {
      const event = record({ kind: "config", reason: "the file holds the configuration in force again" });
      log.info("the configuration file can be used again", { path, event });
    },
    unreadable: (name, cause) => new Error(`${name} cannot be read (${cause.message})`),
  });
}

/** The options whose values differ, without `clients.names`. Certificates are renewed without a restart, so only their paths count. */
function changedOptions(before: Config, after: Config): readonly string[] {
  const optionOf = (config: Config, path: string) => valueAt(config, path.replace(".tls.", ".tlsFiles.").split("."));
  return configOptions()
    .map(({ path }) => path)
    .filter((path) => path !== "clients.names" && !isDeepStrictEqual(optionOf(before, path), optionOf(after, path)));
}
